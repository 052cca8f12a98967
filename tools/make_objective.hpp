// What a model is trained for.
#pragma once

#include <memory>

#include "heddle/data/token_source.hpp"
#include "heddle/training/objective.hpp"
#include "heddle/training/options.hpp"

namespace heddle {

// The objective of the model's architecture; valid may be null. The model and the tokens must stay. Throws UsageError
// and DataError for what does not go together.
std::unique_ptr<training::Objective> make_objective(models::Model& model, const data::TokenSource& train,
                                                    const data::TokenSource* valid, const training::Plan& plan);

}  // namespace heddle
