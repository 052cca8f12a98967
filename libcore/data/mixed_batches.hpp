// Windows of a token stream of which some are read from left to right, to predict each next token, and the others as a
// whole, to predict masked tokens.
#pragma once

#include "libcore/data/masked_batches.hpp"
#include "libcore/data/token_batches.hpp"

namespace heddle::data {

// The windows of the batch with some of their tokens masked, never the first ones, before which no token stands that
// could predict them; no rows where there is nothing to mask. The masks of window i are a function of (seed, first +
// i).
MaskedBatch masked_copy(const TokenBatch& batch, const MaskVocabulary& vocabulary, const MaskingOptions& masking,
                        std::uint64_t seed, Index first);

struct MixedText {
  Index time;              // tokens of a window
  double causal;           // fraction of the windows that are read from left to right, from 0 to 1
  Index samples_per_step;  // windows of a step
  MaskingOptions masking{};
  std::uint64_t seed = 0;
};

// The windows of TrainingWindows, without special tokens around them. The first ones of each step are causal, in all
// steps so far as many as the fraction says, to the nearest.
class MixedWindows {
 public:
  // Throws as TrainingWindows does.
  MixedWindows(const TokenSource& source, MaskVocabulary vocabulary, const MixedText& text);

  Index windows_per_epoch() const { return windows_.windows_per_epoch(); }
  Index offset_of(Index sample) const { return windows_.offset_of(sample); }
  const TokenSource& source() const { return windows_.source(); }
  // The number of causal samples in the step that sample `first` belongs to.
  Index causal_of_step(Index first) const;

  struct Batch {
    TokenBatch causal;   // batch = 0: none
    MaskedBatch masked;  // the rows after them; batch = 0: none
  };
  // Samples [first, first + count), which belong to one step. Throws DataError where there is nothing to mask.
  Batch batch(Index first, Index count) const;

 private:
  MaskVocabulary vocabulary_;
  MixedText text_;
  TrainingWindows windows_;
};

}  // namespace heddle::data
