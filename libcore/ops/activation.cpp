#include "heddle/ops/activation.hpp"

#include "heddle/tensor/math.hpp"
#include "heddle/tensor/threads.hpp"

namespace heddle::ops {

namespace {

constexpr Index grain = 8192;

// Each function is a value and a slope at x.
struct Relu {
  static HEDDLE_INLINE Real value(Real x) { return x > 0 ? x : Real(0); }
  static HEDDLE_INLINE Real slope(Real x) { return x > 0 ? Real(1) : Real(0); }
};

struct Gelu {
  static HEDDLE_INLINE Real distribution(Real x) {
    return Real(0.5) * (Real(1) + math::erf(x * Real(0.70710678118654752)));
  }
  static HEDDLE_INLINE Real value(Real x) { return x * distribution(x); }
  static HEDDLE_INLINE Real slope(Real x) {
    return distribution(x) + x * Real(0.39894228040143268) * math::exp(Real(-0.5) * x * x);
  }
};

struct GeluTanh {
  static constexpr Real root = Real(0.79788456080286536), cubic = Real(0.044715);
  static HEDDLE_INLINE Real value(Real x) {
    return Real(0.5) * x * (Real(1) + math::tanh(root * (x + cubic * x * x * x)));
  }
  static HEDDLE_INLINE Real slope(Real x) {
    const Real t = math::tanh(root * (x + cubic * x * x * x));
    return Real(0.5) * (Real(1) + t) + Real(0.5) * x * (Real(1) - t * t) * root * (Real(1) + 3 * cubic * x * x);
  }
};

struct Silu {
  static HEDDLE_INLINE Real value(Real x) { return x * math::sigmoid(x); }
  static HEDDLE_INLINE Real slope(Real x) {
    const Real s = math::sigmoid(x);
    return s * (Real(1) + x * (Real(1) - s));
  }
};

template <class F>
HEDDLE_INLINE void forward_loop(const Real* x, Real* y, Index count) {
  for (Index i = 0; i < count; ++i) y[i] = F::value(x[i]);
}
template <class F>
HEDDLE_INLINE void backward_loop(const Real* x, const Real* dy, Real beta, Real* dx, Index count) {
  if (beta == 0) {
    for (Index i = 0; i < count; ++i) dx[i] = dy[i] * F::slope(x[i]);
  } else {
    for (Index i = 0; i < count; ++i) dx[i] += dy[i] * F::slope(x[i]);
  }
}

HEDDLE_KERNEL void forward(Activation activation, const Real* x, Real* y, Index count) {
  switch (activation) {
    case Activation::relu: return forward_loop<Relu>(x, y, count);
    case Activation::gelu: return forward_loop<Gelu>(x, y, count);
    case Activation::gelu_tanh: return forward_loop<GeluTanh>(x, y, count);
    case Activation::silu: return forward_loop<Silu>(x, y, count);
  }
}

HEDDLE_KERNEL void backward(Activation activation, const Real* x, const Real* dy, Real beta, Real* dx, Index count) {
  switch (activation) {
    case Activation::relu: return backward_loop<Relu>(x, dy, beta, dx, count);
    case Activation::gelu: return backward_loop<Gelu>(x, dy, beta, dx, count);
    case Activation::gelu_tanh: return backward_loop<GeluTanh>(x, dy, beta, dx, count);
    case Activation::silu: return backward_loop<Silu>(x, dy, beta, dx, count);
  }
}

}  // namespace

Variable activate(const Variable& x, Activation activation) {
  check<ShapeError>(x.value().is_contiguous(), "activate needs a contiguous tensor");
  const Tensor y(x.shape());
  parallel_ranges(y.size(), grain, [&](Index begin, Index end) {
    forward(activation, x.value().data() + begin, y.data() + begin, end - begin);
  });
  return record(y, {x}, [activation, value = x.value(), gradient = x.gradient()](const Tensor& dy) {
    const GradientTarget dx = gradient->target();
    parallel_ranges(dy.size(), grain, [&](Index begin, Index end) {
      backward(activation, value.data() + begin, dy.data() + begin, dx.beta(), dx.tensor.data() + begin, end - begin);
    });
  });
}

}  // namespace heddle::ops
