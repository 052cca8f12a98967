// Gates [i f g o] = a_t + u_t; s is the sigmoid; c, the second part of the state, is the cell state:
//
//   c_t = s(f) c_{t-1} + s(i) tanh(g),  h_t = s(o) tanh(c_t).
//
// Source: Hochreiter and Schmidhuber 1997, with forget gates (Gers et al. 2000) (SPEC 5.2); the gates are in PyTorch's
// order.
// Backward, with t = tanh(c_t): dc = dc_t + dh_t s(o) (1 - t^2); those of the gates follow, and dc_{t-1} = dc s(f).
#include "libcore/ops/cell.hpp"
#include "libcore/tensor/kernel.hpp"
#include "libcore/tensor/math.hpp"

namespace heddle::ops {

namespace {

// kept: s(i), s(f), tanh(g), s(o), tanh(c_t), c_{t-1}
HEDDLE_KERNEL void forward(const Real* a, const Real* u, Real* state, Real* kept, Index width) {
  Real *const h = state, *const c = state + width;
  HEDDLE_SIMD
  for (Index k = 0; k < width; ++k) {
    const Real i = math::sigmoid(a[k] + u[k]);
    const Real f = math::sigmoid(a[width + k] + u[width + k]);
    const Real g = math::tanh(a[2 * width + k] + u[2 * width + k]);
    const Real o = math::sigmoid(a[3 * width + k] + u[3 * width + k]);
    const Real before = c[k], after = f * before + i * g, t = math::tanh(after);
    c[k] = after;
    h[k] = o * t;
    kept[k] = i;
    kept[width + k] = f;
    kept[2 * width + k] = g;
    kept[3 * width + k] = o;
    kept[4 * width + k] = t;
    kept[5 * width + k] = before;
  }
}

HEDDLE_KERNEL void backward(const Real* kept, Real* state, Real* gates, Index width) {
  Real *const dh = state, *const dc = state + width;
  HEDDLE_SIMD
  for (Index k = 0; k < width; ++k) {
    const Real i = kept[k], f = kept[width + k], g = kept[2 * width + k], o = kept[3 * width + k];
    const Real t = kept[4 * width + k], before = kept[5 * width + k];
    const Real d = dc[k] + dh[k] * o * (1 - t * t);
    gates[k] = d * g * i * (1 - i);
    gates[width + k] = d * before * f * (1 - f);
    gates[2 * width + k] = d * i * (1 - g * g);
    gates[3 * width + k] = dh[k] * t * o * (1 - o);
    dc[k] = d * f;
    dh[k] = 0;
  }
}

}  // namespace

Cell describe_lstm_cell() {
  return {.gates = 4,
          .states = 2,
          .kept = 6,
          .adds = true,
          .recurrent_bias = false,
          .forward = [](const CellForward& row) { forward(row.input, row.recurrent, row.state, row.kept, row.width); },
          .backward = [](const CellBackward& row) { backward(row.kept, row.state, row.input, row.width); },
          .keeping_gate = 1};
}

}  // namespace heddle::ops
