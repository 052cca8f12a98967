// The masked objective: predict masked tokens from all others, and, where the model has a head for it, whether the
// second of two segments follows the first (BERT, RoBERTa; SPEC 4.3).
#pragma once

#include <optional>

#include "libcore/data/masked_batches.hpp"
#include "libcore/models/model.hpp"
#include "libcore/training/objective.hpp"
#include "libcore/training/objectives.hpp"
#include "libcore/training/window_objective.hpp"

namespace heddle::training {

// -mean log p(x_t | the rest) over the masked tokens of the step, plus, with a head for it, the mean over its pairs of
// -log p(follows or not), in nats: [1]. Other positions do not contribute. Logits are computed for masked tokens only.
Variable masked_loss(const models::MaskedPredictor& model, const data::MaskedBatch& batch, const Pass& pass,
                     const Counts& step, double label_smoothing);

Counts counts_of(const data::MaskedBatch& batch);
models::Sequences sequences_of(const data::MaskedBatch& batch);
// The source. Throws DataError for tokens that are not of the model's vocabulary, or not of this one.
const data::TokenSource& checked_source(const models::TokenModel& model, const data::TokenSource& tokens,
                                        const data::MaskVocabulary& vocabulary);
// The vocabulary of the tokenizer that made the tokens; null: a vocabulary for measuring.
data::MaskVocabulary mask_vocabulary(const ObjectiveInputs& inputs);
// The windows to train on, masked, or in the orders of a permutation. Throws as checked_source does.
data::MaskedWindows training_windows(const ObjectiveInputs& inputs, const data::MaskingOptions& masking,
                                     const std::optional<data::PermutationOptions>& permutation = std::nullopt);

struct MaskedEvaluation {
  Index tokens = 0, right = 0;  // masked tokens, and correctly predicted ones
  double nats = 0;              // total
  Index pairs = 0, pairs_right = 0;
  double nats_per_token() const { return nats / static_cast<double>(tokens); }
  double accuracy() const { return static_cast<double>(right) / static_cast<double>(tokens); }
  MaskedEvaluation& operator+=(const MaskedEvaluation& other);
  double pair_accuracy() const { return static_cast<double>(pairs_right) / static_cast<double>(pairs); }
};

// Whether the largest logit of each row is the target's.  Throws NumericError where a logit is not finite.
std::vector<char> rows_right(const Tensor& logits, const std::vector<TokenId>& targets);

// Adds predictions of tokens by logits [tokens, vocab].  Throws NumericError where a logit is not finite.
void count_predictions(const Tensor& logits, const std::vector<TokenId>& targets, MaskedEvaluation& sum);

inline constexpr double evaluated_masking = 0.15;
// The windows on which every such model is evaluated: 15 % of single tokens are masked, always the same ones, in pairs
// if the model has a head for them; `time` tokens each, 0: as many as in training.
data::MaskedWindows evaluation_windows(const models::MaskedPredictor& model, const data::TokenSource& tokens,
                                       const data::MaskVocabulary& vocabulary, Index time = 0);

// Evaluates the windows that hold the first `limit` tokens (0: all). Throws NumericError where a logit is not finite.
MaskedEvaluation evaluate(const models::MaskedPredictor& model, const data::MaskedWindows& windows, Index limit,
                          Index batch_size, const Evaluators& by = {});

// The same for inputs of an objective.
ObjectiveEvaluation evaluate_masked(const EvaluationInputs& inputs);

// The sum of of_batch(MaskedBatch, number of its first window) over the windows that hold the first `limit` tokens.
template <class Part, class Compute>
Part sum_of_windows(const data::MaskedWindows& windows, Index limit, Index batch_size, const Evaluators& by,
                    const Compute& of_batch) {
  const Index count = windows.windows_of_first(limit);
  BatchSum<Part> sum(by);
  for (Index first = 0; first < count; first += batch_size) {
    const auto compute = [&] { return of_batch(windows.in_order(first, std::min(batch_size, count - first)), first); };
    if (!sum.add(compute)) break;
  }
  return sum.total();
}

struct MaskedTexts {
  const data::TokenSource& train;
  const data::TokenSource* valid;  // may be null
  data::MaskVocabulary vocabulary;
  data::MaskingOptions masking{};
};

class Masked : public WindowObjective<models::MaskedPredictor, data::MaskedWindows> {
 public:
  // Throws DataError and UsageError for tokens and models that cannot work.
  Masked(models::Model& model, const MaskedTexts& texts, const TrainingConfig& config);

  MicroBatch batch(Index first, Index count) const override;
  std::optional<double> frequency_loss() const override;
  // Set if training masks more than validation, whose loss is then lower.
  std::string note() const override;
  bool can_evaluate() const override { return valid_.has_value(); }
  // The loss and the accuracy of masked tokens, and that of pairs.
  std::vector<Metric> evaluate(const Evaluators& by) const override;

 private:
  std::optional<data::MaskedWindows> valid_;
};

}  // namespace heddle::training
