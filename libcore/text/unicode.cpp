#include "libcore/text/unicode.hpp"

#include <algorithm>

namespace heddle::text {

namespace detail {

Character decode_long(std::string_view text, std::size_t position) {
  constexpr Character invalid{invalid_character, 1};
  const auto byte = [&](std::size_t k) { return static_cast<unsigned char>(text[position + k]); };
  const unsigned lead = byte(0);
  const std::size_t length = lead >= 0xF0 ? 4 : lead >= 0xE0 ? 3 : 2;
  if (lead < 0xC2 || lead > 0xF4 || length > text.size() - position) return invalid;
  char32_t code = lead & (0x7Fu >> length);
  for (std::size_t k = 1; k < length; ++k) {
    if ((byte(k) & 0xC0) != 0x80) return invalid;
    code = code << 6 | (byte(k) & 0x3F);
  }
  const bool overlong = (length == 3 && code < 0x800) || (length == 4 && code < 0x10000);
  if (overlong || (code >= 0xD800 && code < 0xE000) || code > 0x10FFFF) return invalid;
  return {code, length};
}

}  // namespace detail

bool is_character_boundary(std::string_view text, std::size_t position) {
  for (std::size_t back = 1; back <= std::min<std::size_t>(3, position); ++back) {
    if (decode(text, position - back).length > back) return false;
  }
  return true;
}

Character decode_before(std::string_view text, std::size_t position) {
  for (std::size_t length = 2; length <= std::min<std::size_t>(4, position); ++length) {
    const Character character = decode(text, position - length);
    if (character.length == length) return character;
  }
  return decode(text.substr(0, position), position - 1);
}

std::uint64_t count_characters(std::string_view text) {
  std::uint64_t count = 0;
  for (std::size_t at = 0; at < text.size(); at += decode(text, at).length) ++count;
  return count;
}

std::size_t offset_of_character(std::string_view text, std::uint64_t count) {
  std::size_t at = 0;
  for (; count > 0 && at < text.size(); --count) at += decode(text, at).length;
  return count == 0 ? at : text.npos;
}

bool is_blank(std::string_view text) {
  return stripped(text).empty();
}

std::string_view stripped(std::string_view text) {
  const auto is_space = [](const Character& character) { return classify(character.code) == CharacterClass::space; };
  while (!text.empty()) {
    const Character first = decode(text, 0);
    if (!is_space(first)) break;
    text.remove_prefix(first.length);
  }
  while (!text.empty()) {
    const Character last = decode_before(text, text.size());
    if (!is_space(last)) break;
    text.remove_suffix(last.length);
  }
  return text;
}

void append_utf8(std::string& text, char32_t code) {
  const auto put = [&](char32_t bits) { text += static_cast<char>(bits); };
  if (code < 0x80) return put(code);
  if (code < 0x800) {
    put(0xC0 | code >> 6);
  } else {
    if (code < 0x10000) {
      put(0xE0 | code >> 12);
    } else {
      put(0xF0 | code >> 18);
      put(0x80 | (code >> 12 & 0x3F));
    }
    put(0x80 | (code >> 6 & 0x3F));
  }
  put(0x80 | (code & 0x3F));
}

}  // namespace heddle::text
