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

}  // namespace heddle::training
