// Attention along the edges of graphs (SPEC 8.1). Built in double.
#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>
#include <numeric>

#include "oracles.hpp"
#include "support/small_graphs.hpp"

using namespace heddle;
using namespace heddle::testing;

namespace edge_tests {

namespace {

using Edges = std::shared_ptr<const EdgeRows>;

constexpr Index head_count = 2, key_width = 4, value_width = 3;

std::size_t at(Index i) {
  return static_cast<std::size_t>(i);
}

Edges shared(EdgeRows edges) {
  return std::make_shared<const EdgeRows>(std::move(edges));
}

// Each pair of nodes at most once, some nodes without edges.
Edges simple_edges(Index nodes) {
  std::vector<Index> rows{0}, sources;
  for (Index i = 0; i < nodes; ++i) {
    for (Index j = 0; j < nodes; ++j) {
      if (i != 2 && (i * 7 + j * 5) % 3 == 0) sources.push_back(j);
    }
    rows.push_back(static_cast<Index>(sources.size()));
  }
  return shared(edge_rows(rows, sources));
}

std::shared_ptr<const AllowedPairs> pairs_of(const EdgeRows& edges) {
  std::vector<std::uint8_t> allowed(at(edges.nodes() * edges.nodes()), 0);
  for (Index e = 0; e < edges.edges(); ++e)
    allowed[at(edges.targets[at(e)] * edges.nodes() + edges.sources[at(e)])] = 1;
  return std::make_shared<const AllowedPairs>(1, edges.nodes(), edges.nodes(), std::move(allowed));
}

// Calls body(text, made) for every setting of every variant that follows edges.
template <class Body>
void for_each_text(const Body& body) {
  for (const std::string& text : all_texts()) {
    CAPTURE(text);
    const Made made(text, {head_count, key_width, head_count, value_width});
    if (!made->support().edges) continue;
    for (const Parameter& parameter : made.parameters.all()) {
      parameter.value().add(normal_tensor(parameter.value().shape(), 5, 0.3));
    }
    body(text, made);
  }
}

std::vector<Tensor> inputs_of(Index nodes) {
  return {normal_tensor({1, head_count, nodes, key_width}, 1), normal_tensor({1, head_count, nodes, key_width}, 2),
          normal_tensor({1, head_count, nodes, value_width}, 3)};
}

AttentionCall call_of(const std::vector<Tensor>& in, const Edges& edges, const Tensor& terms = {}) {
  return {.query = Variable(in[0]),
          .key = Variable(in[1]),
          .value = Variable(in[2]),
          .edges = edges,
          .edge_terms = Variable(terms)};
}

Tensor mixed(const Made& made, const std::vector<Tensor>& in, const Edges& edges, const Tensor& terms = {}) {
  return made->mix(call_of(in, edges, terms)).value();
}

// Node i of the result is node order[i] of x.
Tensor reordered(const Tensor& x, int dimension, const std::vector<Index>& order) {
  const Tensor y(x.shape());
  for (Index i = 0; i < static_cast<Index>(order.size()); ++i) {
    y.narrowed(dimension, i, 1).assign(x.narrowed(dimension, order[at(i)], 1));
  }
  return y;
}

}  // namespace

TEST_CASE("variants: all but those that are no weights of single pairs follow edges") {
  std::vector<std::string> refuse;
  for (const AttentionVariant& variant : attention_variants()) {
    const Made made(variant.name, {head_count, key_width, head_count, key_width});
    if (!made->support().edges) refuse.push_back(variant.name);
  }
  CHECK(join(refuse) == "fourier, performer");
}

TEST_CASE("every variant along edges: equals its equation in plain loops, with what edges say, and so do gradients") {
  const Edges edges = simple_edges(6);
  for_each_text([&](const std::string& text, const Made& made) {
    const Index term_width = made->edge_term_width();
    const Tensor terms = normal_tensor({edges->edges(), head_count * term_width}, 4);
    const Oracle oracle = [&](const std::vector<std::vector<double>>& in) {
      OracleProblem problem{.text = text,
                            .sizes = {1, head_count, 6, 6, key_width, head_count, value_width},
                            .mask = {.pairs = pairs_of(*edges)},
                            .query = in[0],
                            .key = in[1],
                            .value = in[2],
                            .parameters = values_of(made.parameters)};
      problem.term_width = term_width;
      problem.terms.resize(at(36 * head_count * term_width));
      for (Index e = 0; e < edges->edges(); ++e) {
        for (Index c = 0; c < head_count * term_width; ++c) {
          const Index pair = edges->targets[at(e)] * 6 + edges->sources[at(e)];
          problem.terms[at(pair * head_count * term_width + c)] = in[3][at(e * head_count * term_width + c)];
        }
      }
      return mix(problem);
    };
    const Operation operation = [&](const std::vector<Variable>& in) {
      return made->mix({.query = in[0], .key = in[1], .value = in[2], .edges = edges, .edge_terms = in[3]});
    };
    std::vector<Tensor> inputs = inputs_of(6);
    inputs.push_back(terms);
    check_oracle(operation, oracle, inputs);
  });
}

TEST_CASE("every variant along edges: the gradients of its parameters, and the same bits on any number of threads") {
  const Edges edges = random_edges(9, 4);
  for_each_text([&](const std::string&, const Made& made) {
    const auto inputs = inputs_of(9);
    const auto loss = [&] { return weighted_sum(made->mix(call_of(inputs, edges))); };
    if (!made.parameters.all().empty()) {
      Recording recording;
      recording.backward(loss());
    }
    for (const Parameter& parameter : made.parameters.all()) {
      CAPTURE(parameter.name);
      for (Index i = 0; i < parameter.size(); ++i) {
        const Real before = parameter.value()[i];
        const auto loss_at = [&](Real value) {
          parameter.value()[i] = value;
          return static_cast<double>(loss().value()[0]);
        };
        const double numeric = (loss_at(before + 1e-5) - loss_at(before - 1e-5)) / 2e-5;
        parameter.value()[i] = before;
        CHECK(parameter.gradient()[i] == doctest::Approx(numeric).epsilon(1e-6));
      }
    }
    const Operation operation = [&](const std::vector<Variable>& in) {
      return made->mix({.query = view(in[0], [](const Tensor& t) { return t.split(0, 1).swapped(1, 2); }),
                        .key = view(in[1], [](const Tensor& t) { return t.split(0, 1).swapped(1, 2); }),
                        .value = view(in[2], [](const Tensor& t) { return t.split(0, 1).swapped(1, 2); }),
                        .edges = edges});
    };
    const Shape shape{9, head_count, key_width};
    check_operation(operation,
                    {normal_tensor(shape, 1), normal_tensor(shape, 2), normal_tensor({9, head_count, 3}, 3)});
  });
}

TEST_CASE("every variant: along the complete graph with loops it is attention between all pairs (SPEC 8.1)") {
  const Edges edges = shared(all_pairs({0, 7}));
  for_each_text([&](const std::string&, const Made& made) {
    const auto in = inputs_of(7);
    CHECK(difference(mixed(made, in, edges), made->mix(call_of(in, nullptr)).value()) < 1e-12);
  });
}

TEST_CASE("every variant: along edges from earlier nodes and itself it is causal attention (SPEC 8.1)") {
  std::vector<Index> rows{0}, sources;
  for (Index i = 0; i < 8; ++i) {
    for (Index j = 0; j <= i; ++j) sources.push_back(j);
    rows.push_back(static_cast<Index>(sources.size()));
  }
  const Edges edges = shared(edge_rows(rows, sources));
  for_each_text([&](const std::string&, const Made& made) {
    AttentionCall causal = call_of(inputs_of(8), nullptr);
    causal.mask.causal = true;
    CHECK(difference(mixed(made, inputs_of(8), edges), made->mix(causal).value()) < 1e-12);
  });
}

TEST_CASE("every variant along edges: a node whose only neighbour is itself keeps its value, one without has zeros") {
  const Edges edges = shared(edge_rows({0, 1, 1, 3}, {0, 0, 1}));
  for_each_text([&](const std::string&, const Made& made) {
    const auto in = inputs_of(3);
    const Tensor y = mixed(made, in, edges);
    CHECK(difference(y.narrowed(1, 0, 1), in[2].swapped(1, 2).narrowed(1, 0, 1)) < 1e-12);
    CHECK(largest(y.narrowed(1, 1, 1)) == 0);
  });
}

TEST_CASE("every variant along edges: nodes in another order give results in that order (SPEC 8.1)") {
  const std::vector<Index> order{3, 0, 6, 2, 5, 1, 4}, place{1, 5, 3, 0, 6, 4, 2};  // order[place[i]] = i
  const Edges edges = simple_edges(7);
  std::vector<Index> rows{0}, sources, from;
  for (const Index node : order) {
    for (Index e = edges->rows[at(node) + 1] - 1; e >= edges->rows[at(node)]; --e) {
      sources.push_back(place[at(edges->sources[at(e)])]);
      from.push_back(e);
    }
    rows.push_back(static_cast<Index>(sources.size()));
  }
  const Edges turned = shared(edge_rows(rows, sources));
  for_each_text([&](const std::string&, const Made& made) {
    const Tensor terms = normal_tensor({edges->edges(), head_count * made->edge_term_width()}, 4);
    const auto in = inputs_of(7);
    std::vector<Tensor> moved;
    for (const Tensor& x : in) moved.push_back(reordered(x, 2, order));
    const Tensor y = mixed(made, in, edges, terms);
    CHECK(difference(mixed(made, moved, turned, reordered(terms, 0, from)), reordered(y, 1, order)) < 1e-12);
  });
}

TEST_CASE("every variant along edges: terms of zeros and factors of one change nothing, weights mix the values") {
  const Edges edges = random_edges(8, 4);
  for_each_text([&](const std::string&, const Made& made) {
    const auto in = inputs_of(8);
    const Tensor y = mixed(made, in, edges), zeros({edges->edges(), head_count * made->edge_term_width()}, 0);
    CHECK(difference(mixed(made, in, edges, zeros), y) < 1e-12);
    AttentionCall call = call_of(in, edges);
    const Tensor weights = made->weights(call).weights;
    REQUIRE(weights.shape() == Shape{edges->edges(), head_count});
    const Tensor expected(y.shape(), 0);
    for (Index e = 0; e < edges->edges(); ++e) {
      for (Index h = 0; h < head_count; ++h) {
        for (Index c = 0; c < value_width; ++c) {
          expected[(edges->targets[at(e)] * head_count + h) * value_width + c] +=
              weights[e * head_count + h] * in[2][(h * 8 + edges->sources[at(e)]) * value_width + c];
        }
      }
    }
    CHECK(difference(y, expected) < 1e-12);
    call.edge_factors = Tensor(weights.shape(), 2);
    const Tensor doubled = made->mix(call).value();
    doubled.scale(Real(0.5));
    CHECK(difference(doubled, y) < 1e-12);
  });
}

namespace {

// Whether in some head two queries have different best keys, over a complete graph of random nodes.
bool best_key_depends_on_query(const std::string& text) {
  constexpr Index nodes = 12;
  const Made made(text, {head_count, key_width, head_count, value_width});
  const Edges edges = shared(all_pairs({0, nodes}));
  std::vector<Tensor> in = inputs_of(nodes);
  for (const Tensor& x : in) x.scale(3);
  const Tensor weights = made->weights(call_of(in, edges)).weights;
  for (Index h = 0; h < head_count; ++h) {
    const auto best = [&](Index i) {
      Index result = 0;
      for (Index j = 1; j < nodes; ++j) {
        if (weights[(i * nodes + j) * head_count + h] > weights[(i * nodes + result) * head_count + h]) result = j;
      }
      return result;
    };
    for (Index i = 1; i < nodes; ++i) {
      if (best(i) != best(0)) return true;
    }
  }
  return false;
}

}  // namespace

TEST_CASE(
    "additive: outside, one key is the best for every query; inside, each query has its own (Brody et al. 2022)") {
  CHECK_FALSE(best_key_depends_on_query("additive:order=outside,activation=leaky-relu"));
  CHECK_FALSE(best_key_depends_on_query("additive:order=outside"));
  CHECK(best_key_depends_on_query("additive:order=inside,activation=leaky-relu"));
  CHECK(best_key_depends_on_query("additive"));
  CHECK(best_key_depends_on_query("dot"));
  CHECK_THROWS_AS(Made("additive:order=both", {1, 2}), UsageError);
}

}  // namespace edge_tests
