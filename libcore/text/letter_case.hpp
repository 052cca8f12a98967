// Lower case as Unicode defines it for texts of any language: the simple mappings, and those of SpecialCasing.txt that
// need no locale. İ becomes i and a combining dot; Σ becomes ς at the end of a word, σ elsewhere.
// Source: The Unicode Standard, section 3.13 "Default Case Algorithms", which Python's str.lower() follows, too.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace heddle::text {

inline bool is_ascii_letter(char32_t code) {
  return (code >= 'a' && code <= 'z') || (code >= 'A' && code <= 'Z');
}

// Appends the characters of a text in lower case, one by one: the end of a word is known only after it.
class LowerCase {
 public:
  // final_sigma = false: Σ always becomes σ.
  explicit LowerCase(bool final_sigma) : final_sigma_(final_sigma) {}

  // Precondition: the text has what was appended since the last end(), at the places where it was appended, and the
  // code point is one that UTF-8 can encode.
  void append(std::string& text, char32_t code) {
    if (is_ascii_letter(code)) {  // the same as note()
      sigma_ = std::string::npos;
      after_cased_ = true;
    } else if (final_sigma_) {
      note(text, code);
    }
    if (code >= 0x80) return append_wide(text, code);
    text += static_cast<char>(code >= 'A' && code <= 'Z' ? code + 0x20 : code);
  }
  // The text or word ends.
  void end(std::string& text);

 private:
  void note(std::string& text, char32_t code);
  static void append_wide(std::string& text, char32_t code);  // beyond ASCII

  bool final_sigma_;
  bool after_cased_ = false;               // whether a letter with case comes before, perhaps with marks after it
  std::size_t sigma_ = std::string::npos;  // offset of a σ that becomes ς if no letter with case follows
};

// Bytes that are not UTF-8 stay as they are.
std::string in_lower_case(std::string_view text);

}  // namespace heddle::text
