// Distances between the nodes of graphs, in edges.
#pragma once

#include <cstdint>
#include <vector>

#include "libcore/base/edge_rows.hpp"

namespace heddle::data {

// The paths of the pairs that all_pairs() lists: from the second node of a pair along edges to the first.
struct ShortestPaths {
  static constexpr std::int32_t unreachable = -1;

  std::vector<std::int32_t> distances;  // [pairs]
  // The edges on the shortest paths of pair p are places starts[p] to starts[p + 1], each with its fraction: how many
  // of these paths have it, by how many there are and by their length, so that the fractions of a pair sum to 1. No
  // path is preferred to another as short: fractions do not depend on the order of nodes and edges.
  std::vector<Index> starts{0};
  std::vector<Index> edges;
  std::vector<double> shares;
};

enum class PathEdges { no, yes };

// Graph g has the nodes from starts[g] to starts[g + 1]. Without path edges only the distances.
// Precondition: no edge leads from one graph to another.
// Cost: for each node the edges of its graph, and for each pair the edges on its shortest paths.
ShortestPaths shortest_paths(const EdgeRows& edges, const std::vector<Index>& starts, PathEdges path_edges);

}  // namespace heddle::data
