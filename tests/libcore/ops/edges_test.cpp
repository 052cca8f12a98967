// The operations that follow the edges of graphs.
#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>

#include "libcore/ops/edge_products.hpp"
#include "libcore/ops/edge_softmax.hpp"
#include "libcore/ops/edge_sums.hpp"
#include "libcore/ops/head_dots.hpp"
#include "libcore/ops/mix_edges.hpp"
#include "libcore/ops/reduce_rows.hpp"
#include "support/gradient_check.hpp"
#include "support/small_graphs.hpp"

using namespace heddle;
using namespace heddle::testing;

namespace {

struct Case {
  std::shared_ptr<const EdgeRows> edges;
  Index heads, width;
};

// Graphs with loops, double edges and nodes without any; of one node; so many that several tasks share them; and each
// width of heads that has loops of its own.
std::vector<Case> cases() {
  return {{random_edges(7, 4), 2, 3},       {random_edges(9, 5, 2), 2, 8}, {random_edges(5, 3, 3), 3, 16},
          {random_edges(6, 4, 4), 1, 32},   {no_edges(4), 2, 3},           {random_edges(1, 3, 8), 1, 1},
          {random_edges(1500, 9, 5), 2, 16}};
}

template <class Body>
void for_each_case(const Body& body) {
  for (const Case& c : cases()) {
    CAPTURE(c.edges->nodes());
    CAPTURE(c.edges->edges());
    CAPTURE(c.width);
    body(c, *c.edges);
  }
}

std::size_t at(Index i) {
  return static_cast<std::size_t>(i);
}

// Calls body(e, target, source) for every edge.
template <class Body>
void for_each_edge(const EdgeRows& edges, const Body& body) {
  for (Index e = 0; e < edges.edges(); ++e) body(e, edges.targets[at(e)], edges.sources[at(e)]);
}

}  // namespace

TEST_CASE("edge_products: gradients and oracle") {
  for_each_case([](const Case& c, const EdgeRows& edges) {
    const Index columns = c.heads * c.width;
    const Operation operation = [&](const auto& in) { return ops::edge_products(in[0], in[1], c.edges, Real(0.7)); };
    const Oracle oracle = [&](const auto& in) {
      std::vector<double> y;
      for_each_edge(edges, [&](Index, Index i, Index j) {
        for (Index h = 0; h < c.heads; ++h) {
          double sum = 0;
          for (Index k = h * c.width; k < (h + 1) * c.width; ++k)
            sum += in[0][at(i * columns + k)] * in[1][at(j * columns + k)];
          y.push_back(Real(0.7) * sum);
        }
      });
      return y;
    };
    const Shape shape{edges.nodes(), c.heads, c.width};
    const std::vector<Tensor> inputs{normal_tensor(shape, 1), normal_tensor(shape, 2)};
    check_operation(operation, inputs);
    if (edges.nodes() < 100) check_oracle(operation, oracle, inputs);
    if (edges.edges() > 0) check_halves(operation, inputs);
  });
}

TEST_CASE("mix_edges: gradients and oracle") {
  for_each_case([](const Case& c, const EdgeRows& edges) {
    const Index columns = c.heads * c.width;
    const Operation operation = [&](const auto& in) {
      return ops::mix_edges(in[0], in[1], c.edges, in.size() > 2 ? in[2] : Variable());
    };
    const Oracle oracle = [&](const auto& in) {
      std::vector<double> y(at(edges.nodes() * columns), 0.0);
      for_each_edge(edges, [&](Index e, Index i, Index j) {
        for (Index k = 0; k < columns; ++k) {
          const double value = in[1][at(j * columns + k)] + (in.size() > 2 ? in[2][at(e * columns + k)] : 0);
          y[at(i * columns + k)] += in[0][at(e * c.heads + k / c.width)] * value;
        }
      });
      return y;
    };
    std::vector<Tensor> inputs{normal_tensor({edges.edges(), c.heads}, 1),
                               normal_tensor({edges.nodes(), c.heads, c.width}, 2)};
    for (const bool with_values_of_edges : {false, true}) {
      if (with_values_of_edges) inputs.push_back(normal_tensor({edges.edges(), columns}, 3));
      check_operation(operation, inputs);
      if (edges.nodes() < 100) check_oracle(operation, oracle, inputs);
    }
  });
}

