// Regularisation by random zeros.
#pragma once

#include "heddle/autograd/tape.hpp"
#include "heddle/base/random.hpp"

namespace heddle::ops {

// y_i = x_i / (1 - rate) with probability 1 - rate, else 0 (Srivastava et al. 2014). Element i draws number
// first + i of the stream; backward draws the same numbers again instead of keeping the mask. rate = 0 is the identity.
// Shapes: any, contiguous; y is stored as x is.  Throws UsageError unless 0 <= rate < 1.
Variable dropout(const Variable& x, double rate, const RandomStream& stream, Index first = 0);

}  // namespace heddle::ops
