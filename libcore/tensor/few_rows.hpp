// Products of a few rows with a matrix that is stored row by row: what decoding does. Every weight is read once, where
// it lies, at the speed of memory; nothing is packed. Inside libcore/tensor only.
#pragma once

#include "heddle/tensor/matmul.hpp"

namespace heddle {

// Whether few_row_product() can multiply these, and whether there are so few rows that nothing is faster.
bool can_read_in_place(const MatrixView& a, const MatrixView& b);
bool is_few_rows(const MatrixView& a);

// a: Real or bfloat16, rows contiguous; b: the transpose of a matrix of any element type.
void few_row_product(const MatrixView& a, const MatrixView& b, const TileSink& sink);

}  // namespace heddle
