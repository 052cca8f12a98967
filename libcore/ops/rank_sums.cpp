#include "libcore/ops/rank_sums.hpp"

#include <span>

#include "libcore/tensor/context.hpp"
#include "libcore/tensor/kernel.hpp"
#include "libcore/tensor/threads.hpp"

namespace heddle::ops {

namespace {

constexpr Index rows_of_rank_task = 16, columns_of_rank_task = 256;

HEDDLE_KERNEL void add_to_row(const Real* x, Real* y, Index count) {
  for (Index i = 0; i < count; ++i) y[i] += x[i];
}

void sum_over(const parallel::Group& group, const Tensor& numbers) {
  if (!Simulation::active()) group.sum(std::span(numbers.data(), static_cast<std::size_t>(numbers.size())));
}

// y += bias + residual, row by row.
void add_to_rows(const Tensor& y, const Tensor& bias, const Tensor& residual) {
  const Index width = y.shape()[-1];
  parallel_ranges(y.size() / width, rows_of_rank_task, [&](Index begin, Index end) {
    for (Index row = begin; row < end; ++row) {
      Real* const to = y.data() + row * width;
      if (!bias.empty()) add_to_row(bias.data(), to, width);
      if (!residual.empty()) add_to_row(residual.data() + row * width, to, width);
    }
  });
}

void add_sum_of_rows(const Tensor& dy, const GradientTarget& to) {
  const Index width = dy.shape()[-1], rows = dy.size() / width;
  parallel_ranges(width, columns_of_rank_task, [&](Index begin, Index end) {
    for (Index i = begin; i < end; ++i) {
      double sum = to.add ? to.tensor[i] : 0.0;
      for (Index row = 0; row < rows; ++row) sum += dy[row * width + i];
      to.tensor[i] = static_cast<Real>(sum);
    }
  });
}

}  // namespace

Variable read_by_ranks(const Variable& x, const parallel::Group& group) {
  const Section section("sum over ranks");
  return record(x.value(), {x}, [dx = x.gradient(), &group](const Tensor& dy) {
    const Tensor sum = dy.dtype() == DType::real ? dy.copy() : dy.as(DType::real);
    sum_over(group, sum);
    dx->contribute(sum);
  });
}

Variable sum_of_ranks(const Variable& x, const Variable& bias, const Variable& residual, const parallel::Group& group) {
  const Section section("sum over ranks");
  check<ShapeError>(x.value().is_contiguous() && (bias.empty() || bias.shape() == Shape{x.shape()[-1]}) &&
                        (residual.empty() || (residual.shape() == x.shape() && residual.value().is_contiguous())),
                    "sum of ranks: shapes ", x.shape(), ", ", bias.shape(), " and ", residual.shape());
  const Tensor y = x.value().copy();
  sum_over(group, y);
  add_to_rows(y, bias.value(), residual.value());
  return record(y, {x, bias, residual},
                [dx = x.gradient(), db = bias.gradient(), dr = residual.gradient()](const Tensor& dy) {
                  if (db) add_sum_of_rows(dy.as(DType::real), db->target());
                  if (dx) dx->contribute(dy);
                  if (dr) dr->contribute(dy);
                });
}

}  // namespace heddle::ops
