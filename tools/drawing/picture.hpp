// Drawings, which Cairo writes as SVG, PNG or PDF, with text by Pango: one set of calls for all three. Coordinates and
// sizes are in points from the upper left corner; a PNG has two pixels per point. Equal drawings give equal bytes if
// the fonts are the same.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "libcore/base/real.hpp"

namespace heddle {

// Each from 0 to 1.
struct Colour {
  double red = 0, green = 0, blue = 0, opacity = 1;
};

struct Pen {
  Colour colour = {};
  double width = 1;
  std::vector<double> dashes = {};  // lengths of lines and of the gaps after them; none: a solid line
};

struct Point {
  double x = 0, y = 0;
};

enum class Anchor { start, middle, end };  // part of a text that is placed at the point
enum class Direction { right, up };        // direction of a text's baseline

// Cells of one colour each.
struct Cells {
  Index rows, columns;
  // Writes the colours of a row's cells, 0xRRGGBB; called by several threads at once.
  std::function<void(Index row, std::uint32_t* colours)> paint;
};

class Picture {
 public:
  static constexpr double pixels_per_point = 2;  // resolution of a PNG

  // Whether a file of this name can be drawn: one that ends in .svg, .png or .pdf.
  static bool is_name(std::string_view path);

  // A white picture; the ending of the path gives the format. Throws UsageError for other endings, DataError for a size
  // that cannot be drawn.
  Picture(const std::string& path, double width, double height);
  ~Picture();

  void line(Point from, Point to, const Pen& pen);
  void polyline(std::span<const Point> points, const Pen& pen);
  void disc(Point centre, double radius, const Colour& colour);
  void circle(Point centre, double radius, const Pen& pen);
  void rectangle(Point corner, double width, double height, const Colour& colour);
  // Each cell is a rectangle of its exact colour. In a PNG its sides are rounded to whole pixels, of which each cell
  // must have one at least, and the cells must lie in the picture.
  void cells(Point corner, double width, double height, const Cells& cells);
  // One line with its baseline at the point, in a sans-serif font and in others for the characters that it lacks, in
  // the order of its script; or in Cairo's own font of ASCII if the system has none. Unprintable characters are written
  // as \xHH.
  void text(Point at, std::string_view content, Anchor anchor = Anchor::start, const Colour& colour = {},
            double size = 12, Direction direction = Direction::right);
  // The width of such a line.
  double text_width(std::string_view content, double size) const;

  // Writes the file, whole or not at all; call it once, last. Throws DataError.
  void save();

 private:
  struct Canvas;
  void check_drawn() const;
  void embed_cells(Point corner, double width, double height, const Cells& cells);

  std::string path_;
  std::unique_ptr<Canvas> canvas_;
};

}  // namespace heddle
