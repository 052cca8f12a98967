// The position-wise network of a block.
#pragma once

#include "libcore/nn/linear.hpp"
#include "libcore/nn/stacked_linear.hpp"
#include "libcore/ops/activation.hpp"
#include "libcore/ops/pass.hpp"

namespace heddle::nn {

struct FeedForwardOptions {
  Index width, inner_width;
  Activation activation = Activation::gelu;
  bool gated = false;
  Bias bias = Bias::yes;
  double stddev = 0.02, output_stddev = 0.02;
};

// y = W_2 f(W_1 x + b_1) + b_2, or gated, y = W_2 (f(V x + c) * (W_1 x + b_1)) + b_2, plus a residual if one is given.
// Source: Vaswani et al. 2017, equation 2; Shazeer 2020, "GLU variants improve transformer", equation 6
// (SPEC 3.4). Shapes: [batch, time, width] -> the same. Parameters: up (W_1), down (W_2) and, where gated, gate (V).
// Ranks that share the model divide the inner columns; throws UsageError where they cannot.
class FeedForward {
 public:
  FeedForward(const Scope& scope, const FeedForwardOptions& options);
  Variable operator()(const Variable& x, const Variable& residual = {}, const Pass& pass = {}) const;

 private:
  Variable inner(const Variable& x, const Pass& pass) const;

  Activation activation_;
  const ModelRanks* ranks_;  // ranks that share the inner columns; null: a single one
  std::optional<Linear> up_;
  std::optional<StackedLinear> gate_and_up_;
  Linear down_;
};

}  // namespace heddle::nn
