// Lines of a text in memory.
#pragma once

#include <algorithm>
#include <concepts>
#include <ostream>
#include <string_view>

#include "libcore/base/real.hpp"
#include "libcore/base/strings.hpp"

namespace heddle::formats {

// A line of a file, from 1; "FILE:LINE" in messages.
struct Place {
  template <std::convertible_to<std::string_view> Name>
  Place(const Name& name, Index number = 1) : file(name), line(number) {}

  std::string_view file;
  Index line;
};
inline std::ostream& operator<<(std::ostream& out, const Place& place) {
  return out << place.file << ':' << place.line;
}

// Whether the lines of a file end with carriage returns alone, as old Macs and Excel's "CSV (Macintosh)" write them.
inline bool has_lone_returns(std::string_view content) {
  const bool has_end = content.ends_with('\n');
  if (has_end) content.remove_suffix(1);
  if (content.ends_with('\r')) content.remove_suffix(1);
  return content.find('\n') == content.npos && std::ranges::count(content, '\r') >= (has_end ? 2 : 1);
}

// How many lines the text has, the last perhaps without its end.
inline std::size_t line_count(std::string_view text) {
  return static_cast<std::size_t>(std::ranges::count(text, '\n')) + (text.empty() || text.ends_with('\n') ? 0 : 1);
}

// Calls take(line, place) for each line without its ending, "\n" or "\r\n", or "\r" where a file has lone returns,
// which the last one may lack. The first is at `place`. A byte order mark before a file's first line is left out.
template <class Take>
void for_each_line(std::string_view text, Place place, const Take& take) {
  const char end = place.line == 1 && has_lone_returns(text) ? '\r' : '\n';
  if (place.line == 1) text = without_byte_order_mark(text);
  for (; !text.empty(); ++place.line) {
    std::string_view line = text.substr(0, text.find(end));
    text.remove_prefix(std::min(line.size() + 1, text.size()));
    if (line.ends_with('\r')) line.remove_suffix(1);
    take(line, place);
  }
}

}  // namespace heddle::formats
