#include "libcore/data/hidden_edges.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <set>

using namespace heddle;

namespace hidden_edges_tests {

namespace {

using Ends = std::set<std::pair<Index, Index>>;

// A ring of so many nodes, each way or one way, whose edges have their lesser node as a number; with two edges of node
// 0 to itself.
data::GraphRecord ring(Index nodes, bool is_directed) {
  data::GraphRecord record;
  record.graph.nodes = nodes;
  std::vector<data::ListedEdge> edges{{0, 0, {}, {99}}, {0, 0, {}, {98}}};
  for (Index i = 0; i < nodes; ++i) {
    const Index next = (i + 1) % nodes;
    edges.push_back({next, i, {}, {static_cast<float>(std::min(i, next))}});
    if (!is_directed) edges.push_back({i, next, {}, {static_cast<float>(std::min(i, next))}});
  }
  data::set_edges(record.graph, edges);
  return record;
}

Ends ends_of(const data::Graph& graph) {
  Ends ends;
  for (const data::ListedEdge& edge : data::listed_edges(graph)) {
    if (edge.source == edge.target) continue;
    ends.emplace(edge.source, edge.target);
    CHECK(edge.numbers == std::vector{static_cast<float>(std::min(edge.source, edge.target))});
  }
  return ends;
}

}  // namespace

TEST_CASE("hidden edges: so many leave the graph, and are asked for beside pairs that no edge joins") {
  for (const bool is_directed : {false, true}) {
    CAPTURE(is_directed);
    const data::GraphRecord whole = ring(21, is_directed);
    const Ends all = ends_of(whole.graph);
    data::GraphRecord record = whole;
    // What was asked of it before is not.
    record.graph.pairs = {{4, 9}, {3, 2}};
    record.targets = {1, 0};
    record.sides = {data::SplitSide::test, data::SplitSide::train};
    data::hide_edges(record, is_directed, 30, 1, 0);
    CHECK(record.sides.empty());
    const Ends left = ends_of(record.graph);
    const Index ways = is_directed ? 1 : 2;
    CHECK(std::ssize(all) == 21 * ways);
    CHECK(std::ssize(left) == (21 - 6) * ways);  // 6.3 of 21
    CHECK(record.graph.edges() == std::ssize(left) + 2);
    REQUIRE(record.graph.pairs.size() == 12);
    REQUIRE(record.targets.size() == 12);
    Ends asked;
    for (std::size_t i = 0; i < 12; ++i) {
      const auto [source, target] = record.graph.pairs[i];
      CHECK(asked.emplace(source, target).second);
      CHECK(source != target);
      CHECK(all.contains({source, target}) == (record.targets[i] == 1));
      CHECK_FALSE(left.contains({source, target}));
      CHECK((is_directed || !left.contains({target, source})));
      CHECK((is_directed || source < target));
    }
    CHECK(std::ranges::count(record.targets, 1) == 6);
    CHECK_NOTHROW(data::check_record(record, {{}, {{}, {{"low"}}}, is_directed}, data::hidden_edge_targets(), "here"));
    CHECK((is_directed || std::ranges::is_sorted(record.graph.pairs, {}, &data::NodePair::source)));
  }
}

TEST_CASE("hidden edges: their number is the nearest whole one, of halves the larger one") {
  struct Part {
    Index edges, percent, hidden;
  };
  for (const auto& [edges, percent, hidden] : std::vector<Part>{{24, 10, 2},
                                                                {25, 10, 3},
                                                                {26, 10, 3},
                                                                {7, 20, 1},
                                                                {8, 20, 2},
                                                                {19, 50, 10},
                                                                {21, 33, 7},
                                                                {40, 1, 0},
                                                                {60, 1, 1},
                                                                {9, 99, 9}}) {
    for (const bool is_directed : {false, true}) {
      CAPTURE(edges);
      CAPTURE(percent);
      CAPTURE(is_directed);
      data::GraphRecord record = ring(edges, is_directed);
      data::hide_edges(record, is_directed, percent, 1, 0);
      CHECK(std::ranges::count(record.targets, 1) == hidden);
    }
  }
}

TEST_CASE("hidden edges: the choice follows from the seed and the number of the graph") {
  const auto pairs = [](std::uint64_t seed, Index number) {
    data::GraphRecord record = ring(40, false);
    data::hide_edges(record, false, 50, seed, number);
    return record.graph.pairs;
  };
  CHECK(pairs(1, 0) == pairs(1, 0));
  CHECK(pairs(1, 0) != pairs(2, 0));
  CHECK(pairs(1, 0) != pairs(1, 1));
}

TEST_CASE("hidden edges: where few pairs are without an edge, there are no more of them; and of no edges none") {
  data::GraphRecord triangle = ring(3, false);
  data::hide_edges(triangle, false, 100, 1, 0);
  CHECK(triangle.graph.pairs.size() == 3);
  CHECK(triangle.targets == std::vector<double>{1, 1, 1});
  CHECK(triangle.graph.edges() == 2);  // loops

  data::GraphRecord one_way = ring(3, true);
  data::hide_edges(one_way, true, 100, 1, 0);
  CHECK(one_way.graph.pairs.size() == 6);
  CHECK(std::ranges::count(one_way.targets, 0) == 3);

  data::GraphRecord bare;
  bare.graph.nodes = 2;
  bare.graph.rows = {0, 0, 0};
  bare.sides = {data::SplitSide::test};
  data::hide_edges(bare, false, 50, 1, 0);
  CHECK(bare.graph.pairs.empty());
  CHECK(bare.sides.empty());
}

}  // namespace hidden_edges_tests
