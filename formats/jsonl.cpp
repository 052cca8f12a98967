#include "heddle/formats/jsonl.hpp"

#include <memory>
#include <string>
#include <utility>

#include "heddle/formats/json_value.hpp"
#include "heddle/formats/span_json.hpp"

namespace heddle::formats {

namespace {

data::LabelledText labelled_text(const nlohmann::json& object, const Place& place, Texts texts, Gold gold) {
  const std::string where = concatenate(place);
  data::LabelledText example;
  example.line = place.line;
  example.text = text_member(object, "text", where);
  if (texts == Texts::two) example.second_text = text_member(object, "text_b", where);
  check<DataError>(texts == Texts::two || !find_member(object, "text_b"), where,
                   ": has a second text, \"text_b\", where one is expected");
  if (gold == Gold::given) {
    example.label = name_member(object, "label", where);
    check_label(example.label, place);
  }
  return example;
}

}  // namespace

std::vector<data::LabelledText> read_jsonl_texts(std::string_view content, const Place& begin, Texts texts,
                                                 Gold gold) {
  std::vector<data::LabelledText> examples;
  for_each_line(content, begin, [&](std::string_view line, const Place& place) {
    examples.push_back(labelled_text(parse_json(line, place.file, place.line), place, texts, gold));
  });
  return examples;
}

std::vector<data::SpanQuestion> read_jsonl_spans(std::string_view content, const Place& begin, Gold gold) {
  std::vector<data::SpanQuestion> questions;
  for_each_line(content, begin, [&](std::string_view line, const Place& place) {
    const std::string where = concatenate(place);
    const nlohmann::json object = parse_json(line, place.file, place.line);
    std::string id = find_member(object, "id") ? name_member(object, "id", where) : std::to_string(place.line);
    auto context = std::make_shared<const std::string>(text_member(object, "context", where));
    questions.push_back(span_question(object, std::move(id), std::move(context), gold, where));
  });
  return questions;
}

}  // namespace heddle::formats
