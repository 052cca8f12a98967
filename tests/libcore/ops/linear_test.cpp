#include "heddle/ops/linear.hpp"

#include <doctest/doctest.h>

#include "heddle/tensor/matmul.hpp"
#include "support/gradient_check.hpp"

using namespace heddle;
using namespace heddle::testing;

namespace {

const Operation linear = [](const auto& in) {
  return in.size() > 2 ? ops::linear(in[0], in[1], in[2]) : ops::linear(in[0], in[1]);
};

// y[r, o] = bias[o] + sum over i of x[r, i] weight[o, i]
Oracle naive(std::size_t in_width, std::size_t out_width) {
  return [=](const auto& in) {
    const std::size_t rows = in[0].size() / in_width;
    std::vector<double> y(rows * out_width);
    for (std::size_t r = 0; r < rows; ++r) {
      for (std::size_t o = 0; o < out_width; ++o) {
        double sum = in.size() > 2 ? in[2][o] : 0;
        for (std::size_t i = 0; i < in_width; ++i) sum += in[0][r * in_width + i] * in[1][o * in_width + i];
        y[r * out_width + o] = sum;
      }
    }
    return y;
  };
}

struct Case {
  Shape x;
  Index out;
};
// The last ones are cut into several tiles, in rows and in columns.
const std::vector<Case> cases{{{1, 1}, 1},   {{1, 7}, 5},      {{5, 3}, 1},    {{2, 3, 4}, 6},
                              {{7, 33}, 70}, {{2, 9, 13}, 17}, {{301, 20}, 9}, {{5, 9}, 403}};

}  // namespace

TEST_CASE("linear: gradients and oracle, with and without bias") {
  for (const Case& c : cases) {
    CAPTURE(c.x);
    CAPTURE(c.out);
    const Index in = c.x[-1];
    std::vector<Tensor> inputs{normal_tensor(c.x, 1), normal_tensor({c.out, in}, 2), normal_tensor({c.out}, 3)};
    const Oracle oracle = naive(static_cast<std::size_t>(in), static_cast<std::size_t>(c.out));
    check_operation(linear, inputs);
    check_oracle(linear, oracle, inputs);
    inputs.pop_back();
    check_operation(linear, inputs);
    check_oracle(linear, oracle, inputs);
  }
}

TEST_CASE("linear: a product large enough for many tiles") {
  const std::vector<Tensor> inputs{normal_tensor({2, 310, 70}, 1), normal_tensor({530, 70}, 2),
                                   normal_tensor({530}, 3)};
  check_operation(linear, inputs);
  const Tensor y = ops::linear(Variable(inputs[0]), Variable(inputs[1]), Variable(inputs[2])).value();
  CHECK(y.shape() == Shape{2, 310, 530});
  const std::vector<double> expected = naive(70, 530)({doubles(inputs[0]), doubles(inputs[1]), doubles(inputs[2])});
  const Tensor naive_y(y.shape(), std::vector<Real>(expected.begin(), expected.end()));
  CHECK(relative_difference(y, naive_y) < by_precision(1e-14, 1e-6));
}

TEST_CASE("linear: one tensor as input and as weights") {
  check_operation([](const auto& in) { return ops::linear(in[0], in[0]); }, {normal_tensor({5, 5}, 1)});
}

TEST_CASE("linear: constants get no gradient and cost no product") {
  const Tensor x = normal_tensor({4, 3}, 1), weight = normal_tensor({5, 3}, 2);
  const Variable bias = leaf(normal_tensor({5}, 3));
  Recording recording;
  const Variable y = ops::linear(Variable(x), Variable(weight), bias);
  const double before = matmul_flops();
  recording.backward(weighted_sum(y, Tensor({4, 5}, 1)));
  CHECK(matmul_flops() == before);
  CHECK(bias.gradient()->tensor().elements() == std::vector<Real>(5, 4));
}

TEST_CASE("linear: counts 2 rows in out operations forward and twice that backward") {
  const Variable x = leaf(normal_tensor({2, 3, 7}, 1)), weight = leaf(normal_tensor({11, 7}, 2));
  Recording recording;
  const double start = matmul_flops();
  const Variable y = ops::linear(x, weight);
  CHECK(matmul_flops() - start == 2 * 6 * 7 * 11);
  recording.backward(weighted_sum(y));
  CHECK(matmul_flops() - start == 3 * 2 * 6 * 7 * 11);
}

TEST_CASE("linear: shapes that do not fit are refused") {
  const Variable x(Tensor({4, 3}, 1)), weight(Tensor({5, 3}, 1));
  CHECK_THROWS_AS(ops::linear(x, Variable(Tensor({3, 5}, 1))), ShapeError);
  CHECK_THROWS_AS(ops::linear(x, weight, Variable(Tensor({3}, 1))), ShapeError);
  CHECK_THROWS_AS(ops::linear(Variable(Tensor({3, 4}, 1).swapped(0, 1)), weight), ShapeError);
  CHECK_THROWS_AS(ops::linear(x, Variable(Tensor({3, 5}, 1).swapped(0, 1))), ShapeError);
}
