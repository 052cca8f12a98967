#include "libcore/ops/linear.hpp"

#include <algorithm>
#include <array>

#include "libcore/autograd/first_uses.hpp"
#include "libcore/ops/arithmetic.hpp"
#include "libcore/tensor/matmul.hpp"
#include "libcore/tensor/precision.hpp"
#include "libcore/tensor/store_run.hpp"
#include "libcore/tensor/threads.hpp"

namespace heddle::ops {

namespace {

HEDDLE_KERNEL void add_bias(const Real* v, const Real* bias, Real* y, Index count) {
  for (Index i = 0; i < count; ++i) y[i] = v[i] + bias[i];
}
HEDDLE_KERNEL void add_residual(const Real* v, const Real* residual, Real* y, Index count) {
  for (Index i = 0; i < count; ++i) y[i] = v[i] + residual[i];
}
HEDDLE_KERNEL void add_residual(const Real* v, const Real* residual, BFloat16* y, Index count) {
  for (Index i = 0; i < count; ++i) store(y[i], v[i] + residual[i]);
}

constexpr Index chunk = 512;

// Finishes rows of a tile. A row passes through a short buffer between the steps, which stays in the first cache.
class RowFinisher {
 public:
  RowFinisher(const Tensor& bias, const std::optional<LowRankSum>& low_rank, const LinearOptions& options,
              const Tensor& derivatives, const Tensor& y)
      : bias_(bias), low_rank_(low_rank), options_(options), derivatives_(derivatives), y_(y), width_(y.shape()[-1]) {}

  void operator()(const Real* values, Index stride, const Tile& tile) const {
    for (Index i = tile.row_begin; i < tile.row_end; ++i, values += stride) {
      for (Index j = tile.column_begin; j < tile.column_end; j += chunk) {
        finish(values + j - tile.column_begin, i, j, std::min(chunk, tile.column_end - j));
      }
    }
  }

 private:
  void finish(const Real* v, Index row, Index column, Index count) const {
    const Index at = row * width_ + column;
    std::array<Real, chunk> sums;
    if (!bias_.empty() || low_rank_) {
      bias_.empty() ? store_run(v, 1, 0, sums.data(), count) : add_bias(v, bias_.data() + column, sums.data(), count);
      if (low_rank_) low_rank_->add(row, column, sums.data(), count);
      v = sums.data();
    }
    if (options_.activation) return activate(v, at, count);
    const Tensor& residual = options_.residual.value();
    y_.with_data([&](auto* y) {
      residual.empty() ? store_run(v, 1, 0, y + at, count) : add_residual(v, residual.data() + at, y + at, count);
    });
  }

  void activate(const Real* v, Index at, Index count) const {
    y_.with_data([&]<class T>(T* y) {
      activate_run(*options_.activation, v, y + at, derivatives_.empty() ? nullptr : derivatives_.data<T>() + at,
                   count);
    });
  }

  const Tensor& bias_;
  const std::optional<LowRankSum>& low_rank_;
  const LinearOptions& options_;
  const Tensor& derivatives_;
  const Tensor& y_;
  const Index width_;
};

HEDDLE_KERNEL void add_to_run(const Real* v, Real* y, Index count) {
  for (Index i = 0; i < count; ++i) y[i] += v[i];
}
HEDDLE_KERNEL void add_to_run(const Real* v, BFloat16* y, Index count) {
  for (Index i = 0; i < count; ++i) store(y[i], load(y[i]) + v[i]);
}

// dx (+)= g W + v^T A, the last of which is the low-rank term's.
void input_gradient(const Tensor& g, const Tensor& w, const LowRankSum& low_rank, const Tensor& v,
                    const GradientTarget& dx) {
  const Index width = w.shape()[1];
  count_matmul(v.shape()[1], width, v.shape()[0]);
  matmul(matrix(g), matrix(w), [&](const Real* values, Index stride, const Tile& tile) {
    std::array<Real, chunk> sums;
    for (Index i = tile.row_begin; i < tile.row_end; ++i, values += stride) {
      for (Index j = tile.column_begin; j < tile.column_end; j += chunk) {
        const Index count = std::min(chunk, tile.column_end - j);
        store_run(values + j - tile.column_begin, 1, 0, sums.data(), count);
        low_rank.add_to_input(v, i, j, sums.data(), count);
        dx.tensor.with_data([&](auto* to) {
          dx.add ? add_to_run(sums.data(), to + i * width + j, count)
                 : store_run(sums.data(), 1, 0, to + i * width + j, count);
        });
      }
    }
  });
}

template <class T>
HEDDLE_INLINE void add_row(const T* x, Real* sums, Index count) {
  for (Index j = 0; j < count; ++j) sums[j] += load(x[j]);
}
HEDDLE_KERNEL void add_to_sums(const Real* x, Real* sums, Index count) {
  add_row(x, sums, count);
}
HEDDLE_KERNEL void add_to_sums(const BFloat16* x, Real* sums, Index count) {
  add_row(x, sums, count);
}

// The gradient of u = x W^T + b, g = dy f'(u), and of b, the sum over rows of g: blocks of rows are summed in Real
// while they are in the cache, the blocks in double.
class DerivativePass {
 public:
  // derivatives: f'(u), empty where there is no activation.
  DerivativePass(const Tensor& dy, const Tensor& derivatives)
      : derivatives_(derivatives),
        dy_(derivatives.empty() ? dy : dy.as(derivatives.dtype())),
        g_(derivatives.empty() ? dy_ : Tensor(dy.shape(), derivatives.dtype())),
        width_(dy.shape()[-1]),
        rows_(dy.size() / std::max<Index>(1, width_)) {}

