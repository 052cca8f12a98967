// Rows of a table, by token id.
#pragma once

#include <vector>

#include "libcore/autograd/tape.hpp"

namespace heddle::ops {

// y[i] = table[ids[i]].  Shapes: ids [...], table [vocab, width] -> [..., width], Real.
// The table may be stored in any dtype; its gradient is Real.
// Backward: scatter-add.  Throws DataError for an id outside the table.
Variable embed(const TokenIds& ids, const Variable& table);

}  // namespace heddle::ops
