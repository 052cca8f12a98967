// Gates [a_r a_z a_n] = a_t, [u_r u_z u_n] = u_t; s is the sigmoid, b_h a bias:
//
//   r = s(a_r + u_r),  z = s(a_z + u_z),  n = tanh(a_n + r (u_n + b_h)),  h_t = (1 - z) n + z h_{t-1}.
//
// Source: Cho et al. 2014, "Learning phrase representations", in the form of cuDNN and PyTorch, whose order of gates
// this is: the reset gate acts after the product with U, so that one product gives all gates (SPEC A7). Cho's own form
// is the cell cho. Backward: dn = dh (1 - z) (1 - n^2) is that of a_n; du_n = dn r, da_r = du_r = dn (u_n + b_h) r (1 -
// r), da_z = du_z = dh (h_{t-1} - n) z (1 - z), and dh_{t-1} = dh z besides U^T du.
#include "libcore/ops/cell.hpp"
#include "libcore/tensor/kernel.hpp"
#include "libcore/tensor/math.hpp"

namespace heddle::ops {

namespace {

// kept: r, z, n, u_n + b_h
HEDDLE_KERNEL void forward(const Real* a, const Real* u, const Real* bias, Real* h, Real* kept, Index width) {
  HEDDLE_SIMD
  for (Index k = 0; k < width; ++k) {
    const Real r = math::sigmoid(a[k] + u[k]);
    const Real z = math::sigmoid(a[width + k] + u[width + k]);
    const Real before = u[2 * width + k] + bias[k];
    const Real n = math::tanh(a[2 * width + k] + r * before);
    h[k] = n + z * (h[k] - n);
    kept[k] = r;
    kept[width + k] = z;
    kept[2 * width + k] = n;
    kept[3 * width + k] = before;
  }
}

HEDDLE_KERNEL void backward(const Real* kept, const Real* h, Real* dh, Real* da, Real* du, Index width) {
  HEDDLE_SIMD
  for (Index k = 0; k < width; ++k) {
    const Real r = kept[k], z = kept[width + k], n = kept[2 * width + k], before = kept[3 * width + k];
    const Real dn = dh[k] * (1 - z) * (1 - n * n);
    const Real dr = dn * before * r * (1 - r), dz = dh[k] * (h[k] - n) * z * (1 - z);
    da[k] = dr;
    da[width + k] = dz;
    da[2 * width + k] = dn;
    du[k] = dr;
    du[width + k] = dz;
    du[2 * width + k] = dn * r;
    dh[k] *= z;
  }
}

}  // namespace

Cell describe_gru_cell() {
  return {
      .gates = 3,
      .states = 1,
      .kept = 4,
      .adds = false,
      .recurrent_bias = true,
      .forward =
          [](const CellForward& row) { forward(row.input, row.recurrent, row.bias, row.state, row.kept, row.width); },
      .backward =
          [](const CellBackward& row) {
            backward(row.kept, row.hidden, row.state, row.input, row.recurrent, row.width);
          },
      .keeping_gate = 1,
      .start = {.keeping_bias = -1, .embedding_stddev = 0.5}};
}

}  // namespace heddle::ops
