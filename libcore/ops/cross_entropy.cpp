#include "heddle/ops/cross_entropy.hpp"

#include <algorithm>
#include <cmath>

#include "heddle/tensor/math.hpp"
#include "heddle/tensor/threads.hpp"

namespace heddle::ops {

namespace {

constexpr Index rows_a_task = 8;

HEDDLE_KERNEL Real row_maximum(const Real* x, Index count) {
  Real maximum = x[0];
  HEDDLE_SIMD_MAX(maximum)
  for (Index i = 0; i < count; ++i) maximum = x[i] > maximum ? x[i] : maximum;
  return maximum;
}

HEDDLE_KERNEL Real sum_of_exponentials(const Real* x, Real maximum, Index count) {
  Real sum = 0;
  HEDDLE_SIMD_SUM(sum)
  for (Index i = 0; i < count; ++i) sum += math::exp(x[i] - maximum);
  return sum;
}

HEDDLE_KERNEL Real row_sum(const Real* x, Index count) {
  Real sum = 0;
  HEDDLE_SIMD_SUM(sum)
  for (Index i = 0; i < count; ++i) sum += x[i];
  return sum;
}

// gradient = factor (softmax - uniform part of the target's distribution)
HEDDLE_KERNEL void row_gradient(const Real* logits, Real log_sum, Real uniform, Real factor, Real* gradient,
                                Index count) {
  for (Index i = 0; i < count; ++i) gradient[i] = factor * (math::exp(logits[i] - log_sum) - uniform);
}

double log_sum_of_exponentials(const Real* x, Index count) {
  const Real maximum = row_maximum(x, count);
  return static_cast<double>(maximum) + std::log(static_cast<double>(sum_of_exponentials(x, maximum, count)));
}

Index check_targets(const Shape& logits, const std::vector<TokenId>& targets) {
  const Index classes = logits[-1], rows = logits.size() / std::max<Index>(1, classes);
  check<ShapeError>(rows == static_cast<Index>(targets.size()), targets.size(), " targets for logits of shape ", logits);
  Index counted = 0;
  for (const TokenId target : targets) {
    check<DataError>(target < classes, "target ", target, " is outside the ", classes, " classes");
    counted += target >= 0 ? 1 : 0;
  }
  return counted;
}

struct RowLoss {
  std::vector<TokenId> targets;
  double smoothing, divisor;
  Tensor log_sums;  // [rows]
};

void write_gradient(const RowLoss& loss, const Tensor& logits, const Tensor& gradient, Real seed) {
  const Index classes = logits.shape()[-1];
  const auto factor = static_cast<Real>(seed / loss.divisor);
  const auto uniform = static_cast<Real>(loss.smoothing / static_cast<double>(classes));
  parallel_ranges(static_cast<Index>(loss.targets.size()), rows_a_task, [&](Index begin, Index end) {
    for (Index r = begin; r < end; ++r) {
      Real* to = gradient.data() + r * classes;
      const TokenId target = loss.targets[static_cast<std::size_t>(r)];
      if (target < 0) {
        std::fill_n(to, classes, Real(0));
        continue;
      }
      row_gradient(logits.data() + r * classes, loss.log_sums[r], uniform, factor, to, classes);
      to[target] -= factor * static_cast<Real>(1 - loss.smoothing);
    }
  });
}

}  // namespace

Variable cross_entropy(const Variable& logits, const std::vector<TokenId>& targets, const CrossEntropy& options) {
  const Tensor& values = logits.value();
  const Index counted = check_targets(values.shape(), targets), classes = values.shape()[-1];
  check<ShapeError>(values.is_contiguous(), "cross_entropy needs contiguous logits");
  const double divisor = options.divisor > 0 ? options.divisor : static_cast<double>(std::max<Index>(1, counted));
  const auto rows = static_cast<Index>(targets.size());
  RowLoss loss{targets, options.smoothing, divisor, Tensor({rows})};
  std::vector<double> losses(targets.size(), 0.0);
  parallel_ranges(rows, rows_a_task, [&](Index begin, Index end) {
    for (Index r = begin; r < end; ++r) {
      const TokenId target = targets[static_cast<std::size_t>(r)];
      if (target < 0) continue;
      const Real* row = values.data() + r * classes;
      const double log_sum = log_sum_of_exponentials(row, classes);
      const double mean = options.smoothing > 0 ? row_sum(row, classes) / static_cast<double>(classes) : 0;
      losses[static_cast<std::size_t>(r)] = log_sum - (1 - options.smoothing) * row[target] - options.smoothing * mean;
      loss.log_sums[r] = static_cast<Real>(log_sum);
    }
  });
  double sum = 0;
  for (const double row : losses) sum += row;
  return record(Tensor({1}, static_cast<Real>(sum / divisor)), {logits},
                [loss = std::move(loss), values, gradient = logits.gradient()](const Tensor& dy) {
                  write_gradient(loss, values, values, dy[0]);
                  gradient->contribute(values);
                });
}

std::vector<double> negative_log_likelihoods(const Tensor& logits, const std::vector<TokenId>& targets) {
  check_targets(logits.shape(), targets);
  const Index classes = logits.shape()[-1];
  std::vector<double> losses(targets.size(), 0.0);
  parallel_ranges(static_cast<Index>(targets.size()), rows_a_task, [&](Index begin, Index end) {
    for (Index r = begin; r < end; ++r) {
      const TokenId target = targets[static_cast<std::size_t>(r)];
      const Real* row = logits.data() + r * classes;
      if (target >= 0) losses[static_cast<std::size_t>(r)] = log_sum_of_exponentials(row, classes) - row[target];
    }
  });
  return losses;
}

}  // namespace heddle::ops
