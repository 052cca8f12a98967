#include "tools/drawing/graph_sketch.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <map>
#include <optional>
#include <string_view>
#include <utility>

#include "libcore/analysis/graph_layout.hpp"
#include "libcore/base/printable.hpp"
#include "tools/drawing/palette.hpp"

namespace heddle {

namespace {

constexpr double edge_length = 42;  // points, of an edge of other graphs, and of a bond of 1.5 units of RDKit
constexpr double sketch_margin = 30;
constexpr double sign_size = 13, small_size = 9.5;
constexpr double sign_radius = 8.5;  // within which no bond is drawn
constexpr double second_line = 5;    // from the first line of a bond
constexpr Colour sketch_ink = palette::of_byte(0x1a, 0x1a, 0x1a);

// The usual ones (Corey, Pauling and Koltun's), dark enough for white paper.
Colour element_colour(const std::string& element) {
  static const std::map<std::string, Colour> colours{
      {"N", palette::of_byte(0x20, 0x40, 0xe0)},  {"O", palette::of_byte(0xe0, 0x10, 0x10)},
      {"S", palette::of_byte(0xa8, 0x88, 0x00)},  {"P", palette::of_byte(0xd8, 0x6a, 0x00)},
      {"F", palette::of_byte(0x10, 0x90, 0x50)},  {"Cl", palette::of_byte(0x10, 0x98, 0x10)},
      {"Br", palette::of_byte(0x98, 0x38, 0x18)}, {"I", palette::of_byte(0x80, 0x10, 0x90)},
      {"B", palette::of_byte(0xc0, 0x60, 0x60)},  {"Si", palette::of_byte(0x90, 0x78, 0x50)},
      {"Se", palette::of_byte(0xc0, 0x78, 0x00)}};
  const auto found = colours.find(element);
  return found == colours.end() ? sketch_ink : found->second;
}

Point plus(Point a, Point b, double factor = 1) {
  return {a.x + factor * b.x, a.y + factor * b.y};
}
Point minus(Point a, Point b) {
  return plus(a, b, -1);
}
double cross(Point a, Point b) {
  return a.x * b.y - a.y * b.x;
}

// The kinds of a feature by the name of its column; "" where there is none.
class KindsOf {
 public:
  KindsOf(const data::FeatureColumns& columns, const std::vector<std::int32_t>& features)
      : columns_(columns.categories), features_(features) {}

  bool has(std::string_view name) const { return column(name).has_value(); }
  std::string operator()(std::size_t row, std::string_view name) const {
    const auto found = column(name);
    return found ? at(row, *found) : "";
  }
  std::string first(std::size_t row) const { return columns_.empty() ? "" : at(row, 0); }
  std::int32_t first_number(std::size_t row) const { return columns_.empty() ? 0 : features_[row * columns_.size()]; }

 private:
  std::optional<std::size_t> column(std::string_view name) const {
    const auto found = std::ranges::find(columns_, name, &data::CategoryColumn::name);
    if (found == columns_.end()) return std::nullopt;
    return static_cast<std::size_t>(found - columns_.begin());
  }
  std::string at(std::size_t row, std::size_t column) const {
    const std::int32_t kind = features_[row * columns_.size() + column];
    return kind == 0 ? "" : columns_[column].kinds[static_cast<std::size_t>(kind) - 1];
  }

  const std::vector<data::CategoryColumn>& columns_;
  const std::vector<std::int32_t>& features_;
};

bool is_molecule(const data::GraphRecord& record, const KindsOf& atoms) {
  return !record.positions.empty() || atoms.has("element");
}

// An edge, of those both ways only one.
struct Bond {
  std::size_t a, b;
  std::string order;
  bool in_ring;
};

class Sketcher {
 public:
  Sketcher(const data::GraphRecord& record, const data::GraphSchema& schema)
      : record_(record),
        schema_(schema),
        atoms_(schema.nodes, record.graph.node_features.categories),
        is_molecule_(is_molecule(record, atoms_)) {
    place();
    find_bonds();
    sketch_.names = node_names(record, schema);
  }

  GraphSketch sketch() {
    for (const Bond& bond : bonds_) is_molecule_ ? draw_bond(bond) : draw_edge(bond);
    for (std::size_t i = 0; i < count(); ++i) is_molecule_ ? draw_atom(i) : draw_node(i);
    return std::move(sketch_);
  }

