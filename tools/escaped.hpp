// Texts in one line.
#pragma once

#include <string>
#include <string_view>

namespace heddle {

// Newline and carriage return are written \n and \r.
inline std::string escaped_line_ends(std::string_view text) {
  std::string line;
  for (const char letter : text) {
    if (letter == '\n') {
      line += "\\n";
    } else if (letter == '\r') {
      line += "\\r";
    } else {
      line += letter;
    }
  }
  return line;
}

// So are they here, and backslash is \\, so that the text can be had back.
inline std::string escaped(std::string_view text) {
  std::string line;
  for (const char letter : text) line += letter == '\\' ? std::string("\\\\") : escaped_line_ends({&letter, 1});
  return line;
}

}  // namespace heddle
