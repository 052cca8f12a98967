// An objective with a state, which none of the product's has: to test that a state is kept.
#pragma once

#include <cmath>
#include <vector>

#include "heddle/ops/arithmetic.hpp"
#include "heddle/training/causal.hpp"

namespace heddle::testing {

// The causal objective with a memory: each micro-batch adds to the next step's one, and the loss is scaled by it.
class Remembering : public training::Causal {
 public:
  Remembering(models::Model& model, const data::TokenSource& tokens, const data::TokenSource& valid,
              const training::TrainingConfig& config)
      : Causal(model, tokens, &valid, config) {}

  training::MicroBatch batch(Index first, Index count) const override {
    training::MicroBatch result = Causal::batch(first, count);
    result.loss = [this, loss = result.loss](const Pass& pass, const training::Counts& step) {
      const Variable whole = ops::scale(loss(pass, step), 1 + memory_[0]);
      if (pass.first_sample == 0) next_[0] = 0;
      next_[0] += Real(0.1) * std::sin(whole.value()[0]);
      next_[1] = memory_[1] + 1;
      return whole;
    };
    return result;
  }
  std::vector<training::StateTensor> state() const override { return {{"memory", memory_}}; }
  void finish_step() override { memory_.assign(next_); }

 private:
  Tensor memory_{Shape{2}, 0}, next_{Shape{2}, 0};
};

}  // namespace heddle::testing
