// One vector for each sequence.
#pragma once

#include <vector>

#include "libcore/autograd/tape.hpp"

namespace heddle::ops {

// y_b = mean over t < lengths[b] of x_bt.
// Shapes: x [batch, time, width], a length from 1 to time for each batch -> [batch, width], Real.  Throws ShapeError.
Variable mean_over_time(const Variable& x, const std::vector<Index>& lengths);

}  // namespace heddle::ops
