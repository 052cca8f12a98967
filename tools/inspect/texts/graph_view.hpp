// Attention and answers of a model on the drawing of a graph.
#pragma once

#include <string>
#include <vector>

#include "tools/drawing/graph_sketch.hpp"
#include "tools/inspect/texts/attention_report.hpp"
#include "tools/inspect/texts/graph_input.hpp"

namespace heddle {

// Two nodes, a < b, of which at least one attends to the other.
struct NodePair {
  Index a, b;
  bool is_edge;  // is an edge of the graph, in one direction or both
  int ways;      // number of directions in which the model attends
};
// Pairs that are edges, in order, then the others.
std::vector<NodePair> pairs_of(const GivenGraph& graph, const AttentionReport& report);

// In weights [nodes, nodes]: the mean of the directions in which the pair attends.
double mean_weight(const Tensor& weights, const NodePair& pair);

// A drawing of the graph for each head of the report: a line as wide as mean_weight() along each edge, a ring as wide
// as the weight of a node for itself, and dashed lines for the `top` largest mean weights of nodes that no edge joins.
// Throws UsageError for a picture with too many pixels, as all of these DataError for a graph too large to draw.
void draw_graph_attention(const std::string& path, const GivenGraph& graph, const AttentionReport& report, Index top);

// Discs around nodes, larger for larger shares: orange for those that raise the answer, blue for those that lower
// it; `legend` says what the answer is.
void draw_node_shares(const std::string& path, const GivenGraph& graph, const std::vector<double>& shares,
                      const std::string& legend);

// The interactive pages of the same. pages/graph.js reads their data.
void write_graph_attention_page(const std::string& path, const GivenGraph& graph, const AttentionReport& report,
                                const std::string& model, Index top);
void write_node_shares_page(const std::string& path, const GivenGraph& graph, const std::vector<double>& shares,
                            const std::string& legend, const std::string& model);

}  // namespace heddle
