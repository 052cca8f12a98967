// Attention along the edges of graphs: how variants compute a call of it from their scores.
#pragma once

#include "libcore/attention/attention.hpp"

namespace heddle {

// [1, heads, nodes, width] -> [nodes, heads, width]. Throws ShapeError for other shapes.
Variable heads_of_nodes(const Variable& x);
// The same -> [nodes, heads * width], with the elements of a row together.
Variable rows_of_nodes(const Variable& x);

// The weights of edges with these scores [edges, heads]: softmax over those into each node, times the call's factors.
Variable edge_weights(const AttentionCall& call, const Variable& scores);

// The result of mix() by such weights. Throws ShapeError where heads share values.
Variable mix_along_edges(const AttentionCall& call, const Variable& weights);

}  // namespace heddle
