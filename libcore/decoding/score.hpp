// Log-likelihoods of given tokens, and what a model would rather have expected.
#pragma once

#include <span>
#include <tuple>
#include <vector>

#include "libcore/decoding/length_batches.hpp"
#include "libcore/decoding/likely_tokens.hpp"
#include "libcore/models/roles.hpp"

namespace heddle::decoding {

using Tokens = std::vector<TokenId>;

// A text whose tokens starting at `from` are scored; those before, at least one, are the condition.
struct GivenTokens {
  Tokens ids;
  Index from = 1;
  Tokens source{};  // source of a sequence-to-sequence model, including special tokens
};

// The maximum number of tokens in a text: the model reads all but the last one.
Index score_limit(const models::TokenModel& model);

// log p(ids[t] | ids[0 … t)) for each t >= from, in nats. The result for a text does not depend on the others, to the
// bit as far as RowKernels allow. Batches have at most batch_tokens tokens with their padding, or one text.
// Ranks divide the batches (parallel::Divided).
// Throws DataError for texts of more than score_limit() tokens, ShapeError for a text of which nothing is given,
// NumericError where a logit is not finite.
std::vector<std::vector<double>> token_log_probabilities(const models::TokenLoss& model,
                                                         std::span<const GivenTokens> texts,
                                                         Index batch_tokens = usual_batch_tokens);
std::vector<std::vector<double>> token_log_probabilities(const models::SequenceToSequence& model,
                                                         std::span<const GivenTokens> texts,
                                                         Index batch_tokens = usual_batch_tokens);

// The mean of what the models say: the logarithm of the geometric mean of their probabilities, whose sum is less than 1
// where they differ. Precondition: a model at least.
std::vector<std::vector<double>> mean_log_probabilities(std::span<const models::TokenLoss* const> models,
                                                        std::span<const GivenTokens> texts);
std::vector<std::vector<double>> mean_log_probabilities(std::span<const models::SequenceToSequence* const> models,
                                                        std::span<const GivenTokens> texts);

// The distribution in which a given token was scored.
struct TokenPrediction {
  double log_probability;        // log-probability of the token, nats
  Index rank;                    // 1: no token is more probable, or as probable with a lower id
  double entropy;                // entropy of the distribution, nats: the mean surprise of a token drawn from it
  std::vector<LikelyToken> top;  // the most probable tokens

  auto parts() { return std::tie(log_probability, rank, entropy, top); }
  auto parts() const { return std::tie(log_probability, rank, entropy, top); }
};

// The same with more than the log-probabilities, which are those of token_log_probabilities(), to the bit.
std::vector<std::vector<TokenPrediction>> token_predictions(const models::TokenLoss& model,
                                                            std::span<const GivenTokens> texts,
                                                            const LikelyOptions& options);
std::vector<std::vector<TokenPrediction>> token_predictions(const models::SequenceToSequence& model,
                                                            std::span<const GivenTokens> texts,
                                                            const LikelyOptions& options);

// The same of the tokens at the places, each predicted from all others while it alone is masked (Salazar et al. 2020,
// "Masked language model scoring").
std::vector<double> masked_log_probabilities(const models::MaskedPredictor& model, const Tokens& ids,
                                             std::span<const Index> places, TokenId mask,
                                             Index batch_tokens = usual_batch_tokens);
std::vector<TokenPrediction> masked_predictions(const models::MaskedPredictor& model, const Tokens& ids,
                                                std::span<const Index> places, TokenId mask,
                                                const LikelyOptions& options);

// Cuts a text that the model cannot read at once: the first part fills the context; each further one scores half a
// context of tokens after the other half. Together the parts score all tokens but the first.
std::vector<GivenTokens> scored_parts(const models::TokenModel& model, const Tokens& ids);

}  // namespace heddle::decoding
