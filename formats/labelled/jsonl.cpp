#include "heddle/formats/labelled/jsonl.hpp"

#include <memory>
#include <string>
#include <utility>

#include "heddle/formats/json/value.hpp"
#include "heddle/formats/labelled/span_json.hpp"

namespace heddle::formats {

namespace {

data::LabelledText labelled_text(const JsonNode& object, const Place& place, Texts texts, Gold gold) {
  const std::string where = concatenate(place);
  data::LabelledText example;
  example.line = place.line;
  example.text = text_member(object, "text", where);
  if (texts == Texts::two) example.second_text = text_member(object, "text_b", where);
  check<DataError>(texts == Texts::two || object.find("text_b").is_null(), where,
                   ": has a second text, \"text_b\", where one is expected");
  if (gold == Gold::given) {
    example.label = name_member(object, "label", where);
    check_label(example.label, place);
  }
  return example;
}

}  // namespace

std::vector<data::LabelledText> read_jsonl_texts(std::string_view content, const Place& begin, Texts texts, Gold gold) {
  Room(content, begin.file).take_for_lines(content, sizeof(data::LabelledText));
  std::vector<data::LabelledText> examples;
  examples.reserve(line_count(content));
  for_each_line(content, begin, [&](std::string_view line, const Place& place) {
    const JsonDocument document{std::string(line), place.file, place.line};
    examples.push_back(labelled_text(JsonNode(document), place, texts, gold));
  });
  return examples;
}

std::vector<data::SpanQuestion> read_jsonl_spans(std::string_view content, const Place& begin, Gold gold) {
  Room(content, begin.file).take_for_lines(content, sizeof(data::SpanQuestion));
  std::vector<data::SpanQuestion> questions;
  questions.reserve(line_count(content));
  for_each_line(content, begin, [&](std::string_view line, const Place& place) {
    const std::string where = concatenate(place);
    const JsonDocument document{std::string(line), place.file, place.line};
    const JsonNode object(document);
    std::string id = object.find("id").is_null() ? std::to_string(place.line) : name_member(object, "id", where);
    auto context = std::make_shared<const std::string>(text_member(object, "context", where));
    questions.push_back(span_question(object, std::move(id), std::move(context), gold, where));
  });
  return questions;
}

}  // namespace heddle::formats
