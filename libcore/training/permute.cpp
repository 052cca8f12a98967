#include "libcore/training/permute.hpp"

#include <algorithm>

#include "libcore/ops/gather.hpp"

namespace heddle::training {

namespace {

class Permute : public WindowObjective<models::PermutationPredictor, data::MaskedWindows> {
 public:
  // Throws DataError and UsageError for tokens and models that cannot work.
  Permute(const ObjectiveInputs& inputs, const data::MaskingOptions& masking,
          const data::PermutationOptions& permutation)
      : WindowObjective(
            inputs.model, "the permutation objective", inputs.config.training,
            1 / static_cast<double>(permutation.partial_prediction),
            [&](const models::PermutationPredictor&) { return training_windows(inputs, masking, permutation); }) {
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
  std::vector<Metric> evaluate(const Evaluators& by) const override {
    const MaskedEvaluation result = training::evaluate(role_, *valid_, options_.eval_tokens, options_.batch_size, by);
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
                          Index batch_size, const Evaluators& by) {
  return sum_of_windows<MaskedEvaluation>(windows, limit, batch_size, by, [&](const data::MaskedBatch& batch, Index) {
    MaskedEvaluation part;
    count_predictions(model.permuted_token_head()(predictions(model, batch, {})).value(), batch.targets, part);
    return part;
  });
}

namespace {

struct PermuteSettings final : ObjectiveSettings {
  static constexpr const char* kind_name = "permute";
  data::PermutationOptions permutation;
  data::MaskingOptions selection;

  std::unique_ptr<Objective> make(const ObjectiveInputs& inputs) const override {
    return std::make_unique<Permute>(inputs, selection, permutation);
  }

  ObjectiveEvaluation evaluate(const EvaluationInputs& inputs) const override {
    refuse_other_windows(inputs);
    const auto& model =
        models::require<models::PermutationPredictor>(inputs.model, "the permutation objective", inputs.model_name);
    const data::TokenSource& tokens = *inputs.data.text;
    const data::MaskVocabulary vocabulary(*inputs.tokenizer, tokens.name());
    const MaskedEvaluation result =
        training::evaluate(model, evaluation_windows(model, tokens, vocabulary, inputs.sequence_length), 0,
                           inputs.batch_size, counting_batches(inputs, inputs.batch_size));
    return {.targets = result.tokens, .nats = result.nats, .metrics = {{"accuracy", result.accuracy()}}};
  }

  template <class Self, class Visitor>
  static void visit(Self& self, Visitor& visitor) {
    data::PermutationOptions::visit(self.permutation, visitor);
    data::MaskingOptions::visit_selection(self.selection, visitor);
  }
};

}  // namespace

ObjectiveChoice permute_defaults() {
  return PermuteSettings();
}

}  // namespace heddle::training
