// Properties of every model that reads graphs. Built in double.
#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>
#include <map>

#include "libcore/data/graphs.hpp"
#include "libcore/models/architecture.hpp"
#include "libcore/models/model_checks.hpp"
#include "libcore/models/small_config.hpp"
#include "libcore/models/task_model.hpp"
#include "libcore/ops/arithmetic.hpp"
#include "support/weighted_sum.hpp"

using namespace heddle;
using namespace heddle::testing;

namespace graph_models_tests {

namespace {

std::size_t at(Index i) {
  return static_cast<std::size_t>(i);
}

const data::GraphSchema schema{
    .nodes = {.categories = {{"element", {"C", "N", "O"}}, {"ring", {"yes"}}}, .numbers = {{"mass", 1, 2}}},
    .edges = {.categories = {{"order", {"1", "2"}}}, .numbers = {{"length", 1.5, 0.5}}}};

// Nodes in a row and some edges across, both ways alike; one node alone.
data::Graph some_graph(Index nodes, std::uint64_t seed) {
  const RandomStream stream(seed, random_site("graph"));
  std::uint64_t drawn = 0;
  const auto below = [&](Index count) {
    return static_cast<Index>(stream.below(drawn++, static_cast<std::uint64_t>(count)));
  };
  data::Graph graph;
  graph.nodes = nodes;
  for (Index i = 0; i < nodes; ++i) {
    graph.node_features.categories.push_back(static_cast<std::int32_t>(below(4)));
    graph.node_features.categories.push_back(static_cast<std::int32_t>(below(2)));
    graph.node_features.numbers.push_back(static_cast<float>(below(9)) / 4);
  }
  std::vector<data::ListedEdge> edges;
  const auto add = [&](Index i, Index j) {
    const std::vector<std::int32_t> order{static_cast<std::int32_t>(below(3))};
    const std::vector<float> length{static_cast<float>(below(9)) / 4};
    edges.push_back({i, j, order, length});
    edges.push_back({j, i, order, length});
  };
  for (Index i = 1; i + 1 < nodes; ++i) add(i - 1, i);
  for (Index i = 0; i + 3 < nodes; i += 2) add(i, i + 2);
  data::set_edges(graph, edges);
  return graph;
}

// Node i of the result is node order[i] of the graph; the edges into each node come in the other order.
data::Graph reordered(const data::Graph& graph, const std::vector<Index>& order) {
  std::vector<Index> place(order.size());
  for (std::size_t i = 0; i < order.size(); ++i) place[at(order[i])] = static_cast<Index>(i);
  data::Graph result;
  result.nodes = graph.nodes;
  for (const Index node : order) {
    for (Index c = 0; c < 2; ++c)
      result.node_features.categories.push_back(graph.node_features.categories[at(2 * node + c)]);
    result.node_features.numbers.push_back(graph.node_features.numbers[at(node)]);
  }
  std::vector<data::ListedEdge> edges;
  for (Index target = 0; target < graph.nodes; ++target) {
    for (Index e = graph.rows[at(target)]; e < graph.rows[at(target) + 1]; ++e) {
      edges.push_back({place[at(graph.sources[at(e)])],
                       place[at(target)],
                       {graph.edge_features.categories[at(e)]},
                       {graph.edge_features.numbers[at(e)]}});
    }
  }
  std::reverse(edges.begin(), edges.end());
  data::set_edges(result, edges);
  return result;
}

data::GraphBatch batch_of(const std::vector<const data::Graph*>& graphs) {
  return data::joined(graphs);
}

struct Made {
  std::unique_ptr<models::Model> model;
  const models::NodeVectors& nodes;

