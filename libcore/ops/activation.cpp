#include "libcore/ops/activation.hpp"

#include "libcore/ops/arithmetic.hpp"
#include "libcore/ops/runs.hpp"
#include "libcore/tensor/math.hpp"

namespace heddle::ops {

namespace {

// Value and derivative of a function at a point.
struct Point {
  Real value, derivative;
};

// Not a number stays so, for the check of the loss to find.
struct Relu {
  static HEDDLE_INLINE Point at(Real x) { return {x <= 0 ? Real(0) : x, x <= 0 ? Real(0) : Real(1)}; }
};

struct Gelu {
  static HEDDLE_INLINE Point at(Real x) {
    const Real distribution = Real(0.5) * (Real(1) + math::erf(x * Real(0.70710678118654752)));
    return {x * distribution, distribution + x * Real(0.39894228040143268) * math::exp(Real(-0.5) * x * x)};
  }
};

struct GeluTanh {
  static HEDDLE_INLINE Point at(Real x) {
    constexpr Real root = Real(0.79788456080286536), cubic = Real(0.044715);
    const Real t = math::tanh(root * (x + cubic * x * x * x));
    return {Real(0.5) * x * (Real(1) + t),
            Real(0.5) * (Real(1) + t) + Real(0.5) * x * (Real(1) - t * t) * root * (Real(1) + 3 * cubic * x * x)};
  }
};

struct Silu {
  static HEDDLE_INLINE Point at(Real x) {
    const Real s = math::sigmoid(x);
    return {x * s, s * (Real(1) + x * (Real(1) - s))};
  }
};

struct Tanh {
  static HEDDLE_INLINE Point at(Real x) {
    const Real t = math::tanh(x);
    return {t, Real(1) - t * t};
  }
};

struct Sigmoid {
  static HEDDLE_INLINE Point at(Real x) {
    const Real s = math::sigmoid(x);
    return {s, s * (Real(1) - s)};
  }
};

struct LeakyRelu {
  static HEDDLE_INLINE Point at(Real x) {
    const Real slope = x <= 0 ? Real(0.2) : Real(1);
    return {slope * x, slope};
  }
};

struct Elu {
  static HEDDLE_INLINE Point at(Real x) {
    const Real e = math::exp(x <= 0 ? x : Real(0));
    return {x <= 0 ? e - Real(1) : x, e};
  }
};

struct ReluSquared {
  static HEDDLE_INLINE Point at(Real x) {
    const Real positive = x <= 0 ? Real(0) : x;
    return {positive * positive, 2 * positive};
  }
};

struct Identity {
  static HEDDLE_INLINE Point at(Real x) { return {x, Real(1)}; }
};

template <class F, class X, class Y>
HEDDLE_INLINE void activate_loop(const X* x, Y* y, Y* derivative, Index count) {
  if (derivative == nullptr) {
    for (Index i = 0; i < count; ++i) store(y[i], F::at(load(x[i])).value);
    return;
  }
  HEDDLE_SIMD
  for (Index i = 0; i < count; ++i) {
    const Point point = F::at(load(x[i]));
    store(y[i], point.value);
    store(derivative[i], point.derivative);
  }
}

template <class X, class Y>
HEDDLE_INLINE void activate_switch(Activation activation, const X* x, Y* y, Y* derivative, Index count) {
  switch (activation) {
    case Activation::relu:
      return activate_loop<Relu>(x, y, derivative, count);
    case Activation::gelu:
      return activate_loop<Gelu>(x, y, derivative, count);
    case Activation::gelu_tanh:
      return activate_loop<GeluTanh>(x, y, derivative, count);
    case Activation::silu:
      return activate_loop<Silu>(x, y, derivative, count);
    case Activation::tanh:
      return activate_loop<Tanh>(x, y, derivative, count);
    case Activation::sigmoid:
      return activate_loop<Sigmoid>(x, y, derivative, count);
    case Activation::leaky_relu:
      return activate_loop<LeakyRelu>(x, y, derivative, count);
    case Activation::elu:
      return activate_loop<Elu>(x, y, derivative, count);
    case Activation::relu_squared:
      return activate_loop<ReluSquared>(x, y, derivative, count);
    case Activation::identity:
      return activate_loop<Identity>(x, y, derivative, count);
  }
}

}  // namespace

HEDDLE_KERNEL void activate_run(Activation activation, const Real* x, Real* y, Real* derivative, Index count) {
  activate_switch(activation, x, y, derivative, count);
}
HEDDLE_KERNEL void activate_run(Activation activation, const Real* x, BFloat16* y, BFloat16* derivative, Index count) {
  activate_switch(activation, x, y, derivative, count);
}
HEDDLE_KERNEL void activate_run(Activation activation, const BFloat16* x, Real* y, Real* derivative, Index count) {
  activate_switch(activation, x, y, derivative, count);
}
HEDDLE_KERNEL void activate_run(Activation activation, const BFloat16* x, BFloat16* y, BFloat16* derivative,
                                Index count) {
  activate_switch(activation, x, y, derivative, count);
}

Variable activate(const Variable& x, Activation activation) {
  const Section section("activation");
  check_rows(x.value(), "activate");
  const Tensor y(x.shape(), x.value().dtype());
  const Tensor derivatives = Recording::current() != nullptr ? Tensor(x.shape(), y.dtype()) : Tensor();
  x.value().with_data([&]<class T>(T* from) {
    T* const to = y.data<T>();
    T* const derivative = derivatives.empty() ? nullptr : derivatives.data<T>();
    for_each_run({x.value(), y}, [&](const auto& at, Index count) {
      activate_run(activation, from + at[0], to + at[1], derivative == nullptr ? nullptr : derivative + at[1], count);
    });
  });
  return record(y, {x}, [derivatives, gradient = x.gradient()](const Tensor& dy) {
    contribute_product(dy, derivatives, gradient->target());
  });
}

}  // namespace heddle::ops
