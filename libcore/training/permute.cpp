#include "libcore/training/permute.hpp"

#include <algorithm>

#include "libcore/ops/gather.hpp"

namespace heddle::training {

namespace {

class Permute : public WindowObjective<models::PermutationPredictor, data::MaskedWindows> {
 public:
  // Throws DataError and UsageError for tokens and models that cannot work.
  explicit Permute(const ObjectiveInputs& inputs)
      : WindowObjective(
            inputs.model, "the permutation objective", inputs.config.training,
            1 / static_cast<double>(inputs.permutation.partial_prediction),
            [&](const models::PermutationPredictor&) { return training_windows(inputs, inputs.permutation); }) {
    if (inputs.valid.text == nullptr) return;
    valid_.emplace(evaluation_windows(role_, *inputs.valid.text, mask_vocabulary(inputs)));
  }

  MicroBatch batch(Index first, Index count) const override {
    data::MaskedBatch batch = windows_.batch(first, count);
    const Counts counts = counts_of(batch);
    return {counts, [this, batch = std::move(batch)](const Pass& pass, const Counts& step) {
              return permuted_loss(role_, batch, pass, step, options_.label_smoothing);
            }};
  }

  bool can_evaluate() const override { return valid_.has_value(); }
  std::vector<Metric> evaluate(const std::function<bool()>& stop) const override {
    const MaskedEvaluation result = training::evaluate(role_, *valid_, options_.eval_tokens, options_.batch_size, stop);
    return {{"loss", result.nats_per_token()}, {"accuracy", result.accuracy()}};
  }

 private:
  std::optional<data::MaskedWindows> valid_;
};

// The states that predict the selected tokens, [tokens, width].
Variable predictions(const models::PermutationPredictor& model, const data::MaskedBatch& batch, const Pass& pass) {
  return ops::gather_rows(model.streams(sequences_of(batch), batch.ranks, pass).query, batch.rows);
}

}  // namespace

Variable permuted_loss(const models::PermutationPredictor& model, const data::MaskedBatch& batch, const Pass& pass,
                       const Counts& step, double label_smoothing) {
  return model.permuted_token_head().loss(predictions(model, batch, pass), batch.targets,
                                          {label_smoothing, static_cast<double>(step.targets)});
}

data::MaskedWindows evaluation_windows(const models::PermutationPredictor& model, const data::TokenSource& tokens,
                                       const data::MaskVocabulary& vocabulary, Index time) {
  return {checked_source(model, tokens, vocabulary),
          vocabulary,
          {.time = time > 0 ? time : model.training_length(), .permutation = data::PermutationOptions()}};
}

MaskedEvaluation evaluate(const models::PermutationPredictor& model, const data::MaskedWindows& windows, Index limit,
                          Index batch_size, const std::function<bool()>& stop) {
  MaskedEvaluation sum;
  const Index count = windows.windows_of_first(limit);
  for (Index first = 0; first < count && !stop(); first += batch_size) {
    const data::MaskedBatch batch = windows.in_order(first, std::min(batch_size, count - first));
    count_predictions(model.permuted_token_head()(predictions(model, batch, {})).value(), batch.targets, sum);
  }
  return sum;
}

std::unique_ptr<Objective> make_permute_objective(const ObjectiveInputs& inputs) {
  return std::make_unique<Permute>(inputs);
}

}  // namespace heddle::training
