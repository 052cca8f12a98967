// Gates [a_r a_z a_n] = a_t, [u_r u_z] = U_rz h_{t-1}; s is the sigmoid:
//
//   r = s(a_r + u_r),  z = s(a_z + u_z),  n = tanh(a_n + U_n (r h_{t-1})),  h_t = (1 - z) n + z h_{t-1}.
//
// Source: Cho et al. 2014, "Learning phrase representations", equations 5 to 8: the reset gate acts before the product
// with U_n, which therefore comes after the other gates (SPEC 5.3). Bahdanau et al. 2015 have 1 - z in place of z.
// Backward: da_n = du_n = dh (1 - z) (1 - n^2), da_z = du_z = dh (h_{t-1} - n) z (1 - z), and with the gradient dg =
// U_n^T du_n of g = r h_{t-1}: da_r = du_r = dg h_{t-1} r (1 - r), dh_{t-1} = dh z + dg r besides U_rz^T du.
#include "libcore/ops/cell.hpp"
#include "libcore/tensor/kernel.hpp"
#include "libcore/tensor/math.hpp"

namespace heddle::ops {

namespace {

// kept: r, z, n
HEDDLE_KERNEL void gate(const Real* a, const Real* u, const Real* h, Real* kept, Real* g, Index width) {
  HEDDLE_SIMD
  for (Index k = 0; k < width; ++k) {
    const Real r = math::sigmoid(a[k] + u[k]);
    kept[k] = r;
    g[k] = r * h[k];
  }
}

HEDDLE_KERNEL void forward(const Real* a, const Real* u, Real* h, Real* kept, Index width) {
  HEDDLE_SIMD
  for (Index k = 0; k < width; ++k) {
    const Real z = math::sigmoid(a[width + k] + u[width + k]);
    const Real n = math::tanh(a[2 * width + k] + u[2 * width + k]);
    h[k] = n + z * (h[k] - n);
    kept[width + k] = z;
    kept[2 * width + k] = n;
  }
}

HEDDLE_KERNEL void backward(const Real* kept, const Real* h, Real* dh, Real* da, Index width) {
  HEDDLE_SIMD
  for (Index k = 0; k < width; ++k) {
    const Real z = kept[width + k], n = kept[2 * width + k];
    da[width + k] = dh[k] * (h[k] - n) * z * (1 - z);
    da[2 * width + k] = dh[k] * (1 - z) * (1 - n * n);
    dh[k] *= z;
  }
}

HEDDLE_KERNEL void gate_backward(const Real* kept, const Real* h, const Real* dg, Real* dh, Real* da, Index width) {
  HEDDLE_SIMD
  for (Index k = 0; k < width; ++k) {
    const Real r = kept[k];
    da[k] = dg[k] * h[k] * r * (1 - r);
    dh[k] += dg[k] * r;
  }
}

}  // namespace

Cell describe_cho_cell() {
  return {
      .gates = 3,
      .states = 1,
      .kept = 3,
      .adds = true,
      .recurrent_bias = false,
      .forward = [](const CellForward& row) { forward(row.input, row.recurrent, row.state, row.kept, row.width); },
      .backward = [](const CellBackward& row) { backward(row.kept, row.hidden, row.state, row.input, row.width); },
      .keeping_gate = 1,
      .start = {.keeping_bias = -1, .embedding_stddev = 0.5},
      .gate = [](const CellForward& row) { gate(row.input, row.recurrent, row.state, row.kept, row.gated, row.width); },
      .gate_backward =
          [](const CellBackward& row) {
            gate_backward(row.kept, row.hidden, row.gated, row.state, row.input, row.width);
          }};
}

}  // namespace heddle::ops
