// Products of rows with rows of blocks (q8, q4), or of int8, whose blocks have the scale of their row, in integers. The
// rows are quantised in blocks as the weights are, to 8 bits:
//   d = max |x| / 127 over a block, number = x (127 / max |x|) to nearest, ties to even; zeros where 127 / max |x| is
//   infinite.
//   x . w = sum over blocks, from the first to the last, of (d_w d_x) (sum over k of number_w[k] number_x[k])
// The inner sums are exact; the rest is rounded to float at each operation, in this order. So a product has the same
// bits on every processor, in any batch and with any number of threads. Many rows are multiplied by integer_kernel()
// (micro_kernel.hpp) where there is one. Inside libcore/tensor only.
#pragma once

#include "libcore/tensor/few_rows.hpp"

namespace heddle {

// 32 neighbours of a row of int8.
struct Int8Part {
  std::int8_t numbers[block_elements];
};

// W is Q8Block, Q4Block or Int8Part. Rows of int8 whose length 32 does not divide are multiplied as Reals,
// and all of int8 in the library in double.
template <class W>
FewRowKernels block_kernels();

// The instructions that multiply integers.
enum class IntegerUnit { any, avx2, avx512_vnni };
// Whether the processor and this build have them.
bool has(IntegerUnit unit);

// Rows in blocks of 8 bits.
struct BlockRows {
  Index blocks;                // blocks per row
  const std::int8_t* numbers;  // [rows, blocks, 32]
  const float* scales;         // [rows, blocks]
  const std::int32_t* sums;    // [rows, blocks] of the numbers
};
struct BlockWeights {
  const std::byte* first;  // the rows of blocks, from the first that is multiplied
  Index row_bytes;
  const Real* scales = nullptr;  // of these rows, where their blocks have none

  BlockWeights rows_from(Index row) const {
    return {first + row * row_bytes, row_bytes, scales == nullptr ? nullptr : scales + row};
  }
};

// values[i, j] = x_(row + i) . w_j for `rows` rows and `columns` rows of w; rows of values lie `stride` apart.
template <class W>
void multiply_blocks(IntegerUnit unit, const BlockRows& x, Index row, Index rows, const BlockWeights& w, Index columns,
                     Real* values, Index stride);

}  // namespace heddle
