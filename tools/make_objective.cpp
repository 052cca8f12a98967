#include "make_objective.hpp"

#include "heddle/training/causal.hpp"

namespace heddle {

std::unique_ptr<training::Objective> make_objective(models::Model& model, const data::TokenSource& train,
                                                    const data::TokenSource* valid, const training::Plan& plan) {
  auto* const decoder = dynamic_cast<models::Decoder*>(&model);
  check<UsageError>(decoder != nullptr, "only decoders can be trained to predict each next token");
  return std::make_unique<training::Causal>(*decoder, train, valid, plan);
}

}  // namespace heddle
