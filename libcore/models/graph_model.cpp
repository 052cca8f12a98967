#include "libcore/models/graph_model.hpp"

#include <cmath>
#include <utility>

#include "libcore/base/strings.hpp"
#include "libcore/nn/parts.hpp"
#include "libcore/ops/arithmetic.hpp"
#include "libcore/ops/linear.hpp"

namespace heddle::models {

namespace {

// Columns are added, and so are their variances: together 1.
double stddev_of_feature(const data::FeatureColumns& columns) {
  return 1 / std::sqrt(static_cast<double>(columns.categories.size() + columns.numbers.size() + 1));
}

// The number of kinds of each column, one more for unknown ones.
std::vector<Index> kinds_of(const data::FeatureColumns& columns) {
  std::vector<Index> kinds;
  for (const data::CategoryColumn& column : columns.categories) {
    kinds.push_back(static_cast<Index>(column.kinds.size()) + 1);
  }
  return kinds;
}

Tensor normalised(const std::vector<float>& numbers, const std::vector<data::NumberColumn>& columns, Index rows) {
  const auto width = static_cast<Index>(columns.size());
  const Tensor result({rows, width + 1}, Real(1));
  for (Index i = 0; i < rows * width; ++i) {
    const data::NumberColumn& column = columns[static_cast<std::size_t>(i % width)];
    const double stddev = column.stddev > 0 ? column.stddev : 1;
    const double value = (static_cast<double>(numbers[static_cast<std::size_t>(i)]) - column.mean) / stddev;
    result[i / width * (width + 1) + i % width] = static_cast<Real>(value);
  }
  return result;
}

}  // namespace

FeatureEmbedding::FeatureEmbedding(const Scope& scope, const data::FeatureColumns& columns, Index width)
    : columns_(columns) {
  const double stddev = stddev_of_feature(columns);
  Index kinds = 0;
  for (const Index of_column : kinds_of(columns)) {
    first_.push_back(static_cast<TokenId>(kinds));
    kinds += of_column;
  }
  if (kinds > 0) categories_.emplace(scope / "category", kinds, width, stddev);
  numbers_ = (scope / "number")
                 .parameter("weight", {width, static_cast<Index>(columns.numbers.size()) + 1},
                            Initializer::normal(stddev), Decay::yes);
}

Variable FeatureEmbedding::operator()(const data::Features& features, Index rows) const {
  const Part part(nn::parts::token_embeddings);
  const Variable numbers(normalised(features.numbers, columns_.numbers, rows));
  const Variable sum = ops::linear(numbers, numbers_, {}, {.output = DType::real});
  if (!categories_) return sum;
  const std::size_t columns = first_.size();
  TokenIds ids(Shape{rows * static_cast<Index>(columns)});
  for (std::size_t i = 0; i < ids.ids.size(); ++i) ids.ids[i] = first_[i % columns] + features.categories[i];
  std::vector<Index> starts;
  for (Index row = 0; row <= rows; ++row) starts.push_back(row * static_cast<Index>(columns));
  return ops::add(sum, ops::reduce_parts((*categories_)(ids), std::move(starts), Reduction::sum));
}

GraphModel::GraphModel(const ModelConfig& config, const GraphModelConfig& shape, ParameterSource weights,
                       const std::string& name)
    : Model(config, std::move(weights)),
      name_(name),
      layers_(shape.layers),
      width_(shape.width),
      edge_width_(shape.edge_width),
      readout_(from_text<Reduction>(shape.readout)),
      features_(shape.features),
      nodes_(scope(name + "/embedding/node"), shape.features.nodes, shape.width),
      norm_(scope(name + "/norm"), shape.width, {}),
      input_site_(random_site(name + "/embedding/dropout")) {
  if (shape.masked_head) {
    const data::FeatureColumns& columns = shape.features.nodes;
    head_.emplace(scope("head"), kinds_of(columns), shape.width, stddev_of_feature(columns));
  }
  if (shape.edge_width == 0 || shape.features.edges.empty()) return;
  edges_.emplace(scope(name + "/embedding/edge"), shape.features.edges, shape.edge_width);
}

const heads::MaskedNodes& GraphModel::head() const {
  check<UsageError>(head_.has_value(), "the model has no head that predicts masked nodes; pre-training makes it");
  return *head_;
}

Variable GraphModel::kind_logits(const Variable& nodes, std::size_t column) const {
  const Part part(nn::parts::output);
  return head().logits(nodes, column);
}

double GraphModel::training_flops_per_node() const {
  Index numbers = 0;
  for (const Parameter& parameter : parameters().all()) {
    const bool is_table = parameter.name.find("embedding") != parameter.name.npos;
    const bool multiplies = !is_table && !is_of_head(parameter.name) && parameter.value().shape().rank() == 2;
    if (multiplies) numbers += parameter.value().size();
  }
  return 6 * static_cast<double>(numbers);
}

Variable GraphModel::embedded(const data::GraphBatch& graphs) const {
  const Variable features = nodes_(graphs.node_features, graphs.nodes());
  return graphs.masked.empty() ? features : head().hide(features, graphs.masked);
}

Variable GraphModel::input(const data::GraphBatch&, const Variable& features) const {
  return features;
}

Variable GraphModel::added(const Variable& x, const Variable& change, std::uint64_t site, const nn::GraphEdges& edges,
                           const Pass& pass) const {
  const Part part(nn::parts::residuals);
  return ops::add(x, nn::drop_rows(change, pass.dropout, site, *edges.starts, pass));
}

Variable GraphModel::edge_vectors(const data::GraphBatch& graphs) const {
  if (!edges_ || graphs.edges->edges() == 0) return {};
  return (*edges_)(graphs.edge_features, graphs.edges->edges());
}

template <class Visit>
Variable GraphModel::run(const data::GraphBatch& graphs, const Pass& pass, const Visit& visit) const {
  nn::GraphEdges edges{.rows = graphs.edges,
                       .features = edge_vectors(graphs),
                       .starts = std::make_shared<const std::vector<Index>>(graphs.starts)};
  const Variable features = input(graphs, embedded(graphs));
  Variable x = nn::drop_rows(features, pass.dropout, input_site_, graphs.starts, pass);
  const Surroundings around = surroundings(graphs, std::move(edges));
  for (Index i = 0; i < layers_; ++i) {
    visit(i, x, around);
    x = layer(i, x, around, pass);
  }
  visit(layers_, x, around);
  return x;
}

Variable GraphModel::node_vectors(const data::GraphBatch& graphs, const Pass& pass, const Observer& observe) const {
  const Variable x = run(graphs, pass, [&](Index, const Variable& states, const Surroundings&) {
    if (observe) observe(states);
  });
  return norm_(x, nn::Norm::Result::residual);
}

std::vector<EdgeAttentionMap> GraphModel::maps_of_layers(const data::GraphBatch& graphs, const Weights& weights) const {
  std::vector<EdgeAttentionMap> maps;
  run(graphs, {}, [&](Index number, const Variable& x, const Surroundings& around) {
    if (number == layers_) return;
    maps.push_back({concatenate(name_, "/", number, "/attention"), around.edges.rows, weights(number, x, around)});
  });
  return maps;
}

Variable GraphModel::graph_vectors(const Variable& nodes, const data::GraphBatch& graphs) const {
  const Part part(nn::parts::pooler);
  return ops::reduce_parts(nodes, graphs.starts, readout_);
}

}  // namespace heddle::models
