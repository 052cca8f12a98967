// Tables of numbers that describe positions and attention variants, in files of kind "tensors".
#pragma once

#include <string>
#include <vector>

#include "formats/heddle/file.hpp"
#include "formats/heddle/provenance.hpp"
#include "libcore/tensor/tensor.hpp"

namespace heddle::formats {

// Labels of the rows, or the columns, of a table: numbers or names.
struct ShapeLabels {
  std::vector<Real> numbers{};
  std::vector<std::string> names{};  // empty where there are numbers
};
struct ShapeData {
  std::string name;
  Tensor values;  // [rows, columns]
  ShapeLabels rows, columns;
};

// The groups /shapes/NAME with the data sets values [rows, columns] and, where they are numbers, rows and columns;
// names are the columns NAME_rows and NAME_columns of the root. Throws DataError where the file cannot be written.
void write_shapes(const std::string& path, const std::vector<ShapeData>& shapes, const Provenance& provenance);

// Reads everything and returns the problems, one line each; empty if there are none.
std::vector<std::string> verify_shapes(const InputFile& file);

}  // namespace heddle::formats
