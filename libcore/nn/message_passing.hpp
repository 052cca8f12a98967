// Nodes that hear from their neighbours and change: h_i' = U(h_i, reduction over the edges from j to i of M(h_j, …)).
// Source: Gilmer et al. 2017, "Neural message passing for quantum chemistry"; Xu et al. 2019, "How powerful are graph
// neural networks?" (GIN); Hu et al. 2020, "Strategies for pre-training graph neural networks" (GINE).
#pragma once

#include <optional>

#include "libcore/nn/feed_forward.hpp"
#include "libcore/nn/graph_edges.hpp"
#include "libcore/ops/reduce_rows.hpp"

namespace heddle {

enum class Messages {
  source,  // h_j, or relu(h_j + W e) where edges have features
  both,    // relu(A h_i + B h_j + W e + b)
};
template <>
struct Names<Messages> {
  static constexpr std::pair<Messages, std::string_view> list[] = {{Messages::source, "source"},
                                                                   {Messages::both, "both"}};
};

enum class NodeUpdate {
  gin,     // a network of two layers of (1 + epsilon) h_i + m, epsilon learned
  linear,  // A h_i + B m + b
};
template <>
struct Names<NodeUpdate> {
  static constexpr std::pair<NodeUpdate, std::string_view> list[] = {{NodeUpdate::gin, "gin"},
                                                                     {NodeUpdate::linear, "linear"}};
};

namespace nn {

struct MessagePassingOptions {
  Index width;
  Index edge_width = 0;  // width of edge features; 0: edges have none
  Messages messages = Messages::source;
  Reduction reduction = Reduction::sum;
  NodeUpdate update = NodeUpdate::gin;
  Index inner_width = 2 * width;  // hidden width of gin's network
  Activation activation = Activation::relu;
  Bias bias = Bias::yes;
  double stddev = 0.02, output_stddev = 0.02;
};

// Shapes: x [nodes, width] -> the same.
// Parameters: edge/weight [width, edge_width]; for messages of both ends target/… and source/… [width, width] with a
// bias each; for gin epsilon [1], feed_forward/…; for linear own/… and heard/… [width, width].
class MessagePassing {
 public:
  MessagePassing(const Scope& scope, const MessagePassingOptions& options);
  Variable operator()(const Variable& x, const GraphEdges& edges, const Pass& pass = {}) const;

 private:
  Variable messages(const Variable& x, const GraphEdges& edges, const Pass& pass) const;  // reduced: [nodes, width]

  MessagePassingOptions options_;
  std::optional<Linear> edge_, own_, heard_;
  std::optional<StackedLinear> ends_;
  Variable epsilon_;
  std::optional<FeedForward> network_;
};

}  // namespace nn
}  // namespace heddle
