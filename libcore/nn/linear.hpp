// y = x W^T + b
#pragma once

#include "heddle/autograd/parameters.hpp"
#include "heddle/ops/linear.hpp"

namespace heddle::nn {

enum class Bias { no, yes };

// Parameters: weight [out, in], bias [out]. Weights start normal with the given deviation, biases at zero.
class Linear {
 public:
  Linear(const Scope& scope, Index in, Index out, Bias bias, double deviation);
  // x [..., in] -> [..., out]
  Variable operator()(const Variable& x, const ops::LinearOptions& options = {}) const;

 private:
  Variable weight_, bias_;
};

}  // namespace heddle::nn
