// Attention of nodes to their neighbours. Source: Velickovic et al. 2018, "Graph attention networks"; Brody et al.
// 2022; with other scores any variant of attention that follows edges.
#pragma once

#include <memory>
#include <optional>
#include <string>

#include "libcore/attention/attention.hpp"
#include "libcore/base/visit.hpp"
#include "libcore/nn/graph_edges.hpp"
#include "libcore/nn/stacked_linear.hpp"

namespace heddle {

// How many matrices make queries, keys and values of the states.
enum class GraphProjections {
  one,    // one matrix for all three (Velickovic et al. 2018)
  two,    // one for queries, one for keys and values (Brody et al. 2022)
  three,  // one for each (Vaswani et al. 2017)
};
template <>
struct Names<GraphProjections> {
  static constexpr std::pair<GraphProjections, std::string_view> list[] = {
      {GraphProjections::one, "one"}, {GraphProjections::two, "two"}, {GraphProjections::three, "three"}};
};

namespace nn {

struct GraphAttentionOptions {
  std::string variant = "additive:order=outside,activation=leaky-relu";
  Index width;              // width of the states
  Index heads, head_width;  // heads of the result
  GraphProjections projections = GraphProjections::one;
  Index edge_width = 0;      // width of edge features; 0: edges have none
  bool edge_values = false;  // edges add to the values that nodes hear, too
  bool average = false;      // averages heads instead of concatenating them
  bool output = false;       // a matrix of the result, of the states' width
  Bias bias = Bias::yes;
  double stddev = 0.02, output_stddev = 0.02;
  double weight_dropout = 0;
};

// y_i = sum over the edges from j to i of w_ij (W_V x_j + b, and perhaps W_U e_ij), w_ij being what the variant makes
// of x_i, x_j and the edge's features; heads beside one another, or their mean. Parameters: value/weight [heads *
// head_width, width] and a bias, with two or three matrices query/… and with three key/… alike; edge/weight [heads *
// numbers an edge has to say, edge_width]; edge_value/weight [heads * head_width, edge_width] where edges have values;
// those of the variant; output/weight and a bias where there is an output.
class GraphAttention {
 public:
  // Throws UsageError for a variant that does not follow edges.
  GraphAttention(const Scope& scope, const Scope& stack, const GraphAttentionOptions& options);

  // x [nodes, width] -> [nodes, width of the result]. `terms`, where given, are what edges say in place of their
  // features [edges, heads * edge_term_width()].
  Variable operator()(const Variable& x, const GraphEdges& edges, const Pass& pass = {},
                      const Variable& terms = {}) const;
  // [edges, heads]
  Tensor weights(const Variable& x, const GraphEdges& edges, const Variable& terms = {}) const;

  Index edge_term_width() const { return attention_->edge_term_width(); }

 private:
  AttentionCall call(const Variable& x, const GraphEdges& edges, const Pass& pass, const Variable& terms) const;

  GraphAttentionOptions options_;
  StackedLinear inputs_;
  std::unique_ptr<const Attention> attention_;
  std::optional<Linear> edge_, edge_value_, output_;
  std::uint64_t weight_site_;
};

}  // namespace nn
}  // namespace heddle
