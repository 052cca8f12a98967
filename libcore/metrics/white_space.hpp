// White space as Python's str.split() takes it, which published evaluation programs use.
#pragma once

#include "libcore/text/unicode.hpp"

namespace heddle::metrics {

// Also the four separators of ASCII.
inline bool is_white_space(char32_t code) {
  return text::classify(code) == text::CharacterClass::space || (code >= 0x1C && code <= 0x1F);
}

}  // namespace heddle::metrics
