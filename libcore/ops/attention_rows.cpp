#include "libcore/ops/attention_rows.hpp"

#include <limits>

#include "libcore/tensor/kernel.hpp"
#include "libcore/tensor/math.hpp"

namespace heddle::ops {

namespace {

HEDDLE_INLINE bool counts(RowPart part, std::int32_t i) {
  return (i >= part.begin) & (i < part.end);
}

template <class T>
HEDDLE_INLINE void multiply_rows_loop(const Real* x, const Rows<T>& rows, Real* sums) {
  for (Index j = 0; j < rows.count; ++j) {
    const T* row = rows.data + j * rows.stride;
    Real sum = 0;
    HEDDLE_SIMD_SUM(sum)
    for (Index i = 0; i < rows.width; ++i) sum += x[i] * load(row[i]);
    sums[j] = sum;
  }
}

template <class T>
HEDDLE_INLINE void mix_rows_loop(const Real* weights, const Rows<T>& rows, Real* y) {
  for (Index i = 0; i < rows.width; ++i) y[i] = 0;
  for (Index j = 0; j < rows.count; ++j) {
    const T* row = rows.data + j * rows.stride;
    const Real weight = weights[j];
    HEDDLE_SIMD
    for (Index i = 0; i < rows.width; ++i) y[i] += weight * load(row[i]);
  }
}

template <class Y>
HEDDLE_INLINE void add_rows_loop(const Real* x, Index x_stride, Y* y, Index y_stride, Index rows, Index count) {
  for (Index row = 0; row < rows; ++row) {
    for (Index i = 0; i < count; ++i) store(y[row * y_stride + i], load(y[row * y_stride + i]) + x[row * x_stride + i]);
  }
}

template <class T>
HEDDLE_INLINE Real dot_loop(const T* x, const T* y, Index count) {
  Real sum = 0;
  HEDDLE_SIMD_SUM(sum)
  for (Index i = 0; i < count; ++i) sum += load(x[i]) * load(y[i]);
  return sum;
}

}  // namespace

HEDDLE_KERNEL void add_bias(Real* x, Real scale, const Real* bias, const RowPart& part) {
  HEDDLE_SIMD
  for (std::int32_t i = part.begin; i < part.end; ++i) x[i] = scale * x[i] + bias[i];
}

HEDDLE_KERNEL void hide_others(Real* x, Real scale, const std::uint8_t* allowed, const RowPart& part) {
  constexpr Real hidden = -std::numeric_limits<Real>::infinity();
  HEDDLE_SIMD
  for (std::int32_t i = part.begin; i < part.end; ++i) x[i] = allowed[i] != 0 ? scale * x[i] : hidden;
}

HEDDLE_KERNEL Real maximum_of(const Real* x, const RowPart& part) {
  constexpr Real nothing = -std::numeric_limits<Real>::infinity();
  Real maximum = nothing;
  HEDDLE_SIMD_MAX(maximum)
  for (std::int32_t i = 0; i < part.length; ++i) {
    const Real value = counts(part, i) ? x[i] : nothing;
    maximum = value > maximum ? value : maximum;
  }
  return maximum;
}

HEDDLE_KERNEL Real exponentiate(Real* x, Real scale, Real shift, const RowPart& part) {
  Real sum = 0;
  HEDDLE_SIMD_SUM(sum)
  for (std::int32_t i = 0; i < part.length; ++i) {
    const Real power = math::exp(scale * x[i] - shift);
    x[i] = counts(part, i) ? power : Real(0);
    sum += x[i];
  }
  return sum;
}

HEDDLE_KERNEL Real recompute_weights(Real* x, Real scale, Real log_sum, Real* d, const RowPart& part) {
  Real sum = 0;
  HEDDLE_SIMD_SUM(sum)
  for (std::int32_t i = 0; i < part.length; ++i) {
    const Real power = math::exp(scale * x[i] - log_sum);
    x[i] = counts(part, i) ? power : Real(0);
    d[i] = counts(part, i) ? d[i] : Real(0);
    sum += x[i] * d[i];
  }
  return sum;
}

HEDDLE_KERNEL void softmax_backward(const Real* x, Real* d, Real mean, Real scale, const RowPart& part) {
  HEDDLE_SIMD
  for (std::int32_t i = 0; i < part.length; ++i) d[i] = x[i] * (d[i] - mean) * scale;
}

HEDDLE_KERNEL void add_row(const Real* x, Real* sum, const RowPart& part) {
  HEDDLE_SIMD
  for (std::int32_t i = part.begin; i < part.end; ++i) sum[i] += x[i];
}

HEDDLE_KERNEL void multiply_rows(const Real* x, const Rows<Real>& rows, Real* sums) {
  multiply_rows_loop(x, rows, sums);
}
HEDDLE_KERNEL void multiply_rows(const Real* x, const Rows<BFloat16>& rows, Real* sums) {
  multiply_rows_loop(x, rows, sums);
}

HEDDLE_KERNEL void mix_rows(const Real* weights, const Rows<Real>& rows, Real* y) {
  mix_rows_loop(weights, rows, y);
}
HEDDLE_KERNEL void mix_rows(const Real* weights, const Rows<BFloat16>& rows, Real* y) {
  mix_rows_loop(weights, rows, y);
}

HEDDLE_KERNEL void store_scaled(const Real* x, Real factor, Real* y, Index count) {
  for (Index i = 0; i < count; ++i) y[i] = factor * x[i];
}
HEDDLE_KERNEL void store_scaled(const Real* x, Real factor, BFloat16* y, Index count) {
  for (Index i = 0; i < count; ++i) store(y[i], factor * x[i]);
}

HEDDLE_KERNEL void add_rows(const Real* x, Index x_stride, Real* y, Index y_stride, Index rows, Index count) {
  add_rows_loop(x, x_stride, y, y_stride, rows, count);
}
HEDDLE_KERNEL void add_rows(const Real* x, Index x_stride, BFloat16* y, Index y_stride, Index rows, Index count) {
  add_rows_loop(x, x_stride, y, y_stride, rows, count);
}

HEDDLE_KERNEL Real dot(const Real* x, const Real* y, Index count) {
  return dot_loop(x, y, count);
}
HEDDLE_KERNEL Real dot(const BFloat16* x, const BFloat16* y, Index count) {
  return dot_loop(x, y, count);
}

}  // namespace heddle::ops
