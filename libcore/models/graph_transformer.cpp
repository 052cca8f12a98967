// Graph transformer: attention between all nodes of a graph, whose scores know how far apart two nodes are and what
// edges lie between them (Ying et al. 2021, "Do transformers really perform badly for graph representation?"; SPEC
// A14). With h_i the vector of a node's features and z_d^- and z_d^+ those of its degrees, x_i = h_i + z^- + z^+; the
// score of i and j is q_i . k_j / sqrt(width) + b_min(spd(i, j), S) + the mean over the edges e on the shortest paths
// from j to i of w . e; blocks as those of transformers, with norms before sublayers.
#include <algorithm>

#include "libcore/data/shortest_paths.hpp"
#include "libcore/models/graph_model.hpp"
#include "libcore/nn/feed_forward.hpp"
#include "libcore/nn/graph_attention.hpp"
#include "libcore/nn/parts.hpp"
#include "libcore/ops/arithmetic.hpp"
#include "libcore/ops/gather.hpp"

namespace heddle::models {

namespace {

constexpr Index most_nodes = 4096;  // nodes of a graph; states of all pairs take memory
constexpr double degree_stddev = 0.2;

struct GraphTransformerConfig : GraphModelConfig {
  static constexpr const char* kind_name = "graph-transformer";
  Index heads = 4;
  Index ffn_width = 0;
  std::string activation = "gelu-tanh";
  std::string attention = "dot";
  Index max_distance = 8;
  Index max_degree = 8;

  void validate() const override {
    check<UsageError>(width % heads == 0, "`width` = ", width, " is not divisible by `heads` = ", heads);
  }

  template <class Self, class Visitor>
  static void visit(Self& self, Visitor& visitor) {
    GraphModelConfig::visit(self, visitor);
    visitor(Field("heads", "number of attention heads; must divide the width").range(1, 10000).takes("N").essential(),
            self.heads);
    visitor(Field("ffn_width", "inner width of the feed-forward layers; auto means 2 width")
                .range(1, 10000000)
                .word(0, "auto")
                .takes("N"),
            self.ffn_width);
    visitor(
        Field("activation", "non-linearity of the feed-forward layers").one_of(names_of<Activation>()).takes("NAME"),
        self.activation);
    visitor(Field("attention", "attention variant").takes("NAME[:KEY=VALUE,...]").named_in(attention_variants),
            self.attention);
    visitor(Field("max_distance", "the distance, in edges, from which pairs of nodes share a bias")
                .range(1, 10000)
                .takes("N"),
            self.max_distance);
    visitor(
        Field("max_degree", "the number of edges from which nodes share a vector of degree; none: degrees are ignored")
            .range(1, 10000)
            .word(0, "none")
            .takes("N"),
        self.max_degree);
  }
};

}  // namespace

// Parameters: graph-transformer/embedding/in/weight and, where edges have directions, …/out/weight [max_degree + 1,
// width]; graph-transformer/distance/weight [max_distance + 2, heads * numbers of a pair], of which the last row is of
// pairs without a path; graph-transformer/path/weight [heads * numbers of a pair, edge_width]; of layer i
// graph-transformer/i/attention_norm, …/attention, …/feed_forward_norm, …/feed_forward.
class GraphTransformer : public GraphModel, public EdgeAttentionMaps {
 public:
  GraphTransformer(const GraphTransformerConfig& config, ParameterSource weights)
      : GraphModel(config, config, std::move(weights), "graph-transformer"),
        max_distance_(config.max_distance),
        max_degree_(config.max_degree) {
    const Scope root = scope("graph-transformer");
    if (max_degree_ > 0) {
      in_degrees_.emplace(root / "embedding" / "in", max_degree_ + 1, config.width, degree_stddev);
      if (config.features.is_directed) {
        out_degrees_.emplace(root / "embedding" / "out", max_degree_ + 1, config.width, degree_stddev);
      }
    }
    for (Index i = 0; i < config.layers; ++i) add_layer(root / i, root, config);
    const Index numbers = config.heads * (layers_.empty() ? 1 : layers_.front().attention.edge_term_width());
    distances_.emplace(root / "distance", max_distance_ + 2, numbers, embedding_stddev);
    if (edge_width() > 0) {
      path_.emplace(root / "path", edge_width(), numbers, nn::Bias::no, nn::stddev_by_inputs(edge_width()));
    }
  }

  std::vector<EdgeAttentionMap> edge_attention_maps(const data::GraphBatch& graphs) const override {
    return maps_of_layers(graphs, [&](Index number, const Variable& x, const Surroundings& around) {
      const Layer& here = layers_[static_cast<std::size_t>(number)];
      return here.attention.weights(here.attention_norm(x, nn::Norm::Result::activation), around.edges, around.terms);
    });
  }

 private:
  struct Layer {
    nn::Norm attention_norm;
    nn::GraphAttention attention;
    nn::Norm feed_forward_norm;
    nn::FeedForward feed_forward;
    std::uint64_t attention_site, feed_forward_site;
  };

