#include "libcore/base/printable.hpp"

#include <algorithm>
#include <cstdint>

#include "libcore/base/error.hpp"
#include "libcore/base/strings.hpp"

namespace heddle {

namespace {

// Bytes of the character at the beginning, which is UTF-8 as far as its first byte says; 0 where it is none.
std::size_t character_length(std::string_view text) {
  const auto lead = static_cast<unsigned char>(text.front());
  const std::size_t length = lead < 0x80 ? 1 : lead < 0xC0 ? 0 : lead < 0xE0 ? 2 : lead < 0xF0 ? 3 : 4;
  return length <= text.size() && is_utf8(text.substr(0, length)) ? length : 0;
}

std::uint32_t code_of(std::string_view character) {
  const auto lead = static_cast<unsigned char>(character.front());
  if (character.size() == 1) return lead;
  std::uint32_t code = lead & (0x7Fu >> character.size());
  for (const char byte : character.substr(1)) code = code << 6 | (static_cast<unsigned char>(byte) & 0x3F);
  return code;
}

// Control characters, line ends, and what changes the direction of writing: U+061C, U+200E, U+200F and others.
bool controls(std::uint32_t code) {
  return code < 0x20 || (code >= 0x7F && code < 0xA0) || code == 0x061C || code == 0x200E || code == 0x200F ||
         (code >= 0x2028 && code <= 0x202E) || (code >= 0x2066 && code <= 0x2069);
}

std::string show(std::string_view text, std::string_view kept) {
  constexpr std::string_view digits = "0123456789abcdef";
  std::string shown;
  shown.reserve(text.size());
  while (!text.empty()) {
    const std::size_t length = character_length(text);
    const std::string_view character = text.substr(0, std::max<std::size_t>(length, 1));
    const bool as_it_is = length > 0 && (!controls(code_of(character)) || kept.find(text.front()) != kept.npos);
    if (as_it_is) {
      shown += character;
    } else {
      for (const char byte : character) {
        const auto code = static_cast<unsigned char>(byte);
        shown += {'\\', 'x', digits[code >> 4], digits[code & 15]};
      }
    }
    text.remove_prefix(character.size());
  }
  return shown;
}

}  // namespace

std::string printable(std::string_view text) {
  return show(text, "");
}

std::string printable_lines(std::string_view text) {
  return show(text, "\n\t");
}

std::string printable_message(std::string_view text) {
  constexpr std::size_t most = 10000, first = 7000, last = 2000;
  if (text.size() <= most) return printable(text);
  const auto begins_character = [&](std::size_t at) { return (static_cast<unsigned char>(text[at]) & 0xC0) != 0x80; };
  std::size_t end = first, begin = text.size() - last;
  while (end > 0 && !begins_character(end)) --end;
  while (begin < text.size() && !begins_character(begin)) ++begin;
  return concatenate(printable(text.substr(0, end)), " … ", printable(text.substr(begin)));
}

bool is_printable(std::string_view text) {
  return printable(text) == text;
}

std::string printable_json(const std::string& json) {
  // Control characters below U+0020 are escaped in any JSON; the others begin with these bytes.
  constexpr std::string_view first_bytes = "\x7F\xC2\xD8\xE2", digits = "0123456789abcdef";
  std::string shown;
  std::string_view rest = json;
  while (true) {
    const std::size_t plain = rest.find_first_of(first_bytes);
    shown += rest.substr(0, plain);
    if (plain == rest.npos) return shown;
    rest.remove_prefix(plain);
    const std::size_t length = character_length(rest);
    const std::string_view character = rest.substr(0, std::max<std::size_t>(length, 1));
    const std::uint32_t code = length > 0 ? code_of(character) : 0;
    if (length > 0 && controls(code)) {
      shown += {'\\', 'u', digits[code >> 12], digits[code >> 8 & 15], digits[code >> 4 & 15], digits[code & 15]};
    } else {
      shown += character;
    }
    rest.remove_prefix(character.size());
  }
}

}  // namespace heddle
