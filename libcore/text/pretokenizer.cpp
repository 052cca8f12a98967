#include "libcore/text/pretokenizer.hpp"

#include <array>
#include <bit>
#include <cstdint>
#include <cstring>

#include "libcore/text/code_points.hpp"
#include "libcore/text/unicode.hpp"

namespace heddle::text {

namespace {

constexpr auto multibyte = static_cast<CharacterClass>(4);

constexpr CharacterClass ascii_class(unsigned char byte) {
  if (byte >= 0x80) return multibyte;
  const int lower = byte | 0x20;
  if (lower >= 'a' && lower <= 'z') return CharacterClass::letter;
  if (byte >= '0' && byte <= '9') return CharacterClass::number;
  return byte == ' ' || (byte >= '\t' && byte <= '\r') ? CharacterClass::space : CharacterClass::other;
}

constexpr std::array<CharacterClass, 256> byte_classes = [] {
  std::array<CharacterClass, 256> classes{};
  for (std::size_t byte = 0; byte < 256; ++byte) classes[byte] = ascii_class(static_cast<unsigned char>(byte));
  return classes;
}();

// The class of the character at the position, which moves past the character.
CharacterClass take(std::string_view text, std::size_t& position) {
  const CharacterClass ascii = byte_classes[static_cast<unsigned char>(text[position])];
  if (ascii != multibyte) {
    ++position;
    return ascii;
  }
  const Character character = decode(text, position);
  position += character.length;
  return classify(character.code);
}

bool is_mark(char32_t code) {
  static const CodePoints marks = *category("M");
  return code >= 0x300 && marks.contains(code);
}

std::size_t run_end(std::string_view text, std::size_t position, CharacterClass wanted) {
  while (position < text.size()) {
    const CharacterClass ascii = byte_classes[static_cast<unsigned char>(text[position])];
    if (ascii == wanted) {
      ++position;
      continue;
    }
    if (ascii != multibyte) break;
    const Character character = decode(text, position);
    if (classify(character.code) != wanted) break;
    position += character.length;
  }
  return position;
}

// The end of the marks, none of which is in ASCII, and of what letters and marks follow them.
std::size_t marked_letters_end(std::string_view text, std::size_t position) {
  while (position < text.size() && static_cast<unsigned char>(text[position]) >= 0x80) {
    const Character mark = decode(text, position);
    if (!is_mark(mark.code)) break;
    position = run_end(text, position + mark.length, CharacterClass::letter);
  }
  return position;
}

// The length of the contraction that an apostrophe begins, or 0.
std::size_t contraction_length(std::string_view text, std::size_t start) {
  const char first = start + 1 < text.size() ? text[start + 1] : '\0';
  const char second = start + 2 < text.size() ? text[start + 2] : '\0';
  if (first == 's' || first == 't' || first == 'm' || first == 'd') return 2;
  if ((first == 'r' && second == 'e') || (first == 'v' && second == 'e') || (first == 'l' && second == 'l')) return 3;
  return 0;
}

// White space goes to the end of the text, or leaves its last character to what follows unless it is all there is.
std::size_t space_end(std::string_view text, std::size_t start) {
  std::size_t last = start, position = start;
  while (position < text.size()) {
    std::size_t next = position;
    if (take(text, next) != CharacterClass::space) return last == start ? position : last;
    last = position;
    position = next;
  }
  return position;
}

}  // namespace

std::size_t pretoken_end(std::string_view text, std::size_t start, LetterMarks marks) {
  if (text[start] == '\'') {
    if (const std::size_t length = contraction_length(text, start); length != 0) return start + length;
  }
  std::size_t position = start;
  CharacterClass kind = take(text, position);
  if (text[start] == ' ' && position < text.size()) kind = take(text, position);
  if (kind == CharacterClass::space) return space_end(text, start);
  position = run_end(text, position, kind);
  const bool joins = kind == CharacterClass::letter && marks == LetterMarks::joined;
  return joins ? marked_letters_end(text, position) : position;
}

bool is_pretoken_boundary(std::string_view text, std::size_t position, LetterMarks marks) {
  if (!is_character_boundary(text, position)) return false;
  std::size_t next = position;
  const CharacterClass right = take(text, next);
  const char32_t before = decode_before(text, position).code;
  const CharacterClass left = classify(before);
  if (marks == LetterMarks::joined) {
    if (left == CharacterClass::letter && is_mark(decode(text, position).code)) return false;
    if ((right == CharacterClass::letter || right == CharacterClass::other) && is_mark(before)) return false;
  }
  if (left == right || left == CharacterClass::space) return false;
  return text[position - 1] != '\'' || right != CharacterClass::letter;
}

}  // namespace heddle::text
