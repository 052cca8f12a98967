// Byte-pair encoding by scores, as SentencePiece's models have it: of all adjacent pairs whose joined text is a
// segment, the one of the highest score is merged, the leftmost first, until no pair is left that merges. What is
// merged need not be a segment itself.
// Source: Sennrich et al. 2016, algorithm 1; Kudo and Richardson 2018, "SentencePiece".
// Cost: O(n log n) in the characters of the word; about 50 bytes of memory for each.
#pragma once

#include <string_view>

#include "libcore/text/segments.hpp"

namespace heddle::text {

class ScoredMerges {
 public:
  // The segments must outlive this object.
  explicit ScoredMerges(const Segments& segments) : segments_(segments) {}

  // Appends the tokens of a word. Characters in a row that are no segment are one unknown token, or their bytes.
  // Throws NoToken, and DataError for a word of 4 GB.
  void encode(std::string_view word, const TokenOutput& output) const;

 private:
  const Segments& segments_;
};

}  // namespace heddle::text
