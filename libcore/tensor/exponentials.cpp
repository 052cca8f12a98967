#include "heddle/tensor/exponentials.hpp"

#include <limits>

#include "heddle/tensor/math.hpp"

namespace heddle {

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

HEDDLE_KERNEL Real sum_of_exponentials(const Real* x, Real maximum, Index count) {
  Real sum = 0;
  HEDDLE_SIMD_SUM(sum)
  for (Index i = 0; i < count; ++i) sum += math::exp(x[i] - maximum);
  return sum;
}

}  // namespace heddle
