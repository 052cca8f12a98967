// Kernels of fused attention for one row of scores, or for rows of keys and values. Inside ops/attention.cpp only.
#pragma once

#include "heddle/tensor/element.hpp"

namespace heddle::ops {

// Rows of scores are worked on in whole vectors: [0, length) of which only [begin, end) count. What lies outside may be
// anything, and becomes zero.
struct RowPart {
  std::int32_t begin, end, length;
  static constexpr Index unit = 16;  // length is a multiple of it
};

// Minus infinity where none counts.
Real maximum_of(const Real* x, const RowPart& part);
// x = e^(scale x - shift); returns the sum.
Real exponentiate(Real* x, Real scale, Real shift, const RowPart& part);
// x = e^(scale x - shift), the weights; d becomes x (d - sum_j x_j d_j) scale.
void score_gradient(Real* x, Real scale, Real shift, Real* d, const RowPart& part);

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

// y = factor x
void store_scaled(const Real* x, Real factor, Real* y, Index count);
void store_scaled(const Real* x, Real factor, BFloat16* y, Index count);
// Rows of y += rows of x, `count` numbers each.
void add_rows(const Real* x, Index x_stride, Real* y, Index y_stride, Index rows, Index count);
void add_rows(const Real* x, Index x_stride, BFloat16* y, Index y_stride, Index rows, Index count);

}  // namespace heddle::ops
