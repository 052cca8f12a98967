// Products of rows with rows, the inner loops of few_rows.cpp. Inside libcore/tensor only.
#pragma once

#include "heddle/tensor/element.hpp"

namespace heddle {

// W is Real, BFloat16 or int8_t.
template <class W>
struct DotKernels {
  // x . w over `count` numbers. Reads w as one stream.
  Real (*one)(const Real* x, const W* w, Index count);
  // sums[j] = x . w_j for four rows w + j distance: four streams, which memory serves faster than one.
  void (*streams)(const Real* x, const W* w, Index distance, Index count, Real* sums);
  // sums[4 i + j] = x_i . w_j for four rows of each, x_stride and w_stride apart. fetch_next asks memory for the four rows
  // of w that follow.
  void (*four)(const Real* x, Index x_stride, const W* w, Index w_stride, Index count, bool fetch_next, Real* sums);
  // sums[16 j + i] = x_i . w_j for 16 rows of each, where xt[16 k + i] = x_i[k]. Null where it would be no faster.
  void (*sixteen)(const Real* xt, const W* w, Index w_stride, Index count, Real* sums);
};

// The best ones for this processor.
template <class W>
DotKernels<W> dot_kernels();

}  // namespace heddle
