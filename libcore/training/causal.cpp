#include "heddle/training/causal.hpp"

#include "heddle/ops/cross_entropy.hpp"

namespace heddle::training {

namespace {

TokenIds ids_of(const data::TokenBatch& batch) { return {Shape{batch.batch, batch.time}, batch.ids}; }

}  // namespace

Variable causal_loss(const models::Decoder& model, const data::TokenBatch& batch, const Pass& pass,
                     const CausalLoss& options) {
  return model.head().loss(model.hidden(ids_of(batch), pass), batch.targets,
                           {options.label_smoothing, options.divisor});
}

Evaluation evaluate(const models::Decoder& model, const data::TokenSource& tokens, Index limit, Index batch_size,
                    const std::function<bool()>& stop) {
  Evaluation sum;
  data::for_each_evaluation_batch(
      tokens, model.config().context, batch_size, limit, [&](const data::TokenBatch& batch) {
        if (stop()) return;
        const Variable logits = model.logits(model.hidden(ids_of(batch)));
        for (const double nats : ops::negative_log_likelihoods(logits.value(), batch.targets)) sum.nats += nats;
        sum.tokens += static_cast<Index>(batch.targets.size());
      });
  return sum;
}

Causal::Causal(models::Decoder& model, const data::TokenSource& train, const data::TokenSource* valid, const Plan& plan)
    : model_(model), windows_(train, model.config().context, plan.seed), valid_(valid), options_(plan.training) {
  check_vocabulary(model, train);
  if (valid == nullptr) return;
  check_vocabulary(model, *valid);
  check<DataError>(valid->size() > 1, valid->name(), ": nothing to evaluate on in ", valid->size(), " tokens");
}

MicroBatch Causal::batch(Index first, Index count) const {
  const Index tokens = count * model_.config().context;
  return {{count, tokens, tokens}, [this, batch = windows_.batch(first, count)](const Pass& pass, const Counts& step) {
            return causal_loss(model_, batch, pass, {options_.label_smoothing, static_cast<double>(step.targets)});
          }};
}

std::vector<Origin> Causal::origins(Index first, Index count) const {
  std::vector<Origin> origins;
  for (Index i = 0; i < count; ++i) origins.push_back(origin_of(windows_.source(), windows_.offset_of(first + i)));
  return origins;
}

double Causal::flops_per_token() const {
  const models::ModelConfig& config = model_.config();
  return models::training_flops_per_token(config, model_.parameters().count(), config.context);
}

std::vector<Figure> Causal::evaluate(const std::function<bool()>& stop) const {
  const Evaluation result = training::evaluate(model_, *valid_, options_.eval_tokens, options_.batch_size, stop);
  return {{"loss", result.nats_per_token()}};
}

}  // namespace heddle::training
