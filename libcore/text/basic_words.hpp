// BERT's basic tokenisation: text is cleaned, normalised and split into words. Control characters and invalid UTF-8 are
// removed; white space separates; every punctuation character and every Chinese character is a word of its own.
// Source: Devlin et al. 2019, "BERT", appendix A.2 and its released code, whose treatment of characters Hugging Face's
// BertNormalizer and BertPreTokenizer share. Categories are those of utf8proc's Unicode.
#pragma once

#include <cstddef>
#include <functional>
#include <span>
#include <string_view>

#include "libcore/text/accents.hpp"
#include "libcore/text/origin.hpp"
#include "libcore/text/tokenizer_model.hpp"

namespace heddle::text {

struct BasicWords {
  bool lowercase = true;
  bool strip_accents = true;      // canonical decomposition without its nonspacing marks
  bool european_accents = false;  // with strip_accents: only for European letters, see accents.hpp
  bool final_sigma = false;       // with lowercase: see letter_case.hpp
};

// Settings of the words of a wordpiece tokenizer.
BasicWords basic_words(const TokenizerModel& model);

// Calls take(word) for each word in order; the bytes are only good during the call.
void for_each_basic_word(std::string_view text, const BasicWords& options,
                         const std::function<void(std::string_view)>& take);

// The same words, with the origin of each byte. An accent that was taken away belongs to the character before.
void for_each_located_word(std::string_view text, const BasicWords& options,
                           const std::function<void(std::string_view, std::span<const Origin>)>& take);

// Role of a character: part of a word, a space, a word alone (the general category P, and the symbols of ASCII), or
// nothing.
enum class BasicRole { part, space, alone, dropped };
BasicRole wide_role(char32_t code);  // role of a character beyond ASCII
constexpr BasicRole ascii_role(char32_t code) {
  if (code == ' ' || code == '\t' || code == '\n' || code == '\r') return BasicRole::space;
  if (code < ' ' || code >= 0x7F) return BasicRole::dropped;
  const bool is_letter = (code | 0x20U) >= 'a' && (code | 0x20U) <= 'z';
  return is_letter || (code >= '0' && code <= '9') ? BasicRole::part : BasicRole::alone;
}
inline BasicRole basic_role(char32_t code) {
  return code < 0x80 ? ascii_role(code) : wide_role(code);
}
bool is_chinese(char32_t code);

// True if every text with these bytes around the position may be split there: next to white space.
bool is_basic_boundary(std::string_view text, std::size_t position);

}  // namespace heddle::text
