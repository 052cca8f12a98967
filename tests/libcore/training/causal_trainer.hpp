// A trainer of a decoder that predicts each next token.
#pragma once

#include "libcore/training/causal.hpp"
#include "libcore/training/trainer.hpp"
#include "support/models.hpp"

namespace heddle::testing {

namespace detail {
struct CausalPart {
  training::Causal objective;
};
}  // namespace detail

class CausalTrainer : private detail::CausalPart, public training::Trainer {
 public:
  CausalTrainer(models::Decoder& model, const data::TokenSource& train, const data::TokenSource* valid,
                const training::TrainingConfig& settings)
      : CausalPart{{model, train, valid, settings}}, Trainer(objective, settings) {}
};

}  // namespace heddle::testing
