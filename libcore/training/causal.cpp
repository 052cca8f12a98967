#include "heddle/training/causal.hpp"

#include "heddle/ops/cross_entropy.hpp"
#include "heddle/training/not_finite.hpp"
#include "heddle/training/objectives.hpp"

namespace heddle::training {

namespace {

TokenIds ids_of(const data::TokenBatch& batch) {
  return {Shape{batch.batch, batch.time}, batch.ids};
}

}  // namespace

Variable causal_loss(const models::TokenLoss& model, const data::TokenBatch& batch, const Pass& pass,
                     const CausalLoss& options) {
  return model.next_token_head().loss(model.hidden(ids_of(batch), pass), batch.targets,
                                      {options.label_smoothing, options.divisor});
}

Evaluation evaluate(const models::TokenLoss& model, const data::TokenSource& tokens, const EvaluationRun& run) {
  Evaluation sum;
  const Index time = run.time > 0 ? run.time : model.training_length();
  data::for_each_evaluation_batch(tokens, time, run.batch_size, run.limit, [&](const data::TokenBatch& batch) {
    if (run.stop()) return;
    const Variable logits = model.next_token_head()(model.hidden(ids_of(batch)));
    check_logits(logits.value());
    for (const double nats : ops::negative_log_likelihoods(logits.value(), batch.targets)) sum.nats += nats;
    sum.tokens += static_cast<Index>(batch.targets.size());
  });
  return sum;
}

Causal::Causal(models::Model& model, const data::TokenSource& train, const data::TokenSource* valid,
               const TrainingConfig& config)
    : model_(model),
      predictor_(models::require<models::TokenLoss>(model, "the causal objective", "training")),
      windows_(train, model.training_length(), config.seed),
      valid_(valid),
      options_(config.training) {
  check_vocabulary(model, train);
  if (valid == nullptr) return;
  check_vocabulary(model, *valid);
  check<DataError>(valid->size() > 1, valid->name(), ": ", counted(valid->size(), "token is", "tokens are"),
                   " too few to evaluate on; give more text");
}

Pass Causal::training_pass() const {
  return {.dropout = model_.config()->dropout, .sample_positions = predictor_.training_length()};
}

MicroBatch Causal::batch(Index first, Index count) const {
  const Index tokens = count * predictor_.training_length();
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
  return model_.training_flops_per_token(predictor_.training_length(), 1);
}

std::vector<Metric> Causal::evaluate(const std::function<bool()>& stop) const {
  const Evaluation result = training::evaluate(
      predictor_, *valid_, {.limit = options_.eval_tokens, .batch_size = options_.batch_size, .stop = stop});
  return {{"loss", result.nats_per_token()}};
}

std::unique_ptr<Objective> make_causal_objective(const ObjectiveInputs& inputs) {
  return std::make_unique<Causal>(inputs.model, *inputs.train.text, inputs.valid.text, inputs.config);
}

}  // namespace heddle::training
