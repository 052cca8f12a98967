// Sets of Unicode code points, and those of the general categories. Categories are of Unicode 16.0.0, as the classes of
// unicode.hpp.
#pragma once

#include <optional>
#include <string_view>
#include <vector>

namespace heddle::text {

inline constexpr char32_t last_code_point = 0x10FFFF;

class CodePoints {
 public:
  struct Range {
    char32_t first, last;
    bool operator==(const Range&) const = default;
  };

  CodePoints() = default;
  // Precondition: first <= last.
  CodePoints(char32_t first, char32_t last) : ranges_{{first, last}} {}
  explicit CodePoints(std::vector<Range> ranges);

  CodePoints operator|(const CodePoints& other) const;
  CodePoints operator&(const CodePoints& other) const { return ~(~*this | ~other); }
  CodePoints operator~() const;
  CodePoints& operator|=(const CodePoints& other) { return *this = *this | other; }

  bool contains(char32_t code) const;
  bool is_empty() const { return ranges_.empty(); }
  // In ascending order, with gaps between them.
  const std::vector<Range>& ranges() const { return ranges_; }

  bool operator==(const CodePoints&) const = default;

 private:
  std::vector<Range> ranges_;
};

// The code points of a general category, by its name: Lu, or L for all that begin with it. Nothing for other names.
std::optional<CodePoints> category(std::string_view name);

// The property White_Space.
const CodePoints& white_space();
// Word characters, in the sense of regular expressions: letters, marks, digits, connectors and the other code points of
// the property Alphabetic.
const CodePoints& word_characters();

}  // namespace heddle::text
