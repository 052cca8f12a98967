// Directions of a graph, as given by lists of edges.
#pragma once

#include <span>

#include "libcore/data/graphs.hpp"

namespace heddle::formats {

// Whether each edge between two nodes is there as often as its reverse, with equal features.
bool goes_both_ways(std::span<const data::ListedEdge> edges);

// Edges that another one with the same nodes, in the same order, precedes.
Index repeated_edges(const data::Graph& graph);
// Edges from a node to itself.
Index loops(const data::Graph& graph);

}  // namespace heddle::formats