 private:
  std::size_t count() const { return static_cast<std::size_t>(record_.graph.nodes); }
  Point at(std::size_t i) const { return sketch_.nodes[i]; }

  void place() {
    std::vector<Point> places;
    const std::vector<float>& given = record_.positions;
    const double unit = given.empty() ? edge_length * spread() : edge_length / 1.5;
    for (std::size_t i = 0; i < given.size() / 2; ++i) {
      places.push_back({static_cast<double>(given[2 * i]), -static_cast<double>(given[2 * i + 1])});
    }
    if (given.empty()) {
      for (const auto& [x, y] : analysis::graph_layout(record_.graph)) places.push_back({x, y});
    }
    Point least = places.front(), most = places.front();
    for (const Point& of : places) {
      least = {std::min(least.x, of.x), std::min(least.y, of.y)};
      most = {std::max(most.x, of.x), std::max(most.y, of.y)};
    }
    for (const Point& of : places) {
      sketch_.nodes.push_back(plus({sketch_margin, sketch_margin}, minus(of, least), unit));
    }
    sketch_.width = std::ceil(2 * sketch_margin + unit * (most.x - least.x));
    sketch_.height = std::ceil(2 * sketch_margin + unit * (most.y - least.y));
  }

  // Large graphs have edges that cross, which need more room.
  double spread() const { return std::clamp(std::sqrt(static_cast<double>(count()) / 100), 1.0, 3.0); }

  void find_bonds() {
    neighbours_.resize(count());
    const KindsOf kinds(schema_.edges, record_.graph.edge_features.categories);
    for (std::size_t target = 0; target < count(); ++target) {
      for (Index e = record_.graph.rows[target]; e < record_.graph.rows[target + 1]; ++e) {
        const auto edge = static_cast<std::size_t>(e);
        const auto source = static_cast<std::size_t>(record_.graph.sources[edge]);
        if (!schema_.is_directed && source > target) continue;
        bonds_.push_back({source, target, kinds(edge, "order"), kinds(edge, "ring") == "yes"});
        if (source == target) continue;
        neighbours_[source].push_back(bonds_.size() - 1);
        neighbours_[target].push_back(bonds_.size() - 1);
      }
    }
  }

  // --- molecules ---

  std::string charge_of(std::size_t i) const {
    const std::string charge = atoms_(i, "charge");
    if (charge.empty() || charge == "0") return "";
    const bool is_negative = charge.front() == '-';
    const std::string size = is_negative ? charge.substr(1) : charge;
    return (size == "1" ? "" : size) + (is_negative ? "−" : "+");
  }
  bool has_sign(std::size_t i) const {
    return sketch_.names[i] != "C" || neighbours_[i].empty() || !charge_of(i).empty();
  }
  double trim(std::size_t i) const { return has_sign(i) ? sign_radius : 0; }

  // 1 or -1: on which side of a bond, seen from a to b, the second line is: where its ring is, or more neighbours are.
  double side_of(const Bond& bond) const {
    double sum = 0;
    for (const std::size_t end : {bond.a, bond.b}) {
      for (const std::size_t number : neighbours_[end]) {
        const Bond& other = bonds_[number];
        const std::size_t far = other.a == end ? other.b : other.a;
        if (far == bond.a || far == bond.b || (bond.in_ring && !other.in_ring)) continue;
        sum += cross(minus(at(bond.b), at(bond.a)), minus(at(far), at(bond.a))) > 0 ? 1 : -1;
      }
    }
    return sum < 0 ? -1 : 1;
  }

