#include "tools/drawing/panels.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <numbers>

#include "libcore/base/printable.hpp"
#include "libcore/base/strings.hpp"
#include "tools/drawing/palette.hpp"
#include "tools/drawing/ticks.hpp"

namespace heddle {

namespace {

using palette::of_byte;

constexpr double sheet_width = 800, panel_left = 76, panel_right = 24, title_height = 26, sheet_margin = 18;
constexpr double label_size = 10, text_size = 11, panel_title_size = 13;
constexpr Index most_circles = 16;

Colour colour_of(const Rgb& rgb) {
  return of_byte(rgb.red, rgb.green, rgb.blue);
}

constexpr Colour ink = of_byte(0x22, 0x22, 0x22), quiet = of_byte(0x66, 0x66, 0x66);

// Curves differ in their dashes, too.
const std::array<std::vector<double>, 5> panel_dashes{{{}, {7, 3}, {2, 2.5}, {9, 3, 2, 3}, {5, 2, 1.5, 2, 1.5, 2}}};

// The pen of one of `count` curves: the first are drawn first and are wider, so that curves that coincide are all seen.
Pen pen_of(std::size_t number, std::size_t count) {
  const double further = count > 1 ? static_cast<double>(number) / static_cast<double>(count - 1) : 0.5;
  return {palette::series[number % palette::series.size()], std::lerp(2.8, 1.3, further),
          panel_dashes[number % panel_dashes.size()]};
}

std::string number_text(double value) {
  return fmt::format("{:.6g}", std::abs(value) < 1e-12 ? 0 : value);
}

double text_width(std::string_view text, double size) {
  return 0.6 * size * static_cast<double>(display_width(printable(text)));
}

void draw_title(Picture& picture, const std::string& title, double top) {
  picture.text({sheet_margin, top + 15}, title, Anchor::start, ink, panel_title_size);
}

// Addition to the title if all numbers are nearly the same, since a map of one shade looks like an error.
std::string sameness_of(const analysis::Grid& grid, double limit) {
  double low = limit, high = -limit;
  for (const double value : grid.values) {
    if (!std::isfinite(value)) continue;
    low = std::min(low, value);
    high = std::max(high, value);
  }
  if (grid.values.size() < 2 || low > high || high - low > 0.05 * limit) return "";
  if (low == high) return fmt::format("; all are {:.4g}", low);
  return fmt::format("; all are from {:.4g} to {:.4g}", low, high);
}

class HeatPanel : public Panel {
 public:
  explicit HeatPanel(HeatMap map) : map_(std::move(map)), shades_(shades_for(map_.grid)), limit_(map_.grid.largest()) {
    if (limit_ == 0) limit_ = 1;
    const auto cell = [](double room, Index count, double most) {  // whole pixels of a PNG
      return std::clamp(std::floor(2 * room / static_cast<double>(count)) / 2, 0.5, most);
    };
    cell_width_ = cell(sheet_width - panel_left - panel_right - bar_room, map_.grid.columns, 24);
    cell_height_ = cell(360, map_.grid.rows, 14);
    if (map_.square) cell_width_ = cell_height_ = std::min(cell_width_, cell_height_);
  }

  double width() const override { return panel_left + map_width() + bar_room + panel_right; }
  double height() const override {
    return title_height + std::max(map_height(), least_bar) + axis_height + sheet_margin;
  }

  void draw(Picture& picture, double top) const override {
    draw_title(picture, map_.title + sameness_of(map_.grid, limit_), top);
    const double y = top + title_height;
    for (Index row = 0; row < map_.grid.rows; ++row) {
      for (Index column = 0; column < map_.grid.columns; ++column) {
        picture.rectangle(
            {panel_left + static_cast<double>(column) * cell_width_, y + static_cast<double>(row) * cell_height_},
            cell_width_, cell_height_, colour_of(shade_of(map_.grid.at(row, column), limit_, shades_)));
      }
    }
    draw_rows(picture, y);
    draw_columns(picture, y + map_height());
    draw_bar(picture, y);
  }

 private:
  static constexpr double bar_room = 84, least_bar = 90, axis_height = 34;

