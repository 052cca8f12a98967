#include "libcore/analysis/node_contributions.hpp"

#include <doctest/doctest.h>

#include <cmath>

#include "libcore/models/architecture.hpp"

using namespace heddle;
using namespace heddle::analysis;

namespace node_contributions_tests {

namespace {

const data::GraphSchema schema{.nodes = {.categories = {{"element", {"C", "N", "O"}}}, .numbers = {{"mass", 1, 2}}},
                               .edges = {.categories = {{"order", {"1", "2"}}}, .numbers = {}}};

// 0 - 1 = 2, and 3 alone.
data::Graph whole() {
  data::Graph graph;
  graph.nodes = 4;
  graph.node_features = {{1, 2, 3, 0}, {1, 2, 3, 4}};
  data::set_edges(graph, std::vector<data::ListedEdge>{{0, 1, {1}}, {1, 0, {1}}, {1, 2, {2}}, {2, 1, {2}}});
  return graph;
}

// The same without node 1, and without node 0.
data::Graph without_1() {
  data::Graph graph;
  graph.nodes = 3;
  graph.node_features = {{1, 3, 0}, {1, 3, 4}};
  data::set_edges(graph, {});
  return graph;
}
data::Graph without_0() {
  data::Graph graph;
  graph.nodes = 3;
  graph.node_features = {{2, 3, 0}, {2, 3, 4}};
  data::set_edges(graph, std::vector<data::ListedEdge>{{0, 1, {2}}, {1, 0, {2}}});
  return graph;
}

models::TaskModel model_of(const std::string& text, const models::TaskConfig& task) {
  models::ModelConfig config(models::ModelConfig::from(text));
  config.as<models::GraphConfig>()->features = schema;
  models::TaskModel model(models::make_model(config, 3), task);
  const Tensor& bias = model.parameters().find("task/bias")->value();  // a head starts from 0
  const Tensor& weight = model.parameters().find("task/weight")->value();
  for (Index i = 0; i < weight.size(); ++i) weight[i] = static_cast<Real>(std::sin(static_cast<double>(i + 1)));
  for (Index i = 0; i < bias.size(); ++i) bias[i] = static_cast<Real>(i) / 4;
  return model;
}

std::vector<double> logits_of(const models::TaskModel& model, const data::Graph& graph) {
  const data::Graph* const only = &graph;
  const Tensor logits = model.graph_logits(data::joined({&only, 1})).value();
  return {logits.data(), logits.data() + logits.size()};
}

}  // namespace

TEST_CASE("node contributions: a node goes with its features and its edges, and the others keep theirs") {
  CHECK(without_node(whole(), 1, schema) == without_1());
  CHECK(without_node(whole(), 0, schema) == without_0());
  data::check_graph(without_node(whole(), 3, schema), schema, "a test");
}

TEST_CASE("node contributions: by how much the log-odds of the most probable class fall") {
  for (const std::string arch : {"gat:heads=2", "graph-transformer:heads=2", "message-passing"}) {
    CAPTURE(arch);
    const models::TaskModel model =
        model_of(arch + (arch.find(':') == arch.npos ? ":" : ",") + "layers=2,width=6,edge_width=3",
                 {.task = models::Task::classify, .labels = {"a", "b", "c"}});
    for (Index favourite = 0; favourite < 3; ++favourite) {
      const Tensor& bias = model.parameters().find("task/bias")->value();
      for (Index i = 0; i < 3; ++i) bias[i] = i == favourite ? 2 : static_cast<Real>(i) / 4;
      const NodeContributions found = node_contributions(model, whole());
      CHECK(found.label == favourite);
      REQUIRE(found.of_nodes.size() == 4);
      const std::vector<double> logits = logits_of(model, whole());
      const auto label = static_cast<std::size_t>(found.label);
      CHECK(logits[label] == *std::max_element(logits.begin(), logits.end()));
      const auto odds = [&](const data::Graph& graph) {
        const std::vector<double> z = logits_of(model, graph);
        double all = 0;
        for (const double each : z) all += std::exp(each);
        const double p = std::exp(z[label]) / all;
        return std::log(p / (1 - p));
      };
      CHECK(found.answer == doctest::Approx(odds(whole())).epsilon(1e-4));
      CHECK(found.of_nodes[0] == doctest::Approx(odds(whole()) - odds(without_0())).epsilon(1e-3));
      CHECK(found.of_nodes[1] == doctest::Approx(odds(whole()) - odds(without_1())).epsilon(1e-3));
    }
  }
}

TEST_CASE("node contributions: by how much a number falls, in its own unit") {
  const models::TaskModel model =
      model_of("message-passing:layers=1,width=6", {.task = models::Task::regress, .mean = 10, .stddev = 3});
  const NodeContributions found = node_contributions(model, whole());
  const double answer = 10 + 3 * logits_of(model, whole())[0];
  CHECK(found.answer == doctest::Approx(answer).epsilon(1e-5));
  CHECK(found.of_nodes[1] == doctest::Approx(answer - 10 - 3 * logits_of(model, without_1())[0]).epsilon(1e-3));
}

}  // namespace node_contributions_tests
