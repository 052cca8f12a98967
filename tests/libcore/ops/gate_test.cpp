#include "libcore/ops/gate.hpp"

#include <doctest/doctest.h>

#include "libcore/ops/arithmetic.hpp"
#include "support/gradient_check.hpp"

using namespace heddle;
using namespace heddle::testing;

namespace {

Operation gate(Activation activation) {
  return [activation](const auto& in) { return ops::gate(in[0], in[1], activation); };
}

}  // namespace

TEST_CASE("gate: gradients, and the same as its two steps, for every activation") {
  for (const auto& [activation, name] : Names<Activation>::list) {
    CAPTURE(name);
    const Operation steps = [which = activation](const auto& in) {
      return ops::multiply(ops::activate(in[0], which), in[1]);
    };
    for (const Shape& shape : {Shape{1}, Shape{3, 7}, Shape{2, 3, 600}}) {
      CAPTURE(shape);
      const std::vector<Tensor> inputs{normal_tensor(shape, 1, 2), normal_tensor(shape, 2)};
      check_operation(gate(activation), inputs);
      check_halves(gate(activation), inputs);
      const Differentiated actual = differentiate(gate(activation), inputs), expected = differentiate(steps, inputs);
      CHECK(difference(actual.output, expected.output) < by_precision(1e-14, 1e-6));
      for (std::size_t i = 0; i < 2; ++i) {
        CHECK(difference(actual.gradients[i], expected.gradients[i]) < by_precision(1e-14, 2e-6));
      }
    }
  }
}

TEST_CASE("gate: halves of one product, against an oracle") {
  const Operation halves = [](const auto& in) {
    const Index width = in[0].shape()[-1] / 2;
    return ops::gate(columns_of(in[0], 0, width), columns_of(in[0], width, width), Activation::silu);
  };
  for (const Shape& shape : {Shape{1, 2}, Shape{3, 10}, Shape{2, 3, 1200}}) {
    CAPTURE(shape);
    const Oracle oracle = [width = static_cast<std::size_t>(shape[-1])](const auto& in) {
      std::vector<double> y;
      for (std::size_t i = 0; i < in[0].size(); ++i) {
        const double a = in[0][i];
        if (i % width < width / 2) y.push_back(a / (1 + std::exp(-a)) * in[0][i + width / 2]);
      }
      return y;
    };
    check_operation(halves, {normal_tensor(shape, 1)});
    check_oracle(halves, oracle, {normal_tensor(shape, 1)});
  }
}

TEST_CASE("gate: operands that do not fit are refused") {
  const Variable a(Tensor({2, 3}, 1)), b(Tensor({3, 2}, 1)), turned(Tensor({3, 2}, 1).swapped(0, 1));
  CHECK_THROWS_AS(ops::gate(a, b, Activation::relu), ShapeError);
  CHECK_THROWS_AS(ops::gate(a, turned, Activation::relu), ShapeError);
  CHECK_THROWS_AS(ops::gate(turned, a, Activation::relu), ShapeError);
  CHECK_THROWS_AS(ops::gate(a, Variable(a.value().as(DType::bfloat16)), Activation::relu), ShapeError);
}
