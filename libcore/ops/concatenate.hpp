// Tensors one after another.
#pragma once

#include <vector>

#include "libcore/autograd/tape.hpp"

namespace heddle::ops {

// y = the parts one after another along a dimension (negative: counted from the last).
// Shapes: [.., n_i, ..], any strides, equal other extents -> [.., sum of n_i, ..], contiguous; bfloat16 when all parts
// are.  Throws ShapeError.
Variable concatenate(const std::vector<Variable>& parts, int dimension);

}  // namespace heddle::ops
