#include "libcore/ops/concatenate.hpp"

#include <doctest/doctest.h>

#include "support/gradient_check.hpp"

using namespace heddle;
using namespace heddle::testing;

namespace {

Operation along(int dimension) {
  return [dimension](const auto& in) { return ops::concatenate(in, dimension); };
}

}  // namespace

TEST_CASE("concatenate: known values along either dimension") {
  const Variable a(Tensor({2, 2}, {1, 2, 3, 4})), b(Tensor({1, 2}, {5, 6})), c(Tensor({2, 1}, {7, 8}));
  CHECK(ops::concatenate({a, b, a}, 0).value().elements() == std::vector<Real>{1, 2, 3, 4, 5, 6, 1, 2, 3, 4});
  CHECK(ops::concatenate({c, a, c}, -1).value().elements() == std::vector<Real>{7, 1, 2, 7, 8, 3, 4, 8});
  CHECK(ops::concatenate({c, a, c}, 1).shape() == Shape{2, 4});
}

TEST_CASE("concatenate: gradients and oracle along every dimension") {
  for (const int dimension : {0, 1, 2, -1}) {
    CAPTURE(dimension);
    std::vector<Tensor> inputs;
    for (const Index extent : {2, 1, 5}) {
      Shape shape{2, 3, 4};
      shape.set(dimension, extent);
      inputs.push_back(normal_tensor(shape, static_cast<std::uint64_t>(extent)));
    }
    const Oracle oracle = [&](const auto& in) {
      std::vector<double> y;
      const int d = inputs[0].shape().resolve(dimension);
      std::size_t outer = 1;
      for (int i = 0; i < d; ++i) outer *= static_cast<std::size_t>(inputs[0].shape()[i]);
      for (std::size_t row = 0; row < outer; ++row) {
        for (const std::vector<double>& part : in) {
          const std::size_t length = part.size() / outer;
          for (std::size_t i = 0; i < length; ++i) y.push_back(part[row * length + i]);
        }
      }
      return y;
    };
    check_operation(along(dimension), inputs);
    check_oracle(along(dimension), oracle, inputs);
    check_halves(along(dimension), inputs);
  }
}

TEST_CASE("concatenate: strided views, repeated parts and constants") {
  const Operation operation = [](const auto& in) {
    const Variable turned = view(in[0], [](const Tensor& t) { return t.swapped(0, 1); });
    return ops::concatenate({turned, Variable(Tensor({3, 2}, 7)), columns_of(turned, 0, 1), turned}, 1);
  };
  check_operation(operation, {normal_tensor({2, 3}, 1)});
  const Variable y = operation({Variable(Tensor({2, 3}, {1, 2, 3, 4, 5, 6}))});
  CHECK(y.value().elements() == std::vector<Real>{1, 4, 7, 7, 1, 1, 4, 2, 5, 7, 7, 2, 2, 5, 3, 6, 7, 7, 3, 3, 6});
}

TEST_CASE("concatenate: Reals and bfloat16 together are Reals") {
  const Variable real(Tensor({1, 2}, {Real(1.001), 2})), half(Tensor({1, 2}, {3, 4}).as(DType::bfloat16));
  const Variable y = ops::concatenate({half, real}, 0);
  CHECK(y.value().dtype() == DType::real);
  CHECK(y.value().elements() == std::vector<Real>{3, 4, Real(1.001), 2});
}

TEST_CASE("concatenate: parts that do not fit are refused") {
  const Variable a(Tensor({2, 3}, 1)), b(Tensor({3, 2}, 1));
  CHECK_THROWS_AS(ops::concatenate({}, 0), ShapeError);
  CHECK_THROWS_AS(ops::concatenate({a, b}, 0), ShapeError);
  CHECK_THROWS_AS(ops::concatenate({a, a}, 2), ShapeError);
  CHECK_THROWS_AS(ops::concatenate({a, Variable(Tensor({2}, 1))}, 0), ShapeError);
  CHECK_THROWS_AS(ops::concatenate({a, Variable(Tensor({2, 3, 1}, 1))}, 0), ShapeError);
}
