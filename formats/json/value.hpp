// Members of JSON objects that are examples. `where` says for messages what is being read: "FILE:LINE", "FILE: question
// 'x'".
#pragma once

#include <string>

#include "heddle/formats/json/node.hpp"

namespace heddle::formats {

// Members of an object. Throw DataError where they are absent or of another kind.
std::string text_member(const JsonNode& object, const char* name, const std::string& where);
JsonNode list_member(const JsonNode& object, const char* name, const std::string& where);

// Text as it is, or a number or truth value as text, as labels and ids come.
std::string name_member(const JsonNode& object, const char* name, const std::string& where);

}  // namespace heddle::formats
