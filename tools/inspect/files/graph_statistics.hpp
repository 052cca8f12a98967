// Statistics of a graphs file.
#pragma once

#include <array>
#include <string>
#include <vector>

#include "formats/archives/json_archive.hpp"
#include "formats/heddle/graphs_file.hpp"

namespace heddle {

struct TargetStatistics {
  Index known = 0, unknown = 0;
  std::vector<Index> counts;    // count of each class
  double mean = 0, stddev = 0;  // numbers only
};

struct CountRange {
  Index least = 0, largest = 0;
  double mean = 0;
};

struct GraphStatistics {
  Index graphs = 0, nodes = 0, edges = 0, pairs = 0;  // edges without a direction count twice, once each way
  CountRange sizes, degrees;                          // nodes of a graph, edges into a node
  Index isolated = 0;                                 // nodes without an edge
  data::GraphSchema schema;
  data::GraphTargets targets;
  std::vector<TargetStatistics> known;  // statistics of each target column
  std::array<Index, 4> sides{};         // graphs, or nodes, on each side of a split
  bool has_sides = false;
  std::vector<std::string> parts;
};

// Reads the edges of all graphs, and what is known of them. Throws DataError.
GraphStatistics graph_statistics(const formats::GraphsFile& file);

// For people.
std::string as_text(const GraphStatistics& graphs);
// Adds the members to the object.
void add_members(formats::Json& json, const GraphStatistics& graphs);

}  // namespace heddle
