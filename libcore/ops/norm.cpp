#include "libcore/ops/norm.hpp"

#include <algorithm>
#include <cmath>

#include "libcore/ops/runs.hpp"
#include "libcore/tensor/kernel.hpp"
#include "libcore/tensor/threads.hpp"

namespace heddle::ops {

namespace {

constexpr Index rows_per_task = 32;

// Moments of a row for the backward pass: x^ = (x - mean) * inverse.
struct RowMoments {
  Real mean, inverse;
};

template <class X>
HEDDLE_INLINE RowMoments moments_loop(const X* x, Index width, bool centred, Real epsilon) {
  Real sum = 0, squares = 0;
  if (centred) {
    HEDDLE_SIMD_SUM(sum)
    for (Index i = 0; i < width; ++i) sum += load(x[i]);
  }
  const Real mean = sum / static_cast<Real>(width);
  HEDDLE_SIMD_SUM(squares)
  for (Index i = 0; i < width; ++i) squares += (load(x[i]) - mean) * (load(x[i]) - mean);
  return {mean, Real(1) / std::sqrt(squares / static_cast<Real>(width) + epsilon)};
}
HEDDLE_KERNEL RowMoments row_moments(const Real* x, Index width, bool centred, Real epsilon) {
  return moments_loop(x, width, centred, epsilon);
}
HEDDLE_KERNEL RowMoments row_moments(const BFloat16* x, Index width, bool centred, Real epsilon) {
  return moments_loop(x, width, centred, epsilon);
}

template <class X, class Y>
HEDDLE_INLINE void forward_loop(const X* x, RowMoments row, const Real* gain, const Real* bias, Y* y, Index width) {
  if (bias == nullptr) {
    for (Index i = 0; i < width; ++i) store(y[i], gain[i] * ((load(x[i]) - row.mean) * row.inverse));
  } else {
    for (Index i = 0; i < width; ++i) store(y[i], gain[i] * ((load(x[i]) - row.mean) * row.inverse) + bias[i]);
  }
}
#define HEDDLE_ROW_FORWARD(X, Y)                                                                                      \
  HEDDLE_KERNEL void row_forward(const X* x, RowMoments row, const Real* gain, const Real* bias, Y* y, Index width) { \
    forward_loop(x, row, gain, bias, y, width);                                                                       \
  }
HEDDLE_ROW_FORWARD(Real, Real)
HEDDLE_ROW_FORWARD(Real, BFloat16)
HEDDLE_ROW_FORWARD(BFloat16, Real)
HEDDLE_ROW_FORWARD(BFloat16, BFloat16)
#undef HEDDLE_ROW_FORWARD

// dx = inverse (g - mean g - x^ mean(g x^)), g = gain dy; the mean of g is left out when the norm does not centre.
// The same pass adds dy x^ and dy to the gradients of gain and bias.
struct RowGradients {
  Real *dgain, *dbias;
};
template <class X, class Y>
HEDDLE_INLINE void backward_loop(const X* x, RowMoments row, const Real* gain, const Y* dy, bool centred, Real beta,
                                 X* dx, const RowGradients& to, Index width) {
  Real sum = 0, product = 0;
  HEDDLE_SIMD_SUM(sum, product)
  for (Index i = 0; i < width; ++i) {
    const Real g = gain[i] * load(dy[i]);
    sum += g;
    product += g * ((load(x[i]) - row.mean) * row.inverse);
  }
  const Real mean_g = centred ? sum / static_cast<Real>(width) : Real(0);
  const Real mean_gx = product / static_cast<Real>(width);
  HEDDLE_SIMD
  for (Index i = 0; i < width; ++i) {
    const Real normal = (load(x[i]) - row.mean) * row.inverse, derivative = load(dy[i]);
    const Real change = row.inverse * (gain[i] * derivative - mean_g - normal * mean_gx);
    store(dx[i], beta == 0 ? change : load(dx[i]) + change);
    to.dgain[i] += derivative * normal;
    to.dbias[i] += derivative;
  }
}
#define HEDDLE_ROW_BACKWARD(X, Y)                                                                                     \
  HEDDLE_KERNEL void row_backward(const X* x, RowMoments row, const Real* gain, const Y* dy, bool centred, Real beta, \
                                  X* dx, const RowGradients& to, Index width) {                                       \
    backward_loop(x, row, gain, dy, centred, beta, dx, to, width);                                                    \
  }
HEDDLE_ROW_BACKWARD(Real, Real)
HEDDLE_ROW_BACKWARD(Real, BFloat16)
HEDDLE_ROW_BACKWARD(BFloat16, Real)
HEDDLE_ROW_BACKWARD(BFloat16, BFloat16)
#undef HEDDLE_ROW_BACKWARD

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

// Offsets of the rows of a tensor, in elements.
class RowPlaces {
 public:
  explicit RowPlaces(const Tensor& x) : x_(x), width_(x.shape()[-1]), is_contiguous_(x.is_contiguous()) {}
  Index operator[](Index row) const { return is_contiguous_ ? row * width_ : row_offset(x_, row); }

