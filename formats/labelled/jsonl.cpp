#include "formats/labelled/jsonl.hpp"

#include <algorithm>
#include <string>
#include <utility>

#include "formats/json/members.hpp"
#include "formats/labelled/example_members.hpp"
#include "formats/labelled/span_json.hpp"
#include "libcore/base/strings.hpp"
#include "libcore/data/label_set.hpp"
#include "libcore/text/spelling.hpp"
#include "libcore/text/unicode.hpp"

namespace heddle::formats {

namespace {

// The text of what should be an object: a line, or an element of a list.
struct ObjectText {
  std::string_view text;
  Place place;           // start of the object
  std::size_t byte = 1;  // in that line, from 1
};

// Throws DataError for anything else than an object, and for one that holds a whole table.
class ParsedObject {
 public:
  explicit ParsedObject(const ObjectText& object)
      : document_(std::string(object.text), object.place.file, object.place.line, object.byte) {
    check<DataError>(this->object().is_object(), object.place, ": is not a JSON object");
    check<DataError>(!is_whole_table(this->object()), object.place, ": ", advice_for_table);
  }
  JsonNode object() const { return JsonNode(document_); }

 private:
  JsonDocument document_;
};

bool is_json(std::string_view text) {
  try {
    const JsonDocument parsed(std::string(without_byte_order_mark(text)), "");
    return true;
  } catch (const DataError&) {
    return false;
  }
}

// Takes a JSON list apart, without knowing whether its elements are JSON.
class ListElements {
 public:
  ListElements(std::string_view content, const Place& begin)
      : content_(without_byte_order_mark(content)), begin_(begin), place_(begin) {}

  // Calls take(ObjectText) for each. Throws DataError for a list without an end, and for text after its end.
  template <class Take>
  void for_each(const Take& take) {
    skip_blanks();
    ++at_;  // the bracket
    skip_blanks();
    while (letter() != ']') {
      take(next());
      if (letter() != ',') continue;
      ++at_;
      skip_blanks();
    }
    ++at_;
    skip_blanks();
    check<DataError>(at_ >= content_.size(), place_, ": text after the end of the JSON list");
  }

 private:
  // NUL at the end.
  char letter() const { return at_ < content_.size() ? content_[at_] : '\0'; }
  void advance() {
    if (letter() == '\n') {
      ++place_.line;
      line_begin_ = at_ + 1;
    }
    ++at_;
  }
  void skip_blanks() {
    while (at_ < content_.size() && json_blanks.find(letter()) != json_blanks.npos) advance();
  }
  void skip_string() {
    for (++at_; at_ < content_.size() && letter() != '"'; advance()) at_ += letter() == '\\' ? 1 : 0;
    ++at_;
  }
  // Up to the comma or bracket that ends it.
  ObjectText next() {
    ObjectText element{{}, place_, at_ - line_begin_ + 1};
    const std::size_t from = at_;
    for (int depth = 0; depth > 0 || (letter() != ',' && letter() != ']');) {
      check<DataError>(at_ < content_.size(), begin_, ": the JSON list that begins here has no end");
      depth += letter() == '{' || letter() == '[' ? 1 : 0;
      depth -= letter() == '}' || letter() == ']' ? 1 : 0;
      letter() == '"' ? skip_string() : advance();
    }
    element.text = trimmed(content_.substr(from, at_ - from), json_blanks);
    return element;
  }

