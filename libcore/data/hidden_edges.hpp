// Edges that are taken out of a graph and asked for, to learn which nodes are joined.
#pragma once

#include <cstdint>

#include "libcore/data/graphs.hpp"

namespace heddle::data {

// Targets of the pairs: a column "edge" of the classes "no" and "yes".
GraphTargets hidden_edge_targets();

// Takes `percent` of the edges out of the record's graph, to the nearest whole one and both ways where edges have no
// direction, and asks for them as pairs, beside as many pairs of different nodes that no edge joins, or all that there
// are; replaces its pairs, targets and sides. Edges from a node to itself stay. The choice follows from the seed and
// the graph's number.
void hide_edges(GraphRecord& record, bool is_directed, Index percent, std::uint64_t seed, Index number);

}  // namespace heddle::data
