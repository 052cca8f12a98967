// Weights that sum to one.
#pragma once

#include <vector>

#include "libcore/autograd/tape.hpp"

namespace heddle::ops {

// y_i = e^(x_i - max x) / sum_j e^(x_j - max x) along the last dimension. Of row r, in row-major order, only the first
// lengths[r] elements take part where lengths are given: the others' weights are zero, and so are all of a row of
// length 0.
// Shapes: x [..., width], with the elements of a row together, Real or bfloat16 -> the same, contiguous, Real.
// Backward: dx_i = y_i (dy_i - sum_j y_j dy_j).  Throws ShapeError.
Variable softmax(const Variable& x, const std::vector<Index>& lengths = {});

}  // namespace heddle::ops
