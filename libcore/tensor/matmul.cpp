#include "libcore/tensor/matmul.hpp"

#include <algorithm>

#include "libcore/base/error.hpp"
#include "libcore/tensor/blas.hpp"
#include "libcore/tensor/few_rows.hpp"
#include "libcore/tensor/micro_kernel.hpp"
#include "libcore/tensor/packed_product.hpp"
#include "libcore/tensor/precision.hpp"
#include "libcore/tensor/storage_format.hpp"
#include "libcore/tensor/store_run.hpp"
#include "libcore/tensor/thread_state.hpp"
#include "libcore/tensor/threads.hpp"
#include "libcore/tensor/workspace.hpp"

namespace heddle {

namespace {

constexpr Index ceil_div(Index a, Index b) {
  return (a + b - 1) / b;
}

void check_shapes(const MatrixView& a, const MatrixView& b, Index rows, Index columns) {
  check<ShapeError>(a.columns == b.rows && a.rows == rows && b.columns == columns, "matrix product of [", a.rows, ", ",
                    a.columns, "] and [", b.rows, ", ", b.columns, "] into [", rows, ", ", columns, "]");
}

bool multiplies_integers(const MatrixView& a, const MatrixView& b) {
  return can_read_in_place(a, b) && has_integer_kernels(b);
}

// The kernel for a product; null for the BLAS. Operands that are stored in fewer bits are multiplied as bfloat16 where
// matrix units make that faster for certain, else in integers; with AVX-512 BF16 alone it is for the caller to measure,
// as bf16.
const MicroKernel* kernel_for(const MatrixView& a, const MatrixView& b) {
  const MicroKernel* const tiles = bfloat16_kernel(BFloat16Unit::matrix);
  const bool is_small = a.dtype != DType::real || b.dtype != DType::real;
  if (tiles != nullptr && (is_small || precision() == Precision::bf16)) return tiles;
  if (multiplies_integers(a, b) && storage_format(b.dtype).many != nullptr) return storage_format(b.dtype).many;
  if (precision() == Precision::bf16 && bfloat16_kernel() != nullptr) return bfloat16_kernel();
  const bool any_number_of_rows = Context::current().row_kernels() == RowKernels::many;
  return float_kernel() == nullptr && any_number_of_rows ? &portable_kernel() : float_kernel();
}

void store_tile(const Real* values, Index stride, const Tile& tile, const MatrixTarget& c, Real alpha, Real beta) {
  for (Index i = 0; i < tile.rows(); ++i) {
    const Index at = (tile.row_begin + i) * c.stride + tile.column_begin;
    if (c.dtype == DType::bfloat16) {
      store_run(values + i * stride, alpha, beta, c.as<BFloat16>() + at, tile.columns());
    } else {
      store_run(values + i * stride, alpha, beta, c.as<Real>() + at, tile.columns());
    }
  }
}

// Extents of the BLAS's tiles of a [rows, columns] product, by the shape alone: its sums depend on them. Large tiles
// waste little on packing; small problems are cut finer so that there is work for several threads.
struct TileShape {
  Index rows, columns;
};
TileShape tile_shape(Index rows, Index columns) {
  TileShape tile{256, 768};
  while (tile.rows * tile.columns > 128 * 128 && rows * columns < 8 * tile.rows * tile.columns) {
    (tile.columns > tile.rows ? tile.columns : tile.rows) /= 2;
  }
  return tile;
}

template <class Body>
void for_each_tile(Index rows, Index columns, TileShape shape, const Body& body) {
  const Index down = ceil_div(rows, shape.rows), across = ceil_div(columns, shape.columns);
  parallel_for(down * across, [&](Index task) {
    const Index i = task % down * shape.rows, j = task / down * shape.columns;
    body(Tile{i, std::min(rows, i + shape.rows), j, std::min(columns, j + shape.columns)});
  });
}

// The operand as Reals, for the BLAS.
MatrixView as_reals(const MatrixView& x, Tensor& memory) {
  if (x.dtype == DType::real) return x;
  const Index rows = x.transposed ? x.columns : x.rows, columns = x.transposed ? x.rows : x.columns;
  memory = Tensor({rows, columns});
  const auto unpack = storage_format(x.dtype).unpack;
  parallel_for(rows, [&](Index i) {
    const Real scale = x.scales == nullptr ? 1 : x.scales[i];
    unpack(x.stored_row(i), scale, x.skipped, columns, memory.data() + i * columns);
  });
  return x.transposed ? transpose(memory) : matrix(memory);
}

void blas_product(const MatrixView& a, const MatrixView& b, const TileSink& sink) {
  Tensor a_memory, b_memory;
  const MatrixView left = as_reals(a, a_memory), right = as_reals(b, b_memory);
  for_each_tile(a.rows, b.columns, tile_shape(a.rows, b.columns), [&](const Tile& tile) {
    static thread_local Workspace workspace;
    Real* values = workspace.get<Real>(tile.rows() * tile.columns());
    blas_serial(left.rows_in(tile.row_begin, tile.row_end), right.columns_in(tile.column_begin, tile.column_end), 1, 0,
                values, tile.columns());
    sink(values, tile.columns(), tile);
  });
}

// `kernel` is the one that packs.
bool reads_in_place(const MatrixView& a, const MatrixView& b, const MicroKernel* kernel) {
  if (!can_read_in_place(a, b)) return false;
  const bool few = is_few_rows(a);
  // Integers are faster than floats, for any number of rows, and have the same bits packed and in place.
  if (multiplies_integers(a, b)) {
    if (kernel == storage_format(b.dtype).many) return few || kernel == nullptr;
    if (kernel == float_kernel() || kernel == &portable_kernel()) return true;
  }
  switch (Context::current().row_kernels()) {
    case RowKernels::few:
      return few || kernel == nullptr || kernel == float_kernel();
    case RowKernels::many:
      return false;
    case RowKernels::by_count:
      break;
  }
  return few;
}

void product(const MatrixView& a, const MatrixView& b, const TileSink& sink) {
  if (a.rows == 0 || b.columns == 0) return;
  const MicroKernel* kernel = kernel_for(a, b);
  if (reads_in_place(a, b, kernel)) return few_row_product(a, b, sink);
  if (kernel == nullptr) return blas_product(a, b, sink);
  packed_product(*kernel, a, b, sink);
}

}  // namespace

void matmul(const MatrixView& a, const MatrixView& b, const TileSink& sink) {
  check_shapes(a, b, a.rows, b.columns);
  count_matmul(a.rows, b.columns, a.columns);
  product(a, b, sink);
}

void matmul(const MatrixView& a, const MatrixView& b, const MatrixTarget& c, Real alpha, Real beta) {
  check_shapes(a, b, c.rows, c.columns);
  matmul(a, b,
         [&](const Real* values, Index stride, const Tile& tile) { store_tile(values, stride, tile, c, alpha, beta); });
}

void count_matmul(Index rows, Index columns, Index inner, Index times) {
  detail::flop_pairs().fetch_add(static_cast<std::uint64_t>(rows * columns * inner * times), std::memory_order_relaxed);
}

double matmul_flops() {
  return 2.0 * static_cast<double>(detail::flop_pairs().load(std::memory_order_relaxed));
}

}  // namespace heddle
