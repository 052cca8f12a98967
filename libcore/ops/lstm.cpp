#include "heddle/ops/lstm.hpp"

#include "heddle/tensor/kernel.hpp"
#include "heddle/tensor/math.hpp"
#include "heddle/tensor/threads.hpp"

namespace heddle::ops {

namespace {

constexpr Index rows_per_task = 4;

// One row: the gates become what the non-linearities make of them.
HEDDLE_KERNEL void forward_row(Real* gates, const Real* cell, Real* h, Real* c, Index width) {
  Real *const i = gates, *const f = gates + width, *const g = gates + 2 * width, *const o = gates + 3 * width;
  HEDDLE_SIMD
  for (Index k = 0; k < width; ++k) {
    i[k] = math::sigmoid(i[k]);
    f[k] = math::sigmoid(f[k]);
    g[k] = math::tanh(g[k]);
    o[k] = math::sigmoid(o[k]);
    c[k] = f[k] * cell[k] + i[k] * g[k];
    h[k] = o[k] * math::tanh(c[k]);
  }
}

struct RowGradients {
  const Real *h, *c;  // of h' and c'
  Real *gates, *cell;
};

HEDDLE_KERNEL void backward_row(const Real* gates, const Real* cell, const Real* c, const RowGradients& d,
                                Index width) {
  const Real *const i = gates, *const f = gates + width, *const g = gates + 2 * width, *const o = gates + 3 * width;
  Real *const di = d.gates, *const df = di + width, *const dg = df + width, *const d_o = dg + width;
  HEDDLE_SIMD
  for (Index k = 0; k < width; ++k) {
    const Real t = math::tanh(c[k]);
    const Real dc = d.c[k] + d.h[k] * o[k] * (1 - t * t);
    di[k] = dc * g[k] * i[k] * (1 - i[k]);
    df[k] = dc * cell[k] * f[k] * (1 - f[k]);
    dg[k] = dc * i[k] * (1 - g[k] * g[k]);
    d_o[k] = d.h[k] * t * o[k] * (1 - o[k]);
    d.cell[k] = dc * f[k];
  }
}

}  // namespace

Variable lstm_cell(const Variable& gates, const Variable& cell) {
  const Section section("lstm cell");
  const Shape shape = cell.shape();
  check<ShapeError>(shape.rank() == 2 && gates.shape() == Shape({shape[0], 4 * shape[1]}), "lstm_cell: gates of shape ",
                    gates.shape(), " for a cell of shape ", shape);
  const Index batch = shape[0], width = shape[1];
  const Tensor y({2, batch, width}), active = gates.value().copy();
  parallel_ranges(batch, rows_per_task, [&](Index begin, Index end) {
    for (Index b = begin; b < end; ++b) {
      forward_row(active.data() + 4 * b * width, cell.value().data() + b * width, y.data() + b * width,
                  y.data() + (batch + b) * width, width);
    }
  });
  return record(y, {gates, cell},
                [=, before = cell.value(), d_gates = gates.gradient(), d_cell = cell.gradient()](const Tensor& dy) {
                  const Tensor dg({batch, 4 * width}), dc({batch, width});
                  parallel_ranges(batch, rows_per_task, [&](Index begin, Index end) {
                    for (Index b = begin; b < end; ++b) {
                      const Index at = b * width;
                      backward_row(active.data() + 4 * at, before.data() + at, y.data() + batch * width + at,
                                   {dy.data() + at, dy.data() + batch * width + at, dg.data() + 4 * at, dc.data() + at},
                                   width);
                    }
                  });
                  if (d_gates) d_gates->contribute(dg);
                  if (d_cell) d_cell->contribute(dc);
                });
}

}  // namespace heddle::ops