  double map_width() const { return cell_width_ * static_cast<double>(map_.grid.columns); }
  double map_height() const { return cell_height_ * static_cast<double>(map_.grid.rows); }

  static std::string label(const PanelAxis& axis, Index i) {
    const auto at = static_cast<std::size_t>(i);
    return axis.names.empty() ? number_text(axis.numbers[at]) : axis.names[at];
  }
  // The cells with a label: of names every so many, of numbers those that are round.
  static std::vector<Index> labelled(const PanelAxis& axis, Index count, double cell, double apart) {
    const auto every = std::max<Index>(1, static_cast<Index>(std::ceil(apart / cell)));
    std::vector<Index> chosen;
    if (!axis.names.empty() || count < 2) {
      for (Index i = 0; i < count; i += every) chosen.push_back(i);
      return chosen;
    }
    const double first = axis.numbers.front(), step = (axis.numbers.back() - first) / static_cast<double>(count - 1);
    const double room = cell * static_cast<double>(count - 1);
    for (const double tick : ticks_of(std::min(first, axis.numbers.back()), std::max(first, axis.numbers.back()),
                                      std::max(1.0, std::floor(room / apart)))) {
      const double at = (tick - first) / step;
      if (std::abs(at - std::round(at)) < 1e-6) chosen.push_back(static_cast<Index>(std::llround(at)));
    }
    return chosen;
  }

  void draw_rows(Picture& picture, double y) const {
    for (const Index row : labelled(map_.rows, map_.grid.rows, cell_height_, 13)) {
      const double middle = y + (static_cast<double>(row) + 0.5) * cell_height_;
      picture.line({panel_left - 4, middle}, {panel_left - 1, middle}, {quiet});
      picture.text({panel_left - 7, middle + 3.5}, label(map_.rows, row), Anchor::end, ink, label_size);
    }
    picture.text({panel_left - 7, y + map_height() + 29}, map_.rows.name, Anchor::end, quiet, label_size);
  }
  void draw_columns(Picture& picture, double y) const {
    for (const Index column : labelled(map_.columns, map_.grid.columns, cell_width_, 46)) {
      const double middle = panel_left + (static_cast<double>(column) + 0.5) * cell_width_;
      picture.line({middle, y + 1}, {middle, y + 4}, {quiet});
      picture.text({middle, y + 14}, label(map_.columns, column), Anchor::middle, ink, label_size);
    }
    picture.text({panel_left + map_width() / 2, y + 29}, map_.columns.name, Anchor::middle, quiet, label_size);
  }
  // Legend of the shades, the highest value at the top.
  void draw_bar(Picture& picture, double y) const {
    constexpr double bar_width = 12, gap = 16;
    const double x = panel_left + map_width() + gap, length = std::max(map_height(), least_bar);
    const double low = shades_ == Shades::positive ? 0 : -limit_, high = shades_ == Shades::negative ? 0 : limit_;
    const auto steps = static_cast<int>(2 * length);
    for (int i = 0; i < steps; ++i) {
      const double value = std::lerp(high, low, (i + 0.5) / steps);
      picture.rectangle({x, y + i / 2.0}, bar_width, 0.5, colour_of(shade_of(value, limit_, shades_)));
    }
    for (const double down : {0.0, 0.25, 0.5, 0.75, 1.0}) {
      const double middle = y + down * length;
      picture.line({x + bar_width, middle}, {x + bar_width + 3, middle}, {quiet});
      picture.text({x + bar_width + 6, middle + 3.5}, fmt::format("{:.3g}", std::lerp(high, low, down)), Anchor::start,
                   ink, label_size);
    }
  }

  HeatMap map_;
  Shades shades_;
  double limit_, cell_width_, cell_height_;
};

class CurvePanel : public Panel {
 public:
  explicit CurvePanel(CurvePlot plot) : plot_(std::move(plot)) {
    if (plot_.logarithmic) take_logarithms();
    low_ = std::numeric_limits<double>::infinity();
    high_ = -low_;
    for (const PanelCurve& curve : plot_.curves) {
      for (const double value : curve.values) {
        if (!std::isfinite(value)) continue;
        low_ = std::min(low_, value);
        high_ = std::max(high_, value);
      }
    }
    if (low_ > high_) low_ = high_ = 0;
    const double room = 0.04 * (high_ - low_);
    low_ = std::max(low_ - room, plot_.least.value_or(low_ - room));
    high_ = std::min(high_ + room, plot_.most.value_or(high_ + room));
    if (high_ - low_ < 1e-9 * std::max(1.0, std::abs(high_))) {
      const double around = std::max(1.0, std::abs(high_)) / 2;
      low_ -= around;
      high_ += around;
    }
    const auto [first, last] = std::ranges::minmax(plot_.x.numbers);
    first_ = first;
    last_ = last > first ? last : first + 1;
    arrange_legend();
  }

