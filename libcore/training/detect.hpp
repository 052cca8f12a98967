// The detection objective: a generator predicts masked tokens, some of which are drawn from what it predicts; the model
// says of every token whether it is the original one.
// Source: Clark et al. 2020, "ELECTRA", section 2.
#pragma once

#include "libcore/training/masked.hpp"

namespace heddle::training {

// A text in which tokens may be replaced.
struct ReplacedTokens {
  models::Sequences sequences;
  std::vector<Index> rows;     // all tokens without padding: batch * time + position
  std::vector<char> replaced;  // for each: 1 if the token is not the original one
};

// Puts in place of each masked token one drawn from softmax(logits), [masked tokens, vocab]. The random number of a
// token depends on the pass's seed and step, on its sample in the step and on its position alone.
ReplacedTokens replace_masked(const data::MaskedBatch& batch, const Tensor& logits, const Pass& pass);

// The generator's loss of masked tokens, as in masked_loss(), plus weight times the mean over all tokens of the step of
// -log p(replaced or not), in nats: [1]. No gradient flows through the choice of replacements.
Variable detection_loss(const models::ReplacementDetector& model, const data::MaskedBatch& batch, const Pass& pass,
                        const Counts& step, double detection_weight, double label_smoothing);

struct DetectionEvaluation {
  MaskedEvaluation masked;                    // evaluation of the generator
  Index tokens = 0, right = 0, replaced = 0;  // all tokens, those rightly judged, and those that are not the original
  double nats = 0;                            // total loss of the discriminator
  DetectionEvaluation& operator+=(const DetectionEvaluation& other);
};

// Evaluates the windows on which encoders are evaluated, with replacements that are always drawn with the same random
// numbers. Throws NumericError where a logit is not finite.
DetectionEvaluation evaluate_detection(const models::ReplacementDetector& model, const data::MaskedWindows& windows,
                                       Index limit, Index batch_size, const Evaluators& by = {});

}  // namespace heddle::training
