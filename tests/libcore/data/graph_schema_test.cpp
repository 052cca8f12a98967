// Columns of graphs as text.
#include "libcore/data/graph_schema.hpp"

#include <doctest/doctest.h>

#include "libcore/base/error.hpp"
#include "libcore/data/graphs.hpp"

using namespace heddle;
using namespace heddle::data;

TEST_CASE("graph schema: its text says all of it, and is read again") {
  GraphSchema schema;
  CHECK(schema.text() == "auto");
  CHECK(GraphSchema::from_text("auto") == schema);
  schema.is_directed = true;
  CHECK(schema.text() == "directed");
  schema.nodes = {.categories = {{"element", {"C", "N"}}, {"ring", {"yes"}}}, .numbers = {{"mass", 12.5, 3}, {"age"}}};
  CHECK(schema.text() == "nodes(element=C|N; ring=yes; mass~12.5~3; age~0~1) directed");
  schema.edges = {.categories = {{"order", {}}}, .numbers = {{"length", -0.5, 0.25}}};
  CHECK(schema.text() == "nodes(element=C|N; ring=yes; mass~12.5~3; age~0~1) edges(order=; length~-0.5~0.25) directed");
  CHECK(GraphSchema::from_text(schema.text()) == schema);
  CHECK(GraphSchema::from_text("edges( order = ;length~-0.5 ~ 0.25 )  nodes(element=C | N;ring=yes;mass~12.5~3;age~0~1)"
                               "directed ") == schema);
  schema.nodes = {};
  schema.is_directed = false;
  CHECK(GraphSchema::from_text(schema.text()) == schema);
}

TEST_CASE("graph schema: names may have characters that have a meaning in the text") {
  for (const char character : std::string("\\=|~;() ")) {
    CAPTURE(character);
    const std::string name = std::string("a") + character + "b", alone(1, character);
    GraphSchema schema;
    schema.nodes = {.categories = {{name, {alone, name, character + name}}, {alone, {"x"}}},
                    .numbers = {{name + character, 1, 2}}};
    CHECK(GraphSchema::from_text(schema.text()) == schema);
  }
  CHECK(GraphSchema::from_text("nodes(a\\=b=c)").nodes.categories.front().name == "a=b");
}

TEST_CASE("graph schema: what is no text of one is refused") {
  for (const char* const text : {"nodes(a)", "nodes(a=b", "nodes(a=b\\", "nodes(a~1)", "nodes(a~x~1)", "nodes(a~1~)",
                                 "atoms(a=b)", "nodes(a=b) undirected", "nodes(a=b))", "auto directed"}) {
    CAPTURE(text);
    CHECK_THROWS_AS(GraphSchema::from_text(text), UsageError);
  }
}

TEST_CASE("graph records: two are the same where nothing of them differs") {
  GraphRecord record;
  record.graph.nodes = 2;
  record.graph.rows = {0, 0, 1};
  record.graph.sources = {0};
  record.graph.node_features = {{1, 2}, {0.5F}};
  record.graph.edge_features = {{3}, {1.5F}};
  record.graph.pairs = {{0, 1}};
  record.id = "i";
  record.line = 3;
  record.targets = {1, unknown_target};
  record.node_names = {"a", "b"};
  record.positions = {0, 1, 2, 3};
  record.group = "g";
  record.fragments = {4, 5};
  record.sides = {SplitSide::train};
  CHECK(same_record(record, record));
  const std::vector<void (*)(GraphRecord&)> changes{[](GraphRecord& r) { r.graph.nodes = 3; },
                                                    [](GraphRecord& r) {
                                                      r.graph.rows = {0, 1, 1};
                                                    },
                                                    [](GraphRecord& r) { r.graph.sources = {1}; },
                                                    [](GraphRecord& r) { r.graph.node_features.categories[1] = 0; },
                                                    [](GraphRecord& r) { r.graph.node_features.numbers[0] = 0; },
                                                    [](GraphRecord& r) { r.graph.edge_features.categories[0] = 0; },
                                                    [](GraphRecord& r) { r.graph.edge_features.numbers[0] = 0; },
                                                    [](GraphRecord& r) { r.graph.pairs[0].target = 0; },
                                                    [](GraphRecord& r) { r.id = "j"; },
                                                    [](GraphRecord& r) { r.line = 4; },
                                                    [](GraphRecord& r) { r.targets[0] = 0; },
                                                    [](GraphRecord& r) { r.targets[1] = 0; },
                                                    [](GraphRecord& r) { r.node_names[1] = "a"; },
                                                    [](GraphRecord& r) { r.positions[3] = 0; },
                                                    [](GraphRecord& r) { r.group = "h"; },
                                                    [](GraphRecord& r) { r.fragments.pop_back(); },
                                                    [](GraphRecord& r) { r.sides[0] = SplitSide::valid; }};
  for (const auto change : changes) {
    GraphRecord other = record;
    change(other);
    CHECK_FALSE(same_record(record, other));
    CHECK_FALSE(same_record(other, record));
  }
}

TEST_CASE("schema map: features of other orders and kinds are those of the model, whichever side differs") {
  GraphSchema model;
  model.nodes = {.categories = {{"element", {"C", "N"}}}, .numbers = {{"mass"}, {"age"}}};
  model.edges = {.categories = {{"order", {"1", "2"}}}, .numbers = {{"length"}}};
  GraphSchema other_nodes = model, other_edges = model;
  other_nodes.nodes = {.categories = {{"more", {"x"}}, {"element", {"N", "O", "C"}}}, .numbers = {{"age"}, {"mass"}}};
  other_edges.edges = {.categories = {{"order", {"2", "1"}}}, .numbers = {{"weight"}, {"length"}}};
  Graph graph;
  graph.nodes = 1;
  graph.node_features = {{1, 3}, {5, 6}};
  graph.edge_features = {{2}, {7}};
  SchemaMap(other_nodes, model, "f").apply(graph);
  CHECK(graph.node_features == Features{{1}, {6, 5}});
  CHECK(graph.edge_features == Features{{2}, {7}});
  graph.node_features = {{2}, {5, 6}};
  graph.edge_features = {{2}, {7, 8}};
  SchemaMap(other_edges, model, "f").apply(graph);
  CHECK(graph.node_features == Features{{2}, {5, 6}});
  CHECK(graph.edge_features == Features{{1}, {8}});
}
