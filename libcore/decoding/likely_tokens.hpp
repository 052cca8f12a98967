// The most probable tokens of a distribution.
#pragma once

#include <vector>

#include "libcore/decoding/length_batches.hpp"
#include "libcore/tensor/tensor.hpp"

namespace heddle::decoding {

struct LikelyToken {
  TokenId id = 0;
  double probability = 0;  // among all tokens of the model
};

struct LikelyOptions {
  Index top = 1;         // tokens wanted of each distribution
  Index vocab_size = 0;  // only tokens below it; 0: all
  // The maximum of tokens in a batch, padding included, unless one sequence is longer.
  Index batch_tokens = usual_batch_tokens;
};

// Sorted by falling probability, then by id. `log_sum` is log_sum_exp(logits, vocab).
std::vector<LikelyToken> most_likely(const Real* logits, Index vocab, double log_sum, const LikelyOptions& options);

}  // namespace heddle::decoding
