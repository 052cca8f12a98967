// Drawings of graphs: where lines, signs and arrows are, by geometry.
#include "tools/drawing/graph_sketch.hpp"

#include <doctest/doctest.h>

#include <cmath>
#include <numbers>
#include <set>

using namespace heddle;

namespace {

using Line = GraphSketch::Line;
using Sign = GraphSketch::Sign;

constexpr double points_per_unit = 28;  // a bond of 1.5 units has 42 points

struct DrawnAtom {
  std::string element;
  double x, y;  // upwards
  std::string charge = "0", hydrogens = "0";
};
struct DrawnBond {
  Index a, b;
  std::string order = "single";
  bool in_ring = false;
};

std::int32_t kind_of(data::CategoryColumn& column, const std::string& name) {
  const auto found = std::ranges::find(column.kinds, name);
  const auto number = static_cast<std::int32_t>(found - column.kinds.begin()) + 1;
  if (found == column.kinds.end()) column.kinds.push_back(name);
  return number;
}

GraphSketch molecule(const std::vector<DrawnAtom>& atoms, const std::vector<DrawnBond>& bonds) {
  data::GraphSchema schema;
  schema.nodes.categories = {{"element", {}}, {"charge", {}}, {"hydrogens", {}}};
  schema.edges.categories = {{"order", {}}, {"ring", {}}};
  data::GraphRecord record;
  record.graph.nodes = std::ssize(atoms);
  for (const DrawnAtom& atom : atoms) {
    const std::string* const kinds[] = {&atom.element, &atom.charge, &atom.hydrogens};
    for (std::size_t column = 0; column < 3; ++column) {
      record.graph.node_features.categories.push_back(kind_of(schema.nodes.categories[column], *kinds[column]));
    }
    record.positions.push_back(static_cast<float>(atom.x));
    record.positions.push_back(static_cast<float>(atom.y));
  }
  std::vector<data::ListedEdge> edges;
  for (const DrawnBond& bond : bonds) {
    const std::vector<std::int32_t> kinds{kind_of(schema.edges.categories[0], bond.order),
                                          kind_of(schema.edges.categories[1], bond.in_ring ? "yes" : "no")};
    edges.push_back({bond.a, bond.b, kinds});
    edges.push_back({bond.b, bond.a, kinds});
  }
  data::set_edges(record.graph, edges);
  return sketch_of(record, schema);
}

double distance(Point a, Point b) {
  return std::hypot(a.x - b.x, a.y - b.y);
}

// Signed distance of a point from the line through a and b: positive to the right of the direction from a to b, as the
// picture is seen.
double aside(Point point, Point a, Point b) {
  return ((b.x - a.x) * (point.y - a.y) - (b.y - a.y) * (point.x - a.x)) / distance(a, b);
}

// Offsets of the lines of a bond from its axis, from left to right.
std::vector<double> asides(const GraphSketch& sketch, std::size_t a, std::size_t b) {
  std::vector<double> result;
  for (const Line& line : sketch.lines) {
    result.push_back(aside(line.from, sketch.nodes[a], sketch.nodes[b]));
    CHECK(aside(line.to, sketch.nodes[a], sketch.nodes[b]) == doctest::Approx(result.back()));
  }
  std::ranges::sort(result);
  return result;
}

std::vector<std::string> texts_of(const GraphSketch& sketch) {
  std::vector<std::string> texts;
  for (const Sign& sign : sketch.signs) texts.push_back(sign.text);
  return texts;
}

// Six carbons in a ring, each with a substituent outside, whose bonds are double and single in turn.
GraphSketch ring_of_six(bool is_clockwise, const std::string& order) {
  std::vector<DrawnAtom> atoms;
  std::vector<DrawnBond> bonds;
  for (int shell = 1; shell <= 2; ++shell) {
    for (int i = 0; i < 6; ++i) {
      const double turn = (is_clockwise ? -1 : 1) * i * std::numbers::pi / 3;
      atoms.push_back({"C", 1.5 * shell * std::cos(turn), 1.5 * shell * std::sin(turn)});
    }
  }
  for (Index i = 0; i < 6; ++i) {
    bonds.push_back({i, (i + 1) % 6, i % 2 == 0 ? order : "single", true});
    bonds.push_back({i, i + 6});
  }
  return molecule(atoms, bonds);
}

}  // namespace

