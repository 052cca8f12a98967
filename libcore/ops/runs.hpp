// Element-wise loops over tensors of one shape, with any strides except in the last dimension.
#pragma once

#include <algorithm>
#include <array>

#include "libcore/tensor/tensor.hpp"
#include "libcore/tensor/threads.hpp"

namespace heddle::ops {

// Throws ShapeError unless the elements of each row, a run of the last dimension, are contiguous.
inline void check_rows(const Tensor& x, const char* operation) {
  check<ShapeError>(x.rank() > 0 && (x.stride(-1) == 1 || x.shape()[-1] <= 1), operation,
                    " needs the elements of a row together, in a tensor of shape ", x.shape());
}

// The rows of x: [rows, width]. One of an empty tensor has none.
inline Index row_count(const Tensor& x) {
  return x.size() / std::max<Index>(1, x.shape()[-1]);
}

// Offset of row `row` of x, in elements.
inline Index row_offset(const Tensor& x, Index row) {
  Index offset = 0;
  for (int i = x.rank() - 2; i > 0; --i) {
    offset += row % x.shape()[i] * x.stride(i);
    row /= x.shape()[i];
  }
  return x.rank() < 2 ? 0 : offset + row * x.stride(0);
}

constexpr Index run_grain = 8192;  // elements per task

// Calls body(row) for every row of x on all threads.
template <class Body>
void for_each_row(const Tensor& x, const Body& body) {
  const Index width = std::max<Index>(1, x.shape()[-1]);
  parallel_ranges(row_count(x), std::max<Index>(1, run_grain / width), [&](Index begin, Index end) {
    for (Index row = begin; row < end; ++row) body(row);
  });
}

// Calls body(offsets, count) on all threads for contiguous runs that together cover all elements; offsets[i] is the
// beginning of the run in tensor i.
template <std::size_t count, class Body>
void for_each_run(const Tensor (&tensors)[count], const Body& body) {
  using Offsets = std::array<Index, count>;
  if (std::all_of(tensors, tensors + count, [](const Tensor& x) { return x.is_contiguous(); })) {
    return parallel_ranges(tensors[0].size(), run_grain, [&](Index begin, Index end) {
      Offsets offsets;
      offsets.fill(begin);
      body(offsets, end - begin);
    });
  }
  for_each_row(tensors[0], [&](Index row) {
    Offsets offsets;
    for (std::size_t i = 0; i < count; ++i) offsets[i] = row_offset(tensors[i], row);
    body(offsets, tensors[0].shape()[-1]);
  });
}

}  // namespace heddle::ops
