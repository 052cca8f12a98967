// Some rows of a matrix.
#pragma once

#include <vector>

#include "heddle/autograd/tape.hpp"

namespace heddle::ops {

// y[i] = x[rows[i]], where x is seen as a matrix of rows.
// Shapes: x [..., width], contiguous -> [rows, width], stored as x is.  Backward: scatter-add.  Throws ShapeError.
Variable gather_rows(const Variable& x, const std::vector<Index>& rows);

}  // namespace heddle::ops
