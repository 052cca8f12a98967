// The sample that a dry run evaluates instead of all validation data.
#pragma once

#include "libcore/training/training_config.hpp"

namespace heddle {

struct EvaluationSample {
  double parts = 1;    // number of samples in one evaluation of the run
  double batches = 1;  // micro-batches in it
};

// One batch of `tokens` tokens of validation text; sets the configuration to evaluate on it.
EvaluationSample sample_tokens(training::TrainingConfig& config, Index tokens, Index context);

}  // namespace heddle