  void draw_bond(const Bond& bond) {
    const Point along = minus(at(bond.b), at(bond.a));
    const double length = std::hypot(along.x, along.y);
    if (length < 1e-6) return;
    const Point unit{along.x / length, along.y / length}, normal{-unit.y, unit.x};
    const auto line = [&](double aside, double shortened, bool is_dashed = false) {
      const double first = std::max(trim(bond.a), shortened), last = std::max(trim(bond.b), shortened);
      if (first + last >= length) return;
      sketch_.lines.push_back({plus(plus(at(bond.a), normal, aside), unit, first),
                               plus(plus(at(bond.b), normal, aside), unit, -last), is_dashed});
    };
    const bool is_end = !bond.in_ring && (neighbours_[bond.a].size() == 1 || neighbours_[bond.b].size() == 1);
    const double inner = second_line * side_of(bond), shortened = 0.13 * length;
    if (bond.order == "double" && is_end) {
      line(second_line / 2, 0);
      line(-second_line / 2, 0);
      return;
    }
    line(0, 0);
    if (bond.order == "double") line(inner, shortened);
    if (bond.order == "aromatic") line(inner, shortened, true);
    if (bond.order == "triple" || bond.order == "quadruple") {
      line(0.8 * second_line, 0);
      line(-0.8 * second_line, 0);
    }
    if (bond.order == "quadruple") line(1.6 * second_line, 0);
  }

  // Side of an atom with room for its hydrogens: away from its bonds.
  Point free_side(std::size_t i) const {
    constexpr std::array<std::string_view, 6> after_hydrogen{"O", "S", "F", "Cl", "Br", "I"};  // as in H2O
    if (neighbours_[i].empty() && std::ranges::count(after_hydrogen, sketch_.names[i]) > 0) return {-1, 0};
    Point sum{0, 0};
    for (const std::size_t number : neighbours_[i]) {
      const Bond& bond = bonds_[number];
      const Point to = minus(at(bond.a == i ? bond.b : bond.a), at(i));
      const double length = std::max(std::hypot(to.x, to.y), 1e-6);
      sum = plus(sum, to, 1 / length);
    }
    if (std::abs(sum.y) > 0.5 && std::abs(sum.x) < 0.5 && neighbours_[i].size() > 1) return {0, sum.y > 0 ? -1.0 : 1.0};
    return {sum.x > 0.1 ? -1.0 : 1.0, 0};
  }

  // Width of a capital, or of several letters, about.
  static double wide(std::string_view text, double size) {
    return (0.72 + 0.5 * static_cast<double>(text.size() - 1)) * size;
  }

  void draw_atom(std::size_t i) {
    if (!has_sign(i)) return;
    const std::string& element = sketch_.names[i];
    const std::string hydrogens = atoms_(i, "hydrogens"), charge = charge_of(i);
    const Colour colour = element_colour(element);
    const auto sign = [&](Point middle, const std::string& text, double size) {
      sketch_.signs.push_back({middle, text, colour, size});
    };
    sign(at(i), element, sign_size);
    std::optional<Point> after_hydrogens;
    if (!hydrogens.empty() && hydrogens != "0") {
      const Point side = free_side(i);
      const double count_width = hydrogens == "1" ? 0 : 0.62 * small_size, h = wide("H", sign_size);
      Point middle = plus(at(i), side, side.y != 0 ? 1.05 * sign_size : (wide(element, sign_size) + h) / 2);
      if (side.x < 0) middle.x -= count_width;
      sign(middle, "H", sign_size);
      if (count_width > 0) sign({middle.x + (h + count_width) / 2, middle.y + 3.5}, hydrogens, small_size);
      if (side.x > 0) after_hydrogens = Point{middle.x + h / 2 + count_width + 0.4 * small_size, middle.y - 6};
    }
    if (!charge.empty()) sign(after_hydrogens.value_or(free_corner(i, wide(element, sign_size))), charge, small_size);
  }

  // Place for the charge of an atom of some width: the first of these sides that no bond is close to.
  Point free_corner(std::size_t i, double width) const {
    constexpr double close = 0.8;  // cosine of the angle with a bond
    Point best{};
    double least = 2;
    for (const Point side : {Point{1, -1}, Point{-1, -1}, Point{1, 0}, Point{-1, 0}, Point{1, 1}}) {
      double closest = -1;
      for (const std::size_t number : neighbours_[i]) {
        const Bond& bond = bonds_[number];
        const Point to = minus(at(bond.a == i ? bond.b : bond.a), at(i));
        const double lengths = std::max(std::hypot(to.x, to.y), 1e-6) * std::hypot(side.x, side.y);
        closest = std::max(closest, (side.x * to.x + side.y * to.y) / lengths);
      }
      if (closest >= least) continue;
      least = closest;
      best = {at(i).x + side.x * (width / 2 + 0.35 * small_size), at(i).y + 6 * side.y};
      if (closest < close) break;
    }
    return best;
  }