 private:
  const Tensor& x_;
  Index width_;
  bool is_contiguous_;
};

struct Norm {
  bool centred;
  Real epsilon;
  DType output;
};

// Saved for the backward pass.
struct Saved {
  Tensor x, gain, moments;  // moments [rows, 2]
  bool centred;
  Index rows, width;
};

void propagate(const Saved& saved, const Tensor& dy, const Tensor& dx, Real beta, const GradientTarget* dgain,
               const GradientTarget* dbias) {
  const Index width = saved.width, tasks = (saved.rows + rows_per_task - 1) / rows_per_task;
  const Tensor gains({tasks, width}), biases({tasks, width});
  const RowPlaces rows_of_x(saved.x), rows_of_dy(dy), rows_of_dx(dx);
  saved.x.with_data([&]<class X>(const X* x) {
    X* const to = dx.data<X>();
    dy.with_data([&](const auto* gradients) {
      parallel_for(tasks, [&](Index task) {
        Real* gains_here = gains.data() + task * width;
        Real* biases_here = biases.data() + task * width;
        std::fill_n(gains_here, width, Real(0));
        std::fill_n(biases_here, width, Real(0));
        for (Index r = task * rows_per_task; r < std::min(saved.rows, (task + 1) * rows_per_task); ++r) {
          row_backward(x + rows_of_x[r], {saved.moments[2 * r], saved.moments[2 * r + 1]}, saved.gain.data(),
                       gradients + rows_of_dy[r], saved.centred, beta, to + rows_of_dx[r], {gains_here, biases_here},
                       width);
        }
      });
    });
  });
  if (dgain != nullptr) sum_parts(gains, *dgain);
  if (dbias != nullptr) sum_parts(biases, *dbias);
}

Variable normalise(const Variable& x, const Variable& gain, const Variable& bias, Norm norm) {
  const Section section("norm");
  const Index width = x.shape()[-1], rows = x.value().size() / std::max<Index>(1, width);
  check_rows(x.value(), "a norm");
  check<ShapeError>(gain.shape() == Shape{width} && (bias.empty() || bias.shape() == Shape{width}),
                    "norm: input of shape ", x.shape(), " and gain of shape ", gain.shape());
  const Tensor y(x.shape(), norm.output), moments({rows, 2});
  const RowPlaces places(x.value());
  x.value().with_data([&](const auto* from) {
    y.with_data([&](auto* to) {
      parallel_ranges(rows, rows_per_task, [&](Index begin, Index end) {
        for (Index r = begin; r < end; ++r) {
          const auto* row = from + places[r];
          const RowMoments row_is = row_moments(row, width, norm.centred, norm.epsilon);
          moments[2 * r] = row_is.mean;
          moments[2 * r + 1] = row_is.inverse;
          row_forward(row, row_is, gain.value().data(), bias.value().data(), to + r * width, width);
        }
      });
    });
  });
  const Saved saved{x.value(), gain.value(), moments, norm.centred, rows, width};
  return record(
      y, {x, gain, bias},
      [saved, dx = x.gradient(), dgain = gain.gradient(), dbias = bias.gradient()](const Tensor& dy) {
        // The kernel writes this gradient even if it is not needed.
        const GradientTarget to = dx ? dx->target() : GradientTarget{Tensor(saved.x.shape(), saved.x.dtype()), false};
        const GradientTarget to_gain = dgain ? dgain->target() : GradientTarget{};
        const GradientTarget to_bias = dbias ? dbias->target() : GradientTarget{};
        propagate(saved, dy, to.tensor, to.beta(), dgain ? &to_gain : nullptr, dbias ? &to_bias : nullptr);
      });
}

}  // namespace

Variable layer_norm(const Variable& x, const Variable& gain, const Variable& bias, Real epsilon, DType output) {
  return normalise(x, gain, bias, {true, epsilon, output});
}

Variable rms_norm(const Variable& x, const Variable& gain, Real epsilon, DType output) {
  return normalise(x, gain, {}, {false, epsilon, output});
}

}  // namespace heddle::ops
