#include "tools/inspect/texts/matrix_picture.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>

#include "libcore/analysis/weight_levels.hpp"
#include "libcore/base/error.hpp"
#include "libcore/base/printable.hpp"
#include "tools/inspect/texts/cut_text.hpp"

namespace heddle {

namespace {

constexpr double matrix_margin = 12, matrix_title_size = 12, grid_label = 9, grid_gap = 6;

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

// Whether all signs of a label are at the foot of the line: a turned label would seem to be its neighbour's.
bool is_low(std::string_view label) {
  constexpr std::size_t bytes = 3;  // for either sign
  while (label.starts_with("␣") || label.starts_with("‥")) label.remove_prefix(bytes);
  return label.empty();
}

constexpr std::size_t longest_label = 28;  // columns of a terminal

std::vector<std::string> shortened_labels(const std::vector<std::string>& labels) {
  std::vector<std::string> result;
  for (const std::string& label : labels) result.push_back(shortened(label, longest_label));
  return result;
}

constexpr std::uint32_t not_finite_colour = 0xdc0000;

// One grey of 255 w, rounded, in each colour.
void paint_row(std::span<const Real> weights, std::uint32_t* colours) {
  analysis::weight_greys(weights, colours);
  if (analysis::are_finite(weights)) return;
  for (std::size_t i = 0; i < weights.size(); ++i) {
    if (!std::isfinite(weights[i])) colours[i] = not_finite_colour;
  }
}

// From the ground of pages to their ink.
void paint_light_row(std::span<const Real> weights, std::uint32_t* colours) {
  static constexpr std::array<double, 3> light{0xf4, 0xf4, 0xf0}, dark{0x10, 0x24, 0x4d};
  for (std::size_t i = 0; i < weights.size(); ++i) {
    const double weight = std::clamp(static_cast<double>(weights[i]), 0.0, 1.0);
    std::uint32_t colour = 0;
    for (std::size_t k = 0; k < 3; ++k) {
      colour = colour << 8U | static_cast<std::uint32_t>(std::lround(light[k] + (dark[k] - light[k]) * weight));
    }
    colours[i] = std::isfinite(weights[i]) ? colour : not_finite_colour;
  }
}

void draw_numbers(Picture& picture, Point corner, double cell, const Tensor& weights, double least) {
  const Index columns = weights.shape()[1];
  for (Index i = 0; i < weights.size(); ++i) {
    const auto weight = static_cast<double>(weights[i]);
    if (!(weight >= least)) continue;
    const Colour colour = weight > 0.4 ? Colour{1, 1, 1} : Colour{};
    picture.text({corner.x + (static_cast<double>(i % columns) + 0.5) * cell,
                  corner.y + (static_cast<double>(i / columns) + 0.5) * cell + 3},
                 fmt::format("{:.2f}", weight).substr(weight < 0.995 ? 1 : 0), Anchor::middle, colour, 8);
  }
}

// Cells with a hairline around them, since the largest weight is as white as the paper.
void draw_cells(Picture& picture, Point corner, double width, double height, const Tensor& weights,
                bool is_light = false) {
  const Index rows = weights.shape()[0], columns = weights.shape()[1];
  picture.cells(corner, width, height, {rows, columns, [&](Index row, std::uint32_t* colours) {
                                          const std::span<const Real> of_row(weights.data() + row * columns,
                                                                             static_cast<std::size_t>(columns));
                                          is_light ? paint_light_row(of_row, colours) : paint_row(of_row, colours);
                                        }});
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

void draw_matrix(const std::string& path, const LabelledMatrix& matrix) {
  const Index most = longest_side(path, matrix.weights.shape());
  const bool has_numbers = matrix.numbers_from > 0 && most <= 128;
  const auto [cell, size] = has_numbers ? CellSizes{22, 10} : sizes_for(most);
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
    const double raised = is_low(column_labels[j]) ? baseline - 0.45 * size : baseline;
    picture.text({left + static_cast<double>(j) * cell + raised, top - 4}, column_labels[j], Anchor::start, {}, size,
                 Direction::up);
  }
  for (std::size_t i = 0; i < row_labels.size(); ++i) {
    picture.text({left - 4, top + static_cast<double>(i) * cell + baseline}, row_labels[i], Anchor::end, {}, size);
  }
  draw_cells(picture, {left, top}, columns * cell, rows * cell, matrix.weights, matrix.numbers_from > 0);
  if (has_numbers) draw_numbers(picture, {left, top}, cell, matrix.weights, matrix.numbers_from);
  picture.save();
}

MatrixGrid::Layout::Layout(const std::string& path, const GridLabels& labels, const Shape& matrix) {
  constexpr double thumbnail = 96;
  // A whole number of pixels for each pair, at least one.
  const auto longest = static_cast<double>(longest_side(path, matrix));
  const double pair =
      std::max(1.0, std::floor(thumbnail * Picture::pixels_per_point / longest)) / Picture::pixels_per_point;
  cell_width = static_cast<double>(matrix[1]) * pair;
  cell_height = static_cast<double>(matrix[0]) * pair;
  // Short texts leave cells narrower than their labels.
  const Picture ruler(path, 1, 1);
  left = std::ceil(matrix_margin + widest(ruler, labels.rows, grid_label) + 6);
  top = matrix_margin + matrix_title_size + 8 + grid_label + 6;
  column_width = std::ceil(std::max(cell_width, widest(ruler, labels.columns, grid_label))) + grid_gap;
  row_height = std::ceil(std::max(cell_height, grid_label)) + grid_gap;
  const auto rows = static_cast<double>(labels.rows.size()), columns = static_cast<double>(labels.columns.size());
  width = std::max(left + columns * column_width + matrix_margin,
                   ruler.text_width(labels.title, matrix_title_size) + 2 * matrix_margin);
  height = top + rows * row_height + matrix_margin;
  check_pixels(path, width, height);
}

Point MatrixGrid::Layout::corner(std::size_t row, std::size_t column) const {
  return {left + static_cast<double>(column) * column_width, top + static_cast<double>(row) * row_height};
}

MatrixGrid::MatrixGrid(const std::string& path, const GridLabels& labels, const Shape& matrix)
    : layout_(path, labels, matrix), picture_(path, layout_.width, layout_.height) {
  picture_.text({matrix_margin, matrix_margin + matrix_title_size - 2}, labels.title, Anchor::start, {},
                matrix_title_size);
  for (std::size_t j = 0; j < labels.columns.size(); ++j) {
    const double middle = layout_.corner(0, j).x + (layout_.column_width - grid_gap) / 2;
    picture_.text({middle, layout_.top - 6}, labels.columns[j], Anchor::middle, {}, grid_label);
  }
  for (std::size_t i = 0; i < labels.rows.size(); ++i) {
    const double baseline = layout_.corner(i, 0).y + layout_.cell_height / 2 + 0.36 * grid_label;
    picture_.text({layout_.left - 6, baseline}, labels.rows[i], Anchor::end, {}, grid_label);
  }
}

void MatrixGrid::draw(std::size_t row, std::size_t column, const Tensor& weights) {
  draw_cells(picture_, layout_.corner(row, column), layout_.cell_width, layout_.cell_height, weights);
}

void MatrixGrid::save() {
  picture_.save();
}

}  // namespace heddle
