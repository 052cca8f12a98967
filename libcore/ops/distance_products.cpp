#include "libcore/ops/distance_products.hpp"

#include <algorithm>
#include <cmath>

#include "libcore/ops/runs.hpp"
#include "libcore/tensor/kernel.hpp"

namespace heddle::ops {

namespace {

template <class X>
HEDDLE_INLINE void scale_loop(const X* x, Real factor, X* y, Index width) {
  HEDDLE_SIMD
  for (Index i = 0; i < width; ++i) store(y[i], factor * load(x[i]));
}
HEDDLE_KERNEL void scale_row(const Real* x, Real factor, Real* y, Index width) {
  scale_loop(x, factor, y, width);
}
HEDDLE_KERNEL void scale_row(const BFloat16* x, Real factor, BFloat16* y, Index width) {
  scale_loop(x, factor, y, width);
}

template <class X>
HEDDLE_INLINE Real dot_loop(const X* x, const X* y, Index count) {
  Real sum = 0;
  HEDDLE_SIMD_SUM(sum)
  for (Index i = 0; i < count; ++i) sum += load(x[i]) * load(y[i]);
  return sum;
}
HEDDLE_KERNEL Real products_of(const Real* x, const Real* y, Index count) {
  return dot_loop(x, y, count);
}
HEDDLE_KERNEL Real products_of(const BFloat16* x, const BFloat16* y, Index count) {
  return dot_loop(x, y, count);
}

// y = factor x, and -|y|^2 / 2 after it where the norm counts.
template <class X>
HEDDLE_INLINE void extend_loop(const X* x, const DistanceKeys& options, Real* y, Index width) {
  const Real squares = dot_loop(x, x, width);
  const Real factor = options.unit && squares > 0 ? 1 / std::sqrt(squares) : Real(1);
  HEDDLE_SIMD
  for (Index i = 0; i < width; ++i) y[i] = factor * load(x[i]);
  y[width] = options.norm ? -factor * factor * squares / 2 : Real(0);
}
HEDDLE_KERNEL void extend_key(const Real* x, const DistanceKeys& options, Real* y, Index width) {
  extend_loop(x, options, y, width);
}
HEDDLE_KERNEL void extend_key(const BFloat16* x, const DistanceKeys& options, Real* y, Index width) {
  extend_loop(x, options, y, width);
}

// g_i = dy_i - y_i dy_width; dx += g, or (g - y (y . g)) / |x| for a key that was divided by its length.
template <class X, class Y>
HEDDLE_INLINE void extend_backward_loop(const X* x, const Real* y, const Real* dy, const DistanceKeys& options, Y* dx,
                                        Index width) {
  const Real norm = options.norm ? dy[width] : Real(0);
  Real squares = 0, along = 0;
  HEDDLE_SIMD_SUM(squares, along)
  for (Index i = 0; i < width; ++i) {
    squares += load(x[i]) * load(x[i]);
    along += y[i] * (dy[i] - norm * y[i]);
  }
  const bool divided = options.unit && squares > 0;
  const Real factor = divided ? 1 / std::sqrt(squares) : Real(1);
  if (!divided) along = 0;
  HEDDLE_SIMD
  for (Index i = 0; i < width; ++i) {
    store(dx[i], load(dx[i]) + factor * (dy[i] - norm * y[i] - along * y[i]));
  }
}
HEDDLE_KERNEL void extend_backward(const Real* x, const Real* y, const Real* dy, const DistanceKeys& options, Real* dx,
                                   Index width) {
  extend_backward_loop(x, y, dy, options, dx, width);
}
HEDDLE_KERNEL void extend_backward(const BFloat16* x, const Real* y, const Real* dy, const DistanceKeys& options,
                                   BFloat16* dx, Index width) {
  extend_backward_loop(x, y, dy, options, dx, width);
}
HEDDLE_KERNEL void extend_backward(const Real* x, const Real* y, const Real* dy, const DistanceKeys& options,
                                   BFloat16* dx, Index width) {
  extend_backward_loop(x, y, dy, options, dx, width);
}
HEDDLE_KERNEL void extend_backward(const BFloat16* x, const Real* y, const Real* dy, const DistanceKeys& options,
                                   Real* dx, Index width) {
  extend_backward_loop(x, y, dy, options, dx, width);
}

Shape extended(const Variable& x, const char* operation) {
  check<ShapeError>(x.shape().rank() == 4, operation, " of shape ", x.shape());
  check_rows(x.value(), operation);
  Shape shape = x.shape();
  shape.set(3, shape[3] + 1);
  return shape;
}

// The head of row `row` of x [batch, heads, time, ...].
Index head_of_row(const Shape& shape, Index row) {
  return row / shape[2] % shape[1];
}

// 1 / bandwidth of each head.
Tensor factors_of(const Tensor& log_bandwidth) {
  const Tensor factors = log_bandwidth.as(DType::real).copy();
  parallel_for(factors.size(), [&](Index head) { factors[head] = std::exp(-factors[head]); });
  return factors;
}

// The rows of dy without their last column, times the factors of their heads.
Tensor scaled_rows(const Tensor& dy, const Tensor& factors, const Shape& shape) {
  const Tensor dx(shape, dy.dtype());
  const Index width = shape[3];
  dx.with_data([&]<class T>(T* to) {
    for_each_row(dx, [&](Index row) {
      scale_row(dy.data<T>() + row * (width + 1), factors[head_of_row(shape, row)], to + row * width, width);
    });
  });
  return dx;
}

// -sum of dy y over each head.
Tensor bandwidth_gradient(const Tensor& y, const Tensor& dy) {
  const Index heads = y.shape()[1], width = y.shape()[3];
  const Tensor sums({heads});
  parallel_for(heads, [&](Index head) {
    double sum = 0;
    for (Index row = 0; row < row_count(y); ++row) {
      if (head_of_row(y.shape(), row) != head) continue;
      y.with_data([&]<class T>(const T* values) {
        sum += static_cast<double>(products_of(values + row * width, dy.data<T>() + row * width, width));
      });
    }
    sums[head] = static_cast<Real>(-sum);
  });
  return sums;
}

}  // namespace

Variable distance_queries(const Variable& query, const Variable& log_bandwidth) {
  const Section section("distance queries");
  const Tensor y(extended(query, "distance_queries"), query.value().dtype());
  const Index width = query.shape()[3];
  check<ShapeError>(log_bandwidth.shape() == Shape{query.shape()[1]}, "distance_queries: bandwidths of shape ",
                    log_bandwidth.shape(), " for queries of shape ", query.shape());
  const Tensor factors = factors_of(log_bandwidth.value());
  query.value().with_data([&]<class T>(const T* from) {
    for_each_row(y, [&](Index row) {
      const Real factor = factors[head_of_row(y.shape(), row)];
      T* const to = y.data<T>() + row * (width + 1);
      scale_row(from + row_offset(query.value(), row), factor, to, width);
      store(to[width], factor);
    });
  });
  return record(y, {query, log_bandwidth},
                [y, factors, shape = query.shape(), d_query = query.gradient(),
                 d_bandwidth = log_bandwidth.gradient()](const Tensor& result) {
                  const Tensor dy = result.as(y.dtype());
                  if (d_query) d_query->contribute(scaled_rows(dy, factors, shape));
                  if (d_bandwidth) d_bandwidth->adding_target().add(bandwidth_gradient(y, dy));
                });
}

Variable distance_keys(const Variable& key, const DistanceKeys& options) {
  const Section section("distance keys");
  const Tensor y(extended(key, "distance_keys"));
  const Index width = key.shape()[3];
  key.value().with_data([&](const auto* from) {
    for_each_row(y, [&](Index row) {
      extend_key(from + row_offset(key.value(), row), options, y.data() + row * (width + 1), width);
    });
  });
  return record(y, {key}, [x = key.value(), y, options, width, gradient = key.gradient()](const Tensor& result) {
    const Tensor dy = result.as(DType::real), target = gradient->adding_target();
    x.with_data([&](const auto* from) {
      target.with_data([&](auto* to) {
        for_each_row(y, [&](Index row) {
          extend_backward(from + row_offset(x, row), y.data() + row * (width + 1), dy.data() + row * (width + 1),
                          options, to + row_offset(target, row), width);
        });
      });
    });
  });
}

}  // namespace heddle::ops
