// Time of a training step on this machine, extrapolated from a few steps of a part of the model.
#pragma once

#include <map>
#include <string>

#include "libcore/analysis/cost.hpp"

namespace heddle::analysis {

struct StepTime {
  double seconds = 0;
  std::map<std::string, double, std::less<>> parts{};  // seconds of each part of the cost, and of parts::other
  // The steps that were measured: of the model itself, of a sample of it, or of none, where even one layer is too large
  // for this machine. The prediction then is from the rates of matrix products and of memory alone.
  enum class From { model, sample, rates } from = From::rates;
  Index vocab_size = 0, time = 0, batch_size = 0;  // sizes of the measured part
  double matmul_rate = 0, memory_rate = 0;         // FLOP/s, bytes per second; measured beforehand
};

// The largest shape whose steps fit into `seconds` is measured: the model itself; or one layer of each stack with a
// part of the vocabulary, of fewer and shorter sequences if need be. Each operation of each part then takes as long for
// each of its floating-point operations as in the sample, or, where it has none, for each byte; where a sample has
// fewer tokens, two sizes of it show how the time of products grows with them. Takes about six times `seconds`.
StepTime predict_step_time(const models::ModelConfig& config, const Cost& cost, double seconds = 0.5);

}  // namespace heddle::analysis
