// The edges of a graph, or of many at once, in compressed rows.
#pragma once

#include <vector>

#include "libcore/base/real.hpp"

namespace heddle {

// Edge e leads from node sources[e] to node targets[e]; those into node i are numbered rows[i] to rows[i + 1]. Edges
// without a direction are there twice, once each way. For gradients, the same edges by the node that they come from:
// by_source[source_rows[j]] to by_source[source_rows[j + 1]] are the numbers of those from node j, in order.
struct EdgeRows {
  std::vector<Index> rows{0};           // [nodes + 1], never decreasing
  std::vector<Index> sources, targets;  // [edges]
  std::vector<Index> source_rows{0};    // [nodes + 1]
  std::vector<Index> by_source;         // [edges]

  Index nodes() const { return static_cast<Index>(rows.size()) - 1; }
  Index edges() const { return static_cast<Index>(sources.size()); }
};

// The edges into each node, given with the nodes that they come from. Throws ShapeError for rows that do not begin at
// 0, fall, or end elsewhere than at the last edge, and for sources that are no node.
EdgeRows edge_rows(std::vector<Index> rows, std::vector<Index> sources);

// All pairs of nodes within each part, a node with itself included, in order: nodes starts[g] to starts[g + 1] are part
// g. The number of edges is the sum of the squares of the parts' sizes.
EdgeRows all_pairs(const std::vector<Index>& starts);

// The edges and, before those into each node, one from the node to itself where there is none. `origins`, if not null,
// becomes the number of each edge among the former ones, -1 for a new one.
EdgeRows with_loops(const EdgeRows& edges, std::vector<Index>* origins = nullptr);

}  // namespace heddle
