#include "libcore/ops/maxout.hpp"

#include "libcore/ops/runs.hpp"
#include "libcore/tensor/kernel.hpp"

namespace heddle::ops {

namespace {

// Index of the largest of x[0] .. x[pool - 1].
template <class X>
HEDDLE_INLINE Index largest_of(const X* x, Index pool) {
  Index largest = 0;
  for (Index i = 1; i < pool; ++i) {
    const Real value = load(x[i]);
    if (value > load(x[largest]) || value != value) largest = i;
  }
  return largest;
}

template <class X>
HEDDLE_INLINE void pool_loop(const X* x, Index pool, X* y, Index count) {
  for (Index i = 0; i < count; ++i) y[i] = x[i * pool + largest_of(x + i * pool, pool)];
}
HEDDLE_KERNEL void pool_row(const Real* x, Index pool, Real* y, Index count) {
  pool_loop(x, pool, y, count);
}
HEDDLE_KERNEL void pool_row(const BFloat16* x, Index pool, BFloat16* y, Index count) {
  pool_loop(x, pool, y, count);
}

template <class X, class Y, class D>
void add_to_largest(const X* x, Index pool, const Y* dy, D* dx, Index count) {
  for (Index i = 0; i < count; ++i) {
    D& sum = dx[i * pool + largest_of(x + i * pool, pool)];
    store(sum, load(sum) + load(dy[i]));
  }
}

}  // namespace

Variable maxout(const Variable& x, Index pool) {
  const Section section("maxout");
  check_rows(x.value(), "maxout");
  check<ShapeError>(pool > 0 && x.shape()[-1] % pool == 0, "maxout: rows of shape ", x.shape(),
                    " do not consist of pools of ", pool);
  const Index width = x.shape()[-1] / pool;
  const Tensor y(x.shape().without_last().with_last(width), x.value().dtype());
  x.value().with_data([&]<class T>(const T* from) {
    T* const to = y.data<T>();
    for_each_row(y, [&](Index row) { pool_row(from + row_offset(x.value(), row), pool, to + row * width, width); });
  });
  return record(y, {x}, [values = x.value(), pool, width, gradient = x.gradient()](const Tensor& dy) {
    const Tensor dx = gradient->adding_target();
    values.with_data([&](const auto* from) {
      dy.with_data([&](const auto* derivatives) {
        dx.with_data([&](auto* to) {
          for_each_row(dy, [&](Index row) {
            add_to_largest(from + row_offset(values, row), pool, derivatives + row * width, to + row_offset(dx, row),
                           width);
          });
        });
      });
    });
  });
}

}  // namespace heddle::ops
