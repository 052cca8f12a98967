#include "tools/training/evaluation_sample.hpp"

#include <algorithm>

namespace heddle {

EvaluationSample sample_tokens(training::TrainingConfig& config, Index tokens, Index context) {
  training::TrainingOptions& training = config.training;
  const Index read = training.eval_tokens > 0 ? std::min(tokens, training.eval_tokens) : tokens;
  training.eval_tokens = training.batch_size * context;
  return {.parts = static_cast<double>(read) / static_cast<double>(training.eval_tokens), .batches = 1};
}

}  // namespace heddle
