// Products of a few rows with a matrix that is stored row by row: the case of decoding. Every weight is read once, in
// place, at the speed of memory; nothing is packed. Inside libcore/tensor only.
#pragma once

#include "libcore/tensor/matmul.hpp"

namespace heddle {

// Kernels that multiply rows by stored rows of one format. `x` is Real or bfloat16, its rows contiguous.
struct FewRowKernels {
  // Converts x to the input of multiply(), for all tiles; empty if x needs no conversion.
  Tensor (*prepare)(const MatrixView& x);
  // values [x.rows, columns of the tile] = x w^T; w is the transposed matrix, as few_row_product() has it.
  void (*multiply)(const MatrixView& x, const Tensor& prepared, const MatrixView& w, const Tile& tile, Real* values);
};
// Kernels with the arithmetic of Real: W is Real, BFloat16 or int8_t.
template <class W>
FewRowKernels few_row_kernels();

// Whether few_row_product() supports these operands and is the fastest way for so few rows.
bool can_read_in_place(const MatrixView& a, const MatrixView& b);
bool is_few_rows(const MatrixView& a);
// Whether rows are multiplied by b in integers.
bool has_integer_kernels(const MatrixView& b);

// a: Real or bfloat16, rows contiguous; b: the transpose of a matrix of any dtype, whole rows of it.
void few_row_product(const MatrixView& a, const MatrixView& b, const TileSink& sink);

}  // namespace heddle
