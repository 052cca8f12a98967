#include "libcore/ops/activation.hpp"

#include <doctest/doctest.h>

#include "libcore/ops/arithmetic.hpp"
#include "support/gradient_check.hpp"

using namespace heddle;
using namespace heddle::testing;

namespace {

double exact(Activation activation, double x) {
  switch (activation) {
    case Activation::relu:
      return std::max(0.0, x);
    case Activation::gelu:
      return x * 0.5 * std::erfc(-x / std::sqrt(2.0));
    case Activation::gelu_tanh:
      return x / 2 * (1 + std::tanh(std::sqrt(2 / std::acos(-1.0)) * (x + 0.044715 * x * x * x)));
    case Activation::silu:
      return x / (1 + std::exp(-x));
    case Activation::tanh:
      return std::tanh(x);
    case Activation::sigmoid:
      return 1 / (1 + std::exp(-x));
    case Activation::leaky_relu:
      return x < 0 ? 0.2 * x : x;
    case Activation::elu:
      return x < 0 ? std::expm1(x) : x;
    case Activation::relu_squared:
      return x < 0 ? 0 : x * x;
    case Activation::identity:
      return x;
  }
  return HUGE_VAL;
}

// Normal numbers, none of them near the kink of relu.
Tensor away_from_zero(const Shape& shape) {
  const Tensor x = normal_tensor(shape, 1, 2);
  for (Index i = 0; i < x.size(); ++i) x[i] += x[i] < 0 ? Real(-0.01) : Real(0.01);
  return x;
}

Tensor activated(Activation activation, const std::vector<Real>& x) {
  return ops::activate(Variable(Tensor({static_cast<Index>(x.size())}, x)), activation).value();
}

}  // namespace

TEST_CASE("activation: gradients and oracle") {
  for (const auto& [activation, name] : Names<Activation>::list) {
    CAPTURE(name);
    const Operation operation = [which = activation](const auto& in) { return ops::activate(in[0], which); };
    const Oracle oracle = [which = activation](const auto& in) {
      std::vector<double> y;
      for (const double x : in[0]) y.push_back(exact(which, x));
      return y;
    };
    for (const Shape& shape : {Shape{1}, Shape{3, 7}, Shape{2, 5, 11}, Shape{3, 7001}}) {
      CAPTURE(shape);
      check_operation(operation, {away_from_zero(shape)});
      check_oracle(operation, oracle, {away_from_zero(shape)});
    }
  }
}

TEST_CASE("activation: known values") {
  const auto near = [](Real x) { return doctest::Approx(static_cast<double>(x)).epsilon(by_precision(1e-9, 2e-6)); };
  CHECK(activated(Activation::relu, {-2, 0, 3}).elements() == std::vector<Real>{0, 0, 3});
  CHECK(activated(Activation::gelu, {1})[0] == near(Real(0.8413447460685429)));
  CHECK(activated(Activation::gelu, {-1})[0] == near(Real(-0.15865525393145707)));
  CHECK(activated(Activation::gelu_tanh, {1})[0] == near(Real(0.8411919906082768)));
  CHECK(activated(Activation::silu, {1})[0] == near(Real(0.7310585786300049)));
}

TEST_CASE("activation: the two forms of GELU differ by less than 1e-3") {
  std::vector<Real> x;
  for (int i = -8000; i <= 8000; ++i) x.push_back(static_cast<Real>(i * 1e-3));
  const double apart = difference(activated(Activation::gelu, x), activated(Activation::gelu_tanh, x));
  CHECK(apart < 1e-3);
  CHECK(apart > 1e-4);
}

TEST_CASE(
    "activation: far from zero each is 0 or x, with derivatives 0 or 1; tanh and sigmoid are constant, leaky-relu is x "
    "/ 5, elu -1") {
  const std::vector<Real> far{-10000, -100, 100, 10000};
  for (const auto& [activation, name] : Names<Activation>::list) {
    CAPTURE(name);
    const Variable x = leaf(Tensor({4}, far));
    Recording recording;
    const Variable y = ops::activate(x, activation);
    recording.backward(weighted_sum(y, Tensor({4}, 1)));
    std::vector<Real> value{0, 0, 100, 10000}, derivative{0, 0, 1, 1};
    if (activation == Activation::tanh) value = {-1, -1, 1, 1};
    if (activation == Activation::sigmoid) value = {0, 0, 1, 1};
    if (activation == Activation::tanh || activation == Activation::sigmoid) derivative = {0, 0, 0, 0};
    if (activation == Activation::leaky_relu)
      value = {-2000, -20, 100, 10000}, derivative = {Real(0.2), Real(0.2), 1, 1};
    if (activation == Activation::elu) value = {-1, -1, 100, 10000};
    if (activation == Activation::relu_squared) value = {0, 0, 10000, 100000000}, derivative = {0, 0, 200, 20000};
    if (activation == Activation::identity) value = far, derivative = {1, 1, 1, 1};
    CHECK(difference(y.value(), Tensor({4}, value)) < 1e-30);
    CHECK(difference(x.gradient()->tensor(), Tensor({4}, derivative)) < 1e-30);
  }
}

TEST_CASE("activation: slices of one product, as recurrent cells take them") {
  const Operation cell = [](const auto& in) {
    const Index width = in[0].shape()[-1] / 2;
    return ops::multiply(ops::activate(columns_of(in[0], 0, width), Activation::sigmoid),
                         ops::activate(columns_of(in[0], width, width), Activation::tanh));
  };
  const Oracle oracle = [](const auto& in) {
    std::vector<double> y;
    for (std::size_t row = 0; row < in[0].size(); row += 22) {
      for (std::size_t i = row; i < row + 11; ++i) y.push_back(std::tanh(in[0][i + 11]) / (1 + std::exp(-in[0][i])));
    }
    return y;
  };
  const std::vector<Tensor> inputs{normal_tensor({3, 2, 22}, 1)};
  check_operation(cell, inputs);
  check_oracle(cell, oracle, inputs);
  check_halves(cell, inputs);
}

TEST_CASE("activation: rows whose elements lie apart are refused") {
  CHECK_THROWS_AS(ops::activate(Variable(Tensor({3, 4}, 1).swapped(0, 1)), Activation::relu), ShapeError);
}