  Tensor of_nodes(const data::GraphBatch& batch, const Pass& pass = {}) const {
    return nodes.node_vectors(batch, pass).value();
  }
  Tensor of_graphs(const data::GraphBatch& batch) const {
    return nodes.graph_vectors(nodes.node_vectors(batch), batch).value();
  }
};

Made made(const std::string& text, const data::GraphSchema& features = schema) {
  models::ModelConfig config(models::ModelConfig::from(text));
  config.as<models::GraphConfig>()->features = features;
  auto model = models::make_model(config, 3);
  stir(model->parameters(), 0.2);
  const auto* nodes = model->as<models::NodeVectors>();
  REQUIRE(nodes != nullptr);
  return {std::move(model), *nodes};
}

// Every architecture that reads graphs, with the settings that change what it computes.
std::vector<std::string> texts(const std::string& edge_width = "3") {
  std::vector<std::string> result;
  for (const std::string own :
       {"gat:heads=2", "gat:heads=2,edge_values=false",
        "gat:heads=3,attention=additive:activation=leaky-relu,projections=two", "gat:heads=2,combine=average",
        "gat:heads=2,attention=dot,projections=three", "message-passing:readout=sum",
        "message-passing:reduction=mean,messages=both", "message-passing:reduction=max,update=linear",
        "graph-transformer:heads=2,max_distance=3", "graph-transformer:heads=3,attention=additive,readout=max"}) {
    result.push_back(own + ",layers=2,width=6,edge_width=" + edge_width);
  }
  return result;
}

}  // namespace

TEST_CASE("models of graphs: the texts above are all architectures that read graphs") {
  for (const models::Architecture& architecture : models::architectures()) {
    if (!architecture.plays(models::NodeVectors::ability)) continue;
    CAPTURE(architecture.name);
    const auto is_of_it = [&](const std::string& text) { return text.starts_with(architecture.name + ":"); };
    const auto all = texts();
    CHECK(std::any_of(all.begin(), all.end(), is_of_it));
  }
}

TEST_CASE("models of graphs: the gradient of every parameter matches finite differences") {
  const data::Graph first = some_graph(7, 1), second = some_graph(4, 2);
  const data::GraphBatch batch = batch_of({&first, &second});
  for (const std::string& text : texts()) {
    CAPTURE(text);
    const Made m = made(text);
    const Pass pass{.dropout = 0.1, .seed = 4, .step = 5, .training = true};
    check_gradients(m.model->parameters(), [&] {
      const Variable nodes = m.nodes.node_vectors(batch, pass);
      const Variable sum = ops::add(weighted_sum(nodes), weighted_sum(m.nodes.graph_vectors(nodes, batch)));
      return ops::scale(sum, Real(0.1));  // so that differences carry little rounding
    });
  }
}

TEST_CASE("models of graphs: nodes and edges in another order give the same vectors in that order, and of the whole") {
  const data::Graph graph = some_graph(8, 3);
  const std::vector<Index> order{3, 0, 7, 6, 2, 5, 1, 4};
  const data::Graph turned = reordered(graph, order);
  for (const std::string& text : texts()) {
    CAPTURE(text);
    const Made m = made(text);
    const Tensor nodes = m.of_nodes(batch_of({&graph})), others = m.of_nodes(batch_of({&turned}));
    double apart = 0;
    for (Index i = 0; i < 8; ++i) {
      apart = std::max(apart, difference(others.narrowed(0, i, 1), nodes.narrowed(0, order[at(i)], 1)));
    }
    CHECK(apart < 1e-11);
    CHECK(difference(m.of_graphs(batch_of({&graph})), m.of_graphs(batch_of({&turned}))) < 1e-11);
  }
}

TEST_CASE("models of graphs: an edge has one class whichever way it is listed, but for graphs with directions") {
  const data::Graph first = some_graph(5, 4), graph = some_graph(7, 1);
  const data::GraphBatch batch = batch_of({&first, &graph});
  const Index longest = std::max(first.edges(), graph.edges());
  const models::TaskConfig task{
      .task = models::Task::label, .labels = {"a", "b", "c"}, .of_graphs = true, .level = data::GraphLevel::edge};
  for (const bool is_directed : {false, true}) {
    for (const std::string& text : texts()) {
      CAPTURE(is_directed);
      CAPTURE(text);
      data::GraphSchema features = schema;
      features.is_directed = is_directed;
      models::TaskModel model(std::move(made(text, features).model), task);
      stir(model.parameters(), 0.2);
      std::vector<Index> all, ways;  // the second graph: each edge, and the same in the other direction
      for (Index e = 0; e < graph.edges(); ++e) all.push_back(longest + e);
      for (Index target = 0; target < graph.nodes; ++target) {
        for (Index e = graph.rows[at(target)]; e < graph.rows[at(target) + 1]; ++e) {
          const Index source = graph.sources[at(e)];
          const auto into = graph.sources.begin() + graph.rows[at(source)];
          const auto found = std::find(into, graph.sources.begin() + graph.rows[at(source) + 1], target);
          ways.push_back(longest + (found - graph.sources.begin()));
        }
      }
      const Tensor logits = model.part_logits(batch, all, longest).value();
      const double apart = difference(logits, model.part_logits(batch, ways, longest).value());
      CHECK((is_directed ? apart > 1e-4 : apart < 1e-12));
      for (Index& position : all) position -= longest;
      CHECK(difference(logits, model.part_logits(batch_of({&graph}), all, longest).value()) < 1e-12);
      check_gradients(model.parameters(),
                      [&] { return ops::scale(weighted_sum(model.part_logits(batch, ways, longest)), Real(0.1)); });
    }
  }
}

// Rows of a matrix as numbers.
std::vector<std::vector<double>> rows_of(const Tensor& matrix) {
  std::vector<std::vector<double>> rows(at(matrix.shape()[0]));
  const Index width = matrix.shape()[1];
  for (Index i = 0; i < matrix.shape()[0] * width; ++i) rows[at(i / width)].push_back(static_cast<double>(matrix[i]));
  return rows;
}

TEST_CASE(
    "models of graphs: a pair's class follows from its two nodes, in either order but for graphs with directions") {
  data::Graph first = some_graph(5, 4), graph = some_graph(7, 1);
  first.pairs = {{4, 2}};
  graph.pairs = {{0, 1}, {6, 2}, {3, 3}, {1, 0}, {2, 6}};
  const data::GraphBatch batch = batch_of({&first, &graph});
  const models::TaskConfig task{
      .task = models::Task::label, .labels = {"a", "b", "c"}, .of_graphs = true, .level = data::GraphLevel::pair};
  for (const bool is_directed : {false, true}) {
    for (const std::string& text : texts()) {
      CAPTURE(is_directed);
      CAPTURE(text);
      data::GraphSchema features = schema;
      features.is_directed = is_directed;
      models::TaskModel model(std::move(made(text, features).model), task);
      stir(model.parameters(), 0.2);
      const std::vector<Index> all{0, 5, 6, 7, 8, 9};  // graph * 5 + pair
      const Tensor logits = model.part_logits(batch, all, 5).value();
      // relu(A t + B s + C (t * s) + b), then the classifier, by loops.
      const auto weights = [&](const std::string& name) { return rows_of(model.parameters().find(name)->value()); };
      const auto numbers = [&](const std::string& name) {
        const Tensor& value = model.parameters().find(name)->value();
        std::vector<double> result;
        for (Index i = 0; i < value.size(); ++i) result.push_back(static_cast<double>(value[i]));
        return result;
      };
      const std::string target_name = is_directed ? "task/pair/target/" : "task/pair/ends/",
                        source_name = is_directed ? "task/pair/source/" : "task/pair/ends/";
      const auto a = weights(target_name + "weight"), b = weights(source_name + "weight"),
                 c = weights("task/pair/product/weight"), w = weights("task/weight");
      const auto bias = numbers(target_name + "bias"), class_bias = numbers("task/bias");
      const auto nodes = rows_of(model.nodes().node_vectors(batch).value());
      const std::vector<std::pair<Index, Index>> wanted{{4, 2}, {5, 6}, {11, 7}, {8, 8}, {6, 5}, {7, 11}};
      double apart = 0;
      for (std::size_t i = 0; i < wanted.size(); ++i) {
        const auto& source = nodes[at(wanted[i].first)];
        const auto& target = nodes[at(wanted[i].second)];
        std::vector<double> sums = class_bias;
        for (std::size_t o = 0; o < bias.size(); ++o) {
          double sum = (is_directed ? 1 : 2) * bias[o];
          for (std::size_t k = 0; k < target.size(); ++k) {
            sum += a[o][k] * target[k] + b[o][k] * source[k] + c[o][k] * target[k] * source[k];
          }
          for (std::size_t k = 0; k < sums.size(); ++k) sums[k] += w[k][o] * std::max(0.0, sum);
        }
        for (std::size_t k = 0; k < sums.size(); ++k) {
          const auto value = static_cast<double>(logits[static_cast<Index>(3 * i + k)]);
          apart = std::max(apart, std::abs(sums[k] - value));
        }
      }
      CHECK(apart < 1e-11);
      check_gradients(model.parameters(),
                      [&] { return ops::scale(weighted_sum(model.part_logits(batch, all, 5)), Real(0.1)); });
    }
  }
}

TEST_CASE("models of graphs: the class of an edge depends on its own features, where the model has vectors of them") {
  // In a ring of nodes that are alike, in a model without layers.
  data::Graph graph;
  graph.nodes = 3;
  graph.node_features = {{1, 1, 1, 1, 1, 1}, {1, 1, 1}};
  data::set_edges(graph, std::vector<data::ListedEdge>{{0, 1, {1}, {2}}, {1, 2, {2}, {2}}, {2, 0, {1}, {2}}});
  const models::TaskConfig task{
      .task = models::Task::label, .labels = {"a", "b"}, .of_graphs = true, .level = data::GraphLevel::edge};
  for (const std::string width : {"3", "none"}) {
    for (const std::string arch : {"gat", "message-passing", "graph-transformer"}) {
      CAPTURE(arch);
      models::TaskModel model(std::move(made(arch + ":layers=0,width=8,edge_width=" + width).model), task);
      stir(model.parameters(), 0.2);
      const Tensor logits = model.part_logits(batch_of({&graph}), {1, 2}, 3).value();
      CHECK((difference(logits.narrowed(0, 0, 1), logits.narrowed(0, 1, 1)) > 1e-4) == (width == "3"));
    }
  }
}

TEST_CASE("models of graphs: the other graphs of a batch do not matter, nor how a step is cut, with dropout too") {
  const data::Graph first = some_graph(7, 1), second = some_graph(5, 2), single = some_graph(1, 3);
  for (const std::string& text : texts()) {
    CAPTURE(text);
    const Made m = made(text.starts_with("gat") ? text + ",weight_dropout=0.3" : text);
    const Pass pass{.dropout = 0.2, .seed = 4, .step = 5, .first_sample = 6, .training = true};
    Pass later = pass;
    later.first_sample = 7;
    const Tensor together = m.of_nodes(batch_of({&first, &second, &single}), pass);
    CHECK(difference(together.narrowed(0, 7, 5), m.of_nodes(batch_of({&second}), later)) < 1e-12);
    CHECK(difference(m.of_nodes(batch_of({&second}), pass), m.of_nodes(batch_of({&second}), later)) > 1e-3);
    const Tensor graphs = m.of_graphs(batch_of({&first, &second, &single}));
    CHECK(difference(graphs.narrowed(0, 1, 1), m.of_graphs(batch_of({&second}))) < 1e-12);
    CHECK(difference(graphs.narrowed(0, 2, 1), m.of_graphs(batch_of({&single}))) < 1e-12);
  }
}

TEST_CASE("models of graphs: what nodes and edges are matters, edges only where the model has vectors of them") {
  const data::Graph graph = some_graph(8, 3);
  data::Graph other_edges = graph, other_nodes = graph, other_numbers = graph;
  for (std::int32_t& kind : other_edges.edge_features.categories) kind = (kind + 1) % 3;
  other_nodes.node_features.categories[4] ^= 1;
  other_numbers.node_features.numbers[2] += 1;
  const auto change = [&](const Made& m, const data::Graph& other) {
    return difference(m.of_graphs(batch_of({&other})), m.of_graphs(batch_of({&graph})));
  };
  for (const std::string& text : texts()) {
    CAPTURE(text);
    CHECK(change(made(text), other_edges) > 1e-5);
    CHECK(change(made(text), other_nodes) > 1e-5);
    CHECK(change(made(text), other_numbers) > 1e-5);
  }
  for (const std::string& text : texts("none")) {
    CAPTURE(text);
    CHECK(change(made(text), other_edges) == 0);
  }
  data::GraphSchema plain = schema;
  plain.edges = {};
  data::Graph without = graph;
  without.edge_features = {};
  for (const std::string& text : texts()) CHECK(is_finite(made(text, plain).of_graphs(batch_of({&without}))));
}

TEST_CASE("models of graphs: a node costs what the layers' matrices multiply, however many kinds of nodes there are") {
  const auto flops = [](const std::string& text, Index kinds) {
    data::GraphSchema features = schema;
    for (Index i = 0; i < kinds; ++i) features.nodes.categories.front().kinds.push_back(std::to_string(i));
    const Made m = made(text, features);
    return m.nodes.training_flops_per_node();
  };
  for (const std::string arch : {"gat", "message-passing", "graph-transformer"}) {
    CAPTURE(arch);
    const std::string text = arch + ":width=8,edge_width=none,masked_head=true,layers=";
    const double one = flops(text + "1", 0), layer = flops(text + "2", 0) - one;
    CHECK(layer >= 6 * 8 * 8);
    CHECK(one - layer < layer / 10);  // parts that all layers share
    CHECK(flops(text + "3", 0) == one + 2 * layer);
    CHECK(flops(text + "1", 500) == one);
  }
}

TEST_CASE("models of graphs: no matrix of a new model is of zeros alone") {
  for (const std::string& text : texts()) {
    CAPTURE(text);
    models::ModelConfig config(models::ModelConfig::from(text));
    config.as<models::GraphConfig>()->features = schema;
    const auto model = models::make_model(config, 3);
    for (const Parameter& parameter : model->parameters().all()) {
      CAPTURE(parameter.name);
      if (parameter.value().rank() == 2)
        CHECK(difference(parameter.value(), Tensor(parameter.value().shape(), Real(0))) > 1e-3);
    }
  }
}

TEST_CASE("models of graphs: features without columns, nodes without edges, and settings that do not fit") {
  data::Graph bare;
  bare.nodes = 3;
  data::set_edges(bare, {});
  const data::Graph lone = some_graph(1, 3);
  for (const std::string& text : texts()) {
    CAPTURE(text);
    const Tensor y = made(text, data::GraphSchema{}).of_nodes(batch_of({&bare}));
    CHECK(is_finite(y));
    CHECK(difference(y.narrowed(0, 0, 1), y.narrowed(0, 2, 1)) < 1e-12);
    const Pass dropping{.dropout = 0.5, .seed = 4, .training = true};
    CHECK(is_finite(made(text).of_nodes(batch_of({&lone}), dropping)));
  }
  // Each row has random numbers of its own, of whichever graph it is: rows that are alike drop different elements.
  for (const std::string& text : texts()) {
    CAPTURE(text);
    const Tensor rows = made(text, data::GraphSchema{})
                            .of_nodes(batch_of({&bare, &bare}), {.dropout = 0.5, .seed = 4, .training = true});
    for (Index i = 0; i < 6; ++i) {
      for (Index j = 0; j < i; ++j) CHECK(difference(rows.narrowed(0, i, 1), rows.narrowed(0, j, 1)) > 1e-3);
    }
  }
  for (const bool is_directed : {false, true}) {
    data::GraphSchema features = schema;
    features.is_directed = is_directed;
    const auto has = [&](const std::string& name) {
      return made("graph-transformer:layers=1,width=4,heads=1", features).model->parameters().find(name) != nullptr;
    };
    CHECK(has("graph-transformer/embedding/in/weight"));
    CHECK(has("graph-transformer/embedding/out/weight") == is_directed);
    if (!is_directed) continue;
    // 0 -> 1, 0 -> 2: what leaves a node and what enters it are different tables.
    data::Graph fork = bare;
    data::set_edges(fork, std::vector<data::ListedEdge>{{0, 1}, {0, 2}});
    features = {};
    features.is_directed = true;
    const Made m = made("graph-transformer:layers=0,width=4,heads=1", features);
    const Tensor before = m.of_nodes(batch_of({&fork}));
    const auto changed = [&](const std::string& table, Index degree) {
      const Tensor& weight = m.model->parameters().find("graph-transformer/embedding/" + table + "/weight")->value();
      weight[4 * degree] += 1;
      const Tensor after = m.of_nodes(batch_of({&fork}));
      weight[4 * degree] -= 1;
      std::vector<Index> nodes;
      for (Index node = 0; node < 3; ++node) {
        if (difference(after.narrowed(0, node, 1), before.narrowed(0, node, 1)) > 1e-3) nodes.push_back(node);
      }
      return nodes;
    };
    using Nodes = std::vector<Index>;
    CHECK(changed("out", 2) == Nodes{0});
    CHECK(changed("out", 0) == Nodes{1, 2});
    CHECK(changed("in", 1) == Nodes{1, 2});
    CHECK(changed("in", 0) == Nodes{0});
  }
  CHECK_THROWS_WITH_AS(made("gat:width=10,heads=4"), "`width` = 10 is not divisible by `heads` = 4", UsageError);
  CHECK_THROWS_WITH_AS(made("gat:attention=fourier"), "fourier cannot attend along the edges of a graph", UsageError);
  data::Graph large;
  large.nodes = 5000;
  data::set_edges(large, {});
  CHECK_THROWS_WITH_AS(made("graph-transformer:width=4", data::GraphSchema{}).of_nodes(batch_of({&large})),
                       "a graph of 5000 nodes, where attention between all pairs reads at most 4096; `arch` = gat and "
                       "message-passing have no limit",
                       DataError);
}

TEST_CASE("models of graphs: the weights of the edges into each node sum to 1, edges are the graph's or all pairs") {
  const data::Graph first = some_graph(7, 1), second = some_graph(4, 2);
  const data::GraphBatch batch = batch_of({&first, &second});
  int with_maps = 0;
  for (const std::string& text : texts()) {
    CAPTURE(text);
    const Made m = made(text);
    const auto* const maps = m.model->as<models::EdgeAttentionMaps>();
    if (maps == nullptr) continue;
    ++with_maps;
    const auto all = maps->edge_attention_maps(batch);
    REQUIRE(all.size() == 2);
    for (const models::EdgeAttentionMap& map : all) {
      const Index edges = map.edges->edges(), heads = map.weights.shape()[1];
      CHECK(edges == (text.starts_with("gat") ? batch.edges->edges() + batch.nodes() : 7 * 7 + 4 * 4));
      std::vector<double> sums(at(batch.nodes() * heads), 0.0);
      for (Index i = 0; i < edges * heads; ++i)
        sums[at(map.edges->targets[at(i / heads)] * heads + i % heads)] += map.weights[i];
      for (const double sum : sums) CHECK(sum == doctest::Approx(1).epsilon(1e-12));
    }
    CHECK(all.front().name.ends_with("/0/attention"));
  }
  CHECK(with_maps == 7);
}

namespace {

// y [out] = W x + b of a parameter's path.
std::vector<double> linear_of(const Parameters& parameters, const std::string& path, const std::vector<double>& x) {
  const Tensor& w = parameters.find(path + "/weight")->value();
  const Parameter* const bias = parameters.find(path + "/bias");
  std::vector<double> y;
  for (Index o = 0; o < w.shape()[0]; ++o) {
    double sum = bias == nullptr ? 0 : bias->value()[o];
    for (std::size_t c = 0; c < x.size(); ++c) sum += w[o * w.shape()[1] + static_cast<Index>(c)] * x[c];
    y.push_back(sum);
  }
  return y;
}

std::vector<double> row_of(const Parameters& parameters, const std::string& path, Index row) {
  return doubles(parameters.find(path + "/weight")->value().narrowed(0, row, 1));
}

std::vector<double> sum_of(std::vector<double> x, const std::vector<double>& y) {
  for (std::size_t i = 0; i < x.size(); ++i) x[i] += y[i];
  return x;
}

std::vector<double> normalised(const Parameters& parameters, const std::string& path, const std::vector<double>& x) {
  double mean = 0, variance = 0;
  for (const double value : x) mean += value / static_cast<double>(x.size());
  for (const double value : x) variance += (value - mean) * (value - mean) / static_cast<double>(x.size());
  std::vector<double> y;
  for (std::size_t i = 0; i < x.size(); ++i) {
    const double gain = parameters.find(path + "/gain")->value()[static_cast<Index>(i)];
    y.push_back(gain * (x[i] - mean) / std::sqrt(variance + 1e-5) +
                parameters.find(path + "/bias")->value()[static_cast<Index>(i)]);
  }
  return y;
}

// The vector of a feature's row, in plain loops.
std::vector<double> features_of(const Parameters& parameters, const std::string& path,
                                const data::FeatureColumns& columns, const data::Features& features, Index row) {
  std::vector<double> numbers;
  for (std::size_t c = 0; c < columns.numbers.size(); ++c) {
    const double x = static_cast<double>(features.numbers[at(row) * columns.numbers.size() + c]);
    numbers.push_back((x - columns.numbers[c].mean) / columns.numbers[c].stddev);
  }
  numbers.push_back(1);
  std::vector<double> sum = linear_of(parameters, path + "/number", numbers);
  Index first = 0;
  for (std::size_t c = 0; c < columns.categories.size(); ++c) {
    sum = sum_of(sum, row_of(parameters, path + "/category",
                             first + features.categories[at(row) * columns.categories.size() + c]));
    first += static_cast<Index>(columns.categories[c].kinds.size()) + 1;
  }
  return sum;
}

}  // namespace

TEST_CASE("graph-transformer: its states are those of its equations in plain loops (Ying et al. 2021; SPEC A14)") {
  constexpr Index heads = 2, width = 6, head_width = 3, most = 2;
  // A path 0 - 1 - 2 - 3, both ways, with a second way from 1 to 3 by 4; node 5 alone.
  data::Graph graph = some_graph(6, 9);
  std::vector<data::ListedEdge> listed;
  const std::vector<std::pair<Index, Index>> links{{0, 1}, {1, 2}, {2, 3}, {1, 4}, {4, 3}};
  for (std::size_t e = 0; e < links.size(); ++e) {
    const std::vector<std::int32_t> order{static_cast<std::int32_t>(e % 3)};
    const std::vector<float> length{static_cast<float>(e) / 4};
    listed.push_back({links[e].first, links[e].second, order, length});
    listed.push_back({links[e].second, links[e].first, order, length});
  }
  data::set_edges(graph, listed);
  const Made m = made("graph-transformer:layers=1,width=6,heads=2,edge_width=3,max_distance=2,max_degree=2");
  const Parameters& p = m.model->parameters();
  const std::string root = "graph-transformer";
  // The nodes between, in order from source to target, of each shortest path: (target, source) -> paths.
  std::map<std::pair<Index, Index>, std::vector<std::vector<Index>>> paths;
  const std::vector<std::vector<Index>> upward{{0, 1},    {1, 2},       {2, 3},      {1, 4},    {4, 3},
                                               {0, 1, 2}, {0, 1, 4},    {1, 2, 3},   {1, 4, 3}, {2, 1, 4},
                                               {2, 3, 4}, {0, 1, 2, 3}, {0, 1, 4, 3}};
  for (std::vector<Index> path : upward) {
    paths[{path.back(), path.front()}].push_back(path);
    std::reverse(path.begin(), path.end());
    paths[{path.back(), path.front()}].push_back(path);
  }
  const auto edge_from_to = [&](Index source, Index target) {
    for (Index e = graph.rows[at(target)]; e < graph.rows[at(target) + 1]; ++e) {
      if (graph.sources[at(e)] == source) return e;
    }
    return Index{-1};
  };
  const auto term = [&](Index i, Index j) {
    const auto found = paths.find({i, j});
    if (i != j && found == paths.end()) return row_of(p, root + "/distance", most + 1);
    const Index distance = i == j ? 0 : static_cast<Index>(found->second.front().size()) - 1;
    std::vector<double> sum = row_of(p, root + "/distance", std::min(distance, most));
    if (i == j) return sum;
    for (const std::vector<Index>& path : found->second) {
      for (std::size_t step = 1; step < path.size(); ++step) {
        const Index e = edge_from_to(path[step - 1], path[step]);
        std::vector<double> score = linear_of(
            p, root + "/path", features_of(p, root + "/embedding/edge", schema.edges, graph.edge_features, e));
        for (double& s : score) s /= static_cast<double>(found->second.size()) * static_cast<double>(distance);
        sum = sum_of(sum, score);
      }
    }
    return sum;
  };
  std::vector<std::vector<double>> x, query, key, value;
  for (Index i = 0; i < 6; ++i) {
    const Index degree = std::min<Index>(2, graph.rows[at(i) + 1] - graph.rows[at(i)]);
    x.push_back(sum_of(features_of(p, root + "/embedding/node", schema.nodes, graph.node_features, i),
                       row_of(p, root + "/embedding/in", degree)));
    const auto n = normalised(p, root + "/0/attention_norm", x.back());
    query.push_back(linear_of(p, root + "/0/attention/query", n));
    key.push_back(linear_of(p, root + "/0/attention/key", n));
    value.push_back(linear_of(p, root + "/0/attention/value", n));
  }
  const Tensor y = m.of_nodes(batch_of({&graph}));
  const models::EdgeAttentionMap map =
      m.model->as<models::EdgeAttentionMaps>()->edge_attention_maps(batch_of({&graph})).front();
  for (Index i = 0; i < 6; ++i) {
    std::vector<double> mixed(width, 0.0);
    for (Index h = 0; h < heads; ++h) {
      std::vector<double> weights;
      double total = 0;
      for (Index j = 0; j < 6; ++j) {
        double score = term(i, j)[at(h)];
        for (Index c = h * head_width; c < (h + 1) * head_width; ++c)
          score += query[at(i)][at(c)] * key[at(j)][at(c)] / std::sqrt(3.0);
        weights.push_back(std::exp(score));
        total += weights.back();
      }
      for (Index j = 0; j < 6; ++j) {
        for (Index c = h * head_width; c < (h + 1) * head_width; ++c)
          mixed[at(c)] += weights[at(j)] / total * value[at(j)][at(c)];
      }
      for (Index e = map.edges->rows[at(i)]; e < map.edges->rows[at(i) + 1]; ++e) {
        const double expected = weights[at(map.edges->sources[at(e)])] / total;
        CHECK(map.weights[e * heads + h] == doctest::Approx(expected).epsilon(1e-10));
      }
    }
    const auto z = sum_of(x[at(i)], linear_of(p, root + "/0/attention/output", mixed));
    auto inner = linear_of(p, root + "/0/feed_forward/up", normalised(p, root + "/0/feed_forward_norm", z));
    for (double& u : inner) u = u / 2 * (1 + std::tanh(std::sqrt(2 / std::acos(-1.0)) * (u + 0.044715 * u * u * u)));
    const auto last = normalised(p, root + "/norm", sum_of(z, linear_of(p, root + "/0/feed_forward/down", inner)));
    for (Index c = 0; c < width; ++c) CHECK(y[i * width + c] == doctest::Approx(last[at(c)]).epsilon(1e-9));
  }
}

}  // namespace graph_models_tests
