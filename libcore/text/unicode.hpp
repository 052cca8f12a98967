// UTF-8 and the four character classes of pre-tokenisation. Text is any bytes: a byte that is not part of a well-formed
// sequence (overlong forms and surrogates are not) is a character of its own, of class other.
// The classes come from Unicode 16.0.0; changing the version changes how existing tokenizers split rare characters.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

namespace heddle::text {

enum class CharacterClass : std::uint8_t {
  other,
  letter,  // general category L
  number,  // general category N
  space    // property White_Space, the \s of Unicode regular expressions
};

// Result of decode() for a byte outside any well-formed sequence.
inline constexpr char32_t invalid_character = 0xFFFFFFFF;

struct Character {
  char32_t code;       // or invalid_character
  std::size_t length;  // bytes, 1 to 4
};

namespace detail {
extern const char32_t unicode_table_end;       // from here on everything is of class other
extern const std::uint8_t unicode_blocks[];    // the block of each 256 code points
extern const std::uint64_t unicode_classes[];  // eight words per block, two bits per code point
// The first code point of each range of one general category, times 32, and the number of the category
// (code_points.cpp).
extern const std::size_t category_range_count;
extern const std::uint32_t category_ranges[];
Character decode_long(std::string_view text, std::size_t position);
}  // namespace detail

// The character that starts at position < text.size().
inline Character decode(std::string_view text, std::size_t position) {
  const auto byte = static_cast<unsigned char>(text[position]);
  return byte < 0x80 ? Character{byte, 1} : detail::decode_long(text, position);
}

inline CharacterClass classify(char32_t code) {
  if (code >= detail::unicode_table_end) return CharacterClass::other;
  const std::uint64_t word = detail::unicode_classes[detail::unicode_blocks[code >> 8] * 8u + (code >> 5 & 7)];
  return static_cast<CharacterClass>(word >> 2 * (code & 31) & 3);
}

// True if no character spans the position, 0 <= position <= text.size(). Reads three bytes on either side.
bool is_character_boundary(std::string_view text, std::size_t position);

// The character that ends at a boundary at position > 0.
Character decode_before(std::string_view text, std::size_t position);

// How many characters the text has, and where the one begins that has `count` before it; npos where the text has fewer.
// Both take time in proportion to the text.
std::uint64_t count_characters(std::string_view text);
std::size_t offset_of_character(std::string_view text, std::uint64_t count);

// True of text without any character but white space, as classify() has it: of empty text, too.
bool is_blank(std::string_view text);

// The text without the white space at both ends.
std::string_view stripped(std::string_view text);

// Precondition: a code point that UTF-8 can encode.
void append_utf8(std::string& text, char32_t code);

}  // namespace heddle::text