  double width() const override { return sheet_width; }
  double height() const override {
    return title_height + plot_height + axis_height + legend_line * static_cast<double>(legend_rows_) + sheet_margin;
  }

  void draw(Picture& picture, double top) const override {
    draw_title(picture, plot_.title, top);
    const double y = top + title_height;
    picture.text({sheet_width - panel_right, top + 15}, plot_.y, Anchor::end, quiet, label_size);
    draw_grid(picture, y);
    for (std::size_t i = 0; i < plot_.curves.size(); ++i)
      draw_curve(picture, y, plot_.curves[i].values, pen_of(i, plot_.curves.size()));
    draw_legend(picture, y + plot_height + axis_height);
  }

 private:
  static constexpr double plot_height = 200, axis_height = 36, legend_line = 16, sample = 26;

  void take_logarithms() {
    for (double& x : plot_.x.numbers) {
      plot_.x.names.push_back(number_text(x));
      x = std::log2(x);
    }
    for (PanelCurve& curve : plot_.curves) {
      for (double& value : curve.values) value = std::log10(value);
    }
  }

  // Positions of grid lines, with their labels.
  std::vector<std::pair<double, std::string>> y_ticks() const {
    std::vector<std::pair<double, std::string>> ticks;
    if (!plot_.logarithmic) {
      for (const double tick : ticks_of(low_, high_, 6)) ticks.emplace_back(tick, number_text(tick));
      return ticks;
    }
    for (double power = std::floor(low_); power <= high_; ++power) {
      for (const double factor : {1.0, 2.0, 5.0}) {
        const double at = power + std::log10(factor);
        if (at >= low_ && at <= high_) ticks.emplace_back(at, number_text(factor * std::pow(10.0, power)));
      }
    }
    return ticks;
  }

  void arrange_legend() {
    double longest = 0;
    for (const PanelCurve& curve : plot_.curves) longest = std::max(longest, text_width(curve.name, text_size));
    entry_width_ = sample + 6 + longest + 14;
    const double room = sheet_width - panel_left - panel_right;
    columns_ = std::max<Index>(1, static_cast<Index>(room / entry_width_));
    const auto count = static_cast<Index>(plot_.curves.size());
    legend_rows_ = count > 1 || !plot_.curves.front().name.empty() ? (count + columns_ - 1) / columns_ : 0;
  }

  double x_of(double value) const {
    return panel_left + (sheet_width - panel_left - panel_right) * (value - first_) / (last_ - first_);
  }
  double y_of(double value, double y) const { return y + plot_height * (high_ - value) / (high_ - low_); }

  void draw_grid(Picture& picture, double y) const {
    for (const auto& [tick, name] : y_ticks()) {
      const double at = y_of(tick, y);
      const bool is_zero = tick == 0 && !plot_.logarithmic;
      picture.line({panel_left, at}, {sheet_width - panel_right, at}, {is_zero ? quiet : palette::grid});
      picture.text({panel_left - 7, at + 3.5}, name, Anchor::end, ink, label_size);
    }
    const bool named = !plot_.x.names.empty();
    const std::vector<double> ticks = named ? plot_.x.numbers : ticks_of(first_, last_, 12);
    for (std::size_t i = 0; i < ticks.size(); ++i) {
      const double at = x_of(ticks[i]);
      picture.line({at, y}, {at, y + plot_height}, {palette::grid});
      picture.text({at, y + plot_height + 14}, named ? plot_.x.names[i] : number_text(ticks[i]), Anchor::middle, ink,
                   label_size);
    }
    picture.text({(panel_left + sheet_width - panel_right) / 2, y + plot_height + 29}, plot_.x.name, Anchor::middle,
                 quiet, label_size);
  }

