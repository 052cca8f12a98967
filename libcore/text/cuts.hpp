// Splitting text into words: one or several steps, each of which splits the words of the step before.
//   gpt2               GPT-2's pre-tokens (pretokenizer.hpp)
//   gpt2-marks         the same, but marks after a letter are part of its word
//   punctuation        runs of punctuation, and what is between them
//   punctuation-marks  each punctuation mark, and what is between them
//   digits, digit-runs each number character, or runs of them
//   digit-triples      three digits from 0 to 9 at a time, and what is between them
//   byte-digits        runs of digits of GPT-2's alphabet, and what is between them: 0 to 9, and the bytes 0xB2, 0xB3,
//                      0xB9 and 0xBC to 0xBE, which are spelled as the digits of Latin-1
//   white-space        what is between white space
//   words              runs of word characters, and of others that are not white space
//   whole              not at all
//   prefix-space       not at all, but with a space before it where there is none
//   split              by an expression (expression.hpp). After it, each after a tab, are the expression, what becomes
//                      of its matches (split.hpp) and, if they are what it does not match, "inverted"
// Source: Hugging Face's pre-tokenisers ByteLevel, Punctuation, Digits (byte-digits: after ByteLevel), WhitespaceSplit,
// Whitespace and Split.
#pragma once

#include <cstddef>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "libcore/text/origin.hpp"
#include "libcore/text/pretokenizer.hpp"
#include "libcore/text/split.hpp"

namespace heddle::text {

// A word as a part of `source`, which is the text, or a copy of a piece of it with a space before.
struct CutWord {
  std::string_view source;
  std::size_t begin, end;
  std::size_t at;        // offset of the word in the text
  bool has_added_space;  // its first byte is a space that is not in the text

  std::string_view bytes() const { return source.substr(begin, end - begin); }
  std::vector<Origin> origins() const;
};

// Pattern of the step punctuation-marks.
inline constexpr const char* punctuation_expression = R"([!-/:-@\[-`{-~\p{P}])";

class CutStep {
 public:
  virtual ~CutStep() = default;
  virtual void for_each(std::string_view text, const Split::Take& take) const = 0;
  // Holds for every text that has these bytes around the position, 0 < position < text.size(). Reads four bytes on
  // either side.
  virtual Side side(std::string_view text, std::size_t position) const = 0;
  virtual bool adds_space() const { return false; }
};

class Cuts {
 public:
  // The names above; no names mean gpt2. Throws DataError for others.
  explicit Cuts(const std::vector<std::string>& names);

  // Calls take(word) for each CutWord in order.
  template <class Take>
  void for_each(std::string_view text, Take&& take) const {
    if (!is_gpt2_) return apply(0, {text, 0, text.size(), 0, false}, take);
    for (std::size_t begin = 0; begin < text.size();) {
      const std::size_t end = pretoken_end(text, begin);
      take(CutWord{text, begin, end, begin, false});
      begin = end;
    }
  }

  // True if every text with these bytes around the position, 0 < position < text.size(), is split there, so that both
  // parts may be processed independently. Reads four bytes on either side.
  bool is_boundary(std::string_view text, std::size_t position) const;

  // Whether words are the text, cut.
  bool keep_all_bytes() const { return is_gpt2_; }

 private:
  using TakeWord = std::function<void(const CutWord&)>;
  void apply(std::size_t step, const CutWord& piece, const TakeWord& take) const;

  std::vector<std::unique_ptr<const CutStep>> steps_;
  bool is_gpt2_;
};

}  // namespace heddle::text
