// Classes by asking a language model: how likely is each label after the prompt (Brown et al. 2020; SPEC 7.4)?
#pragma once

#include <span>
#include <vector>

#include "heddle/models/decoder.hpp"

namespace heddle::decoding {

using Tokens = std::vector<TokenId>;

// sum over t of log p(label_t | prompt, label_<t), nats: [prompts][labels]. A prompt loses its beginning where it does
// not fit the context together with the longest label. Throws DataError for an empty label or prompt, and for a label
// that does not fit.
std::vector<std::vector<double>> label_log_likelihoods(const models::Decoder& model, std::span<const Tokens> prompts,
                                                       std::span<const Tokens> labels, Index batch_tokens = 4096);

}  // namespace heddle::decoding
