// Packing for kernels of plain vectors, of plain dtypes: one number of the panel after the other.
// Inside libcore/tensor only.
#pragma once

#include <algorithm>

#include "libcore/tensor/kernel.hpp"
#include "libcore/tensor/matrix.hpp"

namespace heddle {

namespace detail {

// panel[k][width] of at most `width` lanes (rows of x) over their whole depth; lanes that x lacks are zero.
template <Index width, class T>
HEDDLE_INLINE void pack_lanes(const MatrixView& x, Real* panel) {
  const T* const from = x.as<T>();
  const Index lane_step = x.row_step(), depth_step = x.column_step(), lanes = std::min(width, x.rows);
  for (Index k = 0; k < x.columns; ++k) {
    Real* const to = panel + k * width;
    for (Index lane = 0; lane < lanes; ++lane) to[lane] = load(from[lane * lane_step + k * depth_step]);
    for (Index lane = lanes; lane < width; ++lane) to[lane] = 0;
  }
}

}  // namespace detail

// `x` is the left operand's rows, or the right one's columns as rows of its transpose.
template <Index width>
HEDDLE_INLINE void pack_panel(const MatrixView& x, void* panel) {
  auto* const to = static_cast<Real*>(panel);
  x.dtype == DType::real ? detail::pack_lanes<width, Real>(x, to) : detail::pack_lanes<width, BFloat16>(x, to);
}

}  // namespace heddle
