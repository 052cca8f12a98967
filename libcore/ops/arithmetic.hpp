// Sums and scalings, element by element.
#pragma once

#include "heddle/autograd/tape.hpp"

namespace heddle::ops {

// y = a + b. Shapes: equal; a is Real, b may be bfloat16. Throws ShapeError.
Variable add(const Variable& a, const Variable& b);

// y = x + r for every batch: x [batch, ...], r [...]. Throws ShapeError.
Variable add_to_each(const Variable& x, const Variable& r);

// y = factor x
Variable scale(const Variable& x, Real factor);

}  // namespace heddle::ops
