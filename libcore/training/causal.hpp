// The causal objective: predict each next token.
#pragma once

#include <optional>

#include "libcore/data/token_batches.hpp"
#include "libcore/models/model.hpp"
#include "libcore/training/window_objective.hpp"

namespace heddle::training {

struct CausalLoss {
  double label_smoothing = 0;
  double divisor = 0;  // targets in the whole step; 0 means in this batch
};

// -mean log p(x_t | x_<t) in nats, recorded when recording: [1].
Variable causal_loss(const models::TokenLoss& model, const data::TokenBatch& batch, const Pass& pass,
                     const CausalLoss& options);

struct Evaluation {
  Index tokens = 0;  // predicted
  double nats = 0;   // total
  double nats_per_token() const { return tokens > 0 ? nats / static_cast<double>(tokens) : 0; }
  Evaluation& operator+=(const Evaluation& other) {
    tokens += other.tokens;
    nats += other.nats;
    return *this;
  }
};

struct EvaluationRun {
  Index time = 0;  // tokens of a window; 0: as many as the model was trained on
  // How many tokens before it each token attends to, those of earlier windows, too; 0: those of its window alone.
  std::optional<Index> memory{};  // none: the model's memory
  Index stride = 0;               // from one window to the next; 0: windows without overlap
  Index limit = 0;                // only so many tokens; 0: all
  Index batch_size = 8;
  Evaluators by{};
};

// The negative log-likelihood of the first tokens, each but the first once. With a
// memory the windows are read in order, one at a time, and the result is that of one window as long as the text in
// which every token attends to `memory` tokens before it, whatever the time: as the published evaluation has it, with
// windows of one token. Throws NumericError where a logit is not finite, UsageError for a memory that the model cannot
// have.
Evaluation evaluate(const models::TokenLoss& model, const data::TokenSource& tokens, const EvaluationRun& run);

// Trains a model that predicts next tokens on windows of its context.
//
// With a memory (models::TokenLoss), each sample of a step reads a part of the text in order, and its tokens attend to
// the memory, the inputs of each layer at the positions before its window, without a gradient. The memory is empty at
// the beginning of an epoch; documents do not end it. It does not depend on how a step is cut into micro-batches.
class Causal : public WindowObjective<models::TokenLoss, data::TrainingWindows> {
 public:
  // valid may be null. Throws DataError for unsuitable tokens and models.
  Causal(models::Model& model, const data::TokenSource& train, const data::TokenSource* valid,
         const TrainingConfig& config);

  MicroBatch batch(Index first, Index count) const override;
  std::string note() const override;
  std::optional<double> frequency_loss() const override;
  // The memory: memory/LAYER, [samples of a step, memory, width] each, of which the last positions are filled.
  std::vector<StateTensor> state() const override;
  void finish_step() override;
  bool can_evaluate() const override { return valid_ != nullptr; }
  std::vector<Metric> evaluate(const Evaluators& by) const override;

 private:
  Variable hidden_of(const data::TokenBatch& batch, Index first, const Pass& pass) const;
  models::EarlierStates memory_of(Index first, Index count) const;
  void remember(Index first, const models::EarlierStates& states) const;

  Index streams_;                      // samples of a step, with a memory; else 0
  std::vector<Tensor> memory_, next_;  // cached states of each layer; those of the current step
  const data::TokenSource* valid_;
};

}  // namespace heddle::training
