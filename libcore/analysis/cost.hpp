// Cost of a model: parameters, floating-point operations, memory and traffic, by part. All of it is counted by the
// operations themselves in a simulated step, in which nothing is computed, and set beside the formulas of SPEC 3.7 and
// 7.8.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "libcore/analysis/trial.hpp"

namespace heddle::analysis {

// An operation of a part in one step, all its calls together.
struct OperationCost {
  std::string part, operation;
  bool backward = false;
  double calls = 0;
  double flops = 0;  // matrix products only
  double bytes = 0;  // inputs read once, results written once
};

struct PartCost {
  std::string part;  // nn/parts.hpp
  Index parameters = 0;
  double forward_flops = 0, backward_flops = 0;
  double bytes = 0;
  // Forward, of transformers: 8 T d^2 of the projections of each attention, 4 T^2 d of its scores and mixing, 16 T d^2
  // of each feed-forward network of inner width 4 d, 2 d V of each predicted token.
  std::optional<double> formula;

  double flops() const { return forward_flops + backward_flops; }
};

// Bytes.
struct TrainingMemory {
  double weights = 0, gradients = 0, optimizer = 0;
  double activations = 0;  // per step, including temporary memory of operations
  double total() const { return weights + gradients + optimizer + activations; }
};

// A step that adds a token to each sequence of the batch, the last of `time`.
struct GenerationCost {
  double weights = 0;  // bytes
  double state = 0;    // bytes: keys and values of all positions, or recurrent states; and those of the sources
  double flops = 0, bytes = 0;
  double memory() const { return weights + state; }
};

struct Cost {
  Index parameters = 0;          // as inspect counts: an encoder without its head
  Index head_parameters = 0;     // an encoder's head, in addition
  Index adapter_parameters = 0;  // adapters, in addition; only these are trained
  Index time = 0, batch_size = 0;
  bool of_pairs = false;  // sequences are a source and a target of `time` tokens each
  Index predicted = 0;    // tokens of a step
  Precision precision = Precision::f32;
  LowRankOptions adapters{};
  std::vector<PartCost> parts{};  // in the order of nn/parts.hpp, those that have anything
  std::vector<OperationCost> operations{};
  TrainingMemory memory{};
  std::optional<GenerationCost> generation{};  // models that generate text, with merged adapters
  double attention_formula = 0;                // 12 L d T, of a token in training; L counts attentions of any kind

  // A token of a pair is one of the target together with one of the source.
  double tokens() const { return static_cast<double>(batch_size) * static_cast<double>(time); }
  Index all_parameters() const { return parameters + head_parameters + adapter_parameters; }
  double forward_flops() const;
  double backward_flops() const;
  double step_flops() const { return forward_flops() + backward_flops(); }
  double flops_per_token() const { return step_flops() / tokens(); }
  double bytes() const;
  // 6 P, of a token in training: 2 P forward, 4 P backward.
  double parameter_formula() const { return 6.0 * static_cast<double>(parameters); }
};

// Throws UsageError for configurations without a vocabulary, and for more tokens than the model can hold.
Cost cost_of(const models::ModelConfig& config, const TrialShape& shape);

}  // namespace heddle::analysis
