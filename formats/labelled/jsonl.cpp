#include "formats/labelled/jsonl.hpp"

#include <algorithm>
#include <memory>
#include <string>
#include <utility>

#include "formats/json/members.hpp"
#include "formats/labelled/example_members.hpp"
#include "formats/labelled/span_json.hpp"
#include "libcore/text/spelling.hpp"
#include "libcore/text/unicode.hpp"

namespace heddle::formats {

namespace {

// Throws DataError, with a list of the keys, for an object that lacks one.
void check_has_key(const JsonNode& object, const std::string& name, const std::string& where, const char* option) {
  if (has_member(object, name)) return;  // null too
  constexpr std::size_t most_shown = 20;
  std::vector<std::string> keys;
  for (const JsonNode& member : object.members()) {
    if (keys.size() <= most_shown)
      keys.push_back(keys.size() < most_shown ? concatenate(text::quoted(member.key())) : "…");
  }
  const bool is_number = std::ranges::all_of(name, [](char letter) { return letter >= '0' && letter <= '9'; });
  throw DataError(concatenate(where, ": has no key ", text::quoted(name),
                              is_number ? "; columns of JSONL are keys, not numbers; " : "; ",
                              keys.empty() ? "it has none" : "there are: " + join(keys), "; choose one with ", option));
}

// A line that holds one object. Throws DataError for anything else.
class ObjectLine {
 public:
  ObjectLine(std::string_view line, const Place& place) : document_(std::string(line), place.file, place.line) {
    check<DataError>(object().is_object(), place, ": is not a JSON object");
  }
  JsonNode object() const { return JsonNode(document_); }

 private:
  JsonDocument document_;
};

// take(line, place) for each line that is not blank. Throws DataError for a list of objects in several lines.
template <class Take>
void for_each_object(std::string_view content, const Place& begin, const Take& take) {
  const std::string_view first = text::stripped(without_byte_order_mark(content.substr(0, content.find('\n'))));
  check<DataError>(begin.line > 1 || (first != "[" && !first.starts_with("[{")), begin,
                   ": begins a JSON list, where each line is an object; jq -c '.[]' makes JSONL of a list of objects");
  for_each_line(content, begin, [&](std::string_view line, const Place& place) {
    if (!text::is_blank(line)) take(line, place);
  });
}

// The label, "" for null.
std::string label_member(const JsonNode& object, const std::string& name, const std::string& where) {
  if (object.find(name.c_str()).is_null()) return "";
  return std::string(name_in(name_member(object, name.c_str(), where)));
}

data::LabelledText labelled_text(const JsonNode& object, std::string_view line, const Place& place, Texts texts,
                                 Gold gold, const TextColumns& wanted) {
  const std::string where = concatenate(place);
  std::vector<std::string> read;
  const auto key = [&](const std::string& given, const char* usual, const char* option) {
    read.push_back(given.empty() ? usual : given);
    check_has_key(object, read.back(), where, option);
    return read.back();
  };
  data::LabelledText example;
  example.line = place.line;
  const bool is_pair = texts == Texts::pair;
  example.text = text_member(object, key(wanted.text, is_pair ? "source" : "text", "--text-column").c_str(), where);
  if (texts != Texts::one) {
    const std::string second = key(wanted.text_b, is_pair ? "target" : "text_b", "--text-b-column");
    example.second_text = text_member(object, second.c_str(), where);
  }
  check<DataError>(texts != Texts::one || !wanted.text.empty() || object.find("text_b").is_null(), where,
                   ": has a second text, \"text_b\", where one is expected; --text-column text reads the first alone");
  if (gold == Gold::given) {
    example.label = label_member(object, key(wanted.label, "label", "--label-column"), where);
  }
  if (object.size() > read.size()) example.more = members_except(line, read);
  return example;
}

}  // namespace

std::vector<data::LabelledText> read_jsonl_texts(std::string_view content, const Place& begin, Texts texts, Gold gold,
                                                 TableColumns& columns) {
  check<UsageError>(columns.header() == Header::automatic, begin.file,
                    ": --header and --no-header are for CSV and TSV; JSONL has a key with each value");
  Room(content, begin.file).take_for_lines(content, sizeof(data::LabelledText));
  std::vector<data::LabelledText> examples;
  examples.reserve(line_count(content));
  for_each_object(content, begin, [&](std::string_view line, const Place& place) {
    const ObjectLine document(line, place);
    examples.push_back(labelled_text(document.object(), line, place, texts, gold, columns.wanted()));
  });
  if (gold == Gold::given) check_labels(examples, begin.file);
  return examples;
}

std::vector<data::LabelledText> read_jsonl_texts(std::string_view content, const Place& begin, Texts texts, Gold gold) {
  TableColumns columns;
  return read_jsonl_texts(content, begin, texts, gold, columns);
}

std::vector<data::SpanQuestion> read_jsonl_spans(std::string_view content, const Place& begin, Gold gold) {
  Room(content, begin.file).take_for_lines(content, sizeof(data::SpanQuestion));
  std::vector<data::SpanQuestion> questions;
  questions.reserve(line_count(content));
  BadQuestions bad(begin.file);
  const auto read = [&](std::string_view line, const Place& place) {
    const std::string where = concatenate(place);
    const ObjectLine document(line, place);
    const JsonNode object = document.object();
    std::string id = object.find("id").is_null() ? std::to_string(place.line) : name_member(object, "id", where);
    const SpanContext context(std::string(text_member(object, "context", where)));
    questions.push_back(span_question(object, std::move(id), context, gold, where));
    questions.back().more = members_except(line, {"id", "question", "context", "answers", "is_impossible"});
  };
  for_each_object(content, begin,
                  [&](std::string_view line, const Place& place) { bad.attempt([&] { read(line, place); }); });
  bad.check();
  return questions;
}

}  // namespace heddle::formats
