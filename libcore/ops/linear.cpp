#include "heddle/ops/linear.hpp"

#include <array>

#include "heddle/tensor/blas.hpp"
#include "heddle/tensor/kernel.hpp"
#include "heddle/tensor/threads.hpp"

namespace heddle::ops {

namespace {

constexpr Index columns_a_task = 64;

HEDDLE_KERNEL void add_bias(const Real* bias, Real* y, Index count) {
  for (Index i = 0; i < count; ++i) y[i] += bias[i];
}

// sums[j] = sum over rows of x[row, j], in double.
HEDDLE_KERNEL void column_sums(const Real* x, Index rows, Index columns, Index stride, double* sums) {
  for (Index j = 0; j < columns; ++j) sums[j] = 0;
  for (Index i = 0; i < rows; ++i) {
    const Real* row = x + i * stride;
    for (Index j = 0; j < columns; ++j) sums[j] += row[j];
  }
}

void bias_gradient(const Tensor& dy, const GradientTarget& db) {
  const Index width = dy.shape()[-1], rows = dy.size() / width;
  parallel_ranges(width, columns_a_task, [&](Index begin, Index end) {
    std::array<double, columns_a_task> sums;
    column_sums(dy.data() + begin, rows, end - begin, width, sums.data());
    for (Index j = begin; j < end; ++j) {
      db.tensor[j] = static_cast<Real>(sums[static_cast<std::size_t>(j - begin)] + (db.add ? db.tensor[j] : Real(0)));
    }
  });
}

}  // namespace

Variable linear(const Variable& x, const Variable& weight, const Variable& bias) {
  check<ShapeError>(weight.shape().rank() == 2 && x.shape()[-1] == weight.shape()[1] && x.value().is_contiguous() &&
                        weight.value().is_contiguous(),
                    "linear: input of shape ", x.shape(), " and weights of shape ", weight.shape());
  const Index in = weight.shape()[1], out = weight.shape()[0], rows = x.value().size() / in;
  check<ShapeError>(bias.empty() || bias.shape() == Shape{out}, "linear: bias of shape ", bias.shape(),
                    " for weights of shape ", weight.shape());
  const Tensor y(x.shape().without_last().with_last(out));
  const MatrixView input = matrix(x.value().data(), rows, in), weights = transpose(weight.value().data(), out, in);
  const MatrixTarget target{y.data(), rows, out, out};
  if (bias.empty()) {
    matmul(input, weights, target);
  } else {
    matmul(input, weights, target, 1, 0, [&](const Tile& tile) {
      for (Index i = tile.row_begin; i < tile.row_end; ++i) {
        add_bias(bias.value().data() + tile.column_begin, y.data() + i * out + tile.column_begin,
                 tile.column_end - tile.column_begin);
      }
    });
  }
  return record(y, {x, weight, bias},
                [x_value = x.value(), w_value = weight.value(), dx = x.gradient(), dw = weight.gradient(),
                 db = bias.gradient(), rows, in, out](const Tensor& dy) {
                  if (dw) {
                    const GradientTarget to = dw->target();
                    matmul(transpose(dy.data(), rows, out), matrix(x_value.data(), rows, in),
                           {to.tensor.data(), out, in, in}, 1, to.beta());
                  }
                  if (db) bias_gradient(dy, db->target());
                  if (dx) {
                    const GradientTarget to = dx->target();
                    matmul(matrix(dy.data(), rows, out), matrix(w_value.data(), out, in),
                           {to.tensor.data(), rows, in, in}, 1, to.beta());
                  }
                });
}

}  // namespace heddle::ops
