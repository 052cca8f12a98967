// The bidirectional objective: predict each token from those before it, and from those after it.
#pragma once

#include "libcore/data/token_batches.hpp"
#include "libcore/models/model.hpp"
#include "libcore/training/causal.hpp"
#include "libcore/training/objective.hpp"
#include "libcore/training/training_config.hpp"

namespace heddle::training {

// In windows of time + 1 tokens, all but the first are predicted from those before them, and all but the last from
// those after them.
//
// -mean of log p(x_t | x_<t) and log p(x_t | x_>t) in nats, recorded when recording: [1]. The divisor counts the
// targets of both directions. Source: Peters et al. 2018, 3.1, whose loss is the sum of both directions (SPEC 5.5).
Variable bidirectional_loss(const models::BidirectionalLoss& model, const data::TokenBatch& batch, const Pass& pass,
                            const CausalLoss& options);

// The negative log-likelihoods of the tokens in windows that share their ends alone, so that each direction predicts
// every token once but one at an end.  Throws NumericError where a logit is not finite.
struct BothEvaluations {
  Evaluation forward, backward;
  BothEvaluations& operator+=(const BothEvaluations& other) {
    forward += other.forward;
    backward += other.backward;
    return *this;
  }
  double nats_per_token() const { return (forward.nats_per_token() + backward.nats_per_token()) / 2; }
};
BothEvaluations evaluate(const models::BidirectionalLoss& model, const data::TokenSource& tokens,
                         const EvaluationRun& run);

}  // namespace heddle::training
