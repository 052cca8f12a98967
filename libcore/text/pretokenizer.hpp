// GPT-2's pre-tokenisation: text is split into the matches, from left to right, of
//   's|'t|'re|'ve|'m|'ll|'d| ?\p{L}+| ?\p{N}+| ?[^\s\p{L}\p{N}]+|\s+(?!\S)|\s+
// over the characters of unicode.hpp, so every byte belongs to exactly one pre-token.
// Source: Radford et al. 2019, "Language models are unsupervised multitask learners", section 2.2 and its released
// code.
#pragma once

#include <cstddef>
#include <string_view>

namespace heddle::text {

// Treatment of marks (general category M) after a letter. GPT-2 cuts words before and after them, so that those of
// Hindi, Thai or pointed Hebrew fall into single letters.
enum class LetterMarks {
  apart,
  joined  // they are part of its word: " ?\p{L}[\p{L}\p{M}]*" in place of " ?\p{L}+"
};

// End of the pre-token that starts at start < text.size(). Nothing before start matters.
std::size_t pretoken_end(std::string_view text, std::size_t start, LetterMarks marks = LetterMarks::apart);

// True where every text that has these bytes around the position, 0 < position < text.size(), is cut at the position;
// both parts may then be pre-tokenised apart. Looks at four bytes to either side. Not all cuts are found: white space
// behaves otherwise at the end of a text, and whether an apostrophe begins a contraction, or a mark belongs to a
// letter, depends on what is further left.
bool is_pretoken_boundary(std::string_view text, std::size_t position, LetterMarks marks = LetterMarks::apart);

}  // namespace heddle::text
