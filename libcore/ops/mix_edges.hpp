// Weighted sums over the edges into each node: the mixing of attention along a graph, and messages of neighbours.
#pragma once

#include <memory>

#include "libcore/autograd/tape.hpp"
#include "libcore/base/edge_rows.hpp"

namespace heddle::ops {

// y_ih = sum over the edges e into i of w_eh (v_(source of e)h + u_eh); 0 for a node without edges. u may be empty: 0.
// Shapes: weights [edges, heads], contiguous Reals; values [nodes, heads, width], any strides with neighbouring
// elements of a head together, and u [edges, heads * width], contiguous, of any dtype -> [nodes, heads * width], Reals.
// Backward: dw_eh = dy_(target)h . (v_(source)h + u_eh), dv_jh = sum over the edges e from j of w_eh dy_(target)h,
// du_eh = w_eh dy_(target)h.  Throws ShapeError.
Variable mix_edges(const Variable& weights, const Variable& values, const std::shared_ptr<const EdgeRows>& edges,
                   const Variable& edge_values = {});

}  // namespace heddle::ops
