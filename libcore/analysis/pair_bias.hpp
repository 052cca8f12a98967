// Difference in probability of two sentences that differ in a word or two.
//
//   difference = L(first) - L(second), nats
//
// With a model that predicts masked tokens L is the pseudo-log-likelihood of the tokens that both sentences have, so
// that it scores the rest of a sentence given the words in which they differ, not the frequency of these words. With
// one that predicts next tokens it is the log-likelihood of the whole sentence. Source: Nangia et al. 2020,
// "CrowS-Pairs", section 3 (SPEC 7.7).
#pragma once

#include <string_view>
#include <vector>

#include "libcore/data/bias_tests.hpp"
#include "libcore/models/model.hpp"
#include "libcore/text/tokenizer.hpp"

namespace heddle::analysis {

struct PairLikelihoods {
  double first = 0, second = 0;
  double difference() const { return first - second; }
};

// One for each pair, in order. Throws DataError, "FILE:LINE: …", for sentences that do not fit the context or, where
// masked tokens are predicted, have no token in common, for models that lack the tokens it needs, and for models that
// do not predict tokens.  Cost: where masked tokens are predicted, a forward pass for each token.
std::vector<PairLikelihoods> pair_bias(const models::Model& model, const text::Tokenizer& tokenizer,
                                       const data::PairTest& test, std::string_view file);

// The positions in both lists of the tokens of a longest common subsequence.
struct SharedPlaces {
  std::vector<Index> first, second;
};
SharedPlaces shared_places(const std::vector<TokenId>& first, const std::vector<TokenId>& second);

}  // namespace heddle::analysis
