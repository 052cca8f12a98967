// The maximum over groups of adjacent elements.
#pragma once

#include "libcore/autograd/tape.hpp"

namespace heddle::ops {

// y_i = max of x_(pool i) .. x_(pool i + pool - 1) along the last dimension; NaN where one of them is.  Source:
// Goodfellow et al. 2013, equation 2.
// Shapes: x [..., pool width], with the elements of a row together -> [..., width], contiguous, stored as x is.
// Backward: dy_i goes to the largest, the first of equal ones.  Throws ShapeError.
Variable maxout(const Variable& x, Index pool = 2);

}  // namespace heddle::ops
