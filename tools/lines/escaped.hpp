// Escapes texts, so that each fits in one line.
#pragma once

#include <string>
#include <string_view>

namespace heddle {

// Replaces those of the characters `letters` that the text has, of newline, carriage return, tab and backslash, by \n,
// \r, \t and \\.
inline std::string escaped(std::string_view text, std::string_view letters) {
  constexpr std::string_view known = "\n\r\t\\", names = "nrt\\";
  std::string line;
  for (const char letter : text) {
    if (letters.find(letter) == letters.npos) {
      line += letter;
    } else {
      (line += '\\') += names[known.find(letter)];
    }
  }
  return line;
}

// A text in one line, and in a tab-separated field; backslashes are escaped, too, so that it can be restored.
inline std::string escaped(std::string_view text) {
  return escaped(text, "\n\r\\");
}
inline std::string escaped_field(std::string_view text) {
  return escaped(text, "\n\r\t\\");
}

}  // namespace heddle
