#include "libcore/tensor/operand.hpp"

#include <algorithm>

#include "libcore/tensor/blas.hpp"
#include "libcore/tensor/matmul.hpp"
#include "libcore/tensor/micro_kernel.hpp"
#include "libcore/tensor/precision.hpp"
#include "libcore/tensor/storage_format.hpp"

namespace heddle {

namespace {

Index rounded_up(Index x, Index unit) {
  return (x + unit - 1) / unit * unit;
}

// Null for the BLAS, with which a row's bits depend on the others.
const MicroKernel* current_kernel() {
  const MicroKernel* const kernel = precision() == Precision::bf16 ? bfloat16_kernel() : float_kernel();
  const bool any_bits = Context::current().row_kernels() == RowKernels::by_count;
  return kernel != nullptr || any_bits ? kernel : &portable_kernel();
}

// Bfloat16 as Reals: the BLAS supports no other dtype.
MatrixView widened(const MatrixView& x, Workspace& memory) {
  Real* const values = memory.get<Real>(x.rows * x.columns);
  for (Index i = 0; i < x.rows; ++i) {
    const BFloat16* const row = x.as<BFloat16>() + i * x.row_step();
    for (Index j = 0; j < x.columns; ++j) values[i * x.columns + j] = load(row[j * x.column_step()]);
  }
  return matrix(values, x.rows, x.columns);
}

}  // namespace

void Operand::load(const MatrixView& stored) {
  const MatrixView x = unpacked(stored, unpacked_);
  view_ = x;
  kernel_ = current_kernel();
  if (kernel_ == nullptr) {
    if (x.dtype == DType::bfloat16) view_ = widened(x, panels_);
    return;
  }
  const bool left = side_ == Side::left;
  const Index lanes = left ? x.rows : x.columns, depth = left ? x.columns : x.rows;
  const Index width = left ? kernel_->rows : kernel_->columns;
  std::byte* panels = panels_.get<std::byte>(kernel_->panel_bytes(rounded_up(lanes, width), depth));
  for (Index begin = 0; begin < lanes; begin += width) {
    const Index end = std::min(lanes, begin + width);
    std::byte* panel = panels + kernel_->panel_bytes(begin, depth);
    if (left) {
      kernel_->pack_left(x.rows_in(begin, end), panel);
    } else {
      kernel_->pack_right(x.columns_in(begin, end), panel);
    }
  }
}

Index padded_rows(Index rows) {
  const MicroKernel* kernel = current_kernel();
  return kernel == nullptr ? rows : rounded_up(rows, kernel->rows);
}

Index padded_columns(Index columns) {
  const MicroKernel* kernel = current_kernel();
  return kernel == nullptr ? columns : rounded_up(columns, kernel->columns);
}

namespace {

// Columns and depth steps needed for the rows [begin, end) of a product.
struct Needed {
  Index columns, depth_begin, depth_end;
};

Needed needed_by(Index begin, Index end, Index columns, Index depth, const Triangle& triangle) {
  switch (triangle.of) {
    case Triangle::Of::result:
      return {std::clamp(end + triangle.diagonal, Index{0}, columns), 0, depth};
    case Triangle::Of::left_lower:
      return {columns, 0, std::clamp(end + triangle.diagonal, Index{0}, depth)};
    case Triangle::Of::left_upper:
      return {columns, std::clamp(begin + triangle.diagonal, Index{0}, depth), depth};
    case Triangle::Of::none:
      break;
  }
  return {columns, 0, depth};
}

}  // namespace

void multiply(const Operand& left, const Operand& right, const RightPart& part, Real* c, Index stride, bool add,
              const Triangle& triangle) {
  const MatrixView &a = left.view_, &b = right.view_;
  const MicroKernel* kernel = left.kernel_;
  if (kernel == nullptr) {
    const MatrixView used =
        b.columns_in(part.column, part.column + part.columns).rows_in(part.row, part.row + a.columns);
    return blas_serial(a, used, 1, add ? Real(1) : Real(0), c, stride);
  }
  const Index depth = kernel->padded_depth(a.columns);
  const std::byte* first = right.panels_.data() + kernel->panel_bytes(kernel->columns, part.row);
  for (Index j = 0; j < part.columns; j += kernel->columns) {
    const std::byte* panel = first + kernel->panel_bytes(part.column + j, kernel->padded_depth(b.rows));
    for (Index i = 0; i < a.rows; i += kernel->rows) {
      const Needed needed = needed_by(i, i + kernel->rows, part.columns, a.columns, triangle);
      if (needed.columns <= j) continue;
      const Index begin = needed.depth_begin / kernel->depth_unit * kernel->depth_unit;
      const Index here = kernel->padded_depth(needed.depth_end) - begin;
      kernel->multiply(left.panels_.data() + kernel->panel_bytes(i, depth) + kernel->panel_bytes(kernel->rows, begin),
                       panel + kernel->panel_bytes(kernel->columns, begin), here, needed.columns - j,
                       c + i * stride + j, stride, add);
    }
  }
}

}  // namespace heddle
