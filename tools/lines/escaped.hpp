// Texts in one line.
#pragma once

#include <string>
#include <string_view>

namespace heddle {

// With a backslash and a name in place of each of these letters, of newline (n), carriage return (r), tab (t) and
// backslash, that the text has.
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

inline std::string escaped_line_ends(std::string_view text) {
  return escaped(text, "\n\r");
}

// Backslash is \\ in these, so that the text can be had back: of a line, and of a field between tabs.
inline std::string escaped(std::string_view text) {
  return escaped(text, "\n\r\\");
}
inline std::string escaped_field(std::string_view text) {
  return escaped(text, "\n\r\t\\");
}

}  // namespace heddle
