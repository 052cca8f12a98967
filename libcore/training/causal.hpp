// The causal objective: predict each next token.
#pragma once

#include "heddle/data/token_batches.hpp"
#include "heddle/models/model.hpp"
#include "heddle/training/objective.hpp"
#include "heddle/training/options.hpp"

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
  double nats = 0;   // in all
  double nats_per_token() const { return tokens > 0 ? nats / static_cast<double>(tokens) : 0; }
};

struct EvaluationRun {
  Index time = 0;   // tokens of a window; 0: as many as the model was trained on
  Index limit = 0;  // only so many tokens; 0: all
  Index batch_size = 8;
  std::function<bool()> stop = [] { return false; };  // asked before each batch
};

// The negative log-likelihood of the first tokens in windows without overlap; the sum so far when stopped.
// Throws NumericError where a logit is not finite.
Evaluation evaluate(const models::TokenLoss& model, const data::TokenSource& tokens, const EvaluationRun& run);

// Trains a model that predicts next tokens on windows of its context.
class Causal : public Objective {
 public:
  // valid may be null. Throws DataError for unsuitable tokens and models.
  Causal(models::Model& model, const data::TokenSource& train, const data::TokenSource* valid,
         const TrainingConfig& config);

  Parameters& parameters() const override { return model_.parameters(); }
  Pass training_pass() const override;
  Index samples_per_epoch() const override { return windows_.windows_per_epoch(); }
  MicroBatch batch(Index first, Index count) const override;
  std::vector<Origin> origins(Index first, Index count) const override;
  double flops_per_token() const override;
  bool can_evaluate() const override { return valid_ != nullptr; }
  std::vector<Metric> evaluate(const std::function<bool()>& stop) const override;

 private:
  models::Model& model_;
  const models::TokenLoss& predictor_;  // the same
  data::TrainingWindows windows_;
  const data::TokenSource* valid_;
  TrainingOptions options_;
};

}  // namespace heddle::training
