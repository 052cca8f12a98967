// Products of the vectors at both ends of edges: scores of attention along a graph.
#pragma once

#include <memory>

#include "libcore/autograd/tape.hpp"
#include "libcore/base/edge_rows.hpp"

namespace heddle::ops {

// s_eh = scale q_(target of e)h . k_(source of e)h.
// Shapes: query and key [nodes, heads, width], any strides with neighbouring elements of a head together, of any dtype
// -> [edges, heads], Reals.  Backward: dq_ih = scale sum over the edges e into i of ds_eh k_(source)h, dk_jh = scale
// sum over those from j of ds_eh q_(target)h.  Throws ShapeError.
Variable edge_products(const Variable& query, const Variable& key, const std::shared_ptr<const EdgeRows>& edges,
                       Real scale);

}  // namespace heddle::ops
