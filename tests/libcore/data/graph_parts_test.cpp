#include "libcore/data/graph_parts.hpp"

#include <doctest/doctest.h>

#include <algorithm>

#include "libcore/base/error.hpp"
#include "libcore/base/random.hpp"
#include "libcore/data/held_out.hpp"

using namespace heddle;
using namespace heddle::data;

namespace graph_parts_tests {

namespace {

const GraphSchema schema{.nodes = {.categories = {{"element", {"C", "N", "O"}}}, .numbers = {}}, .edges = {}};

// Graphs without edges, of so many nodes each, whose first node has the kind.
std::shared_ptr<const GraphsInMemory> graphs_of(const std::vector<Index>& sizes, const GraphSchema& columns,
                                                const std::string& name, std::int32_t kind = 1,
                                                const std::string& group = "") {
  std::vector<GraphRecord> records;
  for (const Index size : sizes) {
    GraphRecord record;
    record.graph.nodes = size;
    record.graph.rows.assign(static_cast<std::size_t>(size) + 1, 0);
    record.graph.node_features.categories.assign(static_cast<std::size_t>(size), kind);
    record.group = group.empty() ? "" : group + std::to_string(records.size() / 3);
    records.push_back(record);
  }
  return std::make_shared<const GraphsInMemory>(columns, GraphTargets(), std::move(records), name);
}

}  // namespace

TEST_CASE("graphs of several files: one after the other, with the columns and kinds of the first by their names") {
  const GraphSchema other{.nodes = {.categories = {{"charge", {"0"}}, {"element", {"O", "Xe", "N"}}}, .numbers = {}},
                          .edges = {}};
  const auto first = graphs_of({2, 3}, schema, "a.h5");
  std::vector<GraphRecord> records(1);
  records[0].graph.nodes = 3;
  records[0].graph.rows = {0, 0, 0, 0};
  records[0].graph.node_features.categories = {1, 1, 1, 2, 0, 3};
  const auto second = std::make_shared<const GraphsInMemory>(other, GraphTargets(), std::move(records), "b.h5");
  const GraphsForModel both({first, second}, schema);
  CHECK(both.size() == 3);
  CHECK(both.name() == "a.h5, b.h5");
  CHECK(nodes_in(both) == 8);
  CHECK(both.graph(1) == first->graph(1));
  CHECK(both.graph(2).node_features.categories == std::vector<std::int32_t>{3, 0, 2});
  CHECK(both.record(2).graph == both.graph(2));
  CHECK(both.name_of(1) == "a.h5");
  CHECK(both.name_of(2) == "b.h5");
  CHECK(both.number_in_file(2) == 0);
  CHECK_THROWS_AS(both.graph(3), DataError);
  CHECK_THROWS_AS(GraphsForModel({first}, other), DataError);
  const GraphsOf part(both, {2, 0});
  CHECK(part.size() == 2);
  CHECK(part.graph(0) == both.graph(2));
  CHECK(part.nodes(1) == 2);
  CHECK(part.name_of(0) == "b.h5");
  CHECK(part.number_in_file(1) == 0);
  CHECK_THROWS_AS(GraphsOf(both, {3}), DataError);
}

TEST_CASE("graphs of several files: kinds of edges go by their names where the columns of nodes are the same") {
  const auto two_nodes = [](const std::vector<std::string>& orders, std::int32_t order) {
    GraphSchema columns = schema;
    columns.edges.categories = {{"order", orders}};
    std::vector<GraphRecord> records(1);
    records[0].graph.nodes = 2;
    records[0].graph.node_features.categories = {1, 2};
    set_edges(records[0].graph, std::vector<ListedEdge>{{0, 1, {order}}, {1, 0, {0}}});
    return std::make_shared<const GraphsInMemory>(columns, GraphTargets(), std::move(records), "a.h5");
  };
  const auto first = two_nodes({"1", "2", "3"}, 3);
  const GraphsForModel both({first, two_nodes({"2", "3", "1"}, 2)}, first->schema());
  CHECK(both.graph(0).edge_features.categories == std::vector<std::int32_t>{0, 3});
  CHECK(both.graph(1).edge_features.categories == std::vector<std::int32_t>{0, 3});
  CHECK(both.graph(1).node_features.categories == std::vector<std::int32_t>{1, 2});
}

TEST_CASE("edges of a graph: by their targets, those of one target in the order of the list, with their own features") {
  for (std::uint64_t seed = 1; seed <= 5; ++seed) {
    const RandomStream random(seed, 1);
    Graph graph;
    graph.nodes = 7;
    std::vector<ListedEdge> edges;
    for (std::uint64_t e = 0; e < 30; ++e) {
      const auto source = static_cast<Index>(random.below(2 * e, 7));
      const auto target = static_cast<Index>(random.below(2 * e + 1, 5));  // no edge leads to the last two
      edges.push_back({source, target, {static_cast<std::int32_t>(e), 7}, {static_cast<float>(e) / 2}});
    }
    set_edges(graph, edges);
    CHECK(ends_of_items(graph, GraphLevel::node).empty());
    std::ranges::stable_sort(edges, {}, &ListedEdge::target);
    const std::vector<ListedEdge> listed = listed_edges(graph);
    const std::vector<NodePair> ends = ends_of_items(graph, GraphLevel::edge);
    REQUIRE(listed.size() == edges.size());
    REQUIRE(ends.size() == edges.size());
    for (std::size_t e = 0; e < edges.size(); ++e) {
      CHECK(listed[e].source == edges[e].source);
      CHECK(listed[e].target == edges[e].target);
      CHECK(listed[e].categories == edges[e].categories);
      CHECK(listed[e].numbers == edges[e].numbers);
      CHECK(ends[e] == NodePair{edges[e].source, edges[e].target});
    }
    graph.pairs = {{3, 1}, {0, 6}};
    CHECK(ends_of_items(graph, GraphLevel::pair) == graph.pairs);
  }
}

TEST_CASE("held out graphs: the fraction of them; copies and groups stay together") {
  std::vector<Index> sizes;
  for (Index i = 0; i < 300; ++i) sizes.push_back(1 + i % 100);
  const auto copies = graphs_of(sizes, schema, "copies.h5");
  const HeldOutNumbers split = hold_out_graphs(*copies, {100'000});
  CHECK(split.valid.size() == 30);
  CHECK(split.train.size() == 270);
  for (const Index i : split.valid) {
    for (const Index j : split.train) REQUIRE(copies->nodes(i) != copies->nodes(j));
  }
  const auto grouped = graphs_of(sizes, schema, "groups.h5", 1, "scaffold ");
  const HeldOutNumbers by_group = hold_out_graphs(*grouped, {100'000});
  CHECK(by_group.valid.size() == 30);
  for (const Index i : by_group.valid) CHECK(std::ranges::count(by_group.valid, i / 3 * 3) == 1);
  CHECK_THROWS_AS(hold_out_graphs(*graphs_of({4, 4}, schema, "same.h5"), {500'000}), DataError);
}

}  // namespace graph_parts_tests
