#include "formats/labelled/example_members.hpp"

#include <algorithm>
#include <cmath>
#include <vector>

#include "formats/archives/text_archive.hpp"
#include "libcore/base/strings.hpp"
#include "libcore/text/spelling.hpp"

namespace heddle::formats {

bool has_member(const JsonNode& object, std::string_view name) {
  if (!object.is_object()) return false;
  for (const JsonNode& member : object.members()) {
    if (member.key() == name) return true;
  }
  return false;
}

namespace {

// "--task label": the task whose objects have such lists, if a text or its label is missing; or "".
std::string_view task_of_lists(const JsonNode& object, std::string_view missing) {
  if (missing == "label" && object.find("labels").is_list()) return "--task multilabel";
  const bool has_words = object.find("tokens").is_list() || object.find("words").is_list();
  if (missing == "text" && has_words) return "--task label";
  if (missing == "label" && (has_words || object.find("entities").is_list())) return "--task label";
  return "";
}

bool has_digits_alone(std::string_view key) {
  return !key.empty() && key.find_first_not_of("0123456789") == key.npos;
}

// Whether it has members and this holds for each.
template <class Holds>
bool has_only(const JsonNode& object, const Holds& holds) {
  if (!object.is_object() || object.size() == 0) return false;
  for (const JsonNode& member : object.members()) {
    if (!holds(member)) return false;
  }
  return true;
}

// Whether the keys of its members are numbers, as those of a table's rows are unless they have names.
bool has_row_numbers(const JsonNode& object) {
  return has_only(object, [](const JsonNode& row) { return has_digits_alone(row.key()); });
}

// Whether jq takes it after a dot as it is.
bool is_identifier(std::string_view name) {
  const auto is_part = [](char letter) {
    return (letter >= 'a' && letter <= 'z') || (letter >= 'A' && letter <= 'Z') || (letter >= '0' && letter <= '9') ||
           letter == '_';
  };
  return !name.empty() && std::ranges::all_of(name, is_part) && !(name[0] >= '0' && name[0] <= '9');
}

}  // namespace

std::string advice_for_list(const JsonNode& object) {
  if (!object.is_object()) return "";
  for (const char* const part : {"text", "label", "labels", "question", "context", "tokens", "words", "source"}) {
    if (has_member(object, part)) return "";
  }
  for (const JsonNode& member : object.members()) {
    if (!member.is_list() || member.size() == 0 || !(*member.list().begin()).is_object()) continue;
    const std::string name(member.key());
    return concatenate("jq -c '.", is_identifier(name) ? name : "[]", "[]' makes a line of each object in the list");
  }
  return "";
}

bool is_whole_table(const JsonNode& object) {
  if (object.find("columns").is_list() && object.find("index").is_list() && object.find("data").is_list()) return true;
  if (has_row_numbers(object)) return has_only(object, [](const JsonNode& row) { return row.is_object(); });
  return has_only(object, has_row_numbers);
}

void check_has_key(const JsonNode& object, const std::string& name, const std::string& where, const char* option) {
  if (has_member(object, name)) return;  // null too
  constexpr std::size_t most_shown = 20;
  std::vector<std::string> keys;
  for (const JsonNode& member : object.members()) {
    if (keys.size() <= most_shown)
      keys.push_back(keys.size() < most_shown ? concatenate(text::quoted(member.key())) : "…");
  }
  const bool is_number = has_digits_alone(name);
  const std::string_view task = object.is_object() ? task_of_lists(object, name) : "";
  const std::string lines = advice_for_list(object);
  throw DataError(concatenate(where, ": has no key ", text::quoted(name),
                              task.empty() ? "" : concatenate("; lists like these are for ", task),
                              is_number ? "; columns of JSONL are keys, not numbers; " : "; ",
                              keys.empty() ? "it has none" : "there are: " + join(keys), "; ",
                              lines.empty() ? concatenate("choose one with ", option) : lines));
}

std::string text_member(const JsonNode& object, const char* name, const std::string& where) {
  const JsonNode value = object.find(name);
  check<DataError>(value.is_text(), where,
                   has_member(object, name) ? concatenate(": \"", name, "\" is not a string")
                                            : concatenate(": has no text \"", name, "\""));
  return std::string(value.text());
}

JsonNode list_member(const JsonNode& object, const char* name, const std::string& where) {
  JsonNode value = object.find(name);
  check<DataError>(value.is_list(), where, ": has no list \"", name, "\"");
  return value;
}

std::string name_member(const JsonNode& object, const char* name, const std::string& where) {
  const JsonNode value = object.find(name);
  check<DataError>(value.is_text() || value.is_flag() || value.is_number(), where,
                   has_member(object, name) ? concatenate(": \"", name, "\" is not a string or a number")
                                            : concatenate(": has no text or number \"", name, "\""));
  if (value.is_text()) return std::string(value.text());
  if (value.is_flag()) return text_of(value.flag());
  if (value.digits().find_first_of(".eE") == std::string_view::npos) return std::string(value.digits());
  constexpr double exact = 0x1p53;  // below it, doubles are all whole numbers
  const double number = value.real();
  const bool is_whole = number == std::trunc(number) && std::abs(number) < exact;
  return is_whole ? std::to_string(static_cast<Index>(number)) : text_of(number);
}

}  // namespace heddle::formats
