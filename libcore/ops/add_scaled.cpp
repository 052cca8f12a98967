#include "libcore/ops/add_scaled.hpp"

#include <numeric>

#include "libcore/ops/runs.hpp"
#include "libcore/tensor/kernel.hpp"

namespace heddle::ops {

namespace {

template <class X>
HEDDLE_INLINE void add_scaled_loop(const X* x, const Real* e, Real f, X* y, Index count) {
  HEDDLE_SIMD
  for (Index i = 0; i < count; ++i) store(y[i], load(x[i]) + f * e[i]);
}
HEDDLE_KERNEL void add_scaled_run(const Real* x, const Real* e, Real f, Real* y, Index count) {
  add_scaled_loop(x, e, f, y, count);
}
HEDDLE_KERNEL void add_scaled_run(const BFloat16* x, const Real* e, Real f, BFloat16* y, Index count) {
  add_scaled_loop(x, e, f, y, count);
}

template <class Y>
HEDDLE_INLINE void scaled_gradient_loop(const Y* dy, Real f, bool add, Real* de, Index count) {
  HEDDLE_SIMD
  for (Index i = 0; i < count; ++i) de[i] = (add ? de[i] : Real(0)) + f * load(dy[i]);
}
HEDDLE_KERNEL void scaled_gradient_run(const Real* dy, Real f, bool add, Real* de, Index count) {
  scaled_gradient_loop(dy, f, add, de, count);
}
HEDDLE_KERNEL void scaled_gradient_run(const BFloat16* dy, Real f, bool add, Real* de, Index count) {
  scaled_gradient_loop(dy, f, add, de, count);
}

// e . dy: of each row, then of the rows in their order.
double dot_of_rows(const Tensor& e, const Tensor& dy) {
  std::vector<double> sums(static_cast<std::size_t>(row_count(e)), 0.0);
  dy.with_data([&](const auto* gradient) {
    for_each_row(e, [&](Index row) {
      const Real* const values = e.data() + row_offset(e, row);
      const auto* const own = gradient + row_offset(dy, row);
      double sum = 0;
      for (Index i = 0; i < e.shape()[-1]; ++i)
        sum += static_cast<double>(values[i]) * static_cast<double>(load(own[i]));
      sums[static_cast<std::size_t>(row)] = sum;
    });
  });
  return std::accumulate(sums.begin(), sums.end(), 0.0);
}

}  // namespace

Variable add_scaled(const Variable& x, const Variable& e, const Variable& f) {
  const Section section("add");
  check<ShapeError>(x.shape() == e.shape() && f.value().size() == 1, "cannot add shape ", e.shape(),
                    ", times a factor of shape ", f.shape(), ", to shape ", x.shape());
  check_rows(x.value(), "a scaled sum");
  check_rows(e.value(), "a scaled sum");
  const Tensor y(x.shape(), x.value().dtype());
  const Real factor = f.value()[0];
  y.with_data([&](auto* to) {
    x.value().with_data([&](const auto* from) {
      if constexpr (std::is_same_v<std::decay_t<decltype(*to)>, std::decay_t<decltype(*from)>>) {
        for_each_run({x.value(), e.value(), y}, [&](const auto& at, Index count) {
          add_scaled_run(from + at[0], e.value().data() + at[1], factor, to + at[2], count);
        });
      }
    });
  });
  return record(y, {x, e, f},
                [factor, e_value = f.gradient() ? e.value() : Tensor(), dx = x.gradient(), de = e.gradient(),
                 df = f.gradient()](const Tensor& dy) {
                  if (df) df->adding_target()[0] += static_cast<Real>(dot_of_rows(e_value, dy));
                  if (de) {
                    const GradientTarget to = de->target();
                    dy.with_data([&](const auto* from) {
                      for_each_run({dy, to.tensor}, [&](const auto& at, Index count) {
                        scaled_gradient_run(from + at[0], factor, to.add, to.tensor.data() + at[1], count);
                      });
                    });
                  }
                  if (dx) dx->contribute(dy);
                });
}

}  // namespace heddle::ops
