// Pictures of matrices of weights: a cell for each pair of tokens, 0 is black and 1 white (SPEC 7.6), or 0 is light and
// 1 dark, as on pages; a weight that is not finite red.
#pragma once

#include <string>
#include <vector>

#include "libcore/tensor/tensor.hpp"
#include "tools/drawing/picture.hpp"

namespace heddle {

// The most tokens on a side, and pixels of a PNG.
inline constexpr Index most_picture_tokens = 1024;
inline constexpr double most_picture_pixels = 1.2e8;

// Throws UsageError for more tokens than a side of a picture can have.
void check_picture_side(const std::string& path, Index tokens);

struct LabelledMatrix {
  std::string title;                        // or empty
  Tensor weights;                           // [rows, columns]
  std::vector<std::string> rows, columns;   // printable labels
  std::string row_title{}, column_title{};  // axis titles; may be empty
  // Light, in larger cells that say their weight where it is at least this; 0: black and white.
  double numbers_from = 0;
};

// The matrix with the labels of all rows on the left and those of all columns above, turned. Throws UsageError for more
// tokens than can be drawn.
void draw_matrix(const std::string& path, const LabelledMatrix& matrix);

// Matrices of one size in a grid, drawn one by one.
struct GridLabels {
  std::string title;
  std::vector<std::string> rows{}, columns{};
};
class MatrixGrid {
 public:
  // A grid of matrices of this shape. Throws UsageError for a picture with too many pixels.
  MatrixGrid(const std::string& path, const GridLabels& labels, const Shape& matrix);
  // The matrix in a row and a column of the grid.
  void draw(std::size_t row, std::size_t column, const Tensor& weights);
  void save();

 private:
  // Measures of the picture, in points.
  struct Layout {
    double left, top, column_width, row_height, cell_width, cell_height, width, height;
    Layout(const std::string& path, const GridLabels& labels, const Shape& matrix);
    Point corner(std::size_t row, std::size_t column) const;
  };

  const Layout layout_;
  Picture picture_;
};

}  // namespace heddle
