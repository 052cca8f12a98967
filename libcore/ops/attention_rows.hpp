// Kernels of attention for one row of scores, or for rows of keys and values. Inside operations of attention only.
#pragma once

#include "libcore/tensor/dtype.hpp"

namespace heddle::ops {

// Rows of scores are processed in whole vectors: [0, length), of which only [begin, end) is valid. Values outside are
// undefined and become zero in weights and derivatives.
struct RowPart {
  std::int32_t begin, end, length;
  static constexpr Index unit = 16;  // length is a multiple of it
  bool is_empty() const { return begin >= end; }
};

// x = scale x + bias, in the valid part of the row.
void add_bias(Real* x, Real scale, const Real* bias, const RowPart& part);
// x = scale x where allowed, else minus infinity, in the valid part of the row.
void hide_others(Real* x, Real scale, const std::uint8_t* allowed, const RowPart& part);

// Minus infinity if nothing is valid.
Real maximum_of(const Real* x, const RowPart& part);
// x = e^(scale x - shift); returns the sum.
Real exponentiate(Real* x, Real scale, Real shift, const RowPart& part);
// x = e^(scale x - log_sum), the weights; returns sum_j x_j d_j. d becomes zero outside the valid part.
Real recompute_weights(Real* x, Real scale, Real log_sum, Real* d, const RowPart& part);
// d = x (d - mean) scale: from the derivatives of weights x to those of scores.
void softmax_backward(const Real* x, Real* d, Real mean, Real scale, const RowPart& part);

// sum += x, in the valid part of the row.
void add_row(const Real* x, Real* sum, const RowPart& part);
// y = factor x
void store_scaled(const Real* x, Real factor, Real* y, Index count);
void store_scaled(const Real* x, Real factor, BFloat16* y, Index count);
// Rows of y += rows of x, `count` numbers each.
void add_rows(const Real* x, Index x_stride, Real* y, Index y_stride, Index rows, Index count);
void add_rows(const Real* x, Index x_stride, BFloat16* y, Index y_stride, Index rows, Index count);
// x . y
Real dot(const Real* x, const Real* y, Index count);
Real dot(const BFloat16* x, const BFloat16* y, Index count);

// Rows of `width` numbers, `stride` apart.
template <class T>
struct Rows {
  const T* data;
  Index stride, count, width;
};

// sums_j = x . row j
void multiply_rows(const Real* x, const Rows<Real>& rows, Real* sums);
void multiply_rows(const Real* x, const Rows<BFloat16>& rows, Real* sums);
// y = sum_j weights_j row j
void mix_rows(const Real* weights, const Rows<Real>& rows, Real* y);
void mix_rows(const Real* weights, const Rows<BFloat16>& rows, Real* y);

}  // namespace heddle::ops
