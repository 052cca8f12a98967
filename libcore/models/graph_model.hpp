// Base of the architectures that read graphs: vectors of features, layers with residual connections, and a vector for a
// whole graph.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "libcore/heads/masked_nodes.hpp"
#include "libcore/models/architecture.hpp"
#include "libcore/nn/embedding.hpp"
#include "libcore/nn/graph_edges.hpp"
#include "libcore/nn/norm.hpp"
#include "libcore/ops/reduce_rows.hpp"

namespace heddle::models {

// Settings of graph models.
struct GraphModelConfig : GraphConfig {
  Index layers = 4;
  Index width = 64;
  Index edge_width = 16;
  std::string readout = "mean";
  bool masked_head = false;

  void prepare_for(std::string_view role) override {
    if (role == MaskedNodePredictor::ability) masked_head = true;
  }

  template <class Self, class Visitor>
  static void visit(Self& self, Visitor& visitor) {
    visitor(Field("layers", "number of layers").range(0, 10000).takes("N").essential(), self.layers);
    visitor(Field("width", "width of the residual stream").range(1, 1000000).takes("N").essential(), self.width);
    visitor(Field("edge_width", "width of the vectors of edges; none: features of edges are ignored")
                .range(1, 1000000)
                .word(0, "none")
                .takes("N"),
            self.edge_width);
    visitor(Field("readout", "how the vectors of nodes become the vector of a graph")
                .one_of({"sum", "mean", "max"})
                .takes("NAME"),
            self.readout);
    visitor(Field("masked_head", "the head that predicts masked nodes, which pre-training adds"), self.masked_head);
    GraphConfig::visit(self, visitor);
  }
};

// Vectors of features: a sum of a vector for each category, a linear map of the normalised numbers, and a constant.
// Parameters: category/weight [kinds of all columns, with one more of each for unknown ones, width]; number/weight
// [width, numbers + 1].
class FeatureEmbedding {
 public:
  FeatureEmbedding(const Scope& scope, const data::FeatureColumns& columns, Index width);
  // [rows, width], of so many rows.
  Variable operator()(const data::Features& features, Index rows) const;

 private:
  data::FeatureColumns columns_;
  std::vector<TokenId> first_;  // row of each column in the table
  std::optional<nn::Embedding> categories_;
  Variable numbers_;
};

// Parameters beside the layers': NAME/embedding/node, NAME/embedding/edge, NAME/norm; head/… of masked nodes.
class GraphModel : public Model, public MaskedNodePredictor {
 public:
  Index layers() const override { return layers_; }
  Index width() const override { return width_; }
  const data::GraphSchema& features() const override { return features_; }
  Index edge_width() const override { return edges_ ? edge_width_ : 0; }
  Variable edge_vectors(const data::GraphBatch& graphs) const override;
  Variable node_vectors(const data::GraphBatch& graphs, const Pass& pass, const Observer& observe) const override;
  Variable graph_vectors(const Variable& nodes, const data::GraphBatch& graphs) const override;
  double training_flops_per_node() const override;
  bool has_masked_head() const override { return head_.has_value(); }
  Variable kind_logits(const Variable& nodes, std::size_t column) const override;

 protected:
  // Parameters are those of NAME/…, the architecture's.
  GraphModel(const ModelConfig& config, const GraphModelConfig& shape, ParameterSource weights,
             const std::string& name);

  // Inputs of the layers that are computed once per batch.
  struct Surroundings {
    nn::GraphEdges edges;
    Variable terms{};  // edge terms, if layers do not compute their own
  };

  const std::string& name() const { return name_; }
  // The maps of layers whose weights, for the input x of a layer, are weights(number, x, around).
  using Weights = std::function<Tensor(Index number, const Variable& x, const Surroundings& around)>;
  std::vector<EdgeAttentionMap> maps_of_layers(const data::GraphBatch& graphs, const Weights& weights) const;
  // x + what a sublayer has made of it, perhaps dropped.
  Variable added(const Variable& x, const Variable& change, std::uint64_t site, const nn::GraphEdges& edges,
                 const Pass& pass) const;

 private:
  // Calls visit(number, x, around) with the input of each layer, and with the output of the last one; returns that.
  template <class Visit>
  Variable run(const data::GraphBatch& graphs, const Pass& pass, const Visit& visit) const;
  const heads::MaskedNodes& head() const;
  // The vectors of nodes' features, those of masked nodes hidden.
  Variable embedded(const data::GraphBatch& graphs) const;
  // The input of the first layer; by default the vectors of features.
  virtual Variable input(const data::GraphBatch& graphs, const Variable& features) const;
  virtual Surroundings surroundings(const data::GraphBatch& graphs, nn::GraphEdges edges) const = 0;
  virtual Variable layer(Index number, const Variable& x, const Surroundings& around, const Pass& pass) const = 0;

  std::string name_;
  Index layers_, width_, edge_width_;
  Reduction readout_;
  data::GraphSchema features_;
  FeatureEmbedding nodes_;
  std::optional<FeatureEmbedding> edges_;
  nn::Norm norm_;
  std::optional<heads::MaskedNodes> head_;
  std::uint64_t input_site_;
};

}  // namespace heddle::models
