#include "libcore/text/plain_words.hpp"

#include <utf8proc.h>

#include "libcore/base/printable.hpp"
#include "libcore/text/unicode.hpp"

namespace heddle::text {

namespace {

// A format character such as a soft hyphen counts as one, too.
bool is_word_mark(char32_t code) {
  if (code < 0x80 || code == invalid_character) return false;
  switch (utf8proc_category(static_cast<utf8proc_int32_t>(code))) {
    case UTF8PROC_CATEGORY_MN:
    case UTF8PROC_CATEGORY_MC:
    case UTF8PROC_CATEGORY_ME:
    case UTF8PROC_CATEGORY_CF:
      return true;
    default:
      return false;
  }
}

bool separates(char32_t code) {
  constexpr char32_t zero_width_space = 0x200B;
  return classify(code) == CharacterClass::space || code == zero_width_space;
}

bool is_inside(char32_t code) {
  const CharacterClass kind = classify(code);
  return kind == CharacterClass::letter || kind == CharacterClass::number || (is_word_mark(code) && !separates(code));
}

// Whether the character joins what is on both sides of it.
bool joins(char32_t before, char32_t code, char32_t after) {
  const auto are = [&](CharacterClass kind) { return classify(before) == kind && classify(after) == kind; };
  if (code == U'\'' || code == U'\u2019') return are(CharacterClass::letter);
  return (code == U'.' || code == U',' || code == U':') && are(CharacterClass::number);
}

// End of a word that begins with a letter, number or mark.
std::size_t end_of_word(std::string_view text, std::size_t at) {
  for (char32_t last = 0; at < text.size();) {
    const auto [code, length] = decode(text, at);
    const std::size_t next = at + length;
    if (is_inside(code)) {
      last = is_word_mark(code) ? last : code;
      at = next;
    } else if (next < text.size() && joins(last, code, decode(text, next).code)) {
      at = next;
    } else {
      return at;
    }
  }
  return at;
}

// End of the repetitions of the grapheme at the position.
std::size_t end_of_same(std::string_view text, std::size_t at) {
  const std::string_view first = text.substr(at, grapheme_end(text, at) - at);
  do {
    at += first.size();
  } while (text.substr(at, first.size()) == first && grapheme_end(text, at) == at + first.size());
  return at;
}

}  // namespace

std::vector<PlainWord> plain_words(std::string_view text) {
  std::vector<PlainWord> words;
  for (std::size_t at = 0; at < text.size();) {
    const auto [code, length] = decode(text, at);
    if (separates(code)) {
      at += length;
      continue;
    }
    const std::size_t end = is_inside(code) ? end_of_word(text, at) : end_of_same(text, at);
    words.push_back({at, end});
    at = end;
  }
  return words;
}

}  // namespace heddle::text
