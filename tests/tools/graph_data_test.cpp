// Examples of graphs files.
#include "tools/tasks/graph_data.hpp"

#include <doctest/doctest.h>

#include <string>
#include <vector>

#include "formats/heddle/graphs_file.hpp"
#include "tools/command.hpp"

using namespace heddle;

namespace graph_data_tests {

namespace {

using Words = std::vector<std::string>;

// A file of one graph a, b, c whose edges are those of the list, each of which has its own class, but for unknown ones.
struct Edge {
  Index source, target;
  double label;
};
TaskData examples_of(const std::string& path, bool is_directed, const std::vector<Edge>& list) {
  data::GraphRecord record;
  record.graph.nodes = 3;
  record.node_names = {"a", "b", "c"};
  std::vector<data::ListedEdge> edges;
  for (const Edge& edge : list) edges.push_back({edge.source, edge.target, {}, {static_cast<float>(edge.label)}});
  data::set_edges(record.graph, edges);
  for (const data::ListedEdge& edge : data::listed_edges(record.graph)) {
    record.targets.push_back(edge.numbers.front() < 0 ? data::unknown_target : edge.numbers.front());
  }
  data::GraphSchema schema;
  schema.edges.numbers = {{"number"}};
  schema.is_directed = is_directed;
  formats::GraphsFileWriter writer(path, schema, {data::GraphLevel::edge, {{"kind", {"k0", "k1", "k2", "k3"}}}});
  writer.append(record);
  writer.commit(formats::start_provenance("a test"));
  return read_graphs(path, {.labelled = {}, .task = models::Task::label});
}

}  // namespace

TEST_CASE(
    "graphs as examples: an edge of a node with itself is one, beside others that are there both ways or one way") {
  const testing::TemporaryFolder folder;
  const std::string path = folder / "g.h5";
  const TaskData alike = examples_of(path, false, {{0, 1, 1}, {1, 0, 1}, {1, 1, 2}, {2, 1, 3}, {1, 2, 3}, {0, 0, 0}});
  REQUIRE(alike.sentences.size() == 1);
  CHECK(alike.sentences[0].words == Words{"a-a", "a-b", "b-b", "b-c"});
  CHECK(alike.sentences[0].tags == Words{"k0", "k1", "k2", "k3"});
  const TaskData apart = examples_of(path, true, {{0, 1, 1}, {1, 0, 2}, {1, 1, 3}, {2, 2, -1}});
  REQUIRE(apart.sentences.size() == 1);
  CHECK(apart.sentences[0].words == Words{"b>a", "a>b", "b>b"});
  CHECK(apart.sentences[0].tags == Words{"k2", "k1", "k3"});
}

TEST_CASE("graphs as examples: several labels are learned at once where one of them has all classes of the others") {
  const testing::TemporaryFolder folder;
  const auto task_with = [&](const std::vector<Words>& classes) {
    const std::string path = folder / "t.h5";
    data::GraphTargets targets{data::GraphLevel::graph, {}};
    for (const Words& names : classes) targets.columns.push_back({concatenate("c", targets.columns.size()), names});
    formats::GraphsFileWriter writer(path, {}, targets);
    data::GraphRecord record;
    record.graph.nodes = 1;
    record.graph.rows = {0, 0};
    record.targets.assign(classes.size(), 0);
    writer.append(record);
    writer.commit(formats::start_provenance("a test"));
    return task_of_graphs(path, "");
  };
  CHECK(task_with({{"a", "b"}, {"a", "b"}}) == models::Task::label);
  CHECK(task_with({{"a", "b"}, {"a", "b", "c"}, {"c"}}) == models::Task::label);
  for (const std::vector<Words>& classes :
       std::vector<std::vector<Words>>{{{"a", "b"}, {"c", "d"}}, {{"a", "b"}, {"b", "c"}}, {{"a", "b"}, {}}}) {
    CHECK_THROWS_AS(task_with(classes), UsageError);
  }
}

}  // namespace graph_data_tests
