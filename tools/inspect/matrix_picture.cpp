#include "tools/inspect/matrix_picture.hpp"

#include <algorithm>
#include <cmath>

#include "heddle/base/error.hpp"
#include "heddle/base/printable.hpp"
#include "tools/inspect/cut_text.hpp"

namespace heddle {

namespace {

constexpr double matrix_margin = 12, matrix_title_size = 12;

// Points of a cell, and of the labels beside it, so that no two overlap. Sides are multiples of half a point.
struct CellSizes {
  double cell, label;
};
CellSizes sizes_for(Index tokens) {
  if (tokens <= 128) return {14, 10};
  if (tokens <= 256) return {10, 7};
  if (tokens <= 512) return {7, 5};
  return {5, 3.5};
}

constexpr std::size_t longest_label = 28;  // columns of a terminal

std::vector<std::string> shortened_labels(const std::vector<std::string>& labels) {
  std::vector<std::string> result;
  for (const std::string& label : labels) result.push_back(shortened(label, longest_label));
  return result;
}

// Cells with a hairline around them, since the largest weight is as white as the paper.
void draw_cells(Picture& picture, Point corner, double width, double height, const Tensor& weights) {
  picture.cells(corner, width, height, grey_cells(weights));
  const Pen hairline{{0.6, 0.6, 0.6}, 0.5};
  const double right = corner.x + width + 0.25, bottom = corner.y + height + 0.25, left = corner.x - 0.25,
               top = corner.y - 0.25;
  const Point outline[] = {{left, top}, {right, top}, {right, bottom}, {left, bottom}, {left, top}};
  picture.polyline(outline, hairline);
}

double widest(const Picture& picture, const std::vector<std::string>& labels, double size) {
  double width = 0;
  for (const std::string& label : labels) width = std::max(width, picture.text_width(label, size));
  return width;
}

Index longest_side(const std::string& path, const Shape& shape) {
  const Index most = std::max(shape[0], shape[1]);
  check_picture_side(path, most);
  return most;
}

void check_pixels(const std::string& path, double width, double height) {
  const double pixels = width * height * Picture::pixels_per_point * Picture::pixels_per_point;
  check<UsageError>(pixels <= most_picture_pixels, path, ": the picture would have ", std::llround(pixels * 1e-6),
                    " million pixels, of at most ", std::llround(most_picture_pixels * 1e-6),
                    "; choose layers and heads with --layer and --head, or write a .html or .h5 file");
}

}  // namespace

void check_picture_side(const std::string& path, Index tokens) {
  check<UsageError>(tokens <= most_picture_tokens, path, ": a picture has at most ", most_picture_tokens,
                    " tokens on a side, and the text has ", tokens, "; shorten it, or write a .tsv file");
}

CellImage grey_cells(const Tensor& weights) {
  CellImage image{weights.shape()[0], weights.shape()[1], {}};
  image.rgb.reserve(3 * static_cast<std::size_t>(weights.size()));
  for (Index i = 0; i < weights.size(); ++i) {
    const auto weight = static_cast<double>(weights[i]);
    if (std::isfinite(weight)) {
      image.rgb.insert(image.rgb.end(), 3, static_cast<std::uint8_t>(std::lround(255 * std::clamp(weight, 0.0, 1.0))));
    } else {
      image.rgb.insert(image.rgb.end(), {220, 0, 0});
    }
  }
  return image;
}

void draw_matrix(const std::string& path, const LabelledMatrix& matrix) {
  const Index most = longest_side(path, matrix.weights.shape());
  const auto [cell, size] = sizes_for(most);
  const auto rows = static_cast<double>(matrix.weights.shape()[0]),
             columns = static_cast<double>(matrix.weights.shape()[1]);
  const std::vector<std::string> row_labels = shortened_labels(matrix.rows),
                                 column_labels = shortened_labels(matrix.columns);
  const Picture ruler(path, 1, 1);
  const double heading = matrix.title.empty() ? 0 : matrix_title_size + 8;
  const double turned = matrix.row_title.empty() ? 0 : size + 8, above = matrix.column_title.empty() ? 0 : size + 8;
  // On whole points, so that cells begin on pixels.
  const double left = std::ceil(matrix_margin + turned + widest(ruler, row_labels, size) + 6),
               top = std::ceil(matrix_margin + heading + above + widest(ruler, column_labels, size) + 6);
  const double width =
      std::max(left + columns * cell + matrix_margin,
               matrix.title.empty() ? 0 : ruler.text_width(matrix.title, matrix_title_size) + 2 * matrix_margin);
  const double height = top + rows * cell + matrix_margin;
  check_pixels(path, width, height);
  Picture picture(path, width, height);
  if (heading > 0)
    picture.text({matrix_margin, matrix_margin + matrix_title_size - 2}, matrix.title, Anchor::start, {},
                 matrix_title_size);
  constexpr Colour grey{0.35, 0.35, 0.35};
  if (above > 0) {
    picture.text({left + columns * cell / 2, matrix_margin + heading + size}, matrix.column_title, Anchor::middle, grey,
                 size);
  }
  if (turned > 0) {
    picture.text({matrix_margin + size, top + rows * cell / 2}, matrix.row_title, Anchor::middle, grey, size,
                 Direction::up);
  }
  const double baseline = cell / 2 + 0.36 * size;
  for (std::size_t j = 0; j < column_labels.size(); ++j) {
    picture.text({left + static_cast<double>(j) * cell + baseline, top - 4}, column_labels[j], Anchor::start, {}, size,
                 Direction::up);
  }
  for (std::size_t i = 0; i < row_labels.size(); ++i) {
    picture.text({left - 4, top + static_cast<double>(i) * cell + baseline}, row_labels[i], Anchor::end, {}, size);
  }
  draw_cells(picture, {left, top}, columns * cell, rows * cell, matrix.weights);
  picture.save();
}

void draw_grid(const std::string& path, const MatrixGrid& grid) {
  constexpr double size = 9, gap = 6, thumbnail = 96;
  const Shape& shape = grid.cells.front().shape();
  // A whole number of pixels for each pair, at least one.
  const auto longest = static_cast<double>(longest_side(path, shape));
  const double pair =
      std::max(1.0, std::floor(thumbnail * Picture::pixels_per_point / longest)) / Picture::pixels_per_point;
  const double cell_width = static_cast<double>(shape[1]) * pair, cell_height = static_cast<double>(shape[0]) * pair;
  // Short texts leave cells narrower than their labels.
  const Picture ruler(path, 1, 1);
  const double left = std::ceil(matrix_margin + widest(ruler, grid.rows, size) + 6),
               top = matrix_margin + matrix_title_size + 8 + size + 6;
  const double column_width = std::ceil(std::max(cell_width, widest(ruler, grid.columns, size))) + gap,
               row_height = std::ceil(std::max(cell_height, size)) + gap;
  const auto rows = static_cast<double>(grid.rows.size()), columns = static_cast<double>(grid.columns.size());
  const double width = std::max(left + columns * column_width + matrix_margin,
                                ruler.text_width(grid.title, matrix_title_size) + 2 * matrix_margin),
               height = top + rows * row_height + matrix_margin;
  check_pixels(path, width, height);
  Picture picture(path, width, height);
  picture.text({matrix_margin, matrix_margin + matrix_title_size - 2}, grid.title, Anchor::start, {},
               matrix_title_size);
  for (std::size_t j = 0; j < grid.columns.size(); ++j) {
    const double middle = left + static_cast<double>(j) * column_width + (column_width - gap) / 2;
    picture.text({middle, top - 6}, grid.columns[j], Anchor::middle, {}, size);
  }
  for (std::size_t i = 0; i < grid.rows.size(); ++i) {
    const double y = top + static_cast<double>(i) * row_height;
    picture.text({left - 6, y + cell_height / 2 + 0.36 * size}, grid.rows[i], Anchor::end, {}, size);
    for (std::size_t j = 0; j < grid.columns.size(); ++j) {
      draw_cells(picture, {left + static_cast<double>(j) * column_width, y}, cell_width, cell_height,
                 grid.cells[i * grid.columns.size() + j]);
    }
  }
  picture.save();
}

}  // namespace heddle
