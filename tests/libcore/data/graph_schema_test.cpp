// Columns of graphs as text.
#include "libcore/data/graph_schema.hpp"

#include <doctest/doctest.h>

#include "libcore/base/error.hpp"

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
