// Several linear layers of one input, multiplied as one.
#pragma once

#include <string>
#include <vector>

#include "libcore/nn/linear.hpp"

namespace heddle::nn {

// y_i = x W_i^T + b_i, with W_i + alpha / rank B_i A_i in place of W_i where there are adapters.
// Parameters: NAME/weight [out, in] and NAME/bias [out] for each name. Weights start normal with the given standard
// stddev, biases at zero. Where ranks divide the outputs, each has its part of every layer's.
class StackedLinear {
 public:
  StackedLinear(const Scope& scope, const std::vector<std::string>& names, Index in, Index out, Bias bias,
                double stddev, Divided divided = Divided::no);

  // x [..., in] -> [..., names * out], out being the rank's part where ranks divide the outputs.
  Variable operator()(const Variable& x, const Pass& pass = {}) const { return some(x, 0, parts_, pass); }
  // The layers [first, first + count) alone: -> [..., count * out]
  Variable some(const Variable& x, Index first, Index count, const Pass& pass = {}) const;
  Index parts() const { return parts_; }

 private:
  Index parts_;
  Variable weight_;  // [names * out, in]
  Index out_;
  Variable bias_;  // [names * out]
  std::optional<LowRank> adapters_;
};

}  // namespace heddle::nn
