// h_t = tanh(a_t + u_t).  Source: Elman 1990, "Finding structure in time".
// Backward: d(a + u) = dh_t (1 - h_t^2).
#include "libcore/ops/cell.hpp"
#include "libcore/tensor/kernel.hpp"
#include "libcore/tensor/math.hpp"

namespace heddle::ops {

namespace {

HEDDLE_KERNEL void forward(const Real* a, const Real* u, Real* h, Index width) {
  HEDDLE_SIMD
  for (Index k = 0; k < width; ++k) h[k] = math::tanh(a[k] + u[k]);
}

HEDDLE_KERNEL void backward(const Real* h, Real* dh, Real* da, Index width) {
  HEDDLE_SIMD
  for (Index k = 0; k < width; ++k) {
    da[k] = dh[k] * (1 - h[k] * h[k]);
    dh[k] = 0;
  }
}

}  // namespace

Cell describe_tanh_cell() {
  return {.gates = 1,
          .states = 1,
          .kept = 0,
          .adds = true,
          .recurrent_bias = false,
          .forward = [](const CellForward& row) { forward(row.input, row.recurrent, row.state, row.width); },
          .backward = [](const CellBackward& row) { backward(row.next_hidden, row.state, row.input, row.width); },
          .start = {.embedding_stddev = 0.3}};
}

}  // namespace heddle::ops