TEST_CASE("edge operations: heads that lie apart, as parts of one product do") {
  const auto edges = random_edges(6, 4);
  const auto heads_of = [](const Variable& x, Index part) {
    return view(x, [part](const Tensor& t) { return t.narrowed(1, part * 6, 6).split(1, 2); });
  };
  const Operation operation = [&](const auto& in) {
    const Variable query = heads_of(in[0], 0), key = heads_of(in[0], 1), value = heads_of(in[0], 2);
    return ops::mix_edges(ops::edge_softmax(ops::edge_products(query, key, edges, Real(0.5)), edges), value, edges);
  };
  check_operation(operation, {normal_tensor({6, 18}, 1)});
  check_halves(operation, {normal_tensor({6, 18}, 1)});
}

TEST_CASE("edge_sums: gradients and oracle, with any of the terms") {
  for_each_case([](const Case& c, const EdgeRows& edges) {
    const Index columns = c.heads * c.width;
    const std::vector<Tensor> all{normal_tensor({edges.nodes(), columns}, 1),
                                  normal_tensor({edges.nodes(), columns}, 2),
                                  normal_tensor({edges.edges(), columns}, 3)};
    for (unsigned terms = 1; terms < 8; ++terms) {
      CAPTURE(terms);
      if (terms < 7 && edges.nodes() > 100) continue;
      std::vector<Tensor> inputs;
      for (unsigned t = 0; t < 3; ++t) {
        if ((terms >> t & 1) != 0) inputs.push_back(all[t]);
      }
      const Operation operation = [&](const auto& in) {
        std::size_t next = 0;
        const auto term = [&](unsigned t) { return (terms >> t & 1) != 0 ? in[next++] : Variable(); };
        ops::EdgeTerms given;
        given.target = term(0);
        given.source = term(1);
        given.edge = term(2);
        return ops::edge_sums(given, c.edges);
      };
      const Oracle oracle = [&](const auto& in) {
        std::vector<double> y;
        for_each_edge(edges, [&](Index e, Index i, Index j) {
          for (Index k = 0; k < columns; ++k) {
            double sum = 0;
            std::size_t next = 0;
            if ((terms & 1) != 0) sum += in[next++][at(i * columns + k)];
            if ((terms & 2) != 0) sum += in[next++][at(j * columns + k)];
            if ((terms & 4) != 0) sum += in[next++][at(e * columns + k)];
            y.push_back(sum);
          }
        });
        return y;
      };
      check_operation(operation, inputs);
      if (edges.nodes() < 100) check_oracle(operation, oracle, inputs);
    }
  });
}

TEST_CASE("head_dots: gradients and oracle") {
  for (const auto& [rows, heads, width] :
       std::vector<std::array<Index, 3>>{{5, 2, 3}, {7, 2, 8}, {3, 1, 16}, {1300, 2, 8}}) {
    CAPTURE(rows);
    const Operation operation = [&](const auto& in) { return ops::head_dots(in[0], in[1]); };
    const Oracle oracle = [&, rows = rows, heads = heads, width = width](const auto& in) {
      std::vector<double> y;
      for (Index row = 0; row < rows * heads; ++row) {
        double sum = 0;
        for (Index k = 0; k < width; ++k) sum += in[0][at(row * width + k)] * in[1][at(row % heads * width + k)];
        y.push_back(sum);
      }
      return y;
    };
    const std::vector<Tensor> inputs{normal_tensor({rows, heads, width}, 1), normal_tensor({heads, width}, 2)};
    check_operation(operation, inputs);
    if (rows < 100) check_oracle(operation, oracle, inputs);
    check_halves(operation, inputs);
  }
}

