#include "libcore/analysis/graph_layout.hpp"

#include <doctest/doctest.h>

#include <cmath>

using namespace heddle;
using namespace heddle::analysis;

namespace graph_layout_tests {

namespace {

data::Graph graph_of(Index nodes, const std::vector<std::pair<Index, Index>>& pairs) {
  data::Graph graph;
  graph.nodes = nodes;
  std::vector<data::ListedEdge> edges;
  for (const auto& [a, b] : pairs) edges.push_back({a, b});
  data::set_edges(graph, edges);
  return graph;
}

double apart(const std::vector<NodePlace>& places, std::size_t a, std::size_t b) {
  return std::hypot(places[a].x - places[b].x, places[a].y - places[b].y);
}

}  // namespace

TEST_CASE("graph layout: a row of nodes is a straight line, also where edges have one direction") {
  const auto places = graph_layout(graph_of(6, {{0, 1}, {2, 1}, {2, 3}, {4, 3}, {4, 5}}));
  for (std::size_t i = 0; i < 6; ++i) {
    for (std::size_t j = 0; j < i; ++j) CHECK(std::abs(apart(places, i, j) - static_cast<double>(i - j)) < 0.1);
  }
}

TEST_CASE("graph layout: a ring is a regular polygon") {
  constexpr std::size_t nodes = 7;
  const auto places = graph_layout(graph_of(nodes, {{0, 1}, {1, 2}, {2, 3}, {3, 4}, {4, 5}, {5, 6}, {6, 0}}));
  const double side = apart(places, 0, 1), diagonal = apart(places, 0, 2);
  for (std::size_t i = 0; i < nodes; ++i) {
    CHECK(std::abs(apart(places, i, (i + 1) % nodes) - side) < 0.01);
    CHECK(std::abs(apart(places, i, (i + 2) % nodes) - diagonal) < 0.01);
  }
  const double turn = 3.14159265358979 / nodes;
  CHECK(std::abs(diagonal / side - std::sin(2 * turn) / std::sin(turn)) < 0.02);
}

TEST_CASE("graph layout: equal leaves, parts without edges between them and nodes alone are apart") {
  const data::Graph graph = graph_of(9, {{0, 1}, {0, 2}, {0, 3}, {0, 4}, {5, 6}, {6, 7}});
  const auto places = graph_layout(graph);
  REQUIRE(places.size() == 9);
  for (std::size_t i = 0; i < 9; ++i) {
    for (std::size_t j = 0; j < i; ++j) CHECK(apart(places, i, j) > 0.5);
  }
  const auto again = graph_layout(graph);
  for (std::size_t i = 0; i < 9; ++i) CHECK((again[i].x == places[i].x && again[i].y == places[i].y));
}

TEST_CASE("graph layout: loops, edges that are there twice, no edge, one node and none") {
  CHECK(graph_layout(graph_of(0, {})).empty());
  CHECK(graph_layout(graph_of(1, {{0, 0}})).size() == 1);
  CHECK(std::abs(apart(graph_layout(graph_of(2, {})), 0, 1) - 2) < 0.01);  // more than an edge
  CHECK(std::abs(apart(graph_layout(graph_of(2, {{0, 1}, {0, 1}, {1, 1}})), 0, 1) - 1) < 0.01);
}

}  // namespace graph_layout_tests
