#include "libcore/tensor/exponentials.hpp"

#include <cmath>
#include <limits>

#include "libcore/tensor/math.hpp"

namespace heddle {

namespace {

HEDDLE_KERNEL Real sum_run(const Real* x, Index count) {
  Real sum = 0;
  HEDDLE_SIMD_SUM(sum)
  for (Index i = 0; i < count; ++i) sum += x[i];
  return sum;
}

HEDDLE_KERNEL Real exponentials_run(const Real* x, Real maximum, Index count) {
  Real sum = 0;
  HEDDLE_SIMD_SUM(sum)
  for (Index i = 0; i < count; ++i) sum += math::exp(x[i] - maximum);
  return sum;
}

}  // namespace

HEDDLE_KERNEL Real maximum_of(const Real* x, Index count) {
  Real maximum = -std::numeric_limits<Real>::infinity();
  HEDDLE_SIMD_MAX(maximum)
  for (Index i = 0; i < count; ++i) maximum = x[i] > maximum ? x[i] : maximum;
  return maximum;
}

HEDDLE_KERNEL bool are_finite(const Real* x, Index count) {
  Real sum = 0;  // x - x is 0 of a finite number, and NaN of all others
  HEDDLE_SIMD_SUM(sum)
  for (Index i = 0; i < count; ++i) sum += x[i] - x[i];
  return sum == 0;
}

double sum_of(const Real* x, Index count) {
  return sum_of_runs(count, [x](Index begin, Index length) { return sum_run(x + begin, length); });
}

double sum_of_exponentials(const Real* x, Real maximum, Index count) {
  return sum_of_runs(count, [&](Index begin, Index length) { return exponentials_run(x + begin, maximum, length); });
}

double log_sum_exp(const Real* x, Real maximum, Index count) {
  return static_cast<double>(maximum) + std::log(sum_of_exponentials(x, maximum, count));
}

double log_sum_exp(const Real* x, Index count) {
  return log_sum_exp(x, maximum_of(x, count), count);
}

}  // namespace heddle
