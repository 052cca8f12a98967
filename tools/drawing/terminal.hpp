// Colours and the width of a terminal.
#pragma once

#include <sys/ioctl.h>
#include <unistd.h>

#include <cstddef>
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

// The width of the terminal that standard output is; 200 where it is none.
inline std::size_t output_columns() {
  winsize size{};
  return ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) == 0 && size.ws_col > 0 ? size.ws_col : 200;
}

// Black text on one of the 256 colours that terminals share.
inline std::string on_colour(int colour, const std::string& text) {
  return "\033[38;5;16;48;5;" + std::to_string(colour) + "m" + text + "\033[0m";
}

}  // namespace heddle
