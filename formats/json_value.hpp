// Parts of JSON that a stranger wrote. `where` says for messages what is being read: "FILE:LINE", "FILE: question 'x'".
#pragma once

#include <nlohmann/json.hpp>
#include <string>
#include <string_view>

#include "heddle/base/error.hpp"
#include "heddle/base/real.hpp"

namespace heddle::formats {

// Throws DataError, "FILE:LINE: not valid JSON", and for values nested deeper than any of use; the first line has the
// number given. `watch` sees the parts as they are parsed.
nlohmann::json parse_json(std::string_view text, std::string_view file, Index first_line = 1,
                          const nlohmann::json::parser_callback_t& watch = nullptr);

// The member of an object, or null where it is absent or null.
const nlohmann::json* find_member(const nlohmann::json& object, const char* name);

// Members of an object. Throw DataError where they are absent or of another kind.
const std::string& text_member(const nlohmann::json& object, const char* name, const std::string& where);
const nlohmann::json& list_member(const nlohmann::json& object, const char* name, const std::string& where);

// Text as it is, or a number or truth value as text, as labels and ids come.
std::string name_member(const nlohmann::json& object, const char* name, const std::string& where);

}  // namespace heddle::formats
