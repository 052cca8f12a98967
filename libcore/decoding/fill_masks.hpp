// Predictions for masked tokens: p(x_i | the other tokens).
// Source: Devlin et al. 2019, "BERT", section 3.1 (SPEC 4.3).
#pragma once

#include <span>
#include <vector>

#include "libcore/data/task_examples.hpp"
#include "libcore/decoding/likely_tokens.hpp"
#include "libcore/models/roles.hpp"

namespace heddle::decoding {

// For each sequence and each of its `positions` the most probable tokens, sorted by falling probability, then by id:
// [sequences][positions][top]. Every position is filled independently, while other masks in the sequence stay masked.
// The result for a sequence does not depend on the others, to the bit as far as RowKernels allow.
// Throws NumericError where a logit is not finite.
std::vector<std::vector<std::vector<LikelyToken>>> fill_masks(const models::MaskedPredictor& model,
                                                              std::span<const data::TaskExample> sequences,
                                                              const LikelyOptions& options);

}  // namespace heddle::decoding
