// Graphs from tables of nodes and edges, whose first rows name the columns: CSV, or TSV by the name's ending.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "libcore/data/graphs.hpp"

namespace heddle::formats {

struct GraphTable {
  std::string file, content;  // no file: no table
};

// The table of nodes has the column id and may have graph (the graph that the node belongs to; without it there is
// one graph), split (train, valid or test) and a column of labels; all others are features. The table of edges has
// source and target, which are ids, and may have graph, where ids of different graphs are the same, and a column of
// labels. A table of graphs has the columns graph, labels, and may have split; it has a row for each graph. A table of
// pairs, of which something is asked or known, has source, target and graph as that of edges does, labels, and may have
// split.
struct GraphTables {
  GraphTable nodes{}, edges{}, graphs{}, pairs{};
  std::vector<std::string> label_columns;  // of one of the tables; none: "label" where there is one
  std::vector<std::string> categories;     // columns that are categories even if all of their values are numbers
  bool is_directed = false;                // else each edge is made both ways, unless all are listed so
};

// All graphs, in memory, in the order of the nodes. Features are numbers where every value of the column is one, else
// categories, where an empty value is one that is not known; the tables of graphs and pairs have none, and `note` is
// called with a line about each of their columns that nothing reads. Throws DataError, "FILE:LINE: …".
data::GraphsInMemory read_graph_tables(
    const GraphTables& tables, const std::function<void(const std::string&)>& note = [](const std::string&) {});

}  // namespace heddle::formats