  static constexpr std::string_view json_blanks = " \t\r\n";
  std::string_view content_;
  const Place begin_;
  Place place_;
  std::size_t at_ = 0, line_begin_ = 0;
};

// Throws DataError, with the remedy, for a file that is one object over several lines, or begins with one.
void check_each_line_is_object(std::string_view content, const Place& begin) {
  const std::string_view line = text::stripped(first_line(content));
  if (begin.line > 1 || !line.starts_with('{') || is_json(line)) return;
  std::string advice = line == "{" ? "jq -c . makes one line of each" : "";
  if (is_json(content)) {
    const JsonDocument all(std::string(without_byte_order_mark(content)), begin.file);
    check<DataError>(!is_whole_table(JsonNode(all)), begin, ": ", advice_for_table);
    advice = advice_for_list(JsonNode(all));
    if (advice.empty()) advice = "jq -c . makes one line of each";
  }
  check<DataError>(advice.empty(), begin, ": begins a JSON object of several lines, where each line is an object; ",
                   advice);
}

// take(ObjectText) for each element of a list, or else for each line that is not blank.
template <class Take>
void for_each_object(std::string_view content, const Place& begin, const Take& take) {
  if (begin.line == 1 && is_json_list(content)) return ListElements(content, begin).for_each(take);
  check_each_line_is_object(content, begin);
  for_each_line(content, begin, [&](std::string_view line, const Place& place) {
    if (!text::is_blank(line)) take(ObjectText{line, place});
  });
}

// How many there are.
std::size_t count_objects(std::string_view content, const Place& begin) {
  std::size_t count = 0;
  for_each_object(content, begin, [&](const ObjectText&) { ++count; });
  return count;
}

// The label, "" for null.
std::string label_member(const JsonNode& object, const std::string& name, const std::string& where) {
  if (object.find(name.c_str()).is_null()) return "";
  return std::string(name_in(name_member(object, name.c_str(), where)));
}

// The labels in a list, or in a text with separators; none for null.
std::vector<std::string> labels_member(const JsonNode& object, const std::string& name, const Place& place,
                                       std::string_view separator) {
  const JsonNode value = object.find(name);
  if (value.is_null()) return {};
  if (value.is_text()) return labels_in_field(value.text(), separator, place);
  check<DataError>(value.is_list(), place, ": \"", name, "\" is not a list of labels");
  std::vector<std::string> labels;
  for (const JsonNode& element : value.list()) {
    check<DataError>(element.is_text() || element.is_number(), place, ": \"", name,
                     "\" has an element that is not a text or a number");
    add_label(labels, name_in(element.is_text() ? element.text() : element.digits()), place);
  }
  return labels;
}

// A text, or a list of texts, which are lines.
std::string steps_member(const JsonNode& object, const std::string& where) {
  const JsonNode steps = object.find(steps_column);
  if (!steps.is_list()) return text_member(object, steps_column, where);
  std::vector<std::string> lines;
  for (const JsonNode& line : steps.list()) {
    check<DataError>(line.is_text() || line.is_number(), where, ": \"", steps_column,
                     "\" has an element that is not a text or a number");
    lines.emplace_back(line.is_text() ? line.text() : line.digits());
  }
  return join(lines, "\n");
}

data::LabelledText labelled_text(const ObjectText& from, Texts texts, Gold gold, const TextColumns& wanted) {
  const ParsedObject parsed(from);
  const JsonNode object = parsed.object();
  const std::string where = concatenate(from.place);
  std::vector<std::string> read;
  const auto key = [&](const std::string& given, const char* usual, const char* option) {
    read.push_back(given.empty() ? usual : given);
    check_has_key(object, read.back(), where, option);
    return read.back();
  };
  data::LabelledText example;
  example.line = from.place.line;
  if (texts == Texts::one && wanted.text.find(',') != wanted.text.npos && !has_member(object, wanted.text)) {
    std::vector<std::string> parts;
    for (const std::string& name : names_of_columns(wanted.text)) {
      const bool is_null = object.find(key(name, "", "--text-column")).is_null();
      parts.push_back(is_null ? "" : text_member(object, name.c_str(), where));
    }
    example.text = joined_texts(parts);
  } else {
    example.text = text_member(object, key(wanted.text, first_column(texts), "--text-column").c_str(), where);
  }
  if (texts != Texts::one) {
    const std::string second = key(wanted.text_b, second_column(texts), "--text-column");
    const JsonNode value = object.find(second);
    const bool is_number = texts == Texts::worked && value.is_number();  // an answer, as it is written
    example.second_text = is_number ? std::string(value.digits()) : text_member(object, second.c_str(), where);
  }
  if (texts == Texts::worked && !object.find(steps_column).is_null()) {
    example.steps = std::make_shared<const std::string>(steps_member(object, where));
  }
  check<DataError>(texts != Texts::one || !wanted.text.empty() || object.find("text_b").is_null(), where,
                   ": has a second text, \"text_b\", where one is expected; --text-column text reads the first alone");
  if (gold == Gold::given && wanted.separator) {
    for (const std::string& flag : wanted.flags()) {
      const std::string name = key(flag, "", "--label-column");
      if (flag_in_field(name_member(object, name.c_str(), where), name, from.place)) example.labels.push_back(name);
    }
    if (wanted.flags().empty()) {
      const std::string name = key(wanted.label, wanted.usual_label(), "--label-column");
      example.labels = labels_member(object, name, from.place, *wanted.separator);
    }
  } else if (gold == Gold::given) {
    example.label = label_member(object, key(wanted.label, "label", "--label-column"), where);
    check_label(example.label, from.place, concatenate("; if it is a text, ", data::swapped_columns));
  }
  if (object.size() > read.size()) example.more = members_except(from.text, read);
  return example;
}

data::SpanQuestion question_of(const ObjectText& from, Gold gold) {
  const ParsedObject parsed(from);
  const JsonNode object = parsed.object();
  const std::string where = concatenate(from.place);
  std::string id = object.find("id").is_null() ? std::to_string(from.place.line) : name_member(object, "id", where);
  const std::string advice = advice_for_list(object);
  check<DataError>(advice.empty(), where, ": has no text \"context\"; ", advice);
  const SpanContext context(std::string(text_member(object, "context", where)));
  data::SpanQuestion question = span_question(object, std::move(id), context, gold, where);
  question.line = from.place.line;
  question.more = members_except(from.text, {"id", "question", "context", "answers", "is_impossible"});
  return question;
}

// The sentence of an object, which must have words.
data::TaggedSentence sentence_of(const ObjectText& from, const TaggedKeys& keys, Gold gold, Room& room) {
  const ParsedObject parsed(from);
  return tagged_sentence(parsed.object(), from.place, keys, gold, room);
}

}  // namespace

bool is_json_list(std::string_view content) {
  content = without_byte_order_mark(content);
  return content.substr(std::min(content.find_first_not_of(" \t\r\n"), content.size())).starts_with('[');
}

bool holds_objects(std::string_view content) {
  if (is_json_list(content)) return true;
  const std::string_view line = first_line(content);
  const auto end = static_cast<std::size_t>(line.data() + line.size() - content.data());
  if (text::is_blank(content.substr(end))) return false;
  try {
    const ParsedObject first({line, "first line"});
    return !has_member(first.object(), "data");
  } catch (const DataError&) {
    return false;
  }
}

std::string as_json_lines(std::string_view list, const Place& begin) {
  std::string lines;
  ListElements(list, begin).for_each([&](const ObjectText& element) {
    const std::size_t from = lines.size();
    lines += element.text;
    std::replace_if(
        lines.begin() + static_cast<std::ptrdiff_t>(from), lines.end(),
        [](char letter) { return letter == '\n' || letter == '\r'; }, ' ');
    lines += '\n';
  });
  return lines;
}

std::vector<data::LabelledText> read_jsonl_texts(std::string_view content, const Place& begin, Texts texts, Gold gold,
                                                 TableColumns& columns, BadRecords& bad) {
  check<UsageError>(columns.header() == Header::automatic, begin.file,
                    ": --header and --no-header are for CSV and TSV; JSONL has a key with each value");
  const std::size_t count = count_objects(content, begin);
  Room(content, begin.file).take(count * sizeof(data::LabelledText));
  std::vector<data::LabelledText> examples;
  examples.reserve(count);
  for_each_object(content, begin, [&](const ObjectText& object) {
    bad.attempt(object.place.line, [&] { examples.push_back(labelled_text(object, texts, gold, columns.wanted())); });
  });
  return examples;
}

std::vector<data::TaggedSentence> read_jsonl_sentences(std::string_view content, const Place& begin,
                                                       const TaggedKeys& keys, Gold gold, BadRecords& bad) {
  Room room(content, begin.file);
  room.take(count_objects(content, begin) * sizeof(data::TaggedSentence));
  std::vector<data::TaggedSentence> sentences;
  for_each_object(content, begin, [&](const ObjectText& object) {
    bad.attempt(object.place.line, [&] { sentences.push_back(sentence_of(object, keys, gold, room)); });
  });
  return sentences;
}

std::vector<data::SpanQuestion> read_jsonl_spans(std::string_view content, const Place& begin, Gold gold,
                                                 BadRecords& bad) {
  const std::size_t count = count_objects(content, begin);
  Room(content, begin.file).take(count * sizeof(data::SpanQuestion));
  std::vector<data::SpanQuestion> questions;
  questions.reserve(count);
  for_each_object(content, begin, [&](const ObjectText& object) {
    bad.attempt(object.place.line, [&] { questions.push_back(question_of(object, gold)); });
  });
  return questions;
}

}  // namespace heddle::formats
