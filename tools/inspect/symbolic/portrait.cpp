#include "tools/inspect/symbolic/portrait.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>

#include "libcore/base/error.hpp"
#include "libcore/symbolic/numeric.hpp"
#include "tools/drawing/palette.hpp"
#include "tools/drawing/picture.hpp"
#include "tools/drawing/ticks.hpp"

namespace heddle {

namespace {

constexpr double side = 480, margin = 56;
constexpr int grid_cells = 160, seeds_per_side = 11, steps = 36;

class Portrait {
 public:
  Portrait(const std::string& path, const symbolic::System& system, const symbolic::Tree& function, double reach)
      : system_(system),
        function_(function),
        reach_(reach),
        picture_(path, side + 2 * margin, side + 2 * margin + 24) {}

  void draw(const std::string& caption) {
    draw_axes();
    draw_levels();
    draw_solutions();
    picture_.disc(place(0, 0), 3, palette::text);
    picture_.text({margin, side + margin + 44}, caption, Anchor::start, palette::text, 11);
    picture_.save();
  }

 private:
  Point place(double x, double y) const {
    return {margin + side * (x + reach_) / (2 * reach_), margin + side * (reach_ - y) / (2 * reach_)};
  }

  void draw_axes() {
    const Pen pen{.colour = palette::grid};
    for (const double tick : ticks_of(-reach_, reach_, 6)) {
      picture_.line(place(tick, -reach_), place(tick, reach_), pen);
      picture_.line(place(-reach_, tick), place(reach_, tick), pen);
      const std::string label = fmt::format("{:g}", tick);
      picture_.text({place(tick, 0).x, side + margin + 16}, label, Anchor::middle, palette::text, 11);
      picture_.text({margin - 6, place(0, tick).y + 4}, label, Anchor::end, palette::text, 11);
    }
    picture_.text({margin + side / 2, side + margin + 30}, system_.names[0], Anchor::middle, palette::text);
    picture_.text({margin - 34, margin + side / 2}, system_.names[1], Anchor::middle, palette::text, 12, Direction::up);
  }

  double coordinate(int i) const { return -reach_ + 2 * reach_ * i / grid_cells; }

  // V at the corners of the cells, by rows.
  std::vector<double> heights() const {
    std::vector<double> values;
    for (int row = 0; row <= grid_cells; ++row)
      for (int column = 0; column <= grid_cells; ++column)
        values.push_back(numeric_value(function_, std::array{coordinate(column), coordinate(row)}));
    return values;
  }

  // Level sets at quantiles of V, closer together near 0.
  void draw_levels() {
    const std::vector<double> values = heights();
    std::vector<double> sorted;
    std::ranges::copy_if(values, std::back_inserter(sorted), [](double value) { return std::isfinite(value); });
    if (sorted.empty()) return;
    std::ranges::sort(sorted);
    for (const double quantile : {0.01, 0.04, 0.1, 0.2, 0.33, 0.5, 0.68, 0.86})
      draw_level(values, sorted[static_cast<std::size_t>(quantile * static_cast<double>(sorted.size() - 1))]);
  }

  void draw_level(const std::vector<double>& values, double level) {
    for (int row = 0; row < grid_cells; ++row)
      for (int column = 0; column < grid_cells; ++column) draw_level_in_cell(values, level, row, column);
  }

  // A line through the sides where V crosses the level (marching squares); two where all four sides are.
  void draw_level_in_cell(const std::vector<double>& values, double level, int row, int column) {
    static constexpr std::array<std::pair<int, int>, 4> corners{{{0, 0}, {0, 1}, {1, 1}, {1, 0}}};
    std::vector<Point> crossings;
    for (std::size_t k = 0; k < 4; ++k) {
      const auto [r0, c0] = corners[k];
      const auto [r1, c1] = corners[(k + 1) % 4];
      const double a = values[static_cast<std::size_t>((row + r0) * (grid_cells + 1) + column + c0)] - level;
      const double b = values[static_cast<std::size_t>((row + r1) * (grid_cells + 1) + column + c1)] - level;
      if (!(a < 0) == !(b < 0) || !std::isfinite(a) || !std::isfinite(b)) continue;
      const double t = a / (a - b), cell = 2 * reach_ / grid_cells;
      crossings.push_back(
          place(coordinate(column) + cell * (c0 + t * (c1 - c0)), coordinate(row) + cell * (r0 + t * (r1 - r0))));
    }
    for (std::size_t k = 0; k + 1 < crossings.size(); k += 2)
      picture_.line(crossings[k], crossings[k + 1], {.colour = palette::series[1], .width = 1.2});
  }

  // The direction of the solution through the point, of length 1; false where there is none.
  bool direction(Point at, Point& towards) const {
    const std::array point{at.x, at.y};
    const double x = numeric_value(system_.fields[0], point), y = numeric_value(system_.fields[1], point);
    const double length = std::hypot(x, y);
    if (!(length > 1e-12) || !std::isfinite(length)) return false;
    towards = {x / length, y / length};
    return true;
  }

  // A step of the midpoint rule along the solution's curve.
  bool advance(Point& at, double length) const {
    Point first, middle;
    if (!direction(at, first)) return false;
    if (!direction({at.x + first.x * length / 2, at.y + first.y * length / 2}, middle)) return false;
    at = {at.x + middle.x * length, at.y + middle.y * length};
    return std::abs(at.x) <= reach_ && std::abs(at.y) <= reach_ && std::hypot(at.x, at.y) > length;
  }

  void draw_solutions() {
    for (int row = 0; row < seeds_per_side; ++row) {
      for (int column = 0; column < seeds_per_side; ++column) {
        const double cell = 2 * reach_ / seeds_per_side;
        Point at{-reach_ + cell * (column + 0.5), -reach_ + cell * (row + 0.5)};
        std::vector<Point> curve{place(at.x, at.y)};
        for (int step = 0; step < steps && advance(at, reach_ / 200); ++step) curve.push_back(place(at.x, at.y));
        draw_curve(curve);
      }
    }
  }

  void draw_curve(const std::vector<Point>& curve) {
    if (curve.size() < 6) return;
    const Pen pen{.colour = palette::series[0], .width = 0.9};
    picture_.polyline(curve, pen);
    const Point end = curve.back(), before = curve[curve.size() - 4];
    const double angle = std::atan2(end.y - before.y, end.x - before.x);
    for (const double turn : {2.6, -2.6})
      picture_.line(end, {end.x + 5 * std::cos(angle + turn), end.y + 5 * std::sin(angle + turn)}, pen);
  }

  const symbolic::System& system_;
  const symbolic::Tree& function_;
  double reach_;
  Picture picture_;
};

}  // namespace

void draw_portrait(const std::string& path, const symbolic::System& system, const symbolic::Tree& function,
                   double reach, const std::string& caption) {
  check<UsageError>(system.names.size() == 2, "--portrait is of a system of two variables; this one has ",
                    system.names.size());
  Portrait(path, system, function, reach).draw(caption);
}

}  // namespace heddle
