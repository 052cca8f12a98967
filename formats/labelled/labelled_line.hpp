// What the formats of labelled data have in common: what a caller expects of them, and what a label may be.
#pragma once

#include <cstddef>
#include <string_view>

#include "heddle/formats/files/lines.hpp"

namespace heddle::formats {

// Whether a file has the right answers (labels, tags, spans). What is not asked for need not be there.
enum class Gold { given, absent };

// How many texts an example has.
enum class Texts { one, two };

// Throws DataError unless the label is UTF-8 text without control characters, and not empty.
void check_label(std::string_view label, const Place& place);

// The memory that examples may take: 16 times their text and 48 MB, which no lines of any use exceed. Counted before it
// is taken.
class Room {
 public:
  Room(std::string_view content, std::string_view file) : file_(file), left_(16 * content.size() + (48u << 20)) {}

  // Throws DataError where so many bytes are not left.
  void take(std::size_t bytes);
  // For one object of this size a line.
  void take_for_lines(std::string_view content, std::size_t bytes_each);

 private:
  std::string_view file_;
  std::size_t left_;
};

}  // namespace heddle::formats
