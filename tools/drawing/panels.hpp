// Panels of a picture, one below another: heat maps, curves and circles, with their axes.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "libcore/analysis/grid.hpp"
#include "libcore/analysis/position_shapes.hpp"
#include "tools/drawing/picture.hpp"

namespace heddle {

// Title of a panel's axis, with the numbers or names of its rows, columns or points.
struct PanelAxis {
  std::string name;
  std::vector<double> numbers{};
  std::vector<std::string> names{};
};

// Mapping of numbers to shades in a heat map.
enum class Shades {
  diverging,  // from -limit, dark blue, by a neutral grey at 0 to limit, light yellow; luminance rises throughout
  positive,   // from 0, black, to limit, white
  negative,   // from -limit, black, to 0, white
};
// Positive or negative where all numbers are, else diverging.
Shades shades_for(const analysis::Grid& grid);

// Bytes of red, green and blue: with t = value / limit, clipped, positive is round(255 t) in all three, negative is
// round(255 (1 + t)), and diverging is round(m + t (h - m)) for t >= 0, else round(m + t (m - l)), where l = (11, 31,
// 107), m = (143, 143, 143) and h = (255, 243, 176). A value that is NaN is white with a red tint, (255, 200, 200).
// Precondition: limit > 0.
struct Rgb {
  int red, green, blue;
  bool operator==(const Rgb&) const = default;
};
Rgb shade_of(double value, double limit, Shades shades);

class Panel {
 public:
  virtual ~Panel() = default;
  virtual double width() const = 0;  // width in points
  virtual double height() const = 0;
  virtual void draw(Picture& picture, double top) const = 0;  // from this y on
};
using Panels = std::vector<std::unique_ptr<const Panel>>;

// One cell for each number, rows from the top, with a bar that shows what the shades stand for.
struct HeatMap {
  std::string title;
  analysis::Grid grid;
  PanelAxis rows, columns;
  bool square = false;
};
std::unique_ptr<const Panel> panel_of(HeatMap map);

struct PanelCurve {
  std::string name;
  std::vector<double> values;  // one per number of the axis; values that are not finite are not drawn
};
struct CurvePlot {
  std::string title;
  PanelAxis x;  // if it has names, these label its numbers
  std::string y;
  std::vector<PanelCurve> curves;
  std::optional<double> least{}, most{};  // range of the plot, if curves exceed it
  bool logarithmic = false;               // on axes of logarithms, x to the base 2, each with a label; all are positive
};
std::unique_ptr<const Panel> panel_of(CurvePlot plot);

// At most 16 of the circles, with a point for each position.
struct CirclePlot {
  std::string title;
  analysis::Grid table;  // [positions, columns]
  std::vector<analysis::Circle> circles;
};
std::unique_ptr<const Panel> panel_of(CirclePlot plot);

// At most `most` of the numbers from 0 to count - 1, evenly spaced.
std::vector<Index> some_of(Index count, Index most);

// Writes a picture of the panels below a heading of one line or more. Throws as Picture does.
void save_panels(const std::string& path, const std::vector<std::string>& heading, const Panels& panels);

}  // namespace heddle
