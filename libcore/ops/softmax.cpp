#include "libcore/ops/softmax.hpp"

#include <algorithm>

#include "libcore/ops/runs.hpp"
#include "libcore/tensor/exponentials.hpp"
#include "libcore/tensor/math.hpp"

namespace heddle::ops {

namespace {

HEDDLE_KERNEL void copy_row(const Real* x, Real* y, Index count) {
  for (Index i = 0; i < count; ++i) y[i] = x[i];
}
HEDDLE_KERNEL void copy_row(const BFloat16* x, Real* y, Index count) {
  for (Index i = 0; i < count; ++i) y[i] = load(x[i]);
}

HEDDLE_KERNEL void normalise(Real* y, Real maximum, Real factor, Index count) {
  for (Index i = 0; i < count; ++i) y[i] = factor * math::exp(y[i] - maximum);
}

HEDDLE_KERNEL Real dot_run(const Real* a, const Real* b, Index count) {
  Real sum = 0;
  HEDDLE_SIMD_SUM(sum)
  for (Index i = 0; i < count; ++i) sum += a[i] * b[i];
  return sum;
}

template <class X>
HEDDLE_INLINE void gradient_loop(const Real* y, const Real* dy, Real mean, bool add, X* dx, Index count) {
  HEDDLE_SIMD
  for (Index i = 0; i < count; ++i) {
    const Real change = y[i] * (dy[i] - mean);
    store(dx[i], add ? load(dx[i]) + change : change);
  }
}
HEDDLE_KERNEL void row_gradient(const Real* y, const Real* dy, Real mean, bool add, Real* dx, Index count) {
  gradient_loop(y, dy, mean, add, dx, count);
}
HEDDLE_KERNEL void row_gradient(const Real* y, const Real* dy, Real mean, bool add, BFloat16* dx, Index count) {
  gradient_loop(y, dy, mean, add, dx, count);
}

void check_lengths(const std::vector<Index>& lengths, const Tensor& x) {
  check<ShapeError>(lengths.empty() || static_cast<Index>(lengths.size()) == row_count(x), "softmax: ", lengths.size(),
                    " lengths for rows of shape ", x.shape());
  for (const Index length : lengths) {
    check<ShapeError>(length >= 0 && length <= x.shape()[-1], "softmax: a length of ", length, " for rows of shape ",
                      x.shape());
  }
}

// y, which holds x.
void softmax_row(Real* y, Index length, Index width) {
  const Real maximum = maximum_of(y, length);
  const double sum = sum_of_exponentials(y, maximum, length);
  normalise(y, maximum, static_cast<Real>(1 / sum), length);
  std::fill(y + length, y + width, Real(0));
}

}  // namespace

Variable softmax(const Variable& x, const std::vector<Index>& lengths) {
  const Section section("softmax");
  check_rows(x.value(), "softmax");
  check_lengths(lengths, x.value());
  const Tensor y(x.shape());
  const Index width = x.shape()[-1];
  x.value().with_data([&](const auto* from) {
    for_each_row(y, [&](Index row) {
      const Index length = lengths.empty() ? width : lengths[static_cast<std::size_t>(row)];
      Real* const to = y.data() + row * width;
      copy_row(from + row_offset(x.value(), row), to, length);
      softmax_row(to, length, width);
    });
  });
  return record(y, {x}, [y, width, gradient = x.gradient()](const Tensor& dy) {
    const GradientTarget dx = gradient->target();
    const Tensor derivatives = dy.as(DType::real);
    dx.tensor.with_data([&](auto* to) {
      for_each_row(y, [&](Index row) {
        const Real *const weights = y.data() + row * width, *const derivative = derivatives.data() + row * width;
        const double mean = sum_of_runs(
            width, [&](Index begin, Index count) { return dot_run(weights + begin, derivative + begin, count); });
        row_gradient(weights, derivative, static_cast<Real>(mean), dx.add, to + row_offset(dx.tensor, row), width);
      });
    });
  });
}

}  // namespace heddle::ops