TEST_CASE("edge_softmax: gradients and oracle; weights of each node sum to one") {
  for_each_case([](const Case& c, const EdgeRows& edges) {
    const Operation operation = [&](const auto& in) { return ops::edge_softmax(in[0], c.edges); };
    const Oracle oracle = [&](const auto& in) {
      std::vector<double> y(in[0].size()), sums(at(edges.nodes() * c.heads), 0.0);
      const auto sum_at = [&](Index e, Index h) -> double& { return sums[at(edges.targets[at(e)] * c.heads + h)]; };
      for (Index i = 0; i < edges.edges() * c.heads; ++i) sum_at(i / c.heads, i % c.heads) += std::exp(in[0][at(i)]);
      for (Index i = 0; i < edges.edges() * c.heads; ++i) {
        y[at(i)] = std::exp(in[0][at(i)]) / sum_at(i / c.heads, i % c.heads);
      }
      return y;
    };
    const std::vector<Tensor> inputs{normal_tensor({edges.edges(), c.heads}, 1)};
    check_operation(operation, inputs);
    if (edges.nodes() < 100) check_oracle(operation, oracle, inputs);
  });
}

TEST_CASE("edge_softmax: scores of any size, and what is not a number shows") {
  const auto edges = std::make_shared<const EdgeRows>(edge_rows({0, 3, 4}, {0, 1, 1, 0}));
  const Tensor y =
      ops::edge_softmax(Variable(Tensor({4, 1}, {Real(1e30), Real(1e30), Real(-1e30), Real(-1e30)})), edges).value();
  CHECK(y.elements() == std::vector<Real>{Real(0.5), Real(0.5), 0, 1});
  const Tensor bad = ops::edge_softmax(Variable(Tensor({4, 1}, {0, Real(NAN), 0, 0})), edges).value();
  CHECK(std::isnan(bad[0]));
  CHECK(bad[3] == 1);
}

TEST_CASE("reduce_edges and reduce_parts: gradients and oracle") {
  for (const auto& [reduction, name] : Names<Reduction>::list) {
    CAPTURE(name);
    for_each_case([which = reduction](const Case& c, const EdgeRows& edges) {
      const Index columns = c.heads * c.width;
      const Operation operation = [&](const auto& in) { return ops::reduce_edges(in[0], c.edges, which); };
      const Operation parts = [&](const auto& in) { return ops::reduce_parts(in[0], edges.rows, which); };
      const Oracle oracle = [&](const auto& in) {
        std::vector<double> y;
        for (Index i = 0; i < edges.nodes() * columns; ++i) {
          const Index first = edges.rows[at(i / columns)], last = edges.rows[at(i / columns) + 1];
          const bool extreme = which == Reduction::max || which == Reduction::min;
          double result = extreme && last > first ? in[0][at(first * columns + i % columns)] : 0;
          for (Index e = first; e < last; ++e) {
            const double x = in[0][at(e * columns + i % columns)];
            result = which == Reduction::max   ? std::max(result, x)
                     : which == Reduction::min ? std::min(result, x)
                                               : result + x;
          }
          y.push_back(which == Reduction::mean && last > first ? result / static_cast<double>(last - first) : result);
        }
        return y;
      };
      const std::vector<Tensor> inputs{normal_tensor({edges.edges(), columns}, 1)};
      check_operation(operation, inputs);
      if (edges.nodes() < 100) check_oracle(operation, oracle, inputs);
      CHECK(parts({Variable(inputs[0])}).value().elements() == operation({Variable(inputs[0])}).value().elements());
    });
  }
}

TEST_CASE("reduce_parts: the first of several alike has the gradient, and what is not a number shows") {
  const Variable x = leaf(Tensor({3, 2}, {2, 5, 2, 7, 1, 7}));
  Recording recording;
  recording.backward(weighted_sum(ops::reduce_parts(x, {0, 3}, Reduction::max), Tensor({1, 2}, 1)));
  CHECK(x.gradient()->tensor().elements() == std::vector<Real>{1, 0, 0, 1, 0, 0});
  const Variable bad(Tensor({3, 1}, {1, Real(NAN), 2}));
  CHECK(std::isnan(ops::reduce_parts(bad, {0, 3}, Reduction::max).value()[0]));
}

