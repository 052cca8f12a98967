// One number for each head.
#pragma once

#include "libcore/autograd/tape.hpp"

namespace heddle::ops {

// y_rh = a_h . x_rh for every row r: the last step of additive scores.
// Shapes: x [rows, heads, width], any strides with neighbouring elements of a head together, a [heads, width],
// contiguous, of any dtypes -> [rows, heads], Reals.  Backward: dx_rh = dy_rh a_h, da_h = sum over rows of dy_rh x_rh.
// Throws ShapeError.
Variable head_dots(const Variable& x, const Variable& a);

}  // namespace heddle::ops
