// Contributions of the nodes of a graph to a model's answer.
#pragma once

#include <vector>

#include "libcore/data/graphs.hpp"
#include "libcore/models/task_model.hpp"

namespace heddle::analysis {

struct NodeContributions {
  Index label = 0;               // class to explain; by default the most probable one
  double answer = 0;             // its log-odds, log(p / (1 - p)); of a regression the number
  std::vector<double> of_nodes;  // [nodes]: how much the answer falls where a node is left out
};

// Leaves out one node after another, with its edges, and asks for the answer to what is left. Precondition: the model
// reads such graphs, of two nodes at least, and its task is a class or a number of a whole graph. Throws NumericError
// for answers that are not finite. Cost: that of as many answers as the graph has nodes.
NodeContributions node_contributions(const models::TaskModel& model, const data::Graph& graph);

// The graph without one of its nodes and the edges that it has.
data::Graph without_node(const data::Graph& graph, Index node, const data::GraphSchema& schema);

}  // namespace heddle::analysis
