#include "libcore/ops/arithmetic.hpp"

#include <doctest/doctest.h>

#include "support/gradient_check.hpp"

using namespace heddle;
using namespace heddle::testing;

namespace {

const Operation add_two = [](const auto& in) { return ops::add(in[0], in[1]); };
const Operation add_each = [](const auto& in) { return ops::add_to_each(in[0], in[1]); };

}  // namespace

TEST_CASE("arithmetic: gradients of add") {
  for (const Shape& shape : {Shape{1}, Shape{3, 5}, Shape{2, 3, 7}, Shape{5, 7001}}) {
    CAPTURE(shape);
    check_operation(add_two, {normal_tensor(shape, 1), normal_tensor(shape, 2)});
    check_operation([](const auto& in) { return ops::add(in[0], in[0]); }, {normal_tensor(shape, 1)});
  }
}

TEST_CASE("arithmetic: gradients of add_to_each") {
  for (const Shape& shape : {Shape{1, 1}, Shape{1, 5}, Shape{4, 3, 7}, Shape{3, 5, 1001}}) {
    CAPTURE(shape);
    std::vector<Index> row = shape.extents();
    row.erase(row.begin());
    const std::vector<Tensor> inputs{normal_tensor(shape, 1), normal_tensor(Shape(row), 2)};
    check_operation(add_each, inputs);
    check_oracle(
        add_each,
        [](const auto& in) {
          std::vector<double> y = in[0];
          for (std::size_t i = 0; i < y.size(); ++i) y[i] += in[1][i % in[1].size()];
          return y;
        },
        inputs);
  }
}

TEST_CASE("arithmetic: gradients and oracle of multiply, of rows that lie apart, too") {
  const Oracle oracle = [](const auto& in) {
    std::vector<double> y = in[0];
    for (std::size_t i = 0; i < y.size(); ++i) y[i] *= in[1][i];
    return y;
  };
  const Operation multiply = [](const auto& in) { return ops::multiply(in[0], in[1]); };
  for (const Shape& shape : {Shape{1}, Shape{3, 5}, Shape{2, 3, 7}, Shape{5, 7001}}) {
    CAPTURE(shape);
    const std::vector<Tensor> inputs{normal_tensor(shape, 1), normal_tensor(shape, 2)};
    check_operation(multiply, inputs);
    check_oracle(multiply, oracle, inputs);
    check_halves(multiply, inputs);
  }
  const Operation square = [](const auto& in) { return ops::multiply(in[0], in[0]); };
  check_operation(square, {normal_tensor({3, 5}, 1)});
  for (const Shape& shape : {Shape{3, 10}, Shape{2, 5, 3, 8}, Shape{3, 9000}}) {
    CAPTURE(shape);
    const Operation of_parts = [](const auto& in) {
      const Index width = in[0].shape()[-1] / 2;
      return ops::multiply(columns_of(in[0], 0, width), columns_of(in[0], width, width));
    };
    const Oracle parts = [width = static_cast<std::size_t>(shape[-1])](const auto& in) {
      std::vector<double> y;
      for (std::size_t i = 0; i < in[0].size(); ++i) {
        if (i % width < width / 2) y.push_back(in[0][i] * in[0][i + width / 2]);
      }
      return y;
    };
    check_operation(of_parts, {normal_tensor(shape, 1)});
    check_oracle(of_parts, parts, {normal_tensor(shape, 1)});
  }
}

TEST_CASE("arithmetic: a product of Reals and bfloat16 is Real, and has the gradients of both") {
  const Tensor a = normal_tensor({3, 20}, 1), b = normal_tensor({3, 20}, 2).as(DType::bfloat16);
  const Differentiated expected =
      differentiate([](const auto& in) { return ops::multiply(in[0], in[1]); }, {a, b.as(DType::real)});
  const Variable x = leaf(a);
  const Variable half(b, std::make_shared<Gradient>(b.shape(), Gradient::Lifetime::step, DType::bfloat16));
  Recording recording;
  const Variable y = ops::multiply(half, x);
  CHECK(y.value().dtype() == DType::real);
  CHECK(difference(y.value(), expected.output) == 0);
  recording.backward(weighted_sum(y));
  CHECK(difference(x.gradient()->tensor(), expected.gradients[0]) == 0);
  CHECK(half.gradient()->tensor().dtype() == DType::bfloat16);
  CHECK(relative_difference(half.gradient()->tensor(), expected.gradients[1]) < 0.005);
}

TEST_CASE("arithmetic: gradients of scale") {
  for (const Shape& shape : {Shape{1}, Shape{3, 5}, Shape{5, 7001}}) {
    CAPTURE(shape);
    for (const Real factor : {Real(-2.5), Real(0), Real(1)}) {
      const Operation scaled = [factor](const auto& in) { return ops::scale(in[0], factor); };
      check_operation(scaled, {normal_tensor(shape, 1)});
      check_halves(scaled, {normal_tensor(shape, 1)});
    }
  }
}

