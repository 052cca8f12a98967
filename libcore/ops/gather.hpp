// Some rows of a matrix.
#pragma once

#include <vector>

#include "libcore/autograd/tape.hpp"

namespace heddle::ops {

// y[i] = x[rows[i]], where x is seen as a matrix of rows.
// Shapes: x [..., width], contiguous -> [rows, width], stored as x is.  Backward: scatter-add.  Throws ShapeError.
Variable gather_rows(const Variable& x, const std::vector<Index>& rows);

// y[b, 0] = x[b, positions[b]].  Shapes: x [batch, time, width], contiguous -> [batch, 1, width].  Throws ShapeError.
Variable gather_positions(const Variable& x, const std::vector<Index>& positions);

}  // namespace heddle::ops
