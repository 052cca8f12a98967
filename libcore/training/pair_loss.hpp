// The loss of sequence-to-sequence models on pairs of texts, whatever made the pairs: translations, or corrupted texts
// that are to be restored.
#pragma once

#include <functional>
#include <span>

#include "libcore/data/pair_batches.hpp"
#include "libcore/models/model.hpp"
#include "libcore/text/tokenizer.hpp"
#include "libcore/training/causal.hpp"
#include "libcore/training/objectives.hpp"

namespace heddle::training {

// Pairs as models read them: targets without their last token, with their sources.
models::Sequences sequences_of(std::span<const data::FramedPair> pairs);

// -mean log p(y_t | y_<t, x) over the tokens of the targets, in nats, recorded when recording: [1].
// divisor: targets of the whole step; 0 means of these pairs.
Variable pair_loss(const models::SequenceToSequence& model, std::span<const data::FramedPair> pairs, const Pass& pass,
                   double divisor, double label_smoothing);

// What stands around the texts of the model's pairs. source_tokenizer: null where both sides have one.
data::PairFrames pair_frames(const models::SequenceToSequence& model, const text::Tokenizer& tokenizer,
                             const text::Tokenizer* source_tokenizer);

// The pairs themselves. Throws DataError for another vocabulary.
const data::PairSource& checked_pairs(const models::SequenceToSequence& model, const data::PairSource& pairs);

// Groups of pairs that the model can read.
data::GroupLimits group_limits(const models::SequenceToSequence& model, Index batch_size,
                               const data::PairOptions& options = {});

// The pairs that the model can read, for evaluation. Throws DataError for another vocabulary and where no pair is left.
data::PairGroups evaluation_groups(const models::SequenceToSequence& model, const data::PairSource& pairs,
                                   const data::PairFrames& frames, const data::GroupLimits& limits);

// The negative log-likelihood of the targets of the groups that hold the first `limit` target tokens (0: all). Throws
// NumericError where a logit is not finite.
Evaluation evaluate(const models::SequenceToSequence& model, const data::PairGroups& groups, Index limit,
                    const Evaluators& by = {});

// The same for inputs of an objective, with the pairs that it makes of their data. Pairs that are longer than the
// model's positions are left out, and counted.
ObjectiveEvaluation evaluate_pairs(const EvaluationInputs& inputs, const data::PairSource& pairs,
                                   const data::PairFrames& frames);

}  // namespace heddle::training
