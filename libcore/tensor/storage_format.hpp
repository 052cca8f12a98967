// The storage formats of tensors: THE table. A format is a row of stored_blocks (dtype.hpp: its name, its type in
// files, the size of its blocks) and a row here: how it is packed, unpacked, checked and multiplied. Nothing else asks
// which formats there are.
#pragma once

#include <span>
#include <string_view>

#include "libcore/tensor/few_rows.hpp"
#include "libcore/tensor/matrix.hpp"
#include "libcore/tensor/micro_kernel.hpp"
#include "libcore/tensor/workspace.hpp"

namespace heddle {

// A row of a matrix begins at `row`, at the first element of a block.
struct StorageFormat {
  // Rounds a row of finite numbers, and returns its scale, which is 1 where the format has none.
  //   bfloat16: to nearest, ties to even.
  //   int8: scale = max |x| / 127, number = x / scale to nearest, ties to even.
  //   q8: of each block, d = max |x| / 127, number = x (1 / d) to nearest, ties away from zero; stored is d in half
  //   precision.
  //   q4: m the first x of the largest |x|, d = m / -8, bits = min(15, the whole part of x (1 / d) + 8.5).
  // With the importance of each column, where it is not null, q4 takes the d, of several near that one and of their
  // opposites, and the bits that give the least sum of importance times squared error, d being the best for its bits.
  Real (*pack)(const Real* x, const Real* importance, Index count, void* row);
  // Elements [first, first + count) of a row.
  void (*unpack)(const void* row, Real scale, Index first, Index count, Real* to);
  // The first element that is not finite, of a block whose scale is not; -1 where there is none.
  Index (*find_not_finite)(const void* row, Index count);
  FewRowKernels few;        // products of a few rows with rows of this format
  const MicroKernel* many;  // of many, in integers; null where rows are unpacked for them, or read in place
};
const StorageFormat& storage_format(DType dtype);

// Unit that multiplies blocks: "AVX-512 VNNI", "AVX2" or "plain loops".
std::string_view integer_unit();

// The matrix [rows, columns] of Reals, finite ones, in a format; importance: [columns], or none.
Tensor packed(const Tensor& matrix, DType dtype, std::span<const Real> importance = {});

// Row `row` of a contiguous tensor whose rows are of any format, as Reals.
void unpack_row(const Tensor& matrix, Index row, Real* to);

// A matrix of any format as kernels read it: itself if it is plain, else as Reals in the memory.
MatrixView unpacked(const MatrixView& x, Workspace& memory);

}  // namespace heddle
