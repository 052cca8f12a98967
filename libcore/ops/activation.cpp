#include "heddle/ops/activation.hpp"

#include "heddle/tensor/math.hpp"
#include "heddle/tensor/threads.hpp"

namespace heddle::ops {

namespace {

constexpr Index grain = 8192;

// What a function is at a point.
struct Point {
  Real value, slope;
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

template <class F, class X, class Y>
HEDDLE_INLINE void activate_loop(const X* x, Y* y, Y* slope, Index count) {
  if (slope == nullptr) {
    for (Index i = 0; i < count; ++i) store(y[i], F::at(load(x[i])).value);
    return;
  }
  HEDDLE_SIMD
  for (Index i = 0; i < count; ++i) {
    const Point point = F::at(load(x[i]));
    store(y[i], point.value);
    store(slope[i], point.slope);
  }
}

template <class X, class Y>
HEDDLE_INLINE void activate_switch(Activation activation, const X* x, Y* y, Y* slope, Index count) {
  switch (activation) {
    case Activation::relu: return activate_loop<Relu>(x, y, slope, count);
    case Activation::gelu: return activate_loop<Gelu>(x, y, slope, count);
    case Activation::gelu_tanh: return activate_loop<GeluTanh>(x, y, slope, count);
    case Activation::silu: return activate_loop<Silu>(x, y, slope, count);
    case Activation::tanh:
      return activate_loop<Tanh>(x, y, slope, count);
  }
}

template <class X>
HEDDLE_INLINE void multiply_loop(const X* slope, const X* dy, Real beta, X* dx, Index count) {
  if (beta == 0) {
    HEDDLE_SIMD
    for (Index i = 0; i < count; ++i) store(dx[i], load(dy[i]) * load(slope[i]));
  } else {
    HEDDLE_SIMD
    for (Index i = 0; i < count; ++i) store(dx[i], load(dx[i]) + load(dy[i]) * load(slope[i]));
  }
}

}  // namespace

HEDDLE_KERNEL void activate_run(Activation activation, const Real* x, Real* y, Real* slope, Index count) {
  activate_switch(activation, x, y, slope, count);
}
HEDDLE_KERNEL void activate_run(Activation activation, const Real* x, BFloat16* y, BFloat16* slope, Index count) {
  activate_switch(activation, x, y, slope, count);
}
HEDDLE_KERNEL void activate_run(Activation activation, const BFloat16* x, BFloat16* y, BFloat16* slope, Index count) {
  activate_switch(activation, x, y, slope, count);
}
HEDDLE_KERNEL void multiply_slopes(const Real* slope, const Real* dy, Real beta, Real* dx, Index count) {
  multiply_loop(slope, dy, beta, dx, count);
}
HEDDLE_KERNEL void multiply_slopes(const BFloat16* slope, const BFloat16* dy, Real beta, BFloat16* dx, Index count) {
  multiply_loop(slope, dy, beta, dx, count);
}

Variable activate(const Variable& x, Activation activation) {
  const Section section("activation");
  check<ShapeError>(x.value().is_contiguous(), "activate needs a contiguous tensor");
  const Tensor y(x.shape(), x.value().element());
  const Tensor slopes = Recording::current() != nullptr ? Tensor(x.shape(), x.value().element()) : Tensor();
  x.value().with_data([&]<class T>(T* from) {
    T* const to = y.data<T>();
    T* const slope = slopes.empty() ? nullptr : slopes.data<T>();
    parallel_ranges(y.size(), grain, [&](Index begin, Index end) {
      activate_run(activation, from + begin, to + begin, slope == nullptr ? nullptr : slope + begin, end - begin);
    });
  });
  return record(y, {x}, [slopes, gradient = x.gradient()](const Tensor& dy) {
    const GradientTarget dx = gradient->target();
    slopes.with_data([&]<class T>(T* slope) {
      T* const to = dx.tensor.data<T>();
      parallel_ranges(dy.size(), grain, [&](Index begin, Index end) {
        multiply_slopes(slope + begin, dy.data<T>() + begin, dx.beta(), to + begin, end - begin);
      });
    });
  });
}

}  // namespace heddle::ops
