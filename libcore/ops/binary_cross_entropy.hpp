// The loss of predicting which of two classes something is from one logit.
#pragma once

#include <vector>

#include "libcore/autograd/tape.hpp"

namespace heddle::ops {

// loss = -sum over i of (y_i log s(x_i) + (1 - y_i) log(1 - s(x_i))) / divisor, in nats, with s(x) = 1 / (1 + e^-x) and
// y_i = 1 where is_one[i] is not 0, else 0.  Backward: dx_i = (s(x_i) - y_i) / divisor.
// Shapes: x contiguous, Real, of as many elements as is_one has -> [1].  Throws ShapeError.
Variable binary_cross_entropy(const Variable& x, const std::vector<char>& is_one, double divisor);

// The sum of the same losses, undivided, in nats.
double binary_nats(const Tensor& x, const std::vector<char>& is_one);

}  // namespace heddle::ops