  // The parts of the curve within the plot.
  void draw_curve(Picture& picture, double y, const std::vector<double>& values, const Pen& pen) const {
    std::vector<Point> points;
    const auto finish = [&] {
      if (points.size() > 1) picture.polyline(points, pen);
      if (points.size() == 1) picture.disc(points.front(), 2, pen.colour);
      points.clear();
    };
    const auto inside = [&](double value) { return value >= low_ && value <= high_; };
    const auto add = [&](double x, double value) { points.push_back({x_of(x), y_of(value, y)}); };
    // Intersection of the line between two points of the curve with the plot's lower or upper end.
    const auto cross = [&](std::size_t from, std::size_t to) {
      const double bound = std::clamp(values[to], low_, high_);
      const double along = (bound - values[from]) / (values[to] - values[from]);
      add(std::lerp(plot_.x.numbers[from], plot_.x.numbers[to], along), bound);
    };
    for (std::size_t i = 0; i < values.size(); ++i) {
      const bool joined = i > 0 && std::isfinite(values[i - 1]) && std::isfinite(values[i]);
      if (!joined) finish();
      if (!std::isfinite(values[i])) continue;
      if (joined && !inside(values[i - 1]) && inside(values[i])) cross(i, i - 1);
      if (inside(values[i])) {
        add(plot_.x.numbers[i], values[i]);
      } else if (joined && inside(values[i - 1])) {
        cross(i - 1, i);
        finish();
      }
    }
    finish();
  }

  void draw_legend(Picture& picture, double y) const {
    if (legend_rows_ == 0) return;
    for (std::size_t i = 0; i < plot_.curves.size(); ++i) {
      const auto number = static_cast<Index>(i);
      const double x = panel_left + static_cast<double>(number % columns_) * entry_width_,
                   at = y + legend_line * (static_cast<double>(number / columns_) + 0.7);
      picture.line({x, at - 4}, {x + sample, at - 4}, pen_of(i, plot_.curves.size()));
      picture.text({x + sample + 6, at}, plot_.curves[i].name, Anchor::start, ink, text_size);
    }
  }

  CurvePlot plot_;
  double low_, high_, first_, last_, entry_width_ = 0;
  Index columns_ = 1, legend_rows_ = 0;
};

class CirclePanel : public Panel {
 public:
  explicit CirclePanel(CirclePlot plot)
      : plot_(std::move(plot)), chosen_(some_of(static_cast<Index>(plot_.circles.size()), most_circles)) {}

  double width() const override { return sheet_width; }
  double height() const override { return title_height + cell_height * static_cast<double>(rows()) + sheet_margin; }

  void draw(Picture& picture, double top) const override {
    draw_title(picture, plot_.title, top);
    for (std::size_t i = 0; i < chosen_.size(); ++i) {
      const auto number = static_cast<Index>(i);
      const Point centre{sheet_margin + (static_cast<double>(number % per_row) + 0.5) * cell_width,
                         top + title_height + 44 + static_cast<double>(number / per_row) * cell_height};
      draw_circle(picture, centre, plot_.circles[static_cast<std::size_t>(chosen_[i])]);
    }
  }

 private:
  static constexpr Index per_row = 8;
  static constexpr double cell_width = (sheet_width - 2 * sheet_margin) / per_row, cell_height = 116, radius = 36;

  Index rows() const { return (static_cast<Index>(chosen_.size()) + per_row - 1) / per_row; }

  // From light at the first position to dark at the last.
  Colour colour_at(Index position) const {
    const double fraction =
        static_cast<double>(position) / static_cast<double>(std::max<Index>(1, plot_.table.rows - 1));
    const auto mixed = [fraction](int from, int to) {
      return static_cast<int>(std::lround(from + fraction * (to - from)));
    };
    return of_byte(mixed(240, 11), mixed(178, 31), mixed(60, 107));
  }

