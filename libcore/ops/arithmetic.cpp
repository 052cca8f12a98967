#include "libcore/ops/arithmetic.hpp"

#include <algorithm>
#include <utility>

#include "libcore/ops/runs.hpp"
#include "libcore/tensor/exponentials.hpp"
#include "libcore/tensor/kernel.hpp"
#include "libcore/tensor/threads.hpp"

namespace heddle::ops {

namespace {

constexpr Index grain = 16384;

HEDDLE_KERNEL void add_range(const Real* a, const Real* b, Real* y, Index count) {
  for (Index i = 0; i < count; ++i) y[i] = a[i] + b[i];
}
HEDDLE_KERNEL void add_range(const Real* a, const BFloat16* b, Real* y, Index count) {
  for (Index i = 0; i < count; ++i) y[i] = a[i] + load(b[i]);
}

template <class A, class B, class Y>
HEDDLE_INLINE void multiply_loop(const A* a, const B* b, bool add, Y* y, Index count) {
  if (!add) {
    HEDDLE_SIMD
    for (Index i = 0; i < count; ++i) store(y[i], load(a[i]) * load(b[i]));
  } else {
    HEDDLE_SIMD
    for (Index i = 0; i < count; ++i) store(y[i], load(y[i]) + load(a[i]) * load(b[i]));
  }
}

#define HEDDLE_MULTIPLY(A, B, Y)                                                         \
  HEDDLE_KERNEL void multiply_run(const A* a, const B* b, bool add, Y* y, Index count) { \
    multiply_loop(a, b, add, y, count);                                                  \
  }
HEDDLE_MULTIPLY(Real, Real, Real)
HEDDLE_MULTIPLY(Real, Real, BFloat16)
HEDDLE_MULTIPLY(Real, BFloat16, Real)
HEDDLE_MULTIPLY(Real, BFloat16, BFloat16)
HEDDLE_MULTIPLY(BFloat16, Real, Real)
HEDDLE_MULTIPLY(BFloat16, Real, BFloat16)
HEDDLE_MULTIPLY(BFloat16, BFloat16, Real)
HEDDLE_MULTIPLY(BFloat16, BFloat16, BFloat16)
#undef HEDDLE_MULTIPLY

HEDDLE_KERNEL void scale_range(const Real* x, Real factor, Real* y, Index count) {
  for (Index i = 0; i < count; ++i) y[i] = factor * x[i];
}
HEDDLE_KERNEL void scale_range(const BFloat16* x, Real factor, BFloat16* y, Index count) {
  HEDDLE_SIMD
  for (Index i = 0; i < count; ++i) store(y[i], factor * load(x[i]));
}

HEDDLE_KERNEL Real dot_range(const Real* a, const Real* b, Index count) {
  Real sum = 0;
  HEDDLE_SIMD_SUM(sum)
  for (Index i = 0; i < count; ++i) sum += a[i] * b[i];
  return sum;
}

// Sums over the batches into r's gradient, one column range a task, batches in order.
void sum_batches(const Tensor& dy, const GradientTarget& dr) {
  const Index width = dr.tensor.size(), batches = dy.size() / width;
  parallel_ranges(width, 1024, [&](Index begin, Index end) {
    for (Index i = begin; i < end; ++i) {
      double sum = dr.add ? dr.tensor[i] : 0.0;
      for (Index b = 0; b < batches; ++b) sum += dy[b * width + i];
      dr.tensor[i] = static_cast<Real>(sum);
    }
  });
}

}  // namespace

Variable add(const Variable& a, const Variable& b) {
  const Section section("add");
  check<ShapeError>(a.shape() == b.shape(), "cannot add shapes ", a.shape(), " and ", b.shape());
  check<ShapeError>(a.value().is_contiguous() && b.value().is_contiguous(), "add needs contiguous tensors");
  const Tensor y(a.shape());
  b.value().with_data([&](const auto* other) {
    parallel_ranges(y.size(), grain, [&](Index begin, Index end) {
      add_range(a.value().data() + begin, other + begin, y.data() + begin, end - begin);
    });
  });
  return record(y, {a, b}, [da = a.gradient(), db = b.gradient()](const Tensor& dy) {
    if (da) da->contribute(dy);
    if (db) db->contribute(dy);
  });
}

Variable add_to_each(const Variable& x, const Variable& r) {
  const Section section("add");
  const Index width = r.value().size();
  check<ShapeError>(width > 0 && x.shape().rank() == r.shape().rank() + 1 && x.value().size() == x.shape()[0] * width &&
                        x.value().is_contiguous() && r.value().is_contiguous(),
                    "cannot add shape ", r.shape(), " to each of shape ", x.shape());
  const Tensor y(x.shape());
  parallel_for(x.shape()[0], [&](Index b) {
    add_range(x.value().data() + b * width, r.value().data(), y.data() + b * width, width);
  });
  return record(y, {x, r}, [dx = x.gradient(), dr = r.gradient()](const Tensor& dy) {
    if (dr) sum_batches(dy, dr->target());
    if (dx) dx->contribute(dy);
  });
}

void contribute_product(const Tensor& a, const Tensor& b, const GradientTarget& to) {
  a.with_data([&](const auto* from_a) {
    b.with_data([&](const auto* from_b) {
      to.tensor.with_data([&](auto* y) {
        for_each_run({a, b, to.tensor}, [&](const auto& at, Index count) {
          multiply_run(from_a + at[0], from_b + at[1], to.add, y + at[2], count);
        });
      });
    });
  });
}

Variable multiply(const Variable& a, const Variable& b) {
  const Section section("multiply");
  check<ShapeError>(a.shape() == b.shape(), "cannot multiply shapes ", a.shape(), " and ", b.shape());
  check_rows(a.value(), "multiply");
  check_rows(b.value(), "multiply");
  const bool halves = a.value().dtype() == DType::bfloat16 && b.value().dtype() == DType::bfloat16;
  const Tensor y(a.shape(), halves ? DType::bfloat16 : DType::real);
  contribute_product(a.value(), b.value(), {y, false});
  return record(y, {a, b},
                [a_value = b.gradient() ? a.value() : Tensor(), b_value = a.gradient() ? b.value() : Tensor(),
                 da = a.gradient(), db = b.gradient()](const Tensor& dy) {
                  if (da) contribute_product(dy, b_value, da->target());
                  if (db) contribute_product(dy, a_value, db->target());
                });
}

namespace {

// y[b] = factors[b] x[b]
Tensor scaled_samples(const Tensor& x, const std::vector<Real>& factors) {
  const Tensor result(x.shape(), x.dtype());
  const Index size = x.size() / static_cast<Index>(factors.size()), parts = (size + grain - 1) / grain;
  x.with_data([&]<class T>(const T* from) {
    T* const to = result.data<T>();
    parallel_for(static_cast<Index>(factors.size()) * parts, [&](Index task) {
      const Index begin = task % parts * grain, at = task / parts * size + begin;
      scale_range(from + at, factors[static_cast<std::size_t>(task / parts)], to + at, std::min(grain, size - begin));
    });
  });
  return result;
}

Variable scale_by(const Variable& x, std::vector<Real> factors) {
  const Section section("scale");
  check<ShapeError>(x.value().is_contiguous(), "scale needs a contiguous tensor");
  const Tensor y = scaled_samples(x.value(), factors);
  return record(y, {x}, [dx = x.gradient(), factors = std::move(factors)](const Tensor& dy) {
    dx->contribute(scaled_samples(dy, factors));
  });
}

}  // namespace

Variable scale(const Variable& x, Real factor) {
  return scale_by(x, {factor});
}

namespace {

Tensor scaled_rows(const Tensor& x, const Tensor& factors) {
  const Tensor y(x.shape(), x.dtype());
  const Index width = x.shape()[-1], rows = factors.size();
  x.with_data([&]<class T>(const T* from) {
    T* const to = y.data<T>();
    parallel_ranges(rows, std::max<Index>(1, grain / width), [&](Index begin, Index end) {
      for (Index r = begin; r < end; ++r) scale_range(from + r * width, factors[r], to + r * width, width);
    });
  });
  return y;
}

void contribute_row_products(const Tensor& x, const Tensor& dy, const GradientTarget& to) {
  const Index width = x.shape()[-1], rows = to.tensor.size();
  parallel_ranges(rows, std::max<Index>(1, grain / width), [&](Index begin, Index end) {
    x.with_data([&](const auto* a) {
      dy.with_data([&](const auto* b) {
        for (Index r = begin; r < end; ++r) {
          Real sum = to.add ? to.tensor[r] : Real(0);
          for (Index i = r * width; i < (r + 1) * width; ++i) sum += load(a[i]) * load(b[i]);
          to.tensor.data()[r] = sum;
        }
      });
    });
  });
}

}  // namespace

Variable scale_rows(const Variable& x, const Variable& factors) {
  const Section section("scale");
  const Index rows = x.value().size() / std::max<Index>(1, x.shape()[-1]);
  check<ShapeError>(factors.value().size() == rows && x.value().is_contiguous() && factors.value().is_contiguous(),
                    "cannot scale the rows of shape ", x.shape(), " by factors of shape ", factors.shape());
  return record(scaled_rows(x.value(), factors.value()), {x, factors},
                [x_value = factors.gradient() ? x.value() : Tensor(), by = factors.value(), dx = x.gradient(),
                 dfactors = factors.gradient()](const Tensor& dy) {
                  if (dfactors) contribute_row_products(x_value, dy, dfactors->target());
                  if (dx) dx->contribute(scaled_rows(dy, by));
                });
}

Variable scale(const Variable& x, const Variable& factor) {
  check<ShapeError>(factor.shape() == Shape{1} && x.value().is_contiguous(), "scale: a factor of shape ",
                    factor.shape(), " for x of shape ", x.shape());
  const Section section("scale");
  const Real by = factor.value()[0];
  const Tensor y(x.shape());
  parallel_ranges(y.size(), grain, [&](Index begin, Index end) {
    scale_range(x.value().data() + begin, by, y.data() + begin, end - begin);
  });
  return record(y, {x, factor},
                [x_value = factor.gradient() ? x.value() : Tensor(), by, dx = x.gradient(),
                 dfactor = factor.gradient()](const Tensor& dy) {
                  if (dfactor) {
                    dfactor->adding_target()[0] +=
                        static_cast<Real>(sum_of_runs(dy.size(), [&](Index begin, Index count) {
                          return static_cast<double>(dot_range(x_value.data() + begin, dy.data() + begin, count));
                        }));
                  }
                  if (!dx) return;
                  const GradientTarget to = dx->target();
                  const Tensor share(dy.shape());
                  parallel_ranges(dy.size(), grain, [&](Index begin, Index end) {
                    scale_range(dy.data() + begin, by, share.data() + begin, end - begin);
                  });
                  if (to.add) {
                    to.tensor.add(share);
                  } else {
                    to.tensor.assign(share);
                  }
                });
}

Variable scale_samples(const Variable& x, const std::vector<Real>& factors) {
  check<ShapeError>(x.shape().rank() > 0 && static_cast<Index>(factors.size()) == x.shape()[0] && !factors.empty(),
                    factors.size(), " factors for the samples of shape ", x.shape());
  return scale_by(x, factors);
}

}  // namespace heddle::ops
