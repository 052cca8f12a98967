#include "libcore/training/causal.hpp"

#include <algorithm>

#include "libcore/ops/cross_entropy.hpp"
#include "libcore/tensor/context.hpp"
#include "libcore/training/not_finite.hpp"
#include "libcore/training/objectives.hpp"

namespace heddle::training {

namespace {

TokenIds ids_of(const data::TokenBatch& batch) {
  return {Shape{batch.batch, batch.time}, batch.ids};
}

}  // namespace

Variable causal_loss(const models::TokenLoss& model, const data::TokenBatch& batch, const Pass& pass,
                     const CausalLoss& options) {
  return model.next_token_head().loss(model.next_hidden(ids_of(batch), pass), batch.targets,
                                      {options.label_smoothing, options.divisor});
}

namespace {

// hidden_of(ids): the states that predict the next tokens.
Evaluation sum_of_batches(const models::TokenLoss& model, const data::TokenSource& tokens,
                          const data::EvaluationWindows& windows, const Evaluators& by,
                          const std::function<Variable(const TokenIds&)>& hidden_of) {
  BatchSum<Evaluation> sum(by);
  data::for_each_evaluation_batch(tokens, windows, [&](const data::TokenBatch& batch) {
    (void)sum.add([&] {
      const Variable logits = model.next_token_head()(hidden_of(ids_of(batch)));
      check_logits(logits.value());
      Evaluation part{.tokens = std::ranges::count_if(batch.targets, [](TokenId target) { return target >= 0; })};
      for (const double nats : ops::negative_log_likelihoods(logits.value(), batch.targets)) part.nats += nats;
      return part;
    });
  });
  return sum.total();
}

}  // namespace

Evaluation evaluate(const models::TokenLoss& model, const data::TokenSource& tokens, const EvaluationRun& run) {
  const Index time = run.time > 0 ? run.time : model.training_length(), memory = run.memory.value_or(model.memory());
  check<UsageError>(memory == 0 || model.remembers(),
                    "memory: the model's positions, or its layers, begin anew in each window");
  check<UsageError>(memory == 0 || run.stride == 0,
                    "`stride`: a model with a memory reads the text in order; memory none makes windows of it");
  const data::EvaluationWindows windows{
      .time = time, .batch = memory > 0 ? 1 : run.batch_size, .limit = run.limit, .stride = run.stride};
  if (memory == 0 && model.memory() == 0) {
    return sum_of_batches(model, tokens, windows, run.by, [&](const TokenIds& ids) { return model.next_hidden(ids); });
  }
  return on_first<Evaluation>(run.by, [&](const Evaluators& by) {
    models::EarlierStates states{.window = memory};
    return sum_of_batches(model, tokens, windows, by, [&](const TokenIds& ids) {
      models::Continued continued = models::hidden_after(model, ids, states, memory);
      states = std::move(continued.states);
      return continued.hidden;
    });
  });
}

namespace {

// How many samples of a step read the text in order, with a memory.
Index streams_of(const models::TokenLoss& model, const TrainingOptions& options) {
  return model.memory() > 0 ? options.samples_per_step() : 0;
}

}  // namespace

Causal::Causal(models::Model& model, const data::TokenSource& train, const data::TokenSource* valid,
               const TrainingConfig& config)
    : WindowObjective(model, "the causal objective", config.training, 1,
                      [&](const models::TokenLoss& role) {
                        return data::TrainingWindows(train, role.training_length(), config.seed,
                                                     streams_of(role, config.training));
                      }),
      streams_(streams_of(role_, config.training)),
      valid_(valid) {
  const Shape shape{streams_, role_.memory(), role_.width()};
  for (Index layer = 0; streams_ > 0 && layer < role_.layers(); ++layer) {
    memory_.emplace_back(shape, Real(0));
    next_.emplace_back(shape, Real(0));
  }
  check_vocabulary(role_, train);
  if (valid == nullptr) return;
  check_vocabulary(role_, *valid);
  check<DataError>(valid->size() > 1, valid->name(), ": ", counted(valid->size(), "token is", "tokens are"),
                   " too few to evaluate on; give more text");
}

MicroBatch Causal::batch(Index first, Index count) const {
  const Index tokens = count * role_.training_length();
  return {{count, tokens, tokens},
          [this, first, batch = windows_.batch(first, count)](const Pass& pass, const Counts& step) {
            const double targets = static_cast<double>(step.targets);
            if (streams_ == 0) return causal_loss(role_, batch, pass, {options_.label_smoothing, targets});
            return role_.next_token_head().loss(hidden_of(batch, first, pass), batch.targets,
                                                {options_.label_smoothing, targets});
          }};
}

// Attends to the memory of these samples. A training pass makes the next step's memory, too.
Variable Causal::hidden_of(const data::TokenBatch& batch, Index first, const Pass& pass) const {
  const models::Continued continued =
      models::hidden_after(role_, ids_of(batch), memory_of(first, batch.batch), role_.memory(), pass);
  if (pass.training) remember(first, continued.states);
  return continued.hidden;
}

// The filled positions of the memory of these samples. Simulated steps stand for those of a long run.
models::EarlierStates Causal::memory_of(Index first, Index count) const {
  const Index memory = role_.memory(), read = windows_.windows_before(first) * role_.training_length();
  const Index filled = Simulation::active() ? memory : std::min(memory, read);
  models::EarlierStates earlier;
  for (const Tensor& layer : memory_) {
    if (filled == 0) break;
    earlier.layers.push_back(layer.narrowed(0, first % streams_, count).narrowed(1, memory - filled, filled).copy());
  }
  return earlier;
}

// For the next step.
void Causal::remember(Index first, const models::EarlierStates& states) const {
  const Index memory = role_.memory(), filled = states.positions();
  for (std::size_t i = 0; i < next_.size(); ++i) {
    const Tensor& layer = states.layers[i];
    next_[i].narrowed(0, first % streams_, layer.shape()[0]).narrowed(1, memory - filled, filled).assign(layer);
  }
}

std::vector<StateTensor> Causal::state() const {
  std::vector<StateTensor> tensors;
  for (const Tensor& layer : memory_) tensors.push_back({concatenate("memory/", tensors.size()), layer});
  return tensors;
}

void Causal::finish_step() {
  for (std::size_t i = 0; i < memory_.size(); ++i) memory_[i].assign(next_[i]);
}

std::string Causal::note() const {
  if (streams_ == 0) return "";
  const Index each = windows_.windows_per_epoch() / streams_;
  return concatenate("a memory of ", role_.memory(), " positions: the ", streams_, " samples of a step read ", streams_,
                     " parts of the text in order, ", counted(each, "window", "windows"), " of ",
                     role_.training_length(), " tokens each; it is emptied after each epoch");
}

std::optional<double> Causal::frequency_loss() const {
  if (options_.label_smoothing > 0) return std::nullopt;
  return token_frequencies(windows_.source()).entropy;
}

std::vector<Metric> Causal::evaluate(const Evaluators& by) const {
  const Evaluation result =
      training::evaluate(role_, *valid_, {.limit = options_.eval_tokens, .batch_size = options_.batch_size, .by = by});
  return {{"loss", result.nats_per_token()}};
}

namespace {

struct CausalSettings final : ObjectiveSettings {
  static constexpr const char* kind_name = "causal";

  std::unique_ptr<Objective> make(const ObjectiveInputs& inputs) const override {
    return std::make_unique<Causal>(inputs.model, *inputs.train.text, inputs.valid.text, inputs.config);
  }

  ObjectiveEvaluation evaluate(const EvaluationInputs& inputs) const override {
    const auto& model = models::require<models::TokenLoss>(inputs.model, "the causal objective", inputs.model_name);
    check<UsageError>(inputs.memory.value_or(0) == 0 || model.remembers(),
                      "`memory`: needs positions that are relative and attention that can have a window; ",
                      inputs.model_name, " reads each window for itself");
    const bool in_order = inputs.memory.value_or(model.memory()) > 0;
    const Evaluation result = training::evaluate(model, *inputs.data.text,
                                                 {.time = inputs.sequence_length,
                                                  .memory = inputs.memory,
                                                  .stride = inputs.stride,
                                                  .batch_size = inputs.batch_size,
                                                  .by = counting_batches(inputs, in_order ? 1 : inputs.batch_size)});
    return {.targets = result.tokens, .nats = result.nats, .covers_text = true};
  }
};

}  // namespace

ObjectiveChoice causal_defaults() {
  return CausalSettings();
}

}  // namespace heddle::training
