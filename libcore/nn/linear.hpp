// y = x W^T + b, with W + alpha / rank B A in place of W where there is an adapter.
#pragma once

#include "libcore/autograd/parameters.hpp"
#include "libcore/nn/low_rank.hpp"
#include "libcore/ops/linear.hpp"

namespace heddle::nn {

enum class Bias { no, yes };

// The stddev of weights that multiply this many inputs, in modules that begin as the usual uniform weights within 1 /
// sqrt(inputs) do.
double stddev_by_inputs(Index inputs);

// Parameters: weight [out, in], bias [out]. Weights start normal with the given standard deviation, biases at zero
// where no other values are given.
class Linear {
 public:
  Linear(const Scope& scope, Index in, Index out, Bias bias, double stddev,
         const Initializer& first_bias = Initializer::zeros());
  // x [..., in] -> [..., out]
  Variable operator()(const Variable& x, const ops::LinearOptions& options = {}, const Pass& pass = {}) const;

 private:
  Variable weight_, bias_;
  std::optional<LowRank> adapter_;
};

}  // namespace heddle::nn
