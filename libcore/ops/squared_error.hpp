// The loss of predicting numbers.
#pragma once

#include <vector>

#include "libcore/autograd/tape.hpp"

namespace heddle::ops {

// loss = sum over i of (x_i - target_i)^2 / divisor.
// Shapes: x of as many elements as there are targets -> [1].  Throws ShapeError.
Variable squared_error(const Variable& x, const std::vector<double>& targets, double divisor);

}  // namespace heddle::ops
