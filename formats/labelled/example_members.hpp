// Members of JSON objects that are examples. `where` names the object in messages: "FILE:LINE", "FILE: question 'x'".
#pragma once

#include <string>
#include <string_view>

#include "formats/json/node.hpp"

namespace heddle::formats {

// Whether the object has a member of this name, null perhaps.
bool has_member(const JsonNode& object, std::string_view name);

// Throws DataError, with a list of the keys, for an object that lacks one, which the option names.
void check_has_key(const JsonNode& object, const std::string& name, const std::string& where, const char* option);

// Advice for an object that is no example and has a list of objects: "jq -c '.data[]' makes a line of each object in
// the list"; "" for others.
std::string advice_for_list(const JsonNode& object);

// Whether the object holds a table as pandas' to_json() writes it by default, {"text": {"0": …}, …}, or by
// rows, {"0": {"text": …}, …}, or split, {"columns": […], "index": […], "data": […]}.
bool is_whole_table(const JsonNode& object);
// The end of a message about one.
inline constexpr std::string_view advice_for_table =
    "holds a whole table (pandas' to_json), where each object is one row; write rows with df.to_json(FILE, "
    "orient=\"records\", lines=True)";

// Members of an object. Throw DataError if they are absent or of another kind.
std::string text_member(const JsonNode& object, const char* name, const std::string& where);
JsonNode list_member(const JsonNode& object, const char* name, const std::string& where);

// A text, or a number or boolean as text, for labels and ids.
std::string name_member(const JsonNode& object, const char* name, const std::string& where);

}  // namespace heddle::formats
