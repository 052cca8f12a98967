#include "libcore/ops/low_rank.hpp"

#include <algorithm>

#include "libcore/base/error.hpp"
#include "libcore/tensor/kernel.hpp"
#include "libcore/tensor/matmul.hpp"
#include "libcore/tensor/threads.hpp"

namespace heddle::ops {

namespace {

constexpr Index columns_per_task = 128;

// sums[j] += over r of factors[r * factor_step] rows[r * stride + j]
HEDDLE_KERNEL void add_rows(const Real* factors, Index factor_step, const Real* rows, Index stride, Index rank,
                            Real* sums, Index count) {
  Index r = 0;
  for (; r + 4 <= rank; r += 4) {
    const Real *f = factors + r * factor_step, *x = rows + r * stride;
    const Real f0 = f[0], f1 = f[factor_step], f2 = f[2 * factor_step], f3 = f[3 * factor_step];
    HEDDLE_SIMD
    for (Index j = 0; j < count; ++j) {
      sums[j] += f0 * x[j] + f1 * x[stride + j] + f2 * x[2 * stride + j] + f3 * x[3 * stride + j];
    }
  }
  for (; r < rank; ++r) {
    const Real factor = factors[r * factor_step];
    HEDDLE_SIMD
    for (Index j = 0; j < count; ++j) sums[j] += factor * rows[r * stride + j];
  }
}

// [n rank, out] from b [n out, rank]
Tensor turned(const Tensor& b, Index parts) {
  const Index rank = b.shape()[1], out = b.shape()[0] / parts;
  const Tensor result({parts * rank, out});
  for (Index part = 0; part < parts; ++part) {
    parallel_ranges(out, columns_per_task, [&](Index begin, Index end) {
      for (Index r = 0; r < rank; ++r) {
        for (Index j = begin; j < end; ++j) result[(part * rank + r) * out + j] = b[(part * out + j) * rank + r];
      }
    });
  }
  return result;
}

MatrixView rows_of(const Tensor& x, Index begin, Index end) {
  return matrix(x).rows_in(begin, end);
}

}  // namespace

LowRankSum::LowRankSum(const LowRankTerm& term, const Variable& x, Index width)
    : has_own_input_(!term.input.empty()),
      columns_(term.columns),
      scale_(term.scale),
      a_(term.a.value()),
      d_input_(term.input.gradient()),
      d_a_(term.a.gradient()),
      d_b_(term.b.gradient()) {
  const Tensor& input = has_own_input_ ? term.input.value() : x.value();
  const auto parts = static_cast<Index>(columns_.size());
  const Shape &a = term.a.shape(), &b = term.b.shape();
  rank_ = b[1];
  out_ = b[0] / parts;
  check<ShapeError>(a[0] == parts * rank_ && a[1] == x.shape()[-1] && b[0] == parts * out_ &&
                        input.shape() == x.shape() &&
                        std::ranges::all_of(columns_, [&](Index from) { return from + out_ <= width; }),
                    "low rank: ", parts, " corrections of shapes ", a, " and ", b, " for an input of shape ", x.shape(),
                    " and ", width, " columns");
  rows_ = input.size() / a[1];
  turned_b_ = turned(term.b.value(), parts);
  low_ = Tensor({parts * rank_, rows_});
  matmul(matrix(a_), transpose(input), target(low_), scale_);
  count_matmul(rows_, out_, rank_, parts);  // the products of add(), row by row
  if (d_a_ && Recording::current() != nullptr) input_ = input;
}

void LowRankSum::add(Index row, Index column, Real* values, Index count) const {
  Index part = 0;
  for (const Index from : columns_) {
    const Index begin = std::max(column, from), end = std::min(column + count, from + out_), first = part++ * rank_;
    if (begin >= end) continue;
    add_rows(low_.data() + first * rows_ + row, rows_, turned_b_.data() + first * out_ + begin - from, out_, rank_,
             values + begin - column, end - begin);
  }
}

void LowRankSum::add_to_input(const Tensor& v, Index row, Index column, Real* values, Index count) const {
  const Index in = a_.shape()[1];
  add_rows(v.data() + row, rows_, a_.data() + column, in, a_.shape()[0], values, count);
}

Tensor LowRankSum::backward(const Tensor& g) const {
  const Tensor v(low_.shape());
  const GradientTarget db = d_b_ ? d_b_->target() : GradientTarget{};
  for (Index part = 0; part < static_cast<Index>(columns_.size()); ++part) part_backward(part, g, v, db);
  if (d_a_) {
    const GradientTarget to = d_a_->target();
    matmul(matrix(v), matrix(input_), target(to.tensor), 1, to.beta());
  }
  if (d_input_) {
    const GradientTarget to = d_input_->target();
    matmul(transpose(v), matrix(a_), target(to.tensor), 1, to.beta());
  }
  return v;
}

// This part's rows of v, and of b's gradient.
void LowRankSum::part_backward(Index part, const Tensor& g, const Tensor& v, const GradientTarget& db) const {
  const Index first = part * rank_, from = columns_[static_cast<std::size_t>(part)];
  const MatrixView gradients = matrix(g).columns_in(from, from + out_);
  matmul(rows_of(turned_b_, first, first + rank_), gradients.flipped(), target(v.data() + first * rows_, rank_, rows_),
         scale_);
  if (db.tensor.empty()) return;
  const Tensor sums({rank_, out_});
  matmul(rows_of(low_, first, first + rank_), gradients, target(sums));
  parallel_ranges(out_, columns_per_task, [&](Index begin, Index end) {
    for (Index j = begin; j < end; ++j) {
      for (Index r = 0; r < rank_; ++r) {
        Real& gradient = db.tensor[(part * out_ + j) * rank_ + r];
        gradient = sums[r * out_ + j] + (db.add ? gradient : Real(0));
      }
    }
  });
}

}  // namespace heddle::ops
