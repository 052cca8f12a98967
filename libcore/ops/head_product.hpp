// A matrix of its own for each head.
#pragma once

#include <optional>

#include "libcore/autograd/tape.hpp"

namespace heddle::ops {

// y_h = x_h W_h for every head h.
// Shapes: x [batch, heads, time, width], Reals or bfloat16, any strides with neighbouring elements of a head together;
// weight [heads, width, out], contiguous -> [batch, heads, time, out], contiguous, stored as x is or as `output` says.
// Backward: dx_h = dy_h W_h^T, dW_h = sum over batches of x_h^T dy_h.  Throws ShapeError.
Variable head_product(const Variable& x, const Variable& weight, std::optional<DType> output = {});

}  // namespace heddle::ops
