// Layers of graphs: compared with what PyTorch computes of dense matrices, and what holds of every graph. Built in
// double.
#include <doctest/doctest.h>

#include <fstream>
#include <nlohmann/json.hpp>

#include "libcore/nn/graph_attention.hpp"
#include "libcore/nn/message_passing.hpp"
#include "support/gradient_check.hpp"
#include "support/small_graphs.hpp"

using namespace heddle;
using namespace heddle::testing;
using nlohmann::json;

namespace graph_layer_tests {

namespace {

const json& expected() {
  static const json file = json::parse(std::ifstream(HEDDLE_GRAPH_LAYERS_EXPECTED));
  return file;
}

Tensor tensor_of(const json& value) {
  std::vector<Index> sizes;
  for (const json* part = &value; part->is_array(); part = &part->front()) {
    sizes.push_back(static_cast<Index>(part->size()));
  }
  std::vector<Real> numbers;
  for (const json& one : value.flatten()) numbers.push_back(one.get<Real>());
  return {Shape(sizes), numbers};
}

std::shared_ptr<const EdgeRows> edges_of_file() {
  std::vector<Index> rows(7, 0), sources;
  for (const json& edge : expected()["edges"]) {
    sources.push_back(edge[1].get<Index>());
    for (std::size_t i = edge[0].get<std::size_t>() + 1; i < rows.size(); ++i) ++rows[i];
  }
  return std::make_shared<const EdgeRows>(edge_rows(rows, sources));
}

nn::GraphEdges graph_edges(std::shared_ptr<const EdgeRows> rows, const Variable& features = {}) {
  const Index nodes = rows->nodes();
  return {std::move(rows), features, std::make_shared<const std::vector<Index>>(std::vector<Index>{0, nodes})};
}

// A layer with the parameters of the file against its results: make(scope) gives a function of states and edges.
template <class Make>
void check_layer(const char* name, const Make& make) {
  const json& layer = expected()["layers"][name];
  const ParameterSource source = ParameterSource::given([&](const Declaration& declaration) {
    std::vector<Real> numbers;
    for (const std::string& parameter : declaration.names) {
      for (const Real x : tensor_of(layer["parameters"].at(parameter)).elements()) numbers.push_back(x);
    }
    return Tensor(declaration.stacked_shape(), numbers);
  });
  Parameters parameters(source.trained_at([](std::string_view) { return 1.0; }));
  const auto run = make(Scope(parameters, ""));
  const Variable x = leaf(tensor_of(expected()["x"])), features = leaf(tensor_of(expected()["features"]));
  Recording recording;
  const Variable y = run(x, graph_edges(edges_of_file(), features));
  CHECK(difference(y.value(), tensor_of(layer["y"])) < 1e-10);
  recording.backward(weighted_sum(y, tensor_of(layer["dy"])));
  CHECK(difference(x.gradient()->tensor(), tensor_of(layer["gradients"]["x"])) < 1e-10);
  if (layer["gradients"].contains("features")) {
    CHECK(difference(features.gradient()->tensor(), tensor_of(layer["gradients"]["features"])) < 1e-10);
  }
  CHECK(parameters.all().size() == layer["parameters"].size());
  for (const Parameter& parameter : parameters.all()) {
    CAPTURE(parameter.name);
    CHECK(difference(parameter.gradient(), tensor_of(layer["gradients"].at(parameter.name))) < 1e-10);
  }
}

void check_attention(const char* name, const nn::GraphAttentionOptions& options) {
  check_layer(name, [&](const Scope& scope) {
    auto layer = std::make_shared<nn::GraphAttention>(scope, scope, options);
    return [layer](const Variable& x, const nn::GraphEdges& edges) { return (*layer)(x, nn::with_loops(edges)); };
  });
}

void check_messages(const char* name, const nn::MessagePassingOptions& options) {
  check_layer(name, [&](const Scope& scope) {
    auto layer = std::make_shared<nn::MessagePassing>(scope, options);
    return [layer](const Variable& x, const nn::GraphEdges& edges) { return (*layer)(x, edges); };
  });
}

nn::GraphAttentionOptions attention_options() {
  return {.width = 5, .heads = 2, .head_width = 3, .edge_width = 4, .stddev = 0.5, .output_stddev = 0.5};
}

}  // namespace

TEST_CASE("graph layers: GAT, GATv2 and a transformer's attention along edges, and their gradients, are PyTorch's") {
  nn::GraphAttentionOptions options = attention_options();
  check_attention("gat", options);
  options.edge_values = true;
  check_attention("gat_edge_values", options);
  options.edge_values = false;
  options.average = true;
  check_attention("gat_average", options);
  options.average = false;
  options.variant = "additive:activation=leaky-relu";
  options.projections = GraphProjections::two;
  check_attention("gatv2", options);
  options.variant = "dot";
  options.projections = GraphProjections::three;
  options.output = true;
  check_attention("transformer", options);
}

TEST_CASE("graph layers: GIN, GINE and learned messages of both ends, and their gradients, are PyTorch's") {
  check_messages("gin", {.width = 5});
  check_messages("gine", {.width = 5, .edge_width = 4});
  check_messages("both_ends", {.width = 5,
                               .edge_width = 4,
                               .messages = Messages::both,
                               .reduction = Reduction::max,
                               .update = NodeUpdate::linear});
}

TEST_CASE("graph attention: what does not follow edges is refused") {
  Parameters parameters(ParameterSource(1));
  nn::GraphAttentionOptions options = attention_options();
  options.variant = "performer:features=4";
  CHECK_THROWS_WITH_AS(nn::GraphAttention(Scope(parameters, ""), Scope(parameters, ""), options),
                       "performer:features=4 cannot attend along the edges of a graph", UsageError);
}

TEST_CASE("message passing: sums and means of sources without a row for each edge are those of gathered rows") {
  const auto edges = random_edges(7, 4);
  const Variable x(normal_tensor({7, 5}, 1));
  for (const auto& [reduction, name] : Names<Reduction>::list) {
    CAPTURE(name);
    Parameters parameters(ParameterSource(1));
    const nn::MessagePassing layer(
        Scope(parameters, ""),
        {.width = 5, .reduction = reduction, .update = NodeUpdate::linear, .stddev = 0.5, .output_stddev = 0.5});
    const Tensor heard({7, 5}, 0);
    for (Index i = 0; i < 7; ++i) {
      const Index first = edges->rows[static_cast<std::size_t>(i)], last = edges->rows[static_cast<std::size_t>(i) + 1];
      for (Index e = first; e < last; ++e) {
        for (Index c = 0; c < 5; ++c) {
          const Real said = x.value()[edges->sources[static_cast<std::size_t>(e)] * 5 + c];
          Real& now = heard[i * 5 + c];
          if (reduction == Reduction::max) now = e == first ? said : std::max(now, said);
          if (reduction == Reduction::min) now = e == first ? said : std::min(now, said);
          if (reduction == Reduction::sum) now += said;
          if (reduction == Reduction::mean) now += said / static_cast<Real>(last - first);
        }
      }
    }
    const Tensor &own = parameters.find("own/weight")->value(), &other = parameters.find("heard/weight")->value();
    const Tensor y({7, 5}, 0);
    for (Index i = 0; i < 35; ++i) {
      for (Index c = 0; c < 5; ++c) {
        y[i] += own[i % 5 * 5 + c] * x.value()[i / 5 * 5 + c] + other[i % 5 * 5 + c] * heard[i / 5 * 5 + c];
      }
    }
    CHECK(difference(layer(x, graph_edges(edges)).value(), y) < 1e-12);
  }
}

TEST_CASE("message passing: messages of both ends are those of plain loops where edges have no features") {
  const auto edges = random_edges(7, 4);
  const Variable x(normal_tensor({7, 5}, 1));
  for (const Index edge_width : {0, 3}) {
    CAPTURE(edge_width);
    Parameters parameters(ParameterSource(1));
    const nn::MessagePassing layer(Scope(parameters, ""), {.width = 5,
                                                           .edge_width = edge_width,
                                                           .messages = Messages::both,
                                                           .update = NodeUpdate::linear,
                                                           .stddev = 0.5,
                                                           .output_stddev = 0.5});
    const auto row_times = [&](const std::string& matrix, const Tensor& states, Index node, Index row) {
      const Tensor& weight = parameters.find(matrix + "/weight")->value();
      Real sum = 0;
      for (Index c = 0; c < 5; ++c) sum += weight[row * 5 + c] * states[node * 5 + c];
      return sum;
    };
    const Tensor heard({7, 5}, 0), y({7, 5}, 0);
    for (Index i = 0; i < 7; ++i) {
      for (Index e = edges->rows[static_cast<std::size_t>(i)]; e < edges->rows[static_cast<std::size_t>(i) + 1]; ++e) {
        const Index source = edges->sources[static_cast<std::size_t>(e)];
        for (Index c = 0; c < 5; ++c) {
          const Real said = row_times("target", x.value(), i, c) + row_times("source", x.value(), source, c);
          heard[i * 5 + c] += std::max(said, Real(0));
        }
      }
    }
    for (Index i = 0; i < 35; ++i) {
      y[i] = row_times("own", x.value(), i / 5, i % 5) + row_times("heard", heard, i / 5, i % 5);
    }
    CHECK(difference(layer(x, graph_edges(edges)).value(), y) < 1e-12);
  }
}

TEST_CASE("graph attention: weights that are dropped depend on the graph's number in the step, not on its batch") {
  nn::GraphAttentionOptions options = attention_options();
  options.edge_width = 0;
  options.weight_dropout = 0.5;
  Parameters parameters(ParameterSource(1));
  const nn::GraphAttention layer(Scope(parameters, "layer"), Scope(parameters, ""), options);
  const Pass pass{.seed = 5, .step = 3, .first_sample = 2, .training = true};
  const Tensor x = normal_tensor({7, 5}, 1);
  const auto starts = [](std::vector<Index> given) {
    return std::make_shared<const std::vector<Index>>(std::move(given));
  };
  const auto both = std::make_shared<const EdgeRows>(all_pairs({0, 3, 7})),
             last = std::make_shared<const EdgeRows>(all_pairs({0, 4}));
  const Tensor y = layer(Variable(x), {both, {}, starts({0, 3, 7})}, pass).value();
  Pass later = pass;
  later.first_sample = 3;
  const Tensor alone = layer(Variable(x.narrowed(0, 3, 4)), {last, {}, starts({0, 4})}, later).value();
  CHECK(difference(y.narrowed(0, 3, 4), alone) < 1e-12);
  CHECK(difference(layer(Variable(x), {both, {}, starts({0, 3, 7})}).value(), y) > 1e-3);
  CHECK(difference(layer(Variable(x.narrowed(0, 3, 4)), {last, {}, starts({0, 4})}, pass).value(), alone) > 1e-3);
}

}  // namespace graph_layer_tests
