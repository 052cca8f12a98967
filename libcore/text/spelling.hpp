// Pieces are byte strings; files and terminals show them as printable UTF-8 text without spaces, which can be converted
// back. Byte-level kinds (bpe, byte) spell each byte as one character of GPT-2's alphabet: printable Latin-1 as it is,
// the other 68 bytes as U+0100, U+0101, … ("Ġthe" is " the"). The others (char, word) spell characters as they are, a
// space \s, and \n, \r, \t, \\ and \xHH for line ends, backslashes and every other byte of white space, control
// characters and invalid UTF-8; unigram and char-bpe too, but a space is SentencePiece's "▁", and that character itself
// is three \xHH. Pieces of wordpiece are words, which have no blanks, and are spelled as they are.
#pragma once

#include <iosfwd>
#include <optional>
#include <string>
#include <string_view>

#include "libcore/text/tokenizer_model.hpp"

namespace heddle::text {

// Prefix of wordpiece pieces that continue a word.
inline constexpr std::string_view continuation_mark = "##";

// Spelling of a space in pieces of unigram and char-bpe.
inline constexpr std::string_view space_mark = "\u2581";

// Unigram's and char-bpe's spelling of a fallback byte, "<0x41>", and the byte of such a spelling, or -1.
std::string byte_name(unsigned char byte);
int named_byte(std::string_view spelling);

std::string spell(TokenizerKind kind, std::string_view bytes);

// The bytes, or nothing where spell() gives no such text.
std::optional<std::string> unspell(TokenizerKind kind, std::string_view spelling);

// Writes any bytes into a message: in quotation marks, escaped as in words, and cut where they are long.
struct Quoted {
  std::string_view bytes;
};
inline Quoted quoted(std::string_view bytes) {
  return {bytes};
}
std::ostream& operator<<(std::ostream& out, const Quoted& text);

// A label, a word or a sentence in a message: in quotation marks, cut where it is long, without what a terminal would
// obey.
std::string shown(std::string_view text);
// The same without quotation marks.
std::string shortened(std::string_view text);

}  // namespace heddle::text
