// Whether a model would read enough text to be of use.
#pragma once

#include <string>

#include "libcore/models/config.hpp"
#include "libcore/training/training_config.hpp"

namespace heddle {

// What to say where an encoder would read too few tokens in so many steps to be worth more than a bag of words, else
// "". README has the measurements.
std::string small_budget(const models::ModelConfig& model, Index steps, const training::TrainingOptions& training);

}  // namespace heddle
