// The gate of gated feed-forward layers.
#pragma once

#include "libcore/ops/activation.hpp"

namespace heddle::ops {

// y = f(a) b, element by element: GLU with f = sigmoid, bilinear with identity, ReGLU, GEGLU, SwiGLU with relu, gelu,
// silu.  Source: Shazeer 2020, equations 5 and 6.
// Shapes: a and b alike, with the elements of a row together, so that they may be halves of one product's rows -> the
// same, contiguous; all stored alike.  Backward: da = dy b f'(a), db = dy f(a).  Throws ShapeError.
Variable gate(const Variable& a, const Variable& b, Activation activation);

}  // namespace heddle::ops
