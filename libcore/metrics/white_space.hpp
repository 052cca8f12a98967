// White space as Python's str.split() takes it, which published evaluation programs use.
#pragma once

#include <cstddef>
#include <string_view>

#include "libcore/text/unicode.hpp"

namespace heddle::metrics {

// Also the four separators of ASCII.
inline bool is_white_space(char32_t code) {
  return text::classify(code) == text::CharacterClass::space || (code >= 0x1C && code <= 0x1F);
}

// Calls unit(begin, end) for each character of the text that is not white space; with `words`, for each run of them.
template <class Unit>
void for_each_unit(std::string_view text, bool words, const Unit& unit) {
  std::size_t begin = std::string_view::npos;  // start of a word
  for (std::size_t at = 0; at < text.size();) {
    const text::Character character = text::decode(text, at);
    const bool space = is_white_space(character.code);
    if (!words && !space) unit(at, at + character.length);
    if (words && space && begin != text.npos) unit(begin, at);
    if (space) {
      begin = text.npos;
    } else if (begin == text.npos) {
      begin = at;
    }
    at += character.length;
  }
  if (words && begin != text.npos) unit(begin, text.size());
}

}  // namespace heddle::metrics