TEST_CASE("edge operations: shapes that do not fit are refused") {
  const auto edges = random_edges(4, 3);
  const Variable nodes(Tensor({4, 2, 3}, 1)), fewer(Tensor({3, 2, 3}, 1)), scores(Tensor({edges->edges(), 2}, 1)),
      more(Tensor({edges->edges() + 1, 2}, 1));
  CHECK_THROWS_AS(ops::edge_products(nodes, fewer, edges, 1), ShapeError);
  CHECK_THROWS_AS(ops::mix_edges(more, nodes, edges), ShapeError);
  CHECK_THROWS_AS(ops::mix_edges(Variable(Tensor({edges->edges(), 3}, 1)), nodes, edges), ShapeError);
  CHECK_THROWS_AS(ops::edge_softmax(more, edges), ShapeError);
  CHECK_THROWS_AS(ops::edge_sums({}, edges), ShapeError);
  CHECK_THROWS_AS(ops::edge_sums({.edge = more}, edges), ShapeError);
  CHECK_THROWS_AS(ops::reduce_edges(more, edges, Reduction::sum), ShapeError);
  CHECK_THROWS_AS(ops::reduce_parts(scores, {0, 5, 2}, Reduction::sum), ShapeError);
  CHECK_THROWS_AS(ops::head_dots(nodes, Variable(Tensor({3, 2}, 1))), ShapeError);
}

// Dynamic programming by exact messages (SPEC 8.2).
TEST_CASE("reduce_edges: least sums of distances and lengths are Bellman's and Ford's, largest marks reachability") {
  constexpr Index nodes = 9;
  for (const std::uint64_t seed : {1, 2, 3}) {
    CAPTURE(seed);
    const EdgeRows plain = *random_edges(nodes, 3, seed);
    std::vector<Index> origins;
    const auto edges = std::make_shared<const EdgeRows>(with_loops(plain, &origins));
    // Lengths are whole numbers; loops have none.
    const Tensor lengths({edges->edges(), 1}, 0);
    for (Index e = 0; e < edges->edges(); ++e) {
      const bool is_loop = edges->targets[at(e)] == edges->sources[at(e)];
      if (!is_loop) lengths[e] = static_cast<Real>(1 + origins[at(e)] * 7 % 5);
    }
    // Floyd and Warshall: entry target * nodes + source.
    std::vector<double> exact(at(nodes * nodes), HUGE_VAL);
    for (Index i = 0; i < nodes; ++i) exact[at(i * nodes + i)] = 0;
    for_each_edge(*edges, [&](Index e, Index i, Index j) {
      exact[at(i * nodes + j)] = std::min(exact[at(i * nodes + j)], static_cast<double>(lengths[e]));
    });
    for (Index k = 0; k < nodes; ++k) {
      for (Index p = 0; p < nodes * nodes; ++p) {
        exact[at(p)] = std::min(exact[at(p)], exact[at(p / nodes * nodes + k)] + exact[at(k * nodes + p % nodes)]);
      }
    }
    // A column for each source.
    Variable distances(Tensor({nodes, nodes}, Real(HUGE_VAL))), marks(Tensor({nodes, nodes}, 0));
    for (Index i = 0; i < nodes; ++i) {
      distances.value()[i * nodes + i] = 0;
      marks.value()[i * nodes + i] = 1;
    }
    const Tensor length_of_each({edges->edges(), nodes});
    for (Index i = 0; i < length_of_each.size(); ++i) length_of_each[i] = lengths[i / nodes];
    for (Index round = 1; round < nodes; ++round) {
      const Variable sums = ops::edge_sums({.source = distances, .edge = Variable(length_of_each)}, edges);
      distances = ops::reduce_edges(sums, edges, Reduction::min);
      marks = ops::reduce_edges(ops::edge_sums({.source = marks}, edges), edges, Reduction::max);
    }
    CHECK(doubles(distances.value()) == exact);
    for (Index p = 0; p < nodes * nodes; ++p) CHECK(marks.value()[p] == (std::isinf(exact[at(p)]) ? 0 : 1));
  }
}
