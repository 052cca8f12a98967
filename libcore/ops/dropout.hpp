// Regularisation by random zeros.
#pragma once

#include <vector>

#include "libcore/autograd/tape.hpp"
#include "libcore/base/random.hpp"

namespace heddle::ops {

// y_i = x_i / (1 - rate) with probability 1 - rate, else 0 (Srivastava et al. 2014). The elements are as many equal
// runs as there are firsts; element i of run r draws number first[r] + i of the stream. backward draws the same numbers
// again instead of keeping the mask. rate = 0 is the identity. Shapes: any, contiguous; y is stored as x is. Throws
// UsageError unless 0 <= rate < 1, ShapeError unless the elements divide into that many runs.
Variable dropout(const Variable& x, double rate, const RandomStream& stream, std::vector<Index> first = {0});

}  // namespace heddle::ops