TEST_CASE("sketch: charges are written as chemists do, and carbon alone has its sign") {
  const auto signs = [](const std::string& element, const std::string& charge) {
    return texts_of(molecule({{element, 0, 0, charge}}, {}));
  };
  using Texts = std::vector<std::string>;
  CHECK(signs("N", "0") == Texts{"N"});
  CHECK(signs("N", "1") == Texts{"N", "+"});
  CHECK(signs("N", "-1") == Texts{"N", "−"});
  CHECK(signs("N", "2") == Texts{"N", "2+"});
  CHECK(signs("N", "-3") == Texts{"N", "3−"});
  CHECK(signs("C", "0") == Texts{"C"});
  CHECK(texts_of(molecule({{"C", 0, 0}, {"C", 1.5, 0, "1"}}, {{0, 1}})) == Texts{"C", "+"});
  std::set<double> reds;
  for (const char* const element : {"N", "O", "S", "P", "F", "Cl", "Br", "I", "B", "Si", "Se"}) {
    CAPTURE(element);
    const Colour colour = molecule({{element, 0, 0}}, {}).signs[0].colour,
                 carbon = molecule({{"C", 0, 0}}, {}).signs[0].colour;
    CHECK((colour.red != carbon.red || colour.green != carbon.green || colour.blue != carbon.blue));
  }
}

TEST_CASE("sketch: hydrogens are where the atom has no bond, their number after them, below") {
  // Water has them on the left, ammonia on the right.
  const GraphSketch water = molecule({{"O", 0, 0, "0", "2"}}, {}), ammonia = molecule({{"N", 0, 0, "0", "3"}}, {});
  REQUIRE(texts_of(water) == std::vector<std::string>{"O", "H", "2"});
  REQUIRE(texts_of(ammonia) == std::vector<std::string>{"N", "H", "3"});
  CHECK(water.signs[1].middle.x < water.signs[2].middle.x);
  CHECK(water.signs[2].middle.x < water.signs[0].middle.x);
  CHECK(ammonia.signs[0].middle.x < ammonia.signs[1].middle.x);
  CHECK(ammonia.signs[1].middle.x < ammonia.signs[2].middle.x);
  for (const GraphSketch& sketch : {water, ammonia}) {
    CHECK(sketch.signs[1].middle.y == sketch.signs[0].middle.y);
    CHECK(sketch.signs[2].middle.y > sketch.signs[0].middle.y);
    CHECK(sketch.signs[2].size < sketch.signs[1].size);
  }
  const auto of_oxygen = [](double neighbour_x) {
    const GraphSketch sketch = molecule({{"C", neighbour_x, 0}, {"O", 0, 0, "0", "1"}}, {{0, 1}});
    REQUIRE(texts_of(sketch) == std::vector<std::string>{"O", "H"});
    return sketch.signs[1].middle.x - sketch.signs[0].middle.x;
  };
  CHECK(of_oxygen(-1.5) > 9);
  CHECK(of_oxygen(1.5) == doctest::Approx(-of_oxygen(-1.5)));
  for (const double above : {1.0, -1.0}) {  // both neighbours
    const GraphSketch sketch =
        molecule({{"C", -1.2, above}, {"N", 0, 0, "0", "1"}, {"C", 1.2, above}}, {{0, 1}, {1, 2}});
    CHECK(sketch.signs[1].middle.x == sketch.signs[0].middle.x);
    CHECK((sketch.signs[1].middle.y - sketch.signs[0].middle.y) * above > 9);
  }
}

TEST_CASE("sketch: a charge is after hydrogens on the right, else where no bond is close") {
  const GraphSketch right = molecule({{"C", -1.5, 0}, {"N", 0, 0, "1", "3"}}, {{0, 1}});
  REQUIRE(texts_of(right) == std::vector<std::string>{"N", "H", "3", "+"});
  CHECK(right.signs[3].middle.x > right.signs[2].middle.x);
  CHECK(right.signs[3].middle.y < right.signs[0].middle.y);
  const auto charge_at = [](const std::vector<DrawnAtom>& neighbours) {
    std::vector<DrawnAtom> atoms{{"N", 0, 0, "1"}};
    std::vector<DrawnBond> bonds;
    for (const DrawnAtom& atom : neighbours) {
      atoms.push_back(atom);
      bonds.push_back({0, std::ssize(atoms) - 1});
    }
    const GraphSketch sketch = molecule(atoms, bonds);
    REQUIRE(texts_of(sketch) == std::vector<std::string>{"N", "+"});
    return Point{sketch.signs[1].middle.x - sketch.signs[0].middle.x,
                 sketch.signs[0].middle.y - sketch.signs[1].middle.y};  // upwards
  };
  const DrawnAtom left{"C", -1.5, 0}, lower{"C", 0, -1.5}, upper_right{"C", 1, 1}, upper_left{"C", -1, 1};
  const Point free = charge_at({left, lower});
  CHECK(free.x > 5);
  CHECK(free.y > 5);
  const Point other = charge_at({upper_right, lower});
  CHECK(other.x < -5);
  CHECK(other.y > 5);
  const Point beside = charge_at({upper_right, upper_left});
  CHECK(beside.x > 5);
  CHECK(beside.y == 0);
  // Where every side has a bond, it is where the nearest one is farthest.
  const Point crowded = charge_at({upper_right, upper_left, {"C", 1.5, 0}, left, {"C", 1.2, -0.9}});
  CHECK(crowded.x > 5);
  CHECK(crowded.y < -5);
}

