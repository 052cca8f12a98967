// Places of a graph's nodes in the plane, for drawing.
#pragma once

#include <vector>

#include "libcore/data/graphs.hpp"

namespace heddle::analysis {

struct NodePlace {
  double x, y;
};

// Places whose distances are, as far as the plane has room, those along the graph's edges, either way, each of which
// has the length 1; parts that no edge connects lie side by side. Edges may cross even where they need not. The same
// graph has the same places.
//
// Method: stress majorisation, a node at a time, from the principal components of the distances: Gansner, Koren and
// North 2005, "Graph drawing by stress majorization"; Harel and Koren 2002.
//
// Cost: about 200 * nodes^2.
std::vector<NodePlace> graph_layout(const data::Graph& graph);

}  // namespace heddle::analysis