  const Tensor& g() const { return g_; }

  void run(const std::shared_ptr<Gradient>& db) const {
    if (derivatives_.empty() && !db) return;
    const Index blocks = (rows_ + rows_per_block - 1) / rows_per_block;
    const Tensor sums = db ? Tensor({blocks, width_}) : Tensor();
    parallel_for(blocks, [&](Index block) {
      const Index begin = block * rows_per_block, end = std::min(rows_, begin + rows_per_block);
      if (!derivatives_.empty()) multiply_rows(begin, end);
      if (db) sum_rows(begin, end, sums.data() + block * width_);
    });
    if (db) sum_blocks(sums, db->target());
  }

 private:
  static constexpr Index rows_per_block = 16, columns_per_task = 256;

  void multiply_rows(Index begin, Index end) const {
    const auto rows_of = [&](const Tensor& t) { return t.as_matrix().narrowed(0, begin, end - begin); };
    contribute_product(rows_of(dy_), rows_of(derivatives_), {rows_of(g_), false});
  }

  void sum_rows(Index begin, Index end, Real* sums) const {
    std::fill_n(sums, width_, Real(0));
    g_.with_data([&](const auto* g) {
      for (Index row = begin; row < end; ++row) add_to_sums(g + row * width_, sums, width_);
    });
  }

  static void sum_blocks(const Tensor& sums, const GradientTarget& db) {
    const Index blocks = sums.shape()[0], width = sums.shape()[1];
    parallel_ranges(width, columns_per_task, [&](Index begin, Index end) {
      std::array<double, columns_per_task> totals{};
      for (Index block = 0; block < blocks; ++block) {
        for (Index j = begin; j < end; ++j) totals[static_cast<std::size_t>(j - begin)] += sums[block * width + j];
      }
      for (Index j = begin; j < end; ++j) {
        db.tensor[j] =
            static_cast<Real>(totals[static_cast<std::size_t>(j - begin)] + (db.add ? db.tensor[j] : Real(0)));
      }
    });
  }

  const Tensor& derivatives_;
  Tensor dy_, g_;
  Index width_, rows_;
};

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
  about_to_use({weight, bias});
  const Section section("linear");
  const Shapes shapes = check_shapes(x, weight, bias, options.residual);
  check<ShapeError>(!options.activation || options.residual.empty(), "linear: either an activation or a residual");
  const DType output = options.output ? *options.output : options.residual.empty() ? activation_dtype() : DType::real;
  const Shape shape = x.shape().without_last().with_last(shapes.out);
  const Tensor y(shape, output);
  const bool keeps = options.activation && Recording::current() != nullptr;
  const Tensor derivatives = keeps ? Tensor(shape, output) : Tensor();
  std::optional<LowRankSum> low_rank;
  if (options.low_rank) low_rank.emplace(*options.low_rank, x, shapes.out);
  matmul(matrix(x.value()), transpose(weight.value()), RowFinisher(bias.value(), low_rank, options, derivatives, y));
  const LowRankTerm term = options.low_rank.value_or(LowRankTerm{});
  return record(y, {x, weight, bias, options.residual, term.input, term.a, term.b},
                [x_value = weight.gradient() ? x.value() : Tensor(), w_value = weight.value(), derivatives, low_rank,
                 dx = x.gradient(), dw = weight.gradient(), db = bias.gradient(),
                 dr = options.residual.gradient()](const Tensor& dy) {
                  const DerivativePass pass(dy, derivatives);
                  pass.run(db);
                  const Tensor& g = pass.g();
                  if (dw) {
                    const GradientTarget to = dw->target();
                    matmul(transpose(g), matrix(x_value), target(to.tensor), 1, to.beta());
                  }
                  const Tensor v = low_rank ? low_rank->backward(g) : Tensor();
                  if (dx) {
                    const GradientTarget to = dx->target();
                    if (low_rank && !low_rank->has_own_input()) {
                      input_gradient(g, w_value, *low_rank, v, to);
                    } else {
                      matmul(matrix(g), matrix(w_value), target(to.tensor), 1, to.beta());
                    }
                  }
                  if (dr) dr->contribute(dy);
                });
}

}  // namespace heddle::ops
