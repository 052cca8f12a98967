// Predicting masked nodes of graphs. Built in double.
#include "libcore/training/masked_nodes.hpp"

#include <doctest/doctest.h>

#include <cmath>
#include <set>

#include "libcore/models/architecture.hpp"
#include "libcore/models/model_checks.hpp"
#include "libcore/models/small_config.hpp"
#include "libcore/ops/gather.hpp"
#include "support/tensors.hpp"

using namespace heddle;
using namespace heddle::testing;
using namespace heddle::training;

namespace masked_nodes_tests {

namespace {

const data::GraphSchema schema{
    .nodes = {.categories = {{"element", {"C", "N"}}, {"ring", {"yes"}}}, .numbers = {{"mass", 1, 2}}},
    .edges = {.categories = {{"order", {"1", "2"}}}, .numbers = {}}};

// A ring of nodes whose elements alternate, every second of which is said to be in a ring.
data::GraphRecord ring(Index nodes, Index first) {
  data::GraphRecord record;
  record.graph.nodes = nodes;
  std::vector<data::ListedEdge> edges;
  for (Index i = 0; i < nodes; ++i) {
    record.graph.node_features.categories.push_back(static_cast<std::int32_t>(1 + (first + i) % 2));
    record.graph.node_features.categories.push_back(static_cast<std::int32_t>(i % 2));
    record.graph.node_features.numbers.push_back(static_cast<float>(i) / 2);
    const Index next = (i + 1) % nodes;
    edges.push_back({i, next, {1}});
    edges.push_back({next, i, {1}});
  }
  data::set_edges(record.graph, edges);
  return record;
}

data::GraphsInMemory rings(Index count) {
  std::vector<data::GraphRecord> records;
  for (Index i = 0; i < count; ++i) {
    records.push_back(ring(6 + 2 * (i % 3), i % 2));
    records.back().targets = {static_cast<double>(i)};
  }
  return {schema, {data::GraphLevel::graph, {{"number", {}}}}, std::move(records)};
}

std::unique_ptr<models::Model> model_of(const std::string& text, bool has_head = true) {
  models::ModelConfig config(models::ModelConfig::from(text));
  config.graphs().features = schema;
  if (has_head) config->prepare_for(models::MaskedNodePredictor::ability);
  return models::make_model(config, 3);
}

const models::MaskedNodePredictor& role_of(const models::Model& model) {
  return *model.as<models::MaskedNodePredictor>();
}

const std::vector<std::string> texts{"gat:heads=2,layers=2,width=6,edge_width=3",
                                     "message-passing:layers=2,width=6,edge_width=3",
                                     "graph-transformer:heads=2,layers=2,width=6,edge_width=3"};

Counts counts_of(const data::MaskedGraphBatch& batch) {
  return {batch.graphs.graphs(), batch.graphs.nodes(), static_cast<Index>(batch.graphs.masked.size())};
}

TrainingConfig settings_of(Index batch_size) {
  TrainingConfig config;
  config.training.batch_size = batch_size;
  config.seed = 7;
  return config;
}

}  // namespace

TEST_CASE("masked nodes: the gradient of every parameter matches finite differences") {
  const data::GraphsInMemory graphs = rings(3);
  const data::MaskedGraphs masked(graphs, schema, {.probability = 0.3, .seed = 1});
  const data::MaskedGraphBatch batch = masked.batch(0, 3);
  for (const std::string& text : texts) {
    CAPTURE(text);
    const auto model = model_of(text);
    stir(model->parameters(), 0.2);
    const Pass pass{.dropout = 0.1, .seed = 4, .step = 5, .training = true};
    check_gradients(model->parameters(),
                    [&] { return masked_nodes_loss(role_of(*model), batch, pass, counts_of(batch), 0.1); });
  }
}

// Without layers a masked node's vector is the normalised vector that stands for its features, whatever else there is.
TEST_CASE("masked nodes: the loss is the sum over columns of the mean of -log p, computed by hand") {
  const auto model = model_of("gat:layers=0,width=2,heads=1");
  const auto set = [&](const std::string& name, const std::vector<double>& values) {
    const Parameter* const parameter = model->parameters().find(name);
    REQUIRE(parameter != nullptr);
    REQUIRE(parameter->size() == static_cast<Index>(values.size()));
    for (std::size_t i = 0; i < values.size(); ++i) parameter->value()[static_cast<Index>(i)] = values[i];
  };
  set("head/mask", {30, 10});  // normalised: 1, -1, but for 1e-5 that is added to the variance of 100
  set("head/kinds/0/weight", {0, 0, 1, 0, 0, 1});
  set("head/kinds/0/bias", {0, 0, 0.5});
  set("head/kinds/1/weight", {0, 0, 0, 0});
  set("head/kinds/1/bias", {0, std::log(3.0)});
  data::MaskedGraphBatch batch;
  const data::GraphRecord record = ring(4, 0);
  const data::Graph* const graph = &record.graph;
  batch.graphs = data::joined({&graph, 1});
  batch.graphs.masked = {1, 2};
  batch.kinds = {{2, 1}, {1, 0}};
  // Logits of elements: 0, 1, -1 + 0.5; p of ring: 1/4, 3/4.
  const double elements = std::log(1 + std::exp(1.0) + std::exp(-0.5));
  const double expected = ((elements + 0.5) + (elements - 1)) / 2 + (std::log(4.0 / 3) + std::log(4.0)) / 2;
  const Variable loss = masked_nodes_loss(role_of(*model), batch, {}, counts_of(batch), 0);
  CHECK(loss.value()[0] == doctest::Approx(expected).epsilon(1e-6));
  // Half of a step of four such nodes.
  Counts step = counts_of(batch);
  step += step;
  CHECK(masked_nodes_loss(role_of(*model), batch, {}, step, 0).value()[0] ==
        doctest::Approx(expected / 2).epsilon(1e-6));
}

TEST_CASE("masked nodes: what a masked node is does not matter for what is predicted; what the others are does") {
  const data::GraphRecord one = ring(8, 0);
  data::Graph other = one.graph;
  other.node_features.categories[2 * 3] = 0;
  other.node_features.categories[2 * 3 + 1] = 0;
  other.node_features.numbers[3] = -100;
  for (const std::string& text : texts) {
    CAPTURE(text);
    const auto model = model_of(text);
    stir(model->parameters(), 0.2);
    const auto vectors = [&](const data::Graph& graph, std::vector<Index> masked) {
      const data::Graph* const pointer = &graph;
      data::GraphBatch batch = data::joined({&pointer, 1});
      batch.masked = std::move(masked);
      return role_of(*model).node_vectors(batch).value();
    };
    CHECK(difference(vectors(one.graph, {3}), vectors(other, {3})) == 0);
    CHECK(difference(vectors(one.graph, {5}), vectors(other, {5})) > 1e-3);
  }
}

TEST_CASE("masked nodes: the stated fraction of each graph, anew in every epoch or the same, a function of the seed") {
  const data::GraphsInMemory graphs = rings(30);
  const auto masked_of = [&](const data::NodeMasking& options, Index first) {
    const data::MaskedGraphs masked(graphs, schema, options);
    std::map<Index, std::vector<Index>> result;  // per graph
    for (Index sample = first; sample < first + 30; ++sample) {
      result[masked.graph_of(sample)] = masked.batch(sample, 1).graphs.masked;
    }
    return result;
  };
  for (const double probability : {0.01, 0.15, 0.5}) {
    CAPTURE(probability);
    const auto epoch = masked_of({.probability = probability, .seed = 2}, 0);
    REQUIRE(epoch.size() == 30);
    for (const auto& [graph, nodes] : epoch) {
      const auto size = static_cast<double>(graphs.graph(graph).nodes);
      CHECK(nodes.size() == static_cast<std::size_t>(std::max(1L, std::lround(probability * size))));
      CHECK(std::set<Index>(nodes.begin(), nodes.end()).size() == nodes.size());
      CHECK(nodes.back() < graphs.graph(graph).nodes);
    }
    CHECK(epoch == masked_of({.probability = probability, .seed = 2}, 0));
    CHECK(epoch != masked_of({.probability = probability, .seed = 2}, 30));
    CHECK(epoch != masked_of({.probability = probability, .seed = 3}, 0));
  }
  const data::NodeMasking unchanging{.masking = data::MaskingKind::unchanging, .seed = 2};
  CHECK(masked_of(unchanging, 0) == masked_of(unchanging, 30));
}

TEST_CASE("masked nodes: every node is masked about as often as any other, and its kinds are the targets") {
  const data::GraphsInMemory graphs = rings(3);
  const data::MaskedGraphs masked(graphs, schema, {.probability = 0.25, .seed = 5});
  std::vector<int> often(8);
  for (Index sample = 0; sample < 3000; ++sample) {
    const Index number = masked.graph_of(sample);
    if (number != 1) continue;
    const data::MaskedGraphBatch batch = masked.batch(sample, 1);
    REQUIRE(batch.kinds.size() == 2);
    for (std::size_t i = 0; i < batch.graphs.masked.size(); ++i) {
      const auto node = static_cast<std::size_t>(batch.graphs.masked[i]);
      ++often[node];
      CHECK(batch.kinds[0][i] == static_cast<TokenId>(1 + (1 + node) % 2));
      CHECK(batch.kinds[1][i] == static_cast<TokenId>(node % 2));
    }
  }
  for (const int count : often) CHECK(count == doctest::Approx(250).epsilon(0.25));
}

TEST_CASE("masked nodes: an evaluation sums the losses of masked nodes, and counts those whose kinds are all right") {
  const data::GraphsInMemory graphs = rings(5);
  const auto model = model_of(texts[0]);
  stir(model->parameters(), 0.2);
  const data::MaskedGraphs masked = evaluation_graphs(role_of(*model), graphs);
  const MaskedNodesEvaluation all = evaluate(role_of(*model), masked, 0, 2);
  double nats = 0;
  Index nodes = 0, right = 0;
  for (Index graph = 0; graph < 5; ++graph) {
    const data::MaskedGraphBatch batch = masked.in_order(graph, 1);
    const Tensor vectors = role_of(*model).node_vectors(batch.graphs).value();
    for (std::size_t i = 0; i < batch.graphs.masked.size(); ++i) {
      const Variable row(vectors.narrowed(0, batch.graphs.masked[i], 1).copy());
      bool is_right = true;
      for (std::size_t column = 0; column < 2; ++column) {
        const Tensor logits = role_of(*model).kind_logits(row, column).value();
        double sum = 0;
        Index best = 0;
        for (Index kind = 0; kind < logits.size(); ++kind) {
          sum += std::exp(logits[kind]);
          if (logits[kind] > logits[best]) best = kind;
        }
        nats += std::log(sum) - logits[batch.kinds[column][i]];
        is_right = is_right && best == batch.kinds[column][i];
      }
      ++nodes;
      right += is_right ? 1 : 0;
    }
  }
  CHECK(nodes == 6);  // 15 % of 6, 8, 10, 6 and 8, rounded
  CHECK(all.nodes == nodes);
  CHECK(all.right == right);
  CHECK(all.nats == doctest::Approx(nats).epsilon(1e-9));
  CHECK(evaluate(role_of(*model), masked, 6, 1).nodes == 1);  // 6 nodes
  CHECK(evaluate(role_of(*model), masked, 7, 1).nodes == 2);  // and 8
}

TEST_CASE("masked nodes: graphs are the one kind of data, masked the one objective; both are found by the model") {
  for (const std::string& text : texts) {
    const auto model = model_of(text);
    const ObjectiveChoice objective = objective_for(*model, std::nullopt);
    CHECK(objective.name() == "masked");
    CHECK(data_of(objective, *model) == DataKind::graphs);
  }
  const auto encoder = models::make_model(small_encoder_config, 1);
  CHECK(data_of(objective_for(*encoder, DataKind::text), *encoder) == DataKind::text);
  const data::GraphsInMemory graphs = rings(4);
  const TrainingConfig config = settings_of(2);
  CHECK_THROWS_AS(make_objective(ObjectiveChoice::from("causal"),
                                 {.model = *model_of(texts[0]), .train = {.graphs = &graphs}, .config = config}),
                  UsageError);
  const auto model = model_of(texts[0]);
  for (const std::string settings : {"masked:whole_words=true", "masked:segment_pairs=true"}) {
    CHECK_THROWS_AS(make_objective(ObjectiveChoice::from(settings),
                                   {.model = *model, .train = {.graphs = &graphs}, .config = config}),
                    UsageError);
  }
  const auto headless = model_of(texts[0], false);
  CHECK_THROWS_AS(MaskedNodes(*headless, graphs, nullptr, {}, config), DataError);
  const data::Graph graph = graphs.graph(0);
  const data::Graph* const pointer = &graph;
  data::GraphBatch batch = data::joined({&pointer, 1});
  batch.masked = {1};
  CHECK_THROWS_AS(role_of(*headless).node_vectors(batch), UsageError);
}

TEST_CASE("masked nodes: a step has the graphs, nodes and masked nodes of its samples, whose origins it names") {
  const data::GraphsInMemory graphs = rings(6);
  const auto model = model_of(texts[1]);
  const MaskedNodes objective(*model, graphs, &graphs, {.probability = 0.2}, settings_of(4));
  CHECK(objective.samples_per_epoch() == 6);
  CHECK(units_of(objective.data_kind()) == "nodes");
  Counts epoch;
  for (Index sample = 0; sample < 6; sample += 2) epoch += objective.batch(sample, 2).counts;
  CHECK(epoch.samples == 6);
  CHECK(epoch.units == 2 * (6 + 8 + 10));
  CHECK(epoch.targets == 2 * (1 + 2 + 2));
  std::set<Index> numbers;
  for (const Origin& origin : objective.origins(0, 6)) {
    CHECK(origin.of == "graphs of graphs in memory");
    numbers.insert(origin.number);
  }
  CHECK(numbers.size() == 6);
  const std::vector<Metric> metrics = objective.evaluate({});
  CHECK(metrics[0].name == "loss");
  CHECK(metrics[0].value == doctest::Approx(std::log(3) + std::log(2)).epsilon(0.1));  // nothing is known yet
  CHECK(metrics[1].name == "accuracy");
  TrainingConfig few = settings_of(1);
  few.training.eval_tokens = 7;
  const MaskedNodes with_few(*model, graphs, &graphs, {.probability = 0.2}, few);
  const data::MaskedGraphs valid = evaluation_graphs(role_of(*model), graphs);
  CHECK(with_few.evaluate({})[0].value == evaluate(role_of(*model), valid, 7, 1).nats_per_node());
}

TEST_CASE("masked nodes: labels are smoothed in every column") {
  const data::GraphsInMemory graphs = rings(6);
  const auto model = model_of(texts[0]);
  stir(model->parameters(), 0.2);
  const data::MaskedGraphs masked(graphs, role_of(*model).features(), {.probability = 0.3});
  const data::MaskedGraphBatch batch = masked.batch(0, 4);
  const Counts counts{batch.graphs.graphs(), batch.graphs.nodes(), std::ssize(batch.graphs.masked)};
  const Variable nodes = ops::gather_rows(role_of(*model).node_vectors(batch.graphs), batch.graphs.masked);
  double expected = 0;
  for (std::size_t column = 0; column < batch.kinds.size(); ++column) {
    const Tensor logits = role_of(*model).kind_logits(nodes, column).value();
    const Index kinds = logits.shape()[1];
    for (std::size_t row = 0; row < batch.kinds[column].size(); ++row) {
      const Real* const x = logits.data() + static_cast<Index>(row) * kinds;
      double sum = 0, mean = 0;
      for (Index kind = 0; kind < kinds; ++kind) sum += std::exp(x[kind]), mean += x[kind] / static_cast<double>(kinds);
      expected += std::log(sum) - 0.75 * x[batch.kinds[column][row]] - 0.25 * mean;
    }
  }
  CHECK(masked_nodes_loss(role_of(*model), batch, {}, counts, 0.25).value()[0] ==
        doctest::Approx(expected / static_cast<double>(counts.targets)).epsilon(1e-9));
}

}  // namespace masked_nodes_tests
