#include "heddle/ops/norm.hpp"

#include <cmath>
#include <vector>

#include "heddle/tensor/kernel.hpp"
#include "heddle/tensor/threads.hpp"

namespace heddle::ops {

namespace {

constexpr Index rows_a_task = 32;

// What the backward pass needs of a row: x^ = (x - mean) * inverse.
struct RowMoments {
  Real mean, inverse;
};

HEDDLE_KERNEL RowMoments row_moments(const Real* x, Index width, bool centred, Real epsilon) {
  Real sum = 0, squares = 0;
  if (centred) {
    HEDDLE_SIMD_SUM(sum)
    for (Index i = 0; i < width; ++i) sum += x[i];
  }
  const Real mean = sum / static_cast<Real>(width);
  HEDDLE_SIMD_SUM(squares)
  for (Index i = 0; i < width; ++i) squares += (x[i] - mean) * (x[i] - mean);
  return {mean, Real(1) / std::sqrt(squares / static_cast<Real>(width) + epsilon)};
}

HEDDLE_KERNEL void row_forward(const Real* x, RowMoments row, const Real* gain, const Real* bias, Real* y,
                               Index width) {
  if (bias == nullptr) {
    for (Index i = 0; i < width; ++i) y[i] = gain[i] * ((x[i] - row.mean) * row.inverse);
  } else {
    for (Index i = 0; i < width; ++i) y[i] = gain[i] * ((x[i] - row.mean) * row.inverse) + bias[i];
  }
}

// dx = inverse (g - mean g - x^ mean(g x^)), g = gain dy; the mean of g is left out when the norm does not centre.
HEDDLE_KERNEL void row_backward(const Real* x, RowMoments row, const Real* gain, const Real* dy, bool centred,
                                Real beta, Real* dx, Index width) {
  Real sum = 0, product = 0;
  HEDDLE_SIMD_SUM(sum, product)
  for (Index i = 0; i < width; ++i) {
    const Real g = gain[i] * dy[i];
    sum += g;
    product += g * ((x[i] - row.mean) * row.inverse);
  }
  const Real mean_g = centred ? sum / static_cast<Real>(width) : Real(0);
  const Real mean_gx = product / static_cast<Real>(width);
  for (Index i = 0; i < width; ++i) {
    const Real normal = (x[i] - row.mean) * row.inverse;
    const Real change = row.inverse * (gain[i] * dy[i] - mean_g - normal * mean_gx);
    dx[i] = beta == 0 ? change : dx[i] + change;
  }
}

HEDDLE_KERNEL void row_gains(const Real* x, RowMoments row, const Real* dy, Real* dgain, Real* dbias, Index width) {
  for (Index i = 0; i < width; ++i) {
    dgain[i] += dy[i] * ((x[i] - row.mean) * row.inverse);
    dbias[i] += dy[i];
  }
}

// target (+)= sum over parts of part[row]: parts [count, width], summed in order, in double.
void sum_parts(const Tensor& parts, const GradientTarget& target) {
  const Index width = parts.shape()[1], count = parts.shape()[0];
  parallel_ranges(width, 64, [&](Index begin, Index end) {
    for (Index i = begin; i < end; ++i) {
      double sum = target.add ? target.tensor[i] : Real(0);
      for (Index part = 0; part < count; ++part) sum += parts[part * width + i];
      target.tensor[i] = static_cast<Real>(sum);
    }
  });
}

struct Norm {
  bool centred;
  Real epsilon;
};

Variable normalise(const Variable& x, const Variable& gain, const Variable& bias, Norm norm) {
  const Index width = x.shape()[-1], rows = x.value().size() / std::max<Index>(1, width);
  check<ShapeError>(gain.shape() == Shape{width} && (bias.empty() || bias.shape() == Shape{width}) &&
                        x.value().is_contiguous(),
                    "norm: input of shape ", x.shape(), " and gain of shape ", gain.shape());
  const Tensor y(x.shape());
  const Tensor moments({rows, 2});
  parallel_ranges(rows, rows_a_task, [&](Index begin, Index end) {
    for (Index r = begin; r < end; ++r) {
      const Real* row = x.value().data() + r * width;
      const RowMoments row_is = row_moments(row, width, norm.centred, norm.epsilon);
      moments[2 * r] = row_is.mean;
      moments[2 * r + 1] = row_is.inverse;
      row_forward(row, row_is, gain.value().data(), bias.value().data(), y.data() + r * width, width);
    }
  });
  return record(y, {x, gain, bias},
                [x_value = x.value(), g_value = gain.value(), dx = x.gradient(), dgain = gain.gradient(),
                 dbias = bias.gradient(), moments, centred = norm.centred, rows, width](const Tensor& dy) {
                  const Index tasks = (rows + rows_a_task - 1) / rows_a_task;
                  const Tensor gains({tasks, width}), biases({tasks, width});
                  const GradientTarget to = dx ? dx->target() : GradientTarget{};
                  parallel_for(tasks, [&](Index task) {
                    Real* gains_here = gains.data() + task * width;
                    Real* biases_here = biases.data() + task * width;
                    std::fill_n(gains_here, width, Real(0));
                    std::fill_n(biases_here, width, Real(0));
                    for (Index r = task * rows_a_task; r < std::min(rows, (task + 1) * rows_a_task); ++r) {
                      const RowMoments row{moments[2 * r], moments[2 * r + 1]};
                      const Real* x_row = x_value.data() + r * width;
                      const Real* dy_row = dy.data() + r * width;
                      row_gains(x_row, row, dy_row, gains_here, biases_here, width);
                      if (dx) {
                        row_backward(x_row, row, g_value.data(), dy_row, centred, to.beta(),
                                     to.tensor.data() + r * width, width);
                      }
                    }
                  });
                  if (dgain) sum_parts(gains, dgain->target());
                  if (dbias) sum_parts(biases, dbias->target());
                });
}

}  // namespace

Variable layer_norm(const Variable& x, const Variable& gain, const Variable& bias, Real epsilon) {
  return normalise(x, gain, bias, {true, epsilon});
}

Variable rms_norm(const Variable& x, const Variable& gain, Real epsilon) {
  return normalise(x, gain, {}, {false, epsilon});
}

}  // namespace heddle::ops
