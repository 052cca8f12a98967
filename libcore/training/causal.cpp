#include "heddle/training/causal.hpp"

#include "heddle/ops/cross_entropy.hpp"
#include "heddle/training/objectives.hpp"

namespace heddle::training {

namespace {

TokenIds ids_of(const data::TokenBatch& batch) { return {Shape{batch.batch, batch.time}, batch.ids}; }

}  // namespace

Variable causal_loss(const models::TokenLoss& model, const data::TokenBatch& batch, const Pass& pass,
                     const CausalLoss& options) {
  return model.next_token_head().loss(model.hidden(ids_of(batch), pass), batch.targets,
                                      {options.label_smoothing, options.divisor});
}

Evaluation evaluate(const models::TokenLoss& model, const data::TokenSource& tokens, Index limit, Index batch_size,
                    const std::function<bool()>& stop) {
  Evaluation sum;
  data::for_each_evaluation_batch(tokens, window_of(model), batch_size, limit, [&](const data::TokenBatch& batch) {
    if (stop()) return;
    const Variable logits = model.next_token_head()(model.hidden(ids_of(batch)));
    for (const double nats : ops::negative_log_likelihoods(logits.value(), batch.targets)) sum.nats += nats;
    sum.tokens += static_cast<Index>(batch.targets.size());
  });
  return sum;
}

Causal::Causal(models::Model& model, const data::TokenSource& train, const data::TokenSource* valid,
               const TrainingConfig& config)
    : model_(model),
      predictor_(models::require<models::TokenLoss>(model, "the causal objective", "training")),
      windows_(train, window_of(model), config.seed),
      valid_(valid),
      options_(config.training) {
  check_vocabulary(model, train);
  if (valid == nullptr) return;
  check_vocabulary(model, *valid);
  check<DataError>(valid->size() > 1, valid->name(), ": nothing to evaluate on in ", valid->size(), " tokens");
}

Pass Causal::training_pass() const {
  return {.dropout = model_.config().dropout, .sample_positions = window_of(predictor_)};
}

MicroBatch Causal::batch(Index first, Index count) const {
  const Index tokens = count * window_of(predictor_);
  return {{count, tokens, tokens}, [this, batch = windows_.batch(first, count)](const Pass& pass, const Counts& step) {
            return causal_loss(predictor_, batch, pass, {options_.label_smoothing, static_cast<double>(step.targets)});
          }};
}

std::vector<Origin> Causal::origins(Index first, Index count) const {
  std::vector<Origin> origins;
  for (Index i = 0; i < count; ++i) origins.push_back(origin_of(windows_.source(), windows_.offset_of(first + i)));
  return origins;
}

double Causal::flops_per_token() const {
  return models::training_flops_per_token(model_.config(), model_.parameters().count(), window_of(predictor_));
}

std::vector<Metric> Causal::evaluate(const std::function<bool()>& stop) const {
  const Evaluation result = training::evaluate(predictor_, *valid_, options_.eval_tokens, options_.batch_size, stop);
  return {{"loss", result.nats_per_token()}};
}

std::unique_ptr<Objective> make_causal_objective(const ObjectiveInputs& inputs) {
  return std::make_unique<Causal>(inputs.model, inputs.train, inputs.valid, inputs.config);
}

}  // namespace heddle::training
