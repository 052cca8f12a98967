// How text is split into words: one or several steps, each of which splits the words of the step before.
//   gpt2           GPT-2's pre-tokens (pretokenizer.hpp)
//   punctuation    runs of punctuation, and what is between them
//   byte-digits    runs of digits of GPT-2's alphabet, and what is between them: 0 to 9, and the bytes 0xB2, 0xB3, 0xB9
//                  and 0xBC to 0xBE, which are spelled as the digits of Latin-1
//   digit-triples  three digits from 0 to 9 at a time, and what is between them
// Source: Hugging Face's pre-tokenisers ByteLevel, Punctuation (contiguous), Digits after ByteLevel, and Split by
// [0-9][0-9][0-9] (isolated), as Falcon has them one after the other.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "libcore/base/visit.hpp"
#include "libcore/text/pretokenizer.hpp"

namespace heddle::text {

enum class Cut { gpt2, punctuation, byte_digits, digit_triples };

class Cuts {
 public:
  // The names above; no names mean gpt2. Throws DataError for others.
  explicit Cuts(const std::vector<std::string>& names);

  // Calls take(begin, end) for each word in order.
  template <class Take>
  void for_each(std::string_view text, Take&& take) const {
    if (cuts_.size() > 1) return apply(text, 0, text.size(), 0, take);
    for (std::size_t begin = 0; begin < text.size();) {
      const std::size_t end = cuts_[0] == Cut::gpt2 ? pretoken_end(text, begin) : word_end(cuts_[0], text, begin);
      take(begin, end);
      begin = end;
    }
  }

  // True if every text with these bytes around the position, 0 < position < text.size(), is split there, so that both
  // parts may be processed independently. Reads four bytes on either side.
  bool is_boundary(std::string_view text, std::size_t position) const;

 private:
  template <class Take>
  void apply(std::string_view text, std::size_t begin, std::size_t end, std::size_t depth, Take& take) const {
    const Cut cut = cuts_[depth];
    const std::string_view part = text.substr(0, end);
    while (begin < end) {
      const std::size_t next = word_end(cut, part, begin);
      if (depth + 1 == cuts_.size()) {
        take(begin, next);
      } else {
        apply(part, begin, next, depth + 1, take);
      }
      begin = next;
    }
  }
  static std::size_t word_end(Cut cut, std::string_view text, std::size_t begin);

  std::vector<Cut> cuts_;
};

}  // namespace heddle::text

template <>
struct heddle::Names<heddle::text::Cut> {
  static constexpr std::pair<text::Cut, std::string_view> list[] = {{text::Cut::gpt2, "gpt2"},
                                                                    {text::Cut::punctuation, "punctuation"},
                                                                    {text::Cut::byte_digits, "byte-digits"},
                                                                    {text::Cut::digit_triples, "digit-triples"}};
};
