// Sums with a learned factor.
#include "libcore/ops/add_scaled.hpp"

#include <doctest/doctest.h>

#include "support/gradient_check.hpp"

using namespace heddle;
using namespace heddle::testing;

TEST_CASE("add_scaled: gradients and oracle, of rows that lie apart, too") {
  const Operation operation = [](const auto& in) { return ops::add_scaled(in[0], in[1], in[2]); };
  for (const Shape& shape : {Shape{1}, Shape{3, 5}, Shape{2, 3, 7}, Shape{5, 3001}}) {
    CAPTURE(shape);
    const std::vector<Tensor> inputs{normal_tensor(shape, 1), normal_tensor(shape, 2), normal_tensor({1}, 3)};
    check_operation(operation, inputs);
    check_oracle(
        operation,
        [](const auto& in) {
          std::vector<double> y = in[0];
          for (std::size_t i = 0; i < y.size(); ++i) y[i] += in[2][0] * in[1][i];
          return y;
        },
        inputs);
  }
  for (const Shape& shape : {Shape{3, 10}, Shape{2, 5, 3, 8}}) {
    CAPTURE(shape);
    const Index half = shape[-1] / 2;
    check_operation(
        [half](const auto& in) {
          return ops::add_scaled(columns_of(in[0], 0, half), columns_of(in[0], half, half), in[1]);
        },
        {normal_tensor(shape, 1), normal_tensor({1}, 2)});
  }
}

TEST_CASE("add_scaled: sums in fewer bits are stored as the first input is") {
  const Tensor x = normal_tensor({3, 7}, 1), e = normal_tensor({3, 7}, 2), f({1}, {Real(0.5)});
  const Tensor y = ops::add_scaled(Variable(x.as(DType::bfloat16)), Variable(e), Variable(f)).value();
  CHECK(y.dtype() == DType::bfloat16);
  const std::vector<Real> of_x = x.as(DType::bfloat16).as(DType::real).elements(), sums = y.as(DType::real).elements();
  for (std::size_t i = 0; i < sums.size(); ++i) {
    const double expected = of_x[i] + 0.5 * e[static_cast<Index>(i)];
    CHECK(sums[i] == doctest::Approx(expected).epsilon(0.01));
  }
  CHECK_THROWS_AS(ops::add_scaled(Variable(x), Variable(normal_tensor({3, 6}, 2)), Variable(f)), ShapeError);
  CHECK_THROWS_AS(ops::add_scaled(Variable(x), Variable(e), Variable(normal_tensor({2}, 2))), ShapeError);
}
