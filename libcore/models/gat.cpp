// Graph attention network: each layer attends from a node to its neighbours and itself (Velickovic et al. 2018; Brody
// et al. 2022). Layers have residual connections with a norm before them.
#include "libcore/models/graph_model.hpp"
#include "libcore/nn/graph_attention.hpp"

namespace heddle::models {

namespace {

struct GatConfig : GraphModelConfig {
  static constexpr const char* kind_name = "gat";
  Index heads = 4;
  std::string attention = "additive:order=outside,activation=leaky-relu";
  std::string projections = "one";
  std::string combine = "concatenate";
  std::string activation = "elu";
  bool edge_values = true;
  double weight_dropout = 0;

  void validate() const override {
    check<UsageError>(combine == "average" || width % heads == 0, "`width` = ", width,
                      " is not divisible by `heads` = ", heads);
  }

  template <class Self, class Visitor>
  static void visit(Self& self, Visitor& visitor) {
    GraphModelConfig::visit(self, visitor);
    visitor(Field("heads", "number of attention heads; must divide the width").range(1, 10000).takes("N").essential(),
            self.heads);
    visitor(Field("attention", "attention variant; additive:activation=leaky-relu is GATv2's")
                .takes("NAME[:KEY=VALUE,...]")
                .named_in(attention_variants),
            self.attention);
    visitor(Field("projections",
                  "number of matrices for queries, keys and values: one for all, two (one for queries), three")
                .one_of(names_of<GraphProjections>())
                .takes("NUMBER"),
            self.projections);
    visitor(Field("combine", "heads side by side, or the mean of heads of the whole width")
                .one_of({"concatenate", "average"})
                .takes("HOW"),
            self.combine);
    visitor(Field("activation", "non-linearity after attention").one_of(names_of<Activation>()).takes("NAME"),
            self.activation);
    visitor(
        Field(
            "edge_values",
            "edges add to the values that nodes receive, not only to the attention weights; GAT and GATv2 have false"),
        self.edge_values);
    visitor(Field("weight_dropout", "dropout rate of attention weights").range(0, 0.99).takes("P"),
            self.weight_dropout);
  }
};

}  // namespace

// Parameters of layer i: gat/i/norm, gat/i/attention/….
class Gat : public GraphModel, public EdgeAttentionMaps {
 public:
  Gat(const GatConfig& config, ParameterSource weights)
      : GraphModel(config, config, std::move(weights), "gat"), activation_(from_text<Activation>(config.activation)) {
    const bool average = config.combine == "average";
    for (Index i = 0; i < config.layers; ++i) {
      const Scope at = scope("gat") / i;
      layers_.push_back({nn::Norm(at / "norm", config.width, {}),
                         nn::GraphAttention(at / "attention", scope("gat/attention"),
                                            {.variant = config.attention,
                                             .width = config.width,
                                             .heads = config.heads,
                                             .head_width = average ? config.width : config.width / config.heads,
                                             .projections = from_text<GraphProjections>(config.projections),
                                             .edge_width = edge_width(),
                                             .edge_values = config.edge_values,
                                             .average = average,
                                             .stddev = nn::stddev_by_inputs(config.width),
                                             .weight_dropout = config.weight_dropout}),
                         random_site(at.path() + "/dropout")});
    }
  }

  std::vector<EdgeAttentionMap> edge_attention_maps(const data::GraphBatch& graphs) const override {
    return maps_of_layers(graphs, [&](Index number, const Variable& x, const Surroundings& around) {
      const Layer& here = layers_[static_cast<std::size_t>(number)];
      return here.attention.weights(here.norm(x, nn::Norm::Result::activation), around.edges);
    });
  }

 private:
  struct Layer {
    nn::Norm norm;
    nn::GraphAttention attention;
    std::uint64_t site;
  };

  Surroundings surroundings(const data::GraphBatch&, nn::GraphEdges edges) const override {
    return {nn::with_loops(edges)};
  }
  Variable layer(Index number, const Variable& x, const Surroundings& around, const Pass& pass) const override {
    const Layer& here = layers_[static_cast<std::size_t>(number)];
    const Variable heard = here.attention(here.norm(x, nn::Norm::Result::activation), around.edges, pass);
    return added(x, ops::activate(heard, activation_), here.site, around.edges, pass);
  }

  Activation activation_;
  std::vector<Layer> layers_;
};

Architecture describe_Gat() {
  return describe<Gat, GatConfig>({}, {.epochs = 100, .batch_size = 32});
}

}  // namespace heddle::models
