#include "libcore/ops/batched_matmul.hpp"

#include <algorithm>

#include "libcore/ops/runs.hpp"
#include "libcore/tensor/kernel.hpp"
#include "libcore/tensor/matmul.hpp"
#include "libcore/tensor/operand.hpp"

namespace heddle::ops {

namespace {

constexpr Index block_rows = 96, block_columns = 192,
                block_depth = 768;  // depth of the part of a product that a task computes

template <class Y>
HEDDLE_INLINE void store_loop(const Real* values, Real scale, bool add, Y* y, Index count) {
  HEDDLE_SIMD
  for (Index i = 0; i < count; ++i) store(y[i], add ? load(y[i]) + scale * values[i] : scale * values[i]);
}
HEDDLE_KERNEL void store_scaled_run(const Real* values, Real scale, bool add, Real* y, Index count) {
  store_loop(values, scale, add, y, count);
}
HEDDLE_KERNEL void store_scaled_run(const Real* values, Real scale, bool add, BFloat16* y, Index count) {
  store_loop(values, scale, add, y, count);
}

Index matrix_count(const Tensor& x) {
  return row_count(x) / std::max<Index>(1, x.shape()[-2]);
}

bool has_rows_together(const Tensor& x) {
  return x.stride(-1) == 1 || x.shape()[-1] <= 1;
}
bool has_columns_together(const Tensor& x) {
  return x.stride(-2) == 1 || x.shape()[-2] <= 1;
}

// Matrix `index` of a tensor whose rows or columns are contiguous.
MatrixView matrix_at(const Tensor& x, Index index) {
  const Index rows = x.shape()[-2], columns = x.shape()[-1];
  const auto* first = static_cast<const std::byte*>(x.raw());
  const void* data = first + row_offset(x, index * rows) * static_cast<Index>(bytes_of(x.dtype()));
  // The BLAS refuses rows that are closer than they are long, even where there is only one.
  const auto stored = [&](Index count, Index length, Index stride) {
    return MatrixView{data, count, length, count > 1 ? stride : length, false, x.dtype()};
  };
  return has_rows_together(x) ? stored(rows, columns, x.stride(-2)) : stored(columns, rows, x.stride(-1)).flipped();
}

// A thread's memory, kept from task to task.
struct Scratch {
  Operand left{Operand::Side::left}, right{Operand::Side::right};
  Workspace sums;
};
Scratch& scratch() {
  static thread_local Scratch instance;
  return instance;
}

// The tile of c = a b.
const Real* tile_of(const MatrixView& a, const MatrixView& b, const Tile& tile, Index stride) {
  Scratch& memory = scratch();
  Real* const sums = memory.sums.get<Real>(padded_rows(tile.rows()) * stride);
  const MatrixView left = a.rows_in(tile.row_begin, tile.row_end),
                   right = b.columns_in(tile.column_begin, tile.column_end);
  for (Index k = 0; k < a.columns; k += block_depth) {
    const Index end = std::min(a.columns, k + block_depth);
    memory.left.load(left.columns_in(k, end));
    memory.right.load(right.rows_in(k, end));
    multiply(memory.left, memory.right, {0, tile.columns()}, sums, stride, k > 0);
  }
  return sums;
}

// c (+)= scale a b for every matrix. The rows of c's matrices are contiguous.
void multiply_all(const Tensor& a, const Tensor& b, Real scale, const GradientTarget& c) {
  const Index rows = c.tensor.shape()[-2], columns = c.tensor.shape()[-1], depth = a.shape()[-1];
  if (depth == 0) {
    if (!c.add) c.tensor.fill(0);
    return;
  }
  const Index down = (rows + block_rows - 1) / block_rows, across = (columns + block_columns - 1) / block_columns;
  const Index work = std::min(rows, block_rows) * std::min(columns, block_columns) * depth;
  constexpr Index least_work = 1 << 18;  // multiply-adds a task
  count_matmul(rows, columns, depth, matrix_count(c.tensor));
  parallel_ranges(matrix_count(c.tensor) * down * across, std::max<Index>(1, least_work / std::max<Index>(1, work)),
                  [&](Index begin, Index end) {
                    for (Index task = begin; task < end; ++task) {
                      const Index index = task / (down * across), i = task / across % down * block_rows,
                                  j = task % across * block_columns;
                      const Tile tile{i, std::min(rows, i + block_rows), j, std::min(columns, j + block_columns)};
                      const Index stride = padded_columns(tile.columns());
                      const Real* sums = tile_of(matrix_at(a, index), matrix_at(b, index), tile, stride);
                      c.tensor.with_data([&](auto* to) {
                        for (Index row = tile.row_begin; row < tile.row_end; ++row, sums += stride) {
                          store_scaled_run(sums, scale, c.add,
                                           to + row_offset(c.tensor, index * rows + row) + tile.column_begin,
                                           tile.columns());
                        }
                      });
                    }
                  });
}

Tensor transposed(const Tensor& x) {
  return x.swapped(-2, -1);
}

// The same for c whose matrices have contiguous rows or columns: c^T = b^T a^T.
void multiply_into(const Tensor& a, const Tensor& b, Real scale, const GradientTarget& c) {
  if (has_rows_together(c.tensor)) return multiply_all(a, b, scale, c);
  multiply_all(transposed(b), transposed(a), scale, {transposed(c.tensor), c.add});
}

Shape check_operands(const Tensor& a, const Tensor& b) {
  Shape shape = a.shape();
  const bool fits = a.rank() >= 2 && a.rank() == b.rank() && a.shape()[-1] == b.shape()[-2];
  for (int i = 0; fits && i < a.rank() - 2; ++i) {
    check<ShapeError>(a.shape()[i] == b.shape()[i], "batched product of shapes ", a.shape(), " and ", b.shape());
  }
  check<ShapeError>(fits, "batched product of shapes ", a.shape(), " and ", b.shape());
  for (const Tensor* x : {&a, &b}) {
    check<ShapeError>(has_rows_together(*x) || has_columns_together(*x),
                      "batched product: neither rows nor columns are contiguous in a tensor of shape ", x->shape());
  }
  shape.set(-1, b.shape()[-1]);
  return shape;
}

}  // namespace

Variable batched_matmul(const Variable& a, const Variable& b, const BatchedMatmul& options) {
  const Section section("batched matmul");
  const auto turned = [](const Variable& x, bool transpose) {
    return transpose && x.shape().rank() >= 2 ? view(x, transposed) : x;
  };
  const Variable left = turned(a, options.transpose_a), right = turned(b, options.transpose_b);
  const Tensor y(check_operands(left.value(), right.value()), options.output);
  multiply_into(left.value(), right.value(), options.scale, {y, false});
  return record(
      y, {left, right},
      [a_value = right.gradient() ? left.value() : Tensor(), b_value = left.gradient() ? right.value() : Tensor(),
       scale = options.scale, da = left.gradient(), db = right.gradient()](const Tensor& dy) {
        if (da) multiply_into(dy, transposed(b_value), scale, da->target());
        if (db) multiply_into(transposed(a_value), dy, scale, db->target());
      });
}

}  // namespace heddle::ops
