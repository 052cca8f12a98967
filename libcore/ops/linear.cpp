#include "heddle/ops/linear.hpp"

#include <algorithm>
#include <array>

#include "heddle/tensor/matmul.hpp"
#include "heddle/tensor/precision.hpp"
#include "heddle/tensor/threads.hpp"

namespace heddle::ops {

namespace {

constexpr Index columns_a_task = 64, rows_a_block = 16, grain = 8192;

HEDDLE_KERNEL void add_bias(const Real* v, const Real* bias, Real* y, Index count) {
  for (Index i = 0; i < count; ++i) y[i] = v[i] + bias[i];
}
HEDDLE_KERNEL void add_residual(const Real* v, const Real* residual, Real* y, Index count) {
  for (Index i = 0; i < count; ++i) y[i] = v[i] + residual[i];
}
HEDDLE_KERNEL void store_run(const Real* v, Real* y, Index count) {
  for (Index i = 0; i < count; ++i) y[i] = v[i];
}
HEDDLE_KERNEL void store_run(const Real* v, BFloat16* y, Index count) {
  for (Index i = 0; i < count; ++i) store(y[i], v[i]);
}

// Finishes rows of a tile. A row passes through a short buffer between the steps, which stays in the first cache.
class RowFinisher {
 public:
  RowFinisher(const Tensor& bias, const LinearOptions& options, const Tensor& before, const Tensor& y)
      : bias_(bias), options_(options), before_(before), y_(y), width_(y.shape()[-1]) {}

  void operator()(const Real* values, Index stride, const Tile& tile) const {
    for (Index i = tile.row_begin; i < tile.row_end; ++i, values += stride) {
      for (Index j = tile.column_begin; j < tile.column_end; j += chunk) {
        finish(values + j - tile.column_begin, i * width_ + j, j, std::min(chunk, tile.column_end - j));
      }
    }
  }

 private:
  static constexpr Index chunk = 512;

  void finish(const Real* v, Index at, Index column, Index count) const {
    std::array<Real, chunk> biased;
    if (!bias_.empty()) {
      add_bias(v, bias_.data() + column, biased.data(), count);
      v = biased.data();
    }
    if (!before_.empty()) before_.with_data([&](auto* u) { store_run(v, u + at, count); });
    if (options_.activation) return y_.with_data([&](auto* y) { activate_run(*options_.activation, v, y + at, count); });
    if (!options_.residual.empty()) return add_residual(v, options_.residual.value().data() + at, y_.data() + at, count);
    y_.with_data([&](auto* y) { store_run(v, y + at, count); });
  }

  const Tensor& bias_;
  const LinearOptions& options_;
  const Tensor& before_;
  const Tensor& y_;
  const Index width_;
};

template <class T>
HEDDLE_INLINE void block_sums(const T* x, Index rows, Index columns, Index stride, Real* sums) {
  for (Index j = 0; j < columns; ++j) sums[j] = 0;
  for (Index i = 0; i < rows; ++i) {
    for (Index j = 0; j < columns; ++j) sums[j] += load(x[i * stride + j]);
  }
}
// sums[j] = sum over a few rows of x[row, j]
HEDDLE_KERNEL void column_sums(const Real* x, Index rows, Index columns, Index stride, Real* sums) {
  block_sums(x, rows, columns, stride, sums);
}
HEDDLE_KERNEL void column_sums(const BFloat16* x, Index rows, Index columns, Index stride, Real* sums) {
  block_sums(x, rows, columns, stride, sums);
}

// Blocks of rows are summed in Real, the blocks in double.
void bias_gradient(const Tensor& dy, const GradientTarget& db) {
  const Index width = dy.shape()[-1], rows = dy.size() / width;
  dy.with_data([&](const auto* values) {
    parallel_ranges(width, columns_a_task, [&](Index begin, Index end) {
      std::array<double, columns_a_task> sums{};
      std::array<Real, columns_a_task> block;
      for (Index row = 0; row < rows; row += rows_a_block) {
        column_sums(values + row * width + begin, std::min(rows_a_block, rows - row), end - begin, width, block.data());
        for (std::size_t j = 0; j < static_cast<std::size_t>(end - begin); ++j) sums[j] += block[j];
      }
      for (Index j = begin; j < end; ++j) {
        db.tensor[j] = static_cast<Real>(sums[static_cast<std::size_t>(j - begin)] + (db.add ? db.tensor[j] : Real(0)));
      }
    });
  });
}

// dy f'(u)
Tensor through_activation(Activation activation, const Tensor& u, const Tensor& dy) {
  const Tensor same = dy.as(u.element()), du(dy.shape(), u.element());
  u.with_data([&]<class T>(T* values) {
    const T* from = same.data<T>();
    T* to = du.data<T>();
    parallel_ranges(dy.size(), grain, [&](Index begin, Index end) {
      activation_gradient_run(activation, values + begin, from + begin, 0, to + begin, end - begin);
    });
  });
  return du;
}

struct Shapes {
  Index rows, in, out;
};

Shapes check_shapes(const Variable& x, const Variable& weight, const Variable& bias, const Variable& residual) {
  check<ShapeError>(weight.shape().rank() == 2 && x.shape()[-1] == weight.shape()[1] && x.value().is_contiguous() &&
                        weight.value().is_contiguous(),
                    "linear: input of shape ", x.shape(), " and weights of shape ", weight.shape());
  const Index in = weight.shape()[1], out = weight.shape()[0];
  check<ShapeError>(bias.empty() || bias.shape() == Shape{out}, "linear: bias of shape ", bias.shape(),
                    " for weights of shape ", weight.shape());
  check<ShapeError>(residual.empty() || (residual.shape() == x.shape().without_last().with_last(out) &&
                                         residual.value().is_contiguous()),
                    "linear: residual of shape ", residual.shape(), " for input of shape ", x.shape(),
                    " and weights of shape ", weight.shape());
  return {x.value().size() / in, in, out};
}

}  // namespace

Variable linear(const Variable& x, const Variable& weight, const Variable& bias, const LinearOptions& options) {
  const Shapes shapes = check_shapes(x, weight, bias, options.residual);
  check<ShapeError>(!options.activation || options.residual.empty(), "linear: either an activation or a residual");
  const Element output =
      options.output ? *options.output : options.residual.empty() ? activation_element() : Element::real;
  const Shape shape = x.shape().without_last().with_last(shapes.out);
  const Tensor y(shape, output);
  const bool keeps = options.activation && Recording::current() != nullptr;
  const Tensor before = keeps ? Tensor(shape, output) : Tensor();
  matmul(matrix(x.value()), transpose(weight.value()), RowFinisher(bias.value(), options, before, y));
  return record(
      y, {x, weight, bias, options.residual},
      [x_value = x.value(), w_value = weight.value(), before, activation = options.activation, dx = x.gradient(),
       dw = weight.gradient(), db = bias.gradient(), dr = options.residual.gradient()](const Tensor& dy) {
        const Tensor g = activation ? through_activation(*activation, before, dy) : dy;
        if (dw) {
          const GradientTarget to = dw->target();
          matmul(transpose(g), matrix(x_value), target(to.tensor), 1, to.beta());
        }
        if (db) bias_gradient(g, db->target());
        if (dx) {
          const GradientTarget to = dx->target();
          matmul(matrix(g), matrix(w_value), target(to.tensor), 1, to.beta());
        }
        if (dr) dr->contribute(dy);
      });
}

}  // namespace heddle::ops
