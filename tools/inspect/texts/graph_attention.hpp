// inspect attention of a model that reads graphs: its weights along a graph, and what its answer rests on.
#pragma once

#include <string>
#include <vector>

#include "tools/cli/arguments.hpp"

namespace heddle {

struct GraphQuestion {
  std::string model, base;  // base: of an adapter
  std::string file, graph;  // a graphs file, and the number from 1 or the id of one of its graphs
  std::vector<Index> layers;
  Index head;
  bool of_answer;  // shows contributions of its nodes to the answer, else attention
  Index top;
  std::string output;  // "": standard output
  bool json;
};

// Returns the exit status: 3 where weights are not finite, which are shown nevertheless. Throws DataError for a model
// that reads no graphs, or does not attend along their edges where attention is asked for.
int show_graph(const GraphQuestion& question, const cli::Arguments& arguments);

}  // namespace heddle