TEST_CASE("sketch: a bond has as many lines as its order says, which end before signs") {
  const auto lines = [](const std::string& order, bool has_more) {
    std::vector<DrawnAtom> atoms{{"C", 0, 0}, {"C", 1.5, 0}};
    std::vector<DrawnBond> bonds{{0, 1, order}};
    if (has_more) {
      // A neighbour of each, both above the bond, which lines of their own lead to.
      atoms.insert(atoms.end(), {{"C", -0.75, 1.3}, {"C", 2.25, 1.3}});
      bonds.insert(bonds.end(), {{0, 2}, {1, 3}});
    }
    GraphSketch sketch = molecule(atoms, bonds);
    sketch.lines.erase(sketch.lines.end() - (has_more ? 2 : 0), sketch.lines.end());
    return asides(sketch, 0, 1);
  };
  CHECK(lines("single", false) == std::vector<double>{0});
  CHECK(lines("double", false) == std::vector<double>{-2.5, 2.5});
  CHECK(lines("triple", false) == std::vector<double>{-4, 0, 4});
  CHECK(lines("quadruple", false) == std::vector<double>{-4, 0, 4, 8});
  CHECK(lines("double", true) == std::vector<double>{-5, 0});  // above: to the left
  const GraphSketch alcohol = molecule({{"C", 0, 0}, {"O", 1.5, 0}}, {{0, 1}});
  REQUIRE(alcohol.lines.size() == 1);
  CHECK(distance(alcohol.lines[0].from, alcohol.nodes[0]) < 1e-6);
  CHECK(distance(alcohol.lines[0].to, alcohol.nodes[1]) == doctest::Approx(8.5));
  CHECK(distance(alcohol.nodes[0], alcohol.nodes[1]) == doctest::Approx(1.5 * points_per_unit));
}

TEST_CASE(
    "sketch: of double and aromatic bonds in a ring, the second line is inside, shorter, and dashed of the latter") {
  for (const bool is_clockwise : {false, true}) {
    for (const std::string order : {"double", "aromatic"}) {
      CAPTURE(order);
      const GraphSketch sketch = ring_of_six(is_clockwise, order);
      const auto middle = [](const Line& line) {
        return Point{(line.from.x + line.to.x) / 2, (line.from.y + line.to.y) / 2};
      };
      Point centre{0, 0};
      for (std::size_t i = 0; i < 6; ++i) {
        centre.x += sketch.nodes[i].x / 6;
        centre.y += sketch.nodes[i].y / 6;
      }
      REQUIRE(sketch.lines.size() == 12 + 3);
      int inside = 0;
      for (const Line& line : sketch.lines) {
        CHECK(line.is_dashed == (order == "aromatic" && distance(line.from, line.to) < 41));
        if (distance(line.from, line.to) > 41) continue;
        ++inside;
        CHECK(distance(line.from, line.to) == doctest::Approx(42 * (1 - 2 * 0.13)));
        CHECK(distance(middle(line), centre) == doctest::Approx(42 * std::sqrt(3) / 2 - 5));
      }
      CHECK(inside == 3);
    }
  }
}

TEST_CASE("sketch: of other graphs, nodes are discs with the colour of their first feature and a short name") {
  data::GraphSchema schema;
  schema.nodes.categories = {{"role", {"hub", "leaf"}}, {"size", {"s", "l"}}};
  data::GraphRecord record;
  record.graph.nodes = 4;
  record.graph.node_features.categories = {1, 2, 2, 1, 1, 1, 0, 2};
  std::vector<data::ListedEdge> edges;
  for (Index leaf = 1; leaf < 4; ++leaf) edges.insert(edges.end(), {{0, leaf}, {leaf, 0}});
  data::set_edges(record.graph, edges);
  CHECK(node_names(record, schema) == std::vector<std::string>{"hub", "leaf", "hub", ""});
  const GraphSketch sketch = sketch_of(record, schema);
  CHECK(sketch.lines.size() == 3);
  REQUIRE(sketch.discs.size() == 4);
  const auto same = [&](std::size_t a, std::size_t b) {
    const Colour &one = sketch.discs[a].colour, &other = sketch.discs[b].colour;
    return one.red == other.red && one.green == other.green && one.blue == other.blue;
  };
  CHECK(same(0, 2));
  CHECK_FALSE(same(0, 1));
  CHECK_FALSE(same(0, 3));
  CHECK_FALSE(same(1, 3));
  for (const GraphSketch::Disc& disc : sketch.discs) {  // light, so that signs are read
    CHECK(disc.colour.red + disc.colour.green + disc.colour.blue > 1.9);
    CHECK(std::max({disc.colour.red, disc.colour.green, disc.colour.blue}) <= 1);
  }
  CHECK(texts_of(sketch) == std::vector<std::string>{"hub", "leaf", "hub", "4"});
  CHECK(sketch.signs[3].size > sketch.signs[0].size);
  record.node_names = {"a", "twelve chars", "thirteen char", "bb"};
  const GraphSketch named = sketch_of(record, schema);
  CHECK(texts_of(named) == std::vector<std::string>{"a", "twelve chars", "3", "bb"});
  CHECK(named.names[2] == "thirteen char");
  for (std::size_t i = 0; i < 4; ++i) CHECK(distance(named.signs[i].middle, named.nodes[i]) == 0);
  // Without features and names, all are alike and have their numbers.
  record.node_names.clear();
  record.graph.node_features = {};
  CHECK(texts_of(sketch_of(record, {})) == std::vector<std::string>{"1", "2", "3", "4"});
}