  // --- other graphs ---

  void draw_edge(const Bond& edge) {
    if (edge.a == edge.b) return draw_loop(at(edge.a));
    sketch_.lines.push_back({at(edge.a), at(edge.b)});
    if (!schema_.is_directed) return;
    const Point along = minus(at(edge.b), at(edge.a));
    const double length = std::hypot(along.x, along.y);
    if (length < 3 * sketch_disc) return;
    const Point unit{along.x / length, along.y / length}, normal{-unit.y, unit.x};
    const Point tip = plus(at(edge.b), unit, -sketch_disc - 1);
    for (const double aside : {3.0, -3.0}) {
      sketch_.lines.push_back({tip, plus(plus(tip, unit, -6), normal, aside)});
    }
  }
  void draw_loop(Point node) {
    constexpr int corners = 12;
    constexpr double radius = 7, turn = 2 * 3.14159265358979 / corners;
    const auto corner = [&](int k) {
      return Point{node.x + radius * std::sin(k * turn), node.y - sketch_disc - radius * std::cos(k * turn)};
    };
    for (int k = 0; k < corners; ++k) sketch_.lines.push_back({corner(k), corner(k + 1)});
  }

  void draw_node(std::size_t i) {
    const Colour& full = palette::series[static_cast<std::size_t>(atoms_.first_number(i)) % palette::series.size()];
    const auto light = [](double value) { return 0.65 + 0.35 * value; };
    sketch_.discs.push_back({at(i), {light(full.red), light(full.green), light(full.blue)}});
    constexpr std::size_t longest = 12;
    const std::string& name = sketch_.names[i];
    const std::string sign = name.empty() || name.size() > longest ? std::to_string(i + 1) : name;
    sketch_.signs.push_back({at(i), sign, sketch_ink, sign.size() > 2 ? 7.0 : small_size});
  }

  const data::GraphRecord& record_;
  const data::GraphSchema& schema_;
  const KindsOf atoms_;
  const bool is_molecule_;
  std::vector<Bond> bonds_;
  std::vector<std::vector<std::size_t>> neighbours_;  // [nodes]: the bonds of each
  GraphSketch sketch_;
};

}  // namespace

std::vector<std::string> node_names(const data::GraphRecord& record, const data::GraphSchema& schema) {
  const KindsOf atoms(schema.nodes, record.graph.node_features.categories);
  const bool has_elements = is_molecule(record, atoms) && atoms.has("element");
  std::vector<std::string> names;
  for (std::size_t i = 0; i < static_cast<std::size_t>(record.graph.nodes); ++i) {
    if (!record.node_names.empty()) {
      names.push_back(printable(record.node_names[i]));
    } else {
      names.push_back(printable(has_elements ? atoms(i, "element") : atoms.first(i)));
    }
  }
  return names;
}

GraphSketch sketch_of(const data::GraphRecord& record, const data::GraphSchema& schema) {
  return Sketcher(record, schema).sketch();
}

void draw_sketch(Picture& picture, const GraphSketch& sketch, Point corner, double scale) {
  const auto at = [&](Point point) { return plus(corner, point, scale); };
  for (const GraphSketch::Line& line : sketch.lines) {
    Pen pen{sketch_ink, sketch_pen * scale};
    if (line.is_dashed) pen.dashes = {3.5 * scale, 2.5 * scale};
    picture.line(at(line.from), at(line.to), pen);
  }
  for (const GraphSketch::Disc& disc : sketch.discs) {
    picture.disc(at(disc.centre), (sketch_disc + sketch_pen / 2) * scale, sketch_ink);
    picture.disc(at(disc.centre), (sketch_disc - sketch_pen / 2) * scale, disc.colour);
  }
  for (const GraphSketch::Sign& sign : sketch.signs) {
    constexpr double half_of_capitals = 0.36;
    const Point middle = at(sign.middle);
    picture.text({middle.x, middle.y + half_of_capitals * sign.size * scale}, sign.text, Anchor::middle, sign.colour,
                 sign.size * scale);
  }
}

}  // namespace heddle
