#include "libcore/text/spelling.hpp"

#include <array>
#include <ostream>

#include "libcore/base/printable.hpp"
#include "libcore/text/unicode.hpp"

namespace heddle::text {

namespace {

constexpr bool is_byte_level(TokenizerKind kind) {
  return kind == TokenizerKind::bpe || kind == TokenizerKind::byte;
}

// GPT-2's alphabet: the code point of each byte, and back.
struct ByteAlphabet {
  std::array<char32_t, 256> codes{};
  std::array<int, 512> bytes{};  // byte of each code point, or -1

  constexpr ByteAlphabet() {
    bytes.fill(-1);
    char32_t next = 0x100;
    for (char32_t byte = 0; byte < 256; ++byte) {
      const bool printable = (byte > 0x20 && byte < 0x7F) || (byte > 0xA0 && byte != 0xAD);
      codes[byte] = printable ? byte : next++;
      bytes[codes[byte]] = static_cast<int>(byte);
    }
  }
};

constexpr ByteAlphabet alphabet;

std::optional<std::string> bytes_of_alphabet(std::string_view spelling) {
  std::string bytes;
  for (std::size_t at = 0; at < spelling.size();) {
    const Character character = decode(spelling, at);
    const int byte = character.code < alphabet.bytes.size() ? alphabet.bytes[character.code] : -1;
    if (byte < 0) return std::nullopt;
    bytes += static_cast<char>(byte);
    at += character.length;
  }
  return bytes;
}

constexpr std::string_view escape_letters = "sntr\\";
constexpr std::string_view escaped_bytes = " \n\t\r\\";
constexpr std::string_view hexadecimal = "0123456789ABCDEF";

void append_escape(std::string& spelling, char raw) {
  spelling += '\\';
  if (const std::size_t which = escaped_bytes.find(raw); which != std::string_view::npos) {
    spelling += escape_letters[which];
    return;
  }
  const auto byte = static_cast<unsigned char>(raw);
  spelling += {'x', hexadecimal[byte >> 4], hexadecimal[byte & 15]};
}

bool needs_escape(char32_t code) {
  return code < 0x20 || code == '\\' || (code >= 0x7F && code < 0xA0) || code == invalid_character ||
         classify(code) == CharacterClass::space;
}

enum class Spaces { escaped, marked };

constexpr Spaces spaces_of(TokenizerKind kind) {
  return kind == TokenizerKind::unigram || kind == TokenizerKind::char_bpe ? Spaces::marked : Spaces::escaped;
}

std::string escape(std::string_view bytes, Spaces spaces = Spaces::escaped) {
  const bool marked = spaces == Spaces::marked;
  std::string spelling;
  for (std::size_t at = 0; at < bytes.size();) {
    const Character character = decode(bytes, at);
    const std::string_view raw = bytes.substr(at, character.length);
    if (marked && raw == " ") {
      spelling += space_mark;
    } else if (needs_escape(character.code) || (marked && raw == space_mark)) {
      for (const char byte : raw) append_escape(spelling, byte);
    } else {
      spelling += raw;
    }
    at += character.length;
  }
  return spelling;
}

std::optional<std::string> unescape(std::string_view spelling, Spaces spaces) {
  std::string bytes;
  for (std::size_t at = 0; at < spelling.size(); ++at) {
    if (spaces == Spaces::marked && spelling.substr(at).starts_with(space_mark)) {
      bytes += ' ';
      at += space_mark.size() - 1;
      continue;
    }
    if (spelling[at] != '\\') {
      bytes += spelling[at];
      continue;
    }
    if (++at == spelling.size()) return std::nullopt;
    if (const std::size_t which = escape_letters.find(spelling[at]); which != std::string_view::npos) {
      bytes += escaped_bytes[which];
      continue;
    }
    if (spelling[at] != 'x' || spelling.size() - at < 3) return std::nullopt;
    const std::size_t high = hexadecimal.find(spelling[at + 1]), low = hexadecimal.find(spelling[at + 2]);
    if (high == std::string_view::npos || low == std::string_view::npos) return std::nullopt;
    bytes += static_cast<char>(high << 4 | low);
    at += 2;
  }
  if (escape(bytes, spaces) != spelling) return std::nullopt;
  return bytes;
}

}  // namespace

std::string byte_name(unsigned char byte) {
  return std::string("<0x") + hexadecimal[byte >> 4] + hexadecimal[byte & 15] + '>';
}

int named_byte(std::string_view spelling) {
  if (spelling.size() != 6 || !spelling.starts_with("<0x") || spelling[5] != '>') return -1;
  const std::size_t high = hexadecimal.find(spelling[3]), low = hexadecimal.find(spelling[4]);
  return high == hexadecimal.npos || low == hexadecimal.npos ? -1 : static_cast<int>(high << 4 | low);
}

std::string spell(TokenizerKind kind, std::string_view bytes) {
  if (kind == TokenizerKind::wordpiece) return std::string(bytes);
  if (!is_byte_level(kind)) return escape(bytes, spaces_of(kind));
  std::string spelling;
  for (const char byte : bytes) append_utf8(spelling, alphabet.codes[static_cast<unsigned char>(byte)]);
  return spelling;
}

std::ostream& operator<<(std::ostream& out, const Quoted& text) {
  constexpr std::size_t most = 60;
  return out << '\'' << escape(text.bytes.substr(0, most)) << (text.bytes.size() > most ? "…'" : "'");
}

std::string shortened(std::string_view text) {
  constexpr std::uint64_t most = 40;
  const std::size_t end = offset_of_character(text, most);
  return printable(text.substr(0, end)) + (end < text.size() ? "…" : "");
}

std::string shown(std::string_view text) {
  return "'" + shortened(text) + "'";
}

std::optional<std::string> unspell(TokenizerKind kind, std::string_view spelling) {
  if (kind == TokenizerKind::wordpiece) return std::string(spelling);
  return is_byte_level(kind) ? bytes_of_alphabet(spelling) : unescape(spelling, spaces_of(kind));
}

}  // namespace heddle::text
