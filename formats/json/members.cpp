#include "formats/json/members.hpp"

#include <algorithm>
#include <nlohmann/json.hpp>

#include "libcore/base/strings.hpp"

namespace heddle::formats {

namespace {

constexpr std::string_view json_blanks = " \t\r\n";

// The length of the string that the text begins with, with its quotes.
std::size_t string_length(std::string_view text) {
  std::size_t at = 1;
  while (text[at] != '"') at += text[at] == '\\' ? 2 : 1;
  return at + 1;
}

// The length up to the comma or bracket that ends the member.
std::size_t member_length(std::string_view text) {
  int depth = 0;
  for (std::size_t at = 0; at < text.size();) {
    const char letter = text[at];
    if (letter == '"') {
      at += string_length(text.substr(at));
      continue;
    }
    if (depth == 0 && (letter == ',' || letter == '}')) return at;
    depth += letter == '{' || letter == '[' ? 1 : 0;
    depth -= letter == '}' || letter == ']' ? 1 : 0;
    ++at;
  }
  return text.size();
}

}  // namespace

std::vector<SpelledMember> spelled_members(std::string_view object) {
  std::vector<SpelledMember> members;
  // Only blanks and a byte order mark may precede the object; neither contains a brace.
  for (std::string_view rest = object.substr(object.find('{') + 1);;) {
    const std::size_t length = member_length(rest);
    const std::string_view whole = trimmed(rest.substr(0, length), json_blanks);
    if (whole.empty()) return members;
    const std::string_view key = whole.substr(0, string_length(whole));
    const nlohmann::json name = nlohmann::json::parse(key, nullptr, /*allow_exceptions=*/false);
    members.push_back({name.is_string() ? name.get<std::string>() : std::string(key), whole});
    if (length == rest.size() || rest[length] == '}') return members;
    rest.remove_prefix(length + 1);
  }
}

std::string members_except(std::string_view object, const std::vector<std::string>& keys) {
  std::string text;
  for (const auto& [key, whole] : spelled_members(object)) {
    if (std::ranges::find(keys, key) != keys.end()) continue;
    if (!text.empty()) text += ",";
    text += whole;
  }
  // Strings have none.
  for (char& letter : text) letter = letter == '\n' || letter == '\r' ? ' ' : letter;
  return text;
}

}  // namespace heddle::formats
