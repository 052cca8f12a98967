// What a dry run evaluates in place of all validation data.
#pragma once

#include "heddle/training/options.hpp"

namespace heddle {

struct EvaluationSample {
  double parts = 1;    // how many of it make one evaluation of the run
  double batches = 1;  // micro-batches in it
};

// One batch of so many tokens of validation text, which the configuration asks for from now on.
EvaluationSample sample_tokens(training::TrainingConfig& config, Index tokens, Index context);

}  // namespace heddle
