// Lines of a text in memory.
#pragma once

#include <algorithm>
#include <ostream>
#include <string_view>

#include "heddle/base/real.hpp"

namespace heddle::formats {

// A line of a file, from 1; "FILE:LINE" in messages.
struct Place {
  std::string_view file;
  Index line = 1;
};
inline std::ostream& operator<<(std::ostream& out, const Place& place) {
  return out << place.file << ':' << place.line;
}

// Calls take(line, place) for each line without its ending, "\n" or "\r\n", which the last one may lack. A byte order
// mark before the first is left out.
template <class Take>
void for_each_line(std::string_view text, std::string_view file, const Take& take) {
  constexpr std::string_view byte_order_mark = "\xEF\xBB\xBF";
  if (text.starts_with(byte_order_mark)) text.remove_prefix(byte_order_mark.size());
  for (Place place{file}; !text.empty(); ++place.line) {
    std::string_view line = text.substr(0, text.find('\n'));
    text.remove_prefix(std::min(line.size() + 1, text.size()));
    if (line.ends_with('\r')) line.remove_suffix(1);
    take(line, place);
  }
}

}  // namespace heddle::formats
