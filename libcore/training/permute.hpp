// The permutation objective: predict tokens in a random order, each from those before it in that order (XLNet;
// SPEC 4.6).
#pragma once

#include "libcore/training/masked.hpp"

namespace heddle::training {

// -mean log p(x_t | x_s of lower rank) over the selected tokens of the step, in nats: [1]. Logits are computed for
// these only, from their query states, which exist for all tokens.
Variable permuted_loss(const models::PermutationPredictor& model, const data::MaskedBatch& batch, const Pass& pass,
                       const Counts& step, double label_smoothing);

// The windows on which every such model is evaluated: one in six tokens is predicted, always the same ones in the same
// orders; `time` tokens each, 0: as many as in training.
data::MaskedWindows evaluation_windows(const models::PermutationPredictor& model, const data::TokenSource& tokens,
                                       const data::MaskVocabulary& vocabulary, Index time = 0);

// As that of masked tokens.
MaskedEvaluation evaluate(const models::PermutationPredictor& model, const data::MaskedWindows& windows, Index limit,
                          Index batch_size, const Evaluators& by = {});

}  // namespace heddle::training
