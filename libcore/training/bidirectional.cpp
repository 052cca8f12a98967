#include "libcore/training/bidirectional.hpp"

#include <cmath>

#include "libcore/ops/concatenate.hpp"
#include "libcore/ops/cross_entropy.hpp"
#include "libcore/ops/gather.hpp"
#include "libcore/training/not_finite.hpp"
#include "libcore/training/objectives.hpp"
#include "libcore/training/window_objective.hpp"

namespace heddle::training {

namespace {

// The states that predict, a row each: of each window, forward those of all tokens but the last, backward those of all
// but the first.
struct Predictions {
  Variable forward, backward;
};

Predictions predictions(const models::BidirectionalLoss& model, const data::TokenBatch& batch, const Pass& pass) {
  const Index whole = batch.time + 1;
  TokenIds windows(Shape{batch.batch, whole});
  std::vector<Index> first, last;  // rows
  for (Index b = 0; b < batch.batch; ++b) {
    const auto to = windows.ids.begin() + b * whole;
    std::copy_n(batch.ids.begin() + b * batch.time, batch.time, to);
    *(to + batch.time) = batch.targets[static_cast<std::size_t>((b + 1) * batch.time - 1)];
    for (Index t = 0; t < batch.time; ++t) {
      first.push_back(b * whole + t);
      last.push_back(b * whole + t + 1);
    }
  }
  const models::BidirectionalLoss::Directions states = model.directions(windows, pass);
  return {ops::gather_rows(states.forward, first), ops::gather_rows(states.backward, last)};
}

void add(const heads::TokenHead& head, const Variable& hidden, const std::vector<TokenId>& targets, Evaluation& sum) {
  const Variable logits = head(hidden);
  check_logits(logits.value());
  for (const double nats : ops::negative_log_likelihoods(logits.value(), targets)) sum.nats += nats;
  sum.tokens += static_cast<Index>(targets.size());
}

// Trains a model that predicts each token from both sides on windows of its training length, and one token more.
class Bidirectional : public WindowObjective<models::BidirectionalLoss, data::TrainingWindows> {
 public:
  // Throws DataError for unsuitable tokens and models.
  explicit Bidirectional(const ObjectiveInputs& inputs)
      : WindowObjective(inputs.model, "the bidirectional objective", inputs.config.training, 1,
                        [&](const models::BidirectionalLoss& model) {
                          return data::TrainingWindows(*inputs.train.text, model.training_length(), inputs.config.seed);
                        }),
        valid_(inputs.valid.text) {
    check_vocabulary(role_, *inputs.train.text);
    if (valid_ == nullptr) return;
    check_vocabulary(role_, *valid_);
    check<DataError>(valid_->size() > 1, valid_->name(), ": nothing to evaluate on in ", valid_->size(), " tokens");
  }

  Pass training_pass() const override {
    Pass pass = WindowObjective::training_pass();
    ++pass.sample_positions;
    return pass;
  }

  MicroBatch batch(Index first, Index count) const override {
    const Index tokens = count * role_.training_length();
    return {
        {count, tokens, 2 * tokens},
        [this, batch = windows_.batch(first, count)](const Pass& pass, const Counts& step) {
          return bidirectional_loss(role_, batch, pass, {options_.label_smoothing, static_cast<double>(step.targets)});
        }};
  }

  bool can_evaluate() const override { return valid_ != nullptr; }
  std::vector<Metric> evaluate(const Evaluators& by) const override {
    const BothEvaluations result = training::evaluate(
        role_, *valid_, {.limit = options_.eval_tokens, .batch_size = options_.batch_size, .by = by});
    return {{"loss", result.nats_per_token()}};
  }

 private:
  const data::TokenSource* valid_;
};

}  // namespace

Variable bidirectional_loss(const models::BidirectionalLoss& model, const data::TokenBatch& batch, const Pass& pass,
                            const CausalLoss& options) {
  const Predictions states = predictions(model, batch, pass);
  std::vector<TokenId> targets = batch.targets;
  targets.insert(targets.end(), batch.ids.begin(), batch.ids.end());
  return model.direction_head().loss(ops::concatenate({states.forward, states.backward}, 0), targets,
                                     {options.label_smoothing, options.divisor});
}

BothEvaluations evaluate(const models::BidirectionalLoss& model, const data::TokenSource& tokens,
                         const EvaluationRun& run) {
  BatchSum<BothEvaluations> sum(run.by);
  const Index time = run.time > 0 ? run.time : model.training_length();
  data::for_each_evaluation_batch(tokens, {.time = time, .batch = run.batch_size, .limit = run.limit},
                                  [&](const data::TokenBatch& batch) {
                                    (void)sum.add([&] {
                                      const Predictions states = predictions(model, batch, {});
                                      BothEvaluations part;
                                      add(model.direction_head(), states.forward, batch.targets, part.forward);
                                      add(model.direction_head(), states.backward, batch.ids, part.backward);
                                      return part;
                                    });
                                  });
  return sum.total();
}

namespace {

struct BidirectionalSettings final : ObjectiveSettings {
  static constexpr const char* kind_name = "bidirectional";

  std::unique_ptr<Objective> make(const ObjectiveInputs& inputs) const override {
    return std::make_unique<Bidirectional>(inputs);
  }

  ObjectiveEvaluation evaluate(const EvaluationInputs& inputs) const override {
    refuse_other_windows(inputs);
    const auto& model =
        models::require<models::BidirectionalLoss>(inputs.model, "the bidirectional objective", inputs.model_name);
    const BothEvaluations result = training::evaluate(model, *inputs.data.text,
                                                      {.time = inputs.sequence_length,
                                                       .batch_size = inputs.batch_size,
                                                       .by = counting_batches(inputs, inputs.batch_size)});
    return {.targets = result.forward.tokens + result.backward.tokens,
            .nats = result.forward.nats + result.backward.nats,
            .metrics = {{"forward_perplexity", std::exp(result.forward.nats_per_token())},
                        {"backward_perplexity", std::exp(result.backward.nats_per_token())}}};
  }
};

}  // namespace

ObjectiveChoice bidirectional_defaults() {
  return BidirectionalSettings();
}

}  // namespace heddle::training