  void draw_circle(Picture& picture, Point centre, const analysis::Circle& circle) const {
    const auto at = [&](double x, double y) {
      return Point{centre.x + radius * x / circle.radius, centre.y - radius * y / circle.radius};
    };
    std::vector<Point> ring;
    for (int i = 0; i <= 72; ++i) {
      const double angle = 2 * std::numbers::pi * i / 72;
      ring.push_back(at(circle.radius * std::cos(angle), circle.radius * std::sin(angle)));
    }
    picture.line({centre.x - radius, centre.y}, {centre.x + radius, centre.y}, {palette::grid, 0.6});
    picture.line({centre.x, centre.y - radius}, {centre.x, centre.y + radius}, {palette::grid, 0.6});
    picture.polyline(ring, {of_byte(0xaa, 0xaa, 0xaa), 0.8});
    for (Index position = plot_.table.rows - 1; position >= 0; --position) {  // the first on top
      const Point point = at(plot_.table.at(position, circle.first), plot_.table.at(position, circle.second));
      if (position == 0) picture.disc(point, 4, ink);
      picture.disc(point, position == 0 ? 3 : 2, colour_at(position));
    }
    const double turn = 2 * std::numbers::pi / std::abs(circle.radians_per_position);
    picture.text({centre.x, centre.y + radius + 14}, fmt::format("{}, {}", circle.first, circle.second), Anchor::middle,
                 ink, label_size);
    picture.text({centre.x, centre.y + radius + 26},
                 (turn < 10000 ? fmt::format("{:.4g}", turn) : grouped(std::llround(turn))) + " per turn",
                 Anchor::middle, quiet, 9);
  }

  CirclePlot plot_;
  std::vector<Index> chosen_;
};

}  // namespace

Shades shades_for(const analysis::Grid& grid) {
  const auto is_negative = [](double value) { return value < 0; };
  const auto is_positive = [](double value) { return value > 0; };
  if (std::ranges::none_of(grid.values, is_negative)) return Shades::positive;
  return std::ranges::none_of(grid.values, is_positive) ? Shades::negative : Shades::diverging;
}

Rgb shade_of(double value, double limit, Shades shades) {
  if (std::isnan(value)) return {255, 200, 200};
  const double t = std::clamp(value / limit, -1.0, 1.0);
  const auto byte = [t](int from, int to) { return static_cast<int>(std::lround(from + std::abs(t) * (to - from))); };
  if (shades != Shades::diverging) {
    const double light = shades == Shades::positive ? std::max(0.0, t) : 1 + std::min(0.0, t);
    const int grey = static_cast<int>(std::lround(255 * light));
    return {grey, grey, grey};
  }
  constexpr int middle = 143;
  if (t < 0) return {byte(middle, 11), byte(middle, 31), byte(middle, 107)};
  return {byte(middle, 255), byte(middle, 243), byte(middle, 176)};
}

std::unique_ptr<const Panel> panel_of(HeatMap map) {
  return std::make_unique<HeatPanel>(std::move(map));
}
std::unique_ptr<const Panel> panel_of(CurvePlot plot) {
  return std::make_unique<CurvePanel>(std::move(plot));
}
std::unique_ptr<const Panel> panel_of(CirclePlot plot) {
  return std::make_unique<CirclePanel>(std::move(plot));
}

std::vector<Index> some_of(Index count, Index most) {
  std::vector<Index> chosen;
  if (count <= most) {
    for (Index i = 0; i < count; ++i) chosen.push_back(i);
    return chosen;
  }
  for (Index i = 0; i < most; ++i) chosen.push_back(i * (count - 1) / (most - 1));
  return chosen;
}

void save_panels(const std::string& path, const std::vector<std::string>& heading, const Panels& panels) {
  constexpr double line = 17, above = 14;
  double width = sheet_width, height = above + line * static_cast<double>(heading.size()) + sheet_margin / 2;
  for (const auto& panel : panels) {
    width = std::max(width, panel->width());
    height += panel->height();
  }
  Picture picture(path, width, height);
  double y = above;
  for (std::size_t i = 0; i < heading.size(); ++i) {
    y += line;
    picture.text({sheet_margin, y - 4}, heading[i], Anchor::start, i == 0 ? ink : quiet, i == 0 ? 15 : text_size);
  }
  y += sheet_margin / 2;
  for (const auto& panel : panels) {
    panel->draw(picture, y);
    y += panel->height();
  }
  picture.save();
}

}  // namespace heddle
