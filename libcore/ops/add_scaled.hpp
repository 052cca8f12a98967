// A sum with a learned factor, of tensors whose rows may lie apart.
#pragma once

#include "libcore/autograd/tape.hpp"

namespace heddle::ops {

// y = x + f e.  Shapes: x and e equal, with the elements of a row together, f [1] -> the same, contiguous, stored as x
// is; e and f are Reals.  Backward: dx = dy, de = f dy, df = e . dy, summed in double.  Throws ShapeError.
Variable add_scaled(const Variable& x, const Variable& e, const Variable& f);

}  // namespace heddle::ops
