// The translation objective: predict each token of a target text from its source text and the target tokens before it,
// which are given (teacher forcing; SPEC 4.1).
#pragma once

#include <optional>

#include "libcore/data/pair_batches.hpp"
#include "libcore/models/model.hpp"
#include "libcore/text/tokenizer.hpp"
#include "libcore/training/causal.hpp"
#include "libcore/training/objectives.hpp"
#include "libcore/training/training_config.hpp"

namespace heddle::training {

// Pairs as models read them: targets without their last token, with their sources.
models::Sequences sequences_of(std::span<const data::FramedPair> pairs);

// -mean log p(y_t | y_<t, x) over the tokens of the targets, in nats, recorded when recording: [1].
// divisor: targets of the whole step; 0 means of these pairs.
Variable translation_loss(const models::SequenceToSequence& model, std::span<const data::FramedPair> pairs,
                          const Pass& pass, double divisor, double label_smoothing);

// What stands around the texts of the model's pairs. source_tokenizer: null where both sides have one.
data::PairFrames pair_frames(const models::SequenceToSequence& model, const text::Tokenizer& tokenizer,
                             const text::Tokenizer* source_tokenizer);

// The pairs that the model can read, for evaluation. Throws DataError for another vocabulary and where no pair is left.
data::PairGroups evaluation_groups(const models::SequenceToSequence& model, const data::PairSource& pairs,
                                   const data::PairFrames& frames, const data::GroupLimits& limits);

// The negative log-likelihood of the targets of the groups that hold the first `limit` target tokens (0: all); the sum
// so far when stopped. Throws NumericError where a logit is not finite.
Evaluation evaluate(const models::SequenceToSequence& model, const data::PairGroups& groups, Index limit,
                    const std::function<bool()>& stop);

// The same for inputs of an objective, with the pairs that it makes of their data. Pairs that are longer than the
// model's positions are left out, and counted.
ObjectiveEvaluation evaluate_pairs(const EvaluationInputs& inputs, const data::PairSource& pairs,
                                   const data::PairFrames& frames);

class Translate : public Objective {
 public:
  // valid may be null. Throws DataError for unsuitable pairs and models.
  Translate(models::Model& model, const data::PairSource& train, const data::PairSource* valid,
            const data::PairFrames& frames, const data::PairOptions& options, const TrainingConfig& config);

  Parameters& parameters() const override { return model_.parameters(); }
  Pass training_pass() const override;
  // A sample is a group of pairs.
  Index samples_per_epoch() const override { return groups_.groups_per_epoch(); }
  Index samples_per_batch(Index) const override { return 1; }
  MicroBatch batch(Index first, Index count) const override;
  std::vector<Origin> origins(Index first, Index count) const override;
  double flops_per_token() const override;
  bool can_evaluate() const override { return valid_.has_value(); }
  std::vector<Metric> evaluate(const std::function<bool()>& stop) const override;

  std::string note() const override;

 protected:
  const data::PairGroups& groups() const { return groups_; }

 private:
  models::Model& model_;
  const models::SequenceToSequence& translator_;  // the same
  data::PairGroups groups_;
  std::optional<data::PairGroups> valid_;
  TrainingOptions options_;
};

}  // namespace heddle::training