  void add_layer(const Scope& at, const Scope& root, const GraphTransformerConfig& config) {
    const Index inner = config.ffn_width > 0 ? config.ffn_width : 2 * config.width;
    const double stddev = nn::stddev_by_inputs(config.width);
    layers_.push_back({nn::Norm(at / "attention_norm", config.width, {}),
                       nn::GraphAttention(at / "attention", root / "attention",
                                          {.variant = config.attention,
                                           .width = config.width,
                                           .heads = config.heads,
                                           .head_width = config.width / config.heads,
                                           .projections = GraphProjections::three,
                                           .output = true,
                                           .stddev = stddev,
                                           .output_stddev = stddev}),
                       nn::Norm(at / "feed_forward_norm", config.width, {}),
                       nn::FeedForward(at / "feed_forward", {.width = config.width,
                                                             .inner_width = inner,
                                                             .activation = from_text<Activation>(config.activation),
                                                             .stddev = stddev,
                                                             .output_stddev = nn::stddev_by_inputs(inner)}),
                       random_site(at.path() + "/attention/dropout"),
                       random_site(at.path() + "/feed_forward/dropout")});
  }

  // The vectors of degrees; `rows` are those of EdgeRows, in one or the other order.
  Variable degrees(const nn::Embedding& table, const std::vector<Index>& rows) const {
    TokenIds ids(Shape{static_cast<Index>(rows.size()) - 1});
    for (std::size_t i = 0; i < ids.ids.size(); ++i) {
      ids.ids[i] = static_cast<TokenId>(std::min(max_degree_, rows[i + 1] - rows[i]));
    }
    return table(ids);
  }

  Variable input(const data::GraphBatch& graphs, const Variable& features) const override {
    Variable x = features;
    if (in_degrees_) x = ops::add(x, degrees(*in_degrees_, graphs.edges->rows));
    if (out_degrees_) x = ops::add(x, degrees(*out_degrees_, graphs.edges->source_rows));
    return x;
  }

  Surroundings surroundings(const data::GraphBatch& graphs, nn::GraphEdges edges) const override {
    for (std::size_t g = 0; g + 1 < graphs.starts.size(); ++g) {
      const Index nodes = graphs.starts[g + 1] - graphs.starts[g];
      check<DataError>(nodes <= most_nodes, "a graph of ", nodes,
                       " nodes, where attention between all pairs reads at most ", most_nodes,
                       "; `arch` = gat and message-passing have no limit");
    }
    const Part part(nn::parts::positions);
    const auto path_edges = edges.features.empty() ? data::PathEdges::no : data::PathEdges::yes;
    const data::ShortestPaths paths = data::shortest_paths(*graphs.edges, graphs.starts, path_edges);
    Variable terms = of_distances(paths.distances);
    if (path_edges == data::PathEdges::yes) terms = ops::add(terms, of_paths(paths, edges.features));
    nn::GraphEdges pairs{.rows = std::make_shared<const EdgeRows>(all_pairs(graphs.starts)), .starts = edges.starts};
    return {std::move(pairs), terms};
  }

  // [pairs, numbers of a pair]
  Variable of_distances(const std::vector<std::int32_t>& distances) const {
    TokenIds ids(Shape{static_cast<Index>(distances.size())});
    for (std::size_t p = 0; p < distances.size(); ++p) {
      const bool is_reached = distances[p] != data::ShortestPaths::unreachable;
      const Index row = is_reached ? std::min(max_distance_, Index{distances[p]}) : max_distance_ + 1;
      ids.ids[p] = static_cast<TokenId>(row);
    }
    return (*distances_)(ids);
  }
  Variable of_paths(const data::ShortestPaths& paths, const Variable& features) const {
    const Variable scores = (*path_)(features, {.output = DType::real});
    const std::vector<Real> shares(paths.shares.begin(), paths.shares.end());
    const Variable shared = ops::scale_samples(ops::gather_rows(scores, paths.edges), shares);
    return ops::reduce_parts(shared, paths.starts, Reduction::sum);
  }

  Variable layer(Index number, const Variable& x, const Surroundings& around, const Pass& pass) const override {
    const Layer& here = layers_[static_cast<std::size_t>(number)];
    const Variable heard =
        here.attention(here.attention_norm(x, nn::Norm::Result::activation), around.edges, pass, around.terms);
    const Variable y = added(x, heard, here.attention_site, around.edges, pass);
    const Variable fed = here.feed_forward(here.feed_forward_norm(y, nn::Norm::Result::activation), {}, pass);
    return added(y, fed, here.feed_forward_site, around.edges, pass);
  }

  Index max_distance_, max_degree_;
  std::optional<nn::Embedding> in_degrees_, out_degrees_, distances_;
  std::optional<nn::Linear> path_;
  std::vector<Layer> layers_;
};

Architecture describe_GraphTransformer() {
  return describe<GraphTransformer, GraphTransformerConfig>({}, {.epochs = 50, .batch_size = 32});
}

}  // namespace heddle::models
