// Sums of terms of the nodes at both ends of edges and of the edges themselves.
#pragma once

#include <memory>

#include "libcore/autograd/tape.hpp"
#include "libcore/base/edge_rows.hpp"

namespace heddle::ops {

// The terms of a sum; each may be empty, but not all.
struct EdgeTerms {
  Variable target{}, source{};  // [nodes, columns], rows together, of any dtype
  Variable edge{};              // [edges, columns], contiguous, of any dtype
};

// y_e = target_(target of e) + source_(source of e) + edge_e.
// Shapes: -> [edges, columns], Reals.  Backward: each node gets the sum of dy over the edges that it is the target, or
// the source, of.  Throws ShapeError.
Variable edge_sums(const EdgeTerms& terms, const std::shared_ptr<const EdgeRows>& edges);

}  // namespace heddle::ops
