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

template <class F, class X, class Y>
HEDDLE_INLINE void forward_loop(const X* x, Y* y, Index count) {
  for (Index i = 0; i < count; ++i) store(y[i], F::value(load(x[i])));
}
template <class F, class X>
HEDDLE_INLINE void backward_loop(const X* x, const X* dy, Real beta, X* dx, Index count) {
  if (beta == 0) {
    for (Index i = 0; i < count; ++i) store(dx[i], load(dy[i]) * F::slope(load(x[i])));
  } else {
    for (Index i = 0; i < count; ++i) store(dx[i], load(dx[i]) + load(dy[i]) * F::slope(load(x[i])));
  }
}

template <class X, class Y>
HEDDLE_INLINE void forward_switch(Activation activation, const X* x, Y* y, Index count) {
  switch (activation) {
    case Activation::relu: return forward_loop<Relu>(x, y, count);
    case Activation::gelu: return forward_loop<Gelu>(x, y, count);
    case Activation::gelu_tanh: return forward_loop<GeluTanh>(x, y, count);
    case Activation::silu: return forward_loop<Silu>(x, y, count);
  }
}

template <class X>
HEDDLE_INLINE void backward_switch(Activation activation, const X* x, const X* dy, Real beta, X* dx, Index count) {
  switch (activation) {
    case Activation::relu: return backward_loop<Relu>(x, dy, beta, dx, count);
    case Activation::gelu: return backward_loop<Gelu>(x, dy, beta, dx, count);
    case Activation::gelu_tanh: return backward_loop<GeluTanh>(x, dy, beta, dx, count);
    case Activation::silu: return backward_loop<Silu>(x, dy, beta, dx, count);
  }
}

}  // namespace

HEDDLE_KERNEL void activate_run(Activation activation, const Real* x, Real* y, Index count) {
  forward_switch(activation, x, y, count);
}
HEDDLE_KERNEL void activate_run(Activation activation, const Real* x, BFloat16* y, Index count) {
  forward_switch(activation, x, y, count);
}
HEDDLE_KERNEL void activate_run(Activation activation, const BFloat16* x, BFloat16* y, Index count) {
  forward_switch(activation, x, y, count);
}
HEDDLE_KERNEL void activation_gradient_run(Activation activation, const Real* x, const Real* dy, Real beta, Real* dx,
                                           Index count) {
  backward_switch(activation, x, dy, beta, dx, count);
}
HEDDLE_KERNEL void activation_gradient_run(Activation activation, const BFloat16* x, const BFloat16* dy, Real beta,
                                           BFloat16* dx, Index count) {
  backward_switch(activation, x, dy, beta, dx, count);
}

namespace {

// dx (+)= dy f'(x); all of the same element type.
void write_gradient(Activation activation, const Tensor& x, const Tensor& dy, const GradientTarget& dx) {
  x.with_data([&]<class T>(T* values) {
    const T* slopes = dy.data<T>();
    T* to = dx.tensor.data<T>();
    parallel_ranges(dy.size(), grain, [&](Index begin, Index end) {
      activation_gradient_run(activation, values + begin, slopes + begin, dx.beta(), to + begin, end - begin);
    });
  });
}

}  // namespace

Variable activate(const Variable& x, Activation activation) {
  const Section section("activation");
  check<ShapeError>(x.value().is_contiguous(), "activate needs a contiguous tensor");
  const Tensor y(x.shape(), x.value().element());
  x.value().with_data([&]<class T>(T* from) {
    T* to = y.data<T>();
    parallel_ranges(y.size(), grain,
                    [&](Index begin, Index end) { activate_run(activation, from + begin, to + begin, end - begin); });
  });
  return record(y, {x}, [activation, value = x.value(), gradient = x.gradient()](const Tensor& dy) {
    write_gradient(activation, value, dy, gradient->target());
  });
}

}  // namespace heddle::ops
