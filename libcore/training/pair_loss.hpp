// The loss on pairs of texts, whatever made the pairs: translations, corrupted texts that are to be restored, prompts
// and responses.
#pragma once

#include <functional>
#include <optional>
#include <span>

#include "libcore/data/pair_batches.hpp"
#include "libcore/models/model.hpp"
#include "libcore/text/tokenizer.hpp"
#include "libcore/training/causal.hpp"
#include "libcore/training/objectives.hpp"

namespace heddle::training {

// A model of pairs: one that reads sources apart from targets, or one that reads them as one text.
struct PairModel {
  PairModel(const models::SequenceToSequence& model);
  PairModel(const models::TokenLoss& model);

  const models::TokenModel& model;
  const heads::TokenHead& head;
  // The states that predict the next tokens of the targets, [batch, time, width].
  std::function<Variable(const models::Sequences& targets, const Pass& pass)> hidden;
  bool reads_sources;
  Index source_vocab_size;
  std::optional<Index> max_source;  // positions
};

// Pairs as models read them: targets without their last token, with their sources where these are read apart.
models::Sequences sequences_of(std::span<const data::FramedPair> pairs, bool reads_sources = true);

// -mean log p(y_t | y_<t, x) over the tokens of the targets, in nats, recorded when recording: [1].
// divisor: targets of the whole step; 0 means of these pairs.
Variable pair_loss(const PairModel& model, std::span<const data::FramedPair> pairs, const Pass& pass, double divisor,
                   double label_smoothing);

// Special tokens around the texts of the model's pairs. source_tokenizer: null where both sides have one.
data::PairFrames pair_frames(const models::SequenceToSequence& model, const text::Tokenizer& tokenizer,
                             const text::Tokenizer* source_tokenizer);

// The pairs themselves. Throws DataError for another vocabulary.
const data::PairSource& checked_pairs(const PairModel& model, const data::PairSource& pairs);

// Groups of pairs that the model can read.
data::GroupLimits group_limits(const PairModel& model, Index batch_size, const data::PairOptions& options = {});

// The pairs that the model can read, for evaluation. Throws DataError for another vocabulary and where no pair is left.
data::PairGroups evaluation_groups(const PairModel& model, const data::PairSource& pairs,
                                   const data::PairFrames& frames, const data::GroupLimits& limits);

// The negative log-likelihood of the targets of the groups that hold the first `limit` target tokens (0: all). Throws
// NumericError where a logit is not finite.
Evaluation evaluate(const PairModel& model, const data::PairGroups& groups, Index limit, const Evaluators& by = {});

// The same for inputs of an objective, with the pairs that it makes of their data. Pairs that are longer than the
// model's positions are left out, and counted.
ObjectiveEvaluation evaluate_pairs(const EvaluationInputs& inputs, const PairModel& model,
                                   const data::PairSource& pairs, const data::PairFrames& frames);

}  // namespace heddle::training
