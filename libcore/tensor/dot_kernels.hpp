// Products of rows with rows, the inner loops of few_rows.cpp. Inside libcore/tensor only.
#pragma once

#include "libcore/tensor/dtype.hpp"

namespace heddle {

// W is Real, BFloat16 or int8_t. All kernels of a processor sum a product in the same order, so that a row's results do
// not depend on the number of rows.
template <class W>
struct DotKernels {
  // x . w over `count` numbers. Reads w as one stream.
  Real (*one)(const Real* x, const W* w, Index count);
  // sums[j] = x . w_j for four rows w + j distance: four streams, which memory serves faster than one.
  void (*streams)(const Real* x, const W* w, Index distance, Index count, Real* sums);
  // sums[2 i + j] = x_i . w_j for eight rows x + i x_stride and two rows w + j w_stride. Meanwhile `fetched` numbers
  // starting at next[0], and as many at next[1], are prefetched, evenly spread.
  void (*eight)(const Real* x, Index x_stride, const W* w, Index w_stride, Index count, const W* const* next,
                Index fetched, Real* sums);
};

// The best ones for this processor.
template <class W>
DotKernels<W> dot_kernels();

}  // namespace heddle
