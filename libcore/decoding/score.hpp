// Log-likelihoods of given tokens.
#pragma once

#include <span>
#include <vector>

#include "heddle/models/roles.hpp"

namespace heddle::decoding {

using Tokens = std::vector<TokenId>;

// A text whose tokens starting at `from` are scored; those before, at least one, are the condition.
struct GivenTokens {
  Tokens ids;
  Index from = 1;
  Tokens source{};  // of sequence-to-sequence models, with the special tokens around it
};

// The maximum number of tokens in a text: the model reads all but the last one.
Index score_limit(const models::TokenModel& model);

// log p(ids[t] | ids[0 … t)) for each t >= from, in nats. The result for a text does not depend on the others, to the
// bit as far as RowKernels allow. Batches have at most batch_tokens tokens with their padding, or one text.
// Throws DataError for texts of more than score_limit() tokens, ShapeError for a text of which nothing is given,
// NumericError where a logit is not finite.
std::vector<std::vector<double>> token_log_probabilities(const models::TokenLoss& model,
                                                         std::span<const GivenTokens> texts, Index batch_tokens = 4096);
std::vector<std::vector<double>> token_log_probabilities(const models::SequenceToSequence& model,
                                                         std::span<const GivenTokens> texts, Index batch_tokens = 4096);

}  // namespace heddle::decoding
