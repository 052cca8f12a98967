// The position-wise network of a block.
#pragma once

#include "heddle/nn/linear.hpp"
#include "heddle/nn/pass.hpp"
#include "heddle/ops/activation.hpp"

namespace heddle::nn {

struct FeedForwardOptions {
  Index width, inner_width;
  Activation activation = Activation::gelu;
  Bias bias = Bias::yes;
  double deviation = 0.02, output_deviation = 0.02;
};

// y = W_2 f(W_1 x + b_1) + b_2, plus a residual where one is given.  Source: Vaswani et al. 2017, equation 2.
// Shapes: [batch, time, width] -> the same.
class FeedForward {
 public:
  FeedForward(const Scope& scope, const FeedForwardOptions& options);
  Variable operator()(const Variable& x, const Variable& residual = {}, const Pass& pass = {}) const;

 private:
  Activation activation_;
  Linear up_, down_;
};

}  // namespace heddle::nn
