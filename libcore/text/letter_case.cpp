#include "libcore/text/letter_case.hpp"

#include <utf8proc.h>

#include "libcore/text/unicode.hpp"

namespace heddle::text {

namespace {

constexpr char32_t capital_sigma = 0x3A3, dotted_capital_i = 0x130, dot_above = 0x307;

// The property Cased, but for modifier letters, which are ignored anyway.
bool is_cased(char32_t code) {
  if (code < 0x80) return is_ascii_letter(code);
  switch (utf8proc_category(static_cast<utf8proc_int32_t>(code))) {
    case UTF8PROC_CATEGORY_LU:
    case UTF8PROC_CATEGORY_LL:
    case UTF8PROC_CATEGORY_LT:
      return true;
    default:
      break;
  }
  return code == 0xAA || code == 0xBA || (code >= 0x2160 && code <= 0x217F) || (code >= 0x24B6 && code <= 0x24E9) ||
         (code >= 0x1F130 && code <= 0x1F149) || (code >= 0x1F150 && code <= 0x1F169) ||
         (code >= 0x1F170 && code <= 0x1F189);
}

// The property Case_Ignorable: marks, format characters, modifiers, and punctuation within words.
bool is_case_ignorable(char32_t code) {
  constexpr std::u32string_view within_words =
      U"'.:^`\u00B7\u0387\u055F\u05F4\u2018\u2019\u2024\u2027\uFE13\uFE52"
      U"\uFE55\uFF07\uFF0E\uFF1A";
  if (within_words.find(code) != within_words.npos) return true;
  if (code < 0x80) return false;
  switch (utf8proc_category(static_cast<utf8proc_int32_t>(code))) {
    case UTF8PROC_CATEGORY_MN:
    case UTF8PROC_CATEGORY_ME:
    case UTF8PROC_CATEGORY_CF:
    case UTF8PROC_CATEGORY_LM:
    case UTF8PROC_CATEGORY_SK:
      return true;
    default:
      return false;
  }
}

}  // namespace

void LowerCase::append_wide(std::string& text, char32_t code) {
  if (code == dotted_capital_i) {
    text += 'i';
    append_utf8(text, dot_above);
  } else {
    append_utf8(text, static_cast<char32_t>(utf8proc_tolower(static_cast<utf8proc_int32_t>(code))));
  }
}

void LowerCase::note(std::string& text, char32_t code) {
  if (is_case_ignorable(code)) return;
  const bool cased = is_cased(code);
  if (!cased) end(text);
  sigma_ = code == capital_sigma && after_cased_ ? text.size() : text.npos;
  after_cased_ = cased;
}

void LowerCase::end(std::string& text) {
  constexpr std::string_view final_sigma = "\u03C2";
  if (sigma_ != text.npos) text.replace(sigma_, final_sigma.size(), final_sigma);
  sigma_ = text.npos;
  after_cased_ = false;
}

std::string in_lower_case(std::string_view text) {
  std::string lower;
  LowerCase letters(true);
  for (std::size_t at = 0; at < text.size();) {
    const Character character = decode(text, at);
    if (character.code == invalid_character) {
      letters.end(lower);
      lower += text.substr(at, character.length);
    } else {
      letters.append(lower, character.code);
    }
    at += character.length;
  }
  letters.end(lower);
  return lower;
}

}  // namespace heddle::text
