#include "libcore/ops/convolution.hpp"

#include "libcore/ops/runs.hpp"
#include "libcore/tensor/kernel.hpp"

namespace heddle::ops {

namespace {

HEDDLE_KERNEL void add_products(const Real* a, const Real* b, Real* sum, Index count) {
  HEDDLE_SIMD
  for (Index c = 0; c < count; ++c) sum[c] += a[c] * b[c];
}

HEDDLE_KERNEL void accumulate(const Real* a, const Real* b, double* sum, Index count) {
  HEDDLE_SIMD
  for (Index c = 0; c < count; ++c) sum[c] += static_cast<double>(a[c]) * static_cast<double>(b[c]);
}

struct Sizes {
  Index batch, time, taps, width;
  Index results() const { return time - taps + 1; }
};

Sizes checked(const Variable& x, const Variable& kernel) {
  const Shape &sequence = x.shape(), &weights = kernel.shape();
  check<ShapeError>(sequence.rank() == 3 && weights.rank() == 2 && sequence[2] == weights[1] && weights[0] >= 1 &&
                        weights[0] <= sequence[1] && kernel.value().is_contiguous(),
                    "convolution: a kernel of shape ", weights, " over sequences of shape ", sequence);
  check_rows(x.value(), "convolution");
  return {sequence[0], sequence[1], weights[0], weights[1]};
}

// dx (+)= what every result in reach of an element gives back.
void give_back(const Sizes& s, const Tensor& kernel, const Tensor& dy, const GradientTarget& dx) {
  for_each_row(dx.tensor, [&](Index row) {
    Real* const to = dx.tensor.data() + row_offset(dx.tensor, row);
    if (!dx.add) std::fill_n(to, s.width, Real(0));
    const Index b = row / s.time, at = row % s.time;
    for (Index tap = std::max<Index>(0, at - s.results() + 1); tap <= std::min(at, s.taps - 1); ++tap) {
      add_products(kernel.data() + tap * s.width, dy.data() + (b * s.results() + at - tap) * s.width, to, s.width);
    }
  });
}

void add_kernel(const Sizes& s, const Tensor& x, const Tensor& dy, const Tensor& dk) {
  parallel_for(s.taps, [&](Index tap) {
    std::vector<double> sum(static_cast<std::size_t>(s.width), 0);
    for (Index row = 0; row < s.batch * s.results(); ++row) {
      const Index of_x = row / s.results() * s.time + row % s.results() + tap;
      accumulate(x.data() + row_offset(x, of_x), dy.data() + row * s.width, sum.data(), s.width);
    }
    Real* const to = dk.data() + tap * s.width;
    for (Index c = 0; c < s.width; ++c) to[c] += static_cast<Real>(sum[static_cast<std::size_t>(c)]);
  });
}

}  // namespace

Variable convolution(const Variable& x, const Variable& kernel) {
  const Section section("convolution");
  const Sizes s = checked(x, kernel);
  const Tensor y({s.batch, s.results(), s.width}), weights = kernel.value().as(DType::real);
  for_each_row(y, [&](Index row) {
    Real* const to = y.data() + row * s.width;
    std::fill_n(to, s.width, Real(0));
    const Index first = row / s.results() * s.time + row % s.results();
    for (Index tap = 0; tap < s.taps; ++tap) {
      add_products(weights.data() + tap * s.width, x.value().data() + row_offset(x.value(), first + tap), to, s.width);
    }
  });
  return record(y, {x, kernel},
                [s, weights, values = x.value(), d_x = x.gradient(), d_kernel = kernel.gradient()](const Tensor& dy) {
                  if (d_x) give_back(s, weights, dy, d_x->target());
                  if (d_kernel) add_kernel(s, values, dy, d_kernel->adding_target());
                });
}

}  // namespace heddle::ops
