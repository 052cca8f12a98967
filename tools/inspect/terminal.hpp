// Colours of a terminal.
#pragma once

#include <unistd.h>

#include <cstdlib>
#include <string>
#include <string_view>

namespace heddle {

// Whether standard output is a terminal that shows colours, and NO_COLOR is not set (no-color.org).
inline bool has_colours() {
  const char* const refused = std::getenv("NO_COLOR");
  const char* const terminal = std::getenv("TERM");
  return isatty(STDOUT_FILENO) != 0 && (refused == nullptr || *refused == '\0') && terminal != nullptr &&
         std::string_view(terminal) != "dumb";
}

// Black text on one of the 256 colours that terminals share.
inline std::string on_colour(int colour, const std::string& text) {
  return "\033[38;5;16;48;5;" + std::to_string(colour) + "m" + text + "\033[0m";
}

}  // namespace heddle