TEST_CASE("sketch: edges with a direction have an arrow before the node that they lead to, loops a ring above it") {
  data::GraphSchema schema;
  schema.is_directed = true;
  data::GraphRecord record;
  record.graph.nodes = 2;
  data::set_edges(record.graph, std::vector<data::ListedEdge>{{1, 0}});
  const GraphSketch sketch = sketch_of(record, schema);
  const Point source = sketch.nodes[1], target = sketch.nodes[0];
  REQUIRE(sketch.lines.size() == 3);
  CHECK(distance(sketch.lines[0].from, source) == 0);
  CHECK(distance(sketch.lines[0].to, target) == 0);
  std::vector<double> sides;
  for (std::size_t i : {1, 2}) {
    const Line& line = sketch.lines[i];
    CHECK(distance(line.from, target) == doctest::Approx(sketch_disc + 1));
    CHECK(std::abs(aside(line.from, source, target)) < 1e-9);
    CHECK(distance(line.from, source) < distance(target, source));
    CHECK(distance(line.to, target) > distance(line.from, target));
    sides.push_back(aside(line.to, source, target));
  }
  CHECK(sides[0] == doctest::Approx(3).epsilon(1e-9).scale(6));
  CHECK(sides[1] == doctest::Approx(-sides[0]));

  // Both ways are two edges.
  data::set_edges(record.graph, std::vector<data::ListedEdge>{{1, 0}, {0, 1}});
  CHECK(sketch_of(record, schema).lines.size() == 6);
  schema.is_directed = false;
  CHECK(sketch_of(record, schema).lines.size() == 1);
  data::set_edges(record.graph, std::vector<data::ListedEdge>{{1, 1}});
  const GraphSketch loop = sketch_of(record, schema);
  REQUIRE(loop.lines.size() == 12);
  for (std::size_t i = 0; i < 12; ++i) {
    CHECK(distance(loop.lines[i].to, loop.lines[(i + 1) % 12].from) < 1e-6);
    CHECK(distance(loop.lines[i].from, {loop.nodes[1].x, loop.nodes[1].y - sketch_disc}) == doctest::Approx(7));
  }
}

TEST_CASE("sketch: what has places is a molecule, whatever its features are called") {
  data::GraphSchema schema;
  schema.nodes.categories = {{"symbol", {"N", "C"}}};
  data::GraphRecord record;
  record.graph.nodes = 2;
  record.graph.node_features.categories = {1, 2};
  record.positions = {0, 0, 1.5F, 0};
  data::set_edges(record.graph, std::vector<data::ListedEdge>{{0, 1}, {1, 0}});
  CHECK(node_names(record, schema) == std::vector<std::string>{"N", "C"});
  const GraphSketch sketch = sketch_of(record, schema);
  CHECK(sketch.discs.empty());
  CHECK(texts_of(sketch) == std::vector<std::string>{"N"});
  // Nor need elements have places.
  record.positions.clear();
  CHECK(sketch_of(record, schema).discs.size() == 2);
  schema.nodes.categories.front().name = "element";
  CHECK(sketch_of(record, schema).discs.empty());
  CHECK(distance(sketch_of(record, schema).nodes[0], sketch_of(record, schema).nodes[1]) == doctest::Approx(42));
}

TEST_CASE("sketch: an atom that bonds with itself has no lines, nor do atoms at one place") {
  CHECK(molecule({{"C", 0, 0}, {"C", 0, 0}}, {{0, 1}}).lines.empty());
  CHECK(texts_of(molecule({{"C", 0, 0}}, {{0, 0}})) == std::vector<std::string>{"C"});
}
