// Accents of Latin, Greek and Cyrillic letters. Those of other scripts are more than accents: パ is not ハ, कु not क.
#pragma once

#include <utf8proc.h>

#include <vector>

#include "libcore/text/letter_case.hpp"
#include "libcore/text/origin.hpp"

namespace heddle::text {

// Whether the script is Latin, Greek or Cyrillic, of what is not a combining mark.
bool is_european(char32_t code);

// Characters in the normal form NFC without the nonspacing marks that follow a European letter. Hugging Face's
// normalizers NFD, Replace and NFC do the same with the pattern (?<=[\p{Latin}\p{Greek}\p{Cyrillic}])\p{Mn}+.
class EuropeanAccents {
 public:
  // Calls put(code, origin) for characters that are complete. A removed mark belongs to the letter before; false if
  // that is not known here any more. The code point is beyond ASCII.
  template <class Put>
  bool add(char32_t code, Origin origin, const Put& put) {
    if (!codes_.empty() && !continues_cluster(code)) finish_cluster(put);
    return take(code, origin);
  }

  // A character of ASCII, which stays as it is, comes next.
  template <class Put>
  void pass(char32_t code, const Put& put) {
    finish_cluster(put);
    removes_ = is_ascii_letter(code);
  }

  // The text or word ends.
  template <class Put>
  void end(const Put& put) {
    finish_cluster(put);
    removes_ = false;
  }

 private:
  bool continues_cluster(char32_t code);  // precondition: there is one
  bool take(char32_t code, Origin origin);
  void compose();

  template <class Put>
  void finish_cluster(const Put& put) {
    if (codes_.empty()) return;
    compose();
    const bool one_each = codes_.size() == origins_.size();
    const Origin all{origins_.front().begin, origins_.back().end};
    for (std::size_t i = 0; i < codes_.size(); ++i) put(static_cast<char32_t>(codes_[i]), one_each ? origins_[i] : all);
    codes_.clear();
    origins_.clear();
  }

  bool removes_ = false;                 // nonspacing marks that come next
  std::vector<utf8proc_int32_t> codes_;  // code points of a letter beyond ASCII and its marks, decomposed
  std::vector<Origin> origins_;          // origins of its characters that are not removed
  std::vector<utf8proc_int32_t> parts_;  // code points of the current character
  char32_t last_ = 0;
  utf8proc_int32_t break_state_ = 0;
};

}  // namespace heddle::text
