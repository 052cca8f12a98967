#include "heddle/formats/json_value.hpp"

#include <algorithm>

#include "heddle/formats/text_archive.hpp"

namespace heddle::formats {

namespace {

constexpr int most_depth = 128;

// Objects and lists within one another, outside of strings. What is no JSON gives some number.
int depth_of(std::string_view text) {
  int depth = 0, deepest = 0;
  bool in_string = false;
  for (std::size_t i = 0; i < text.size(); ++i) {
    const char letter = text[i];
    if (in_string && letter == '\\') {
      ++i;
    } else if (letter == '"') {
      in_string = !in_string;
    } else if (!in_string) {
      depth += (letter == '{' || letter == '[') - (letter == '}' || letter == ']');
      deepest = std::max(deepest, depth);
    }
  }
  return deepest;
}

}  // namespace

nlohmann::json parse_json(std::string_view text, std::string_view file, Index first_line,
                          const nlohmann::json::parser_callback_t& watch) {
  // Copying or printing a value uses a stack frame for each level.
  check<DataError>(depth_of(text) <= most_depth, file, ":", first_line, ": not valid JSON, or of more than ",
                   most_depth, " levels of objects and lists");
  try {
    return nlohmann::json::parse(text, watch);
  } catch (const nlohmann::json::parse_error& error) {
    const std::string_view before = text.substr(0, std::min(error.byte, text.size()));
    throw DataError(concatenate(file, ":", first_line + std::ranges::count(before, '\n'), ": not valid JSON, at byte ",
                                before.size() - (before.rfind('\n') + 1), " of the line"));
  } catch (const nlohmann::json::out_of_range&) {
    throw DataError(concatenate(file, ":", first_line, ": a number is too large"));
  }
}

const nlohmann::json* find_member(const nlohmann::json& object, const char* name) {
  if (!object.is_object()) return nullptr;
  const auto found = object.find(name);
  return found == object.end() || found->is_null() ? nullptr : &*found;
}

const std::string& text_member(const nlohmann::json& object, const char* name, const std::string& where) {
  const nlohmann::json* value = find_member(object, name);
  check<DataError>(value != nullptr && value->is_string(), where, ": has no text \"", name, "\"");
  return value->get_ref<const std::string&>();
}

const nlohmann::json& list_member(const nlohmann::json& object, const char* name, const std::string& where) {
  const nlohmann::json* value = find_member(object, name);
  check<DataError>(value != nullptr && value->is_array(), where, ": has no list \"", name, "\"");
  return *value;
}

std::string name_member(const nlohmann::json& object, const char* name, const std::string& where) {
  const nlohmann::json* value = find_member(object, name);
  check<DataError>(value != nullptr && value->is_primitive(), where, ": has no text or number \"", name, "\"");
  if (value->is_string()) return value->get<std::string>();
  if (value->is_boolean()) return text_of(value->get<bool>());
  return value->is_number_float() ? text_of(value->get<double>()) : value->dump();
}

}  // namespace heddle::formats
