// Products of a few rows with a matrix that is stored row by row: the case of decoding. Every weight is read once, in
// place, at the speed of memory; nothing is packed. Inside libcore/tensor only.
#pragma once

#include "libcore/tensor/matmul.hpp"

namespace heddle {

// Whether few_row_product() supports these operands and is the fastest way for so few rows.
bool can_read_in_place(const MatrixView& a, const MatrixView& b);
bool is_few_rows(const MatrixView& a);

// a: Real or bfloat16, rows contiguous; b: the transpose of a matrix of any dtype.
void few_row_product(const MatrixView& a, const MatrixView& b, const TileSink& sink);

}  // namespace heddle
