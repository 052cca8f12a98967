// Weights that sum to one over the edges into each node.
#pragma once

#include <memory>

#include "libcore/autograd/tape.hpp"
#include "libcore/base/edge_rows.hpp"

namespace heddle::ops {

// w_eh = e^(s_eh - m) / sum over the edges f into the target of e of e^(s_fh - m), with the largest of these scores as
// m.
// Shapes: scores [edges, heads], contiguous Reals -> the same.  Backward: ds_eh = w_eh (dw_eh - sum over those edges of
// w_fh dw_fh).  Throws ShapeError.
Variable edge_softmax(const Variable& scores, const std::shared_ptr<const EdgeRows>& edges);

}  // namespace heddle::ops
