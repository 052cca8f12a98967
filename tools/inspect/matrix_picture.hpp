// Pictures of matrices of weights: a cell for each pair of tokens, 0 is black and 1 white (SPEC 7.6), a weight that is
// not finite red.
#pragma once

#include <string>
#include <vector>

#include "heddle/tensor/tensor.hpp"
#include "tools/inspect/picture.hpp"

namespace heddle {

// The most tokens on a side, and pixels of a PNG.
inline constexpr Index most_picture_tokens = 1024;
inline constexpr double most_picture_pixels = 1.2e8;

// Throws UsageError for more tokens than a side of a picture can have.
void check_picture_side(const std::string& path, Index tokens);

// One grey of 255 w, rounded, in each colour: [rows, columns] -> cells.
CellImage grey_cells(const Tensor& weights);

struct LabelledMatrix {
  std::string title;                        // or empty
  Tensor weights;                           // [rows, columns]
  std::vector<std::string> rows, columns;   // printable labels
  std::string row_title{}, column_title{};  // what these are; or empty
};

// The matrix with the labels of all rows on the left and those of all columns above, turned. Throws UsageError for more
// tokens than can be drawn.
void draw_matrix(const std::string& path, const LabelledMatrix& matrix);

// Matrices of one size in a grid.
struct MatrixGrid {
  std::string title;
  std::vector<std::string> rows{}, columns{};  // labels
  std::vector<Tensor> cells{};                 // [rows of the grid][columns of the grid], each [queries, keys]
};
// Throws UsageError for a picture with too many pixels.
void draw_grid(const std::string& path, const MatrixGrid& grid);

}  // namespace heddle
