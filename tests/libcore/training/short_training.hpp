// Common code of tests of training: a text that can be learned, short settings, weights to compare.
#pragma once

#include <algorithm>
#include <cmath>
#include <map>
#include <string>
#include <vector>

#include "libcore/base/random.hpp"
#include "libcore/data/token_source.hpp"
#include "libcore/models/model.hpp"
#include "libcore/training/trainer.hpp"

namespace heddle::testing {

// Each token follows from the last but for some noise; the vocabulary's last `special` ones do not occur.
inline data::TokensInMemory noisy_text(Index size, Index vocab, std::uint64_t seed, Index special = 0) {
  std::vector<TokenId> tokens{0};
  const RandomStream stream(seed, 77);
  const Index ordinary = vocab - special;
  for (Index i = 1; i < size; ++i) {
    const auto at = static_cast<std::uint64_t>(2 * i);
    const bool is_noise = stream.uniform(at) < 0.1;
    const Index next = is_noise ? static_cast<Index>(stream.below(at + 1, static_cast<std::uint64_t>(ordinary)))
                                : (5 * tokens.back() + 3) % ordinary;
    tokens.push_back(static_cast<TokenId>(next));
  }
  return {tokens, vocab};
}

inline training::TrainingConfig quick_settings(Index steps) {
  training::TrainingConfig settings;
  settings.training.steps = steps;
  settings.training.batch_size = 4;
  settings.training.eval_every = 7;
  settings.training.eval_tokens = 200;
  settings.checkpoint_every = 5;
  settings.training.log_every = 3;
  settings.training.learning_rate = 3e-3;
  settings.seed = 9;
  return settings;
}

using Weights = std::map<std::string, std::vector<Real>>;

inline Weights weights_of(const models::Model& model) {
  Weights weights;
  for (const Parameter& parameter : model.parameters().all()) weights[parameter.name] = parameter.value().elements();
  return weights;
}

inline double largest_difference(const Weights& a, const Weights& b) {
  double largest = 0;
  for (const auto& [name, values] : a) {
    for (std::size_t i = 0; i < values.size(); ++i) {
      largest = std::max(largest, std::abs(static_cast<double>(values[i]) - static_cast<double>(b.at(name)[i])));
    }
  }
  return largest;
}

using State = std::map<std::string, std::vector<Real>>;

inline State state_of(const std::vector<training::StateTensor>& tensors) {
  State state;
  for (const training::StateTensor& tensor : tensors) state[tensor.name] = tensor.value.elements();
  return state;
}

// Each rank takes what it has.
inline void restore(training::Trainer& trainer, const State& state) {
  for (const training::StateTensor& tensor : trainer.tensors()) {
    const std::vector<Real>& values = state.at(tensor.name);
    std::copy(values.begin(), values.end(), tensor.value.data());
  }
}

inline void copy_weights(const models::Model& from, const models::Model& to) {
  for (std::size_t i = 0; i < to.parameters().all().size(); ++i) {
    to.parameters().all()[i].value().assign(from.parameters().all()[i].value());
  }
}

// Copies the state of a checkpoint from an interrupted training to one that resumes it.
inline void hand_over(const training::Trainer& interrupted, const models::Model& from, training::Trainer& resumed,
                      const models::Model& to) {
  copy_weights(from, to);
  restore(resumed, state_of(interrupted.tensors()));
  resumed.state() = interrupted.state();
}

}  // namespace heddle::testing
