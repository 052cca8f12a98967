// A trainer of a decoder that predicts each next token.
#pragma once

#include "heddle/training/causal.hpp"
#include "heddle/training/trainer.hpp"

namespace heddle::testing {

namespace detail {
struct CausalPart {
  training::Causal objective;
};
}  // namespace detail

class CausalTrainer : private detail::CausalPart, public training::Trainer {
 public:
  CausalTrainer(models::Decoder& model, const data::TokenSource& train, const data::TokenSource* valid,
                const training::Plan& plan)
      : CausalPart{{model, train, valid, plan}}, Trainer(objective, plan) {}
};

}  // namespace heddle::testing
