// Zero-shot classification: the log-likelihood of each label after the prompt (Brown et al. 2020; SPEC 7.4).
#pragma once

#include <span>
#include <vector>

#include "libcore/decoding/length_batches.hpp"
#include "libcore/decoding/score.hpp"

namespace heddle::decoding {

// How many tokens a prompt may have if it is to fit the context together with the longest label; at least 1. Throws
// DataError for an empty label, and for one that does not fit.
Index prompt_room(const models::TokenLoss& model, std::span<const Tokens> labels);

// sum over t of log p(label_t | prompt, label_<t), nats: [prompts][labels]. Throws DataError as above, and for a prompt
// that is empty or does not fit.
std::vector<std::vector<double>> label_log_likelihoods(const models::TokenLoss& model, std::span<const Tokens> prompts,
                                                       std::span<const Tokens> labels,
                                                       Index batch_tokens = usual_batch_tokens);

}  // namespace heddle::decoding
