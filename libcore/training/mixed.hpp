// The mixed objective: a part of the sequences is read from left to right, to predict each next token, the others as a
// whole, to predict masked tokens, by one model with one head (models::MixedPredictor).
// Source: Charpentier and Samuel 2024, "GPT or BERT: why not both?", section 2; see also Lv et al. 2023, "An analysis
// and mitigation of the reversal curse", for the prediction of masked tokens at the position before them.
#pragma once

#include "libcore/data/mixed_batches.hpp"
#include "libcore/training/masked.hpp"

namespace heddle::training {

// The part of a batch in the loss of a step in which `causal` samples of all are causal, in nats: [1]. The loss of the
// step is, of the mean losses of next tokens and of masked ones, the mean by how many samples they are of, as in the
// published code, where as many processors as the ratio says compute either mean.
Variable mixed_loss(const models::MixedPredictor& model, const data::MixedWindows::Batch& batch, const Pass& pass,
                    const Counts& step, Index causal, double label_smoothing);

struct MixedEvaluation {
  Index tokens = 0;  // predicted as next ones
  double nats = 0;   // their total
  MaskedEvaluation masked;
  double next_loss() const { return nats / static_cast<double>(tokens); }
};

// Evaluates the windows of the first `limit` tokens (0: all) with `time` tokens each (0: as many as in training), read
// from left to right and, with 15 % of single tokens masked, always the same ones, as a whole. Throws DataError for a
// text with nothing to mask, and NumericError where a logit is not finite.
struct MixedEvaluationRun {
  Index time = 0, limit = 0, batch_size = 8;
  Evaluators by{};
};
MixedEvaluation evaluate(const models::MixedPredictor& model, const data::TokenSource& tokens,
                         const data::MaskVocabulary& vocabulary, const MixedEvaluationRun& run);

}  // namespace heddle::training
