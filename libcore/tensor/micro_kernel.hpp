// Packed products of one processor's kind: how operands are laid out and multiplied in tiles of registers.
// Inside libcore/tensor only; other code calls matmul().
#pragma once

#include "libcore/tensor/matrix.hpp"

namespace heddle {

// Operands are packed into panels: panel p of the left operand holds its rows [p rows, (p + 1) rows), that of the right
// one its columns, both over the whole depth in units of depth_unit, padded with zeros. A panel's part for a range of
// the depth is one piece of memory.
struct MicroKernel {
  Index rows, columns;  // size of a tile
  Index depth;          // multiplied at once: what fits the caches best
  Index depth_unit;
  Index unit_bytes;  // of a lane's unit in a panel

  // Packs one panel: `x` has at most `rows` rows (for the right operand: columns), k of them whole.
  void (*pack_left)(const MatrixView& x, void* panel);
  void (*pack_right)(const MatrixView& x, void* panel);
  // c [rows, columns] = left right, plus c if add. depth is a multiple of depth_unit. Only the first `wanted` columns
  // must be right; the others may be anything.
  void (*multiply)(const void* left, const void* right, Index depth, Index wanted, Real* c, Index stride, bool add);

  // Whether pack_right reads the format that a matrix is stored in; else it is unpacked to Reals before.
  bool packs_stored = false;

  Index padded_depth(Index k) const { return (k + depth_unit - 1) / depth_unit * depth_unit; }
  Index panel_bytes(Index width, Index k) const { return width * (padded_depth(k) / depth_unit) * unit_bytes; }
};

// Null where the processor lacks the instructions.
const MicroKernel* avx512_kernel();
const MicroKernel* avx2_kernel();
// The best of these.
const MicroKernel* float_kernel();
// For any processor; slower than a BLAS. It gives a row the same bits among any number of others, which no BLAS
// promises.
const MicroKernel& portable_kernel();
// Operands rounded to bfloat16, sums in float. best: matrix units (AMX) where there are any, else AVX-512 BF16.
enum class BFloat16Unit { best, matrix, vector };
const MicroKernel* bfloat16_kernel(BFloat16Unit unit = BFloat16Unit::best);
// Rows by a transposed matrix of this format in integers (AVX-512 VNNI), with the bits of block_dots.hpp.
const MicroKernel* integer_kernel(DType dtype);

}  // namespace heddle