TEST_CASE("arithmetic: gradients and oracle of scale_rows, of few rows and of many") {
  const Operation scaled = [](const auto& in) { return ops::scale_rows(in[0], in[1]); };
  for (const Shape& shape : {Shape{2, 3, 5}, Shape{2, 4001, 9}}) {
    CAPTURE(shape);
    const Tensor x = normal_tensor(shape, 1), factors = normal_tensor({shape[0], shape[1]}, 2);
    const Tensor y = scaled({Variable(x), Variable(factors)}).value();
    for (Index i = 0; i < x.size(); ++i) REQUIRE(y[i] == factors[i / shape[2]] * x[i]);
    if (x.size() < 100) check_operation(scaled, {x, factors});
    const Variable by = leaf(factors);
    Recording recording;
    recording.backward(weighted_sum(ops::scale_rows(Variable(x), by), Tensor(shape, 3)));
    const Tensor gradient = by.gradient()->tensor();
    for (Index r = 0; r < factors.size(); ++r) {
      double sum = 0;
      for (Index i = 0; i < shape[2]; ++i) sum += 3.0 * x[r * shape[2] + i];
      REQUIRE(gradient[r] == doctest::Approx(sum).epsilon(1e-4));
    }
  }
  CHECK_THROWS_AS(ops::scale_rows(Variable(Tensor({2, 5}, 1)), Variable(Tensor({3}, 1))), ShapeError);
}

TEST_CASE("arithmetic: gradients and oracle of scale_samples, of small samples and of large ones") {
  const std::vector<Real> factors{2, Real(-0.5), 0};
  for (const Shape& shape : {Shape{3, 5}, Shape{3, 2, 10001}}) {
    CAPTURE(shape);
    const Operation scaled = [&](const auto& in) { return ops::scale_samples(in[0], factors); };
    const Tensor x = normal_tensor(shape, 1), y = scaled({Variable(x)}).value();
    check_operation(scaled, {x});
    const Index size = x.size() / 3;
    for (Index i = 0; i < x.size(); ++i) REQUIRE(y[i] == factors[static_cast<std::size_t>(i / size)] * x[i]);
    const Variable input = leaf(x);
    Recording recording;
    recording.backward(weighted_sum(ops::scale_samples(input, factors), Tensor(shape, 3)));
    const Tensor gradient = input.gradient()->tensor();
    for (Index i = 0; i < x.size(); ++i) REQUIRE(gradient[i] == 3 * factors[static_cast<std::size_t>(i / size)]);
  }
  CHECK_THROWS_AS(ops::scale_samples(Variable(Tensor({2, 5}, 1)), factors), ShapeError);
}

TEST_CASE("arithmetic: a sum with a constant leaves the constant alone") {
  const Variable x = leaf(Tensor({2}, 1)), constant{Tensor({2}, {3, 4})};
  Recording recording;
  const Variable y = ops::add(constant, ops::add(x, constant));
  CHECK(y.value().elements() == std::vector<Real>{7, 9});
  recording.backward(weighted_sum(y, Tensor({2}, {5, 6})));
  CHECK(x.gradient()->tensor().elements() == std::vector<Real>{5, 6});
  CHECK(constant.value().elements() == std::vector<Real>{3, 4});
}

TEST_CASE("arithmetic: shapes that do not fit are refused") {
  const Variable a(Tensor({2, 3}, 1)), b(Tensor({3, 2}, 1)), turned(Tensor({3, 2}, 1).swapped(0, 1));
  CHECK_THROWS_AS(ops::add(a, b), ShapeError);
  CHECK_THROWS_AS(ops::add(a, turned), ShapeError);
  CHECK_THROWS_AS(ops::add_to_each(a, a), ShapeError);
  CHECK_THROWS_AS(ops::add_to_each(a, Variable(Tensor({2}, 1))), ShapeError);
  CHECK_THROWS_AS(ops::scale(turned, 1), ShapeError);
  CHECK_THROWS_AS(ops::multiply(a, b), ShapeError);
  CHECK_THROWS_AS(ops::multiply(a, turned), ShapeError);
}

TEST_CASE("scale: a learned factor, its gradient and that of what it multiplies") {
  const Operation operation = [](const auto& in) { return ops::scale(in[0], in[1]); };
  const Oracle oracle = [](const auto& in) {
    std::vector<double> y = in[0];
    for (double& value : y) value *= in[1][0];
    return y;
  };
  for (const Index rows : {3, 3001}) {
    const std::vector<Tensor> inputs{normal_tensor({rows, 7}, 1), normal_tensor({1}, 2)};
    check_operation(operation, inputs);
    check_oracle(operation, oracle, inputs);
  }
  CHECK_THROWS_AS(ops::scale(Variable(normal_tensor({2}, 1)), Variable(normal_tensor({2}, 1))), ShapeError);
}
