// Queries and keys, head by head.
#pragma once

#include "libcore/autograd/tape.hpp"

namespace heddle::ops {

// y[b, h, t] = scale (x[b, h, t] + r[h]).
// Shapes: x [batch, heads, time, width], elements of a head together, r [heads, width], contiguous, or empty for zeros
// -> [batch, heads, time, width], stored as x is; in memory [batch, time, heads, width], as the parts of a product are.
// Backward: dx = scale dy, dr = the sum of the same over batch and time.  Throws ShapeError.
Variable shift_heads(const Variable& x, const Variable& r, Real scale);

}  // namespace heddle::ops
