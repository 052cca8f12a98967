// The matrix product with weights.
#pragma once

#include "heddle/autograd/tape.hpp"

namespace heddle::ops {

// y = x W^T + b.  Shapes: x [..., in], weight [out, in], bias [out] or empty -> [..., out].
// Backward: dx = dy W, dW = dy^T x, db = sum over rows of dy (SPEC A1).  Throws ShapeError.
Variable linear(const Variable& x, const Variable& weight, const Variable& bias = {});

}  // namespace heddle::ops
