#include "libcore/ops/softmax.hpp"

#include <doctest/doctest.h>

#include "support/gradient_check.hpp"

using namespace heddle;
using namespace heddle::testing;

namespace {

Oracle naive_softmax(std::size_t width, const std::vector<Index>& lengths) {
  return [=](const auto& in) {
    std::vector<double> y(in[0].size(), 0.0);
    for (std::size_t row = 0; row < in[0].size() / width; ++row) {
      const std::size_t length = lengths.empty() ? width : static_cast<std::size_t>(lengths[row]);
      double sum = 0;
      for (std::size_t i = 0; i < length; ++i) sum += std::exp(in[0][row * width + i]);
      for (std::size_t i = 0; i < length; ++i) y[row * width + i] = std::exp(in[0][row * width + i]) / sum;
    }
    return y;
  };
}

}  // namespace

TEST_CASE("softmax: gradients and oracle, with lengths and without") {
  for (const Shape& shape : {Shape{1}, Shape{3, 7}, Shape{2, 5, 11}, Shape{3, 2500}}) {
    CAPTURE(shape);
    std::vector<Index> lengths;
    const Index rows = normal_tensor(shape, 1).size() / shape[-1];
    for (Index row = 0; row < rows; ++row) lengths.push_back((row * 7 + 1) % (shape[-1] + 1));
    for (const std::vector<Index>& chosen : {std::vector<Index>{}, lengths}) {
      CAPTURE(chosen.size());
      const Operation operation = [&](const auto& in) { return ops::softmax(in[0], chosen); };
      const std::vector<Tensor> inputs{normal_tensor(shape, 1, 2)};
      check_operation(operation, inputs);
      check_oracle(operation, naive_softmax(static_cast<std::size_t>(shape[-1]), chosen), inputs);
    }
  }
}

TEST_CASE("softmax: rows that lie apart, and bfloat16") {
  const Operation part = [](const auto& in) { return ops::softmax(columns_of(in[0], 2, 5)); };
  check_operation(part, {normal_tensor({2, 3, 9}, 1)});
  check_halves(part, {normal_tensor({2, 3, 9}, 1)});
  const Tensor x = normal_tensor({4, 9}, 1);
  CHECK(difference(part({Variable(x)}).value(), ops::softmax(Variable(x.narrowed(1, 2, 5).copy())).value()) == 0);
}

TEST_CASE("softmax: large values, masked infinities; what a length leaves out is not read") {
  const Real infinity = std::numeric_limits<Real>::infinity(), nan = std::numeric_limits<Real>::quiet_NaN();
  CHECK(ops::softmax(Variable(Tensor({1, 3}, {10000, 10000, -10000}))).value().elements() ==
        std::vector<Real>{0.5, 0.5, 0});
  CHECK(ops::softmax(Variable(Tensor({1, 3}, {-infinity, 3, 3}))).value().elements() == std::vector<Real>{0, 0.5, 0.5});
  const Variable x = leaf(Tensor({3, 3}, {4, 4, nan, nan, nan, nan, 1, nan, infinity}));
  Recording recording;
  const Variable y = ops::softmax(x, {2, 0, 1});
  CHECK(y.value().elements() == std::vector<Real>{0.5, 0.5, 0, 0, 0, 0, 1, 0, 0});
  recording.backward(weighted_sum(y, Tensor({3, 3}, {1, 2, 9, 9, 9, 9, 3, 9, 9})));
  CHECK(x.gradient()->tensor().elements() == std::vector<Real>{-0.25, 0.25, 0, 0, 0, 0, 0, 0, 0});
}

TEST_CASE("softmax: wide rows sum to one") {
  const Tensor y = ops::softmax(Variable(Tensor({1, 300000}, Real(-0.3)))).value();
  double sum = 0;
  for (const double weight : doubles(y)) sum += weight;
  CHECK(std::abs(sum - 1) < by_precision(1e-10, 1e-6));
}

TEST_CASE("softmax: lengths that do not fit and rows whose elements lie apart are refused") {
  const Variable x(Tensor({2, 3}, 1));
  CHECK_THROWS_AS(ops::softmax(x, {1}), ShapeError);
  CHECK_THROWS_AS(ops::softmax(x, {1, 4}), ShapeError);
  CHECK_THROWS_AS(ops::softmax(x, {1, -1}), ShapeError);
  CHECK_THROWS_AS(ops::softmax(Variable(x.value().swapped(0, 1))), ShapeError);
}
