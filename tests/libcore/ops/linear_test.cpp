#include "libcore/ops/linear.hpp"

#include <doctest/doctest.h>

#include "libcore/tensor/matmul.hpp"
#include "support/gradient_check.hpp"

using namespace heddle;
using namespace heddle::testing;

namespace {

const Operation linear = [](const auto& in) {
  return in.size() > 2 ? ops::linear(in[0], in[1], in[2]) : ops::linear(in[0], in[1]);
};

// y[r, o] = bias[o] + sum over i of x[r, i] weight[o, i]
Oracle naive_linear(std::size_t in_width, std::size_t out_width) {
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

struct LinearCase {
  Shape x;
  Index out;
};
// The last ones are cut into several tiles, in rows and in columns.
const std::vector<LinearCase> linear_cases{{{1, 1}, 1},   {{1, 7}, 5},      {{5, 3}, 1},    {{2, 3, 4}, 6},
                                           {{7, 33}, 70}, {{2, 9, 13}, 17}, {{301, 20}, 9}, {{5, 9}, 403}};

}  // namespace

TEST_CASE("linear: gradients and oracle, with and without bias") {
  for (const LinearCase& c : linear_cases) {
    CAPTURE(c.x);
    CAPTURE(c.out);
    const Index in = c.x[-1];
    std::vector<Tensor> inputs{normal_tensor(c.x, 1), normal_tensor({c.out, in}, 2), normal_tensor({c.out}, 3)};
    const Oracle oracle = naive_linear(static_cast<std::size_t>(in), static_cast<std::size_t>(c.out));
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
  const std::vector<double> expected =
      naive_linear(70, 530)({doubles(inputs[0]), doubles(inputs[1]), doubles(inputs[2])});
  const Tensor naive_y(y.shape(), std::vector<Real>(expected.begin(), expected.end()));
  CHECK(relative_difference(y, naive_y) < by_precision(1e-14, 1e-6));
}

TEST_CASE("linear: low-rank terms on some of the columns, with bias, activation, residual and an input of their own") {
  // x W^T + b + 0.7 u A^T B^T, of two parts of rank 3: from columns 2 and 11 on
  constexpr Index in = 9, out = 20, rank = 3, part = 7;
  const std::vector<Index> columns{2, 11};
  for (const Index rows : {1, 5, 60}) {
    CAPTURE(rows);
    std::vector<Tensor> inputs{normal_tensor({rows, in}, 1), normal_tensor({out, in}, 2), normal_tensor({out}, 3),
                               normal_tensor({2 * rank, in}, 4), normal_tensor({2 * part, rank}, 5)};
    const auto operation = [&](const ops::LinearOptions& others, bool own) -> Operation {
      return [=](const auto& v) {
        ops::LinearOptions options = others;
        if (own && v.size() > 6) options.residual = v[6];
        options.low_rank = ops::LowRankTerm{own ? v[5] : Variable(), v[3], v[4], columns, Real(0.7)};
        return ops::linear(v[0], v[1], v[2], options);
      };
    };
    const Oracle oracle = [&](const auto& v) {
      const bool own = v.size() > 5;
      std::vector<double> y = naive_linear(in, out)({v[0], v[1], v[2]});
      for (std::size_t k = 0; k < 2; ++k) {
        const auto rows_of = [&](const std::vector<double>& x, std::size_t count) {
          return std::vector<double>(x.begin() + static_cast<std::ptrdiff_t>(k * count),
                                     x.begin() + static_cast<std::ptrdiff_t>((k + 1) * count));
        };
        const auto low = naive_linear(in, rank)({own ? v[5] : v[0], rows_of(v[3], rank * in)});
        const auto term = naive_linear(rank, part)({low, rows_of(v[4], part * rank)});
        for (std::size_t i = 0; i < term.size(); ++i) {
          y[i / part * out + static_cast<std::size_t>(columns[k]) + i % part] += 0.7 * term[i];
        }
      }
      for (std::size_t i = 0; v.size() > 6 && i < y.size(); ++i) y[i] += v[6][i];
      return y;
    };
    check_operation(operation({}, false), inputs);
    check_oracle(operation({}, false), oracle, inputs);
    check_operation(operation({.activation = Activation::gelu}, false), inputs);
    inputs.push_back(normal_tensor({rows, in}, 6));
    inputs.push_back(normal_tensor({rows, out}, 7));
    check_operation(operation({}, true), inputs);
    check_oracle(operation({}, true), oracle, inputs);
  }
}

TEST_CASE("linear: a low-rank term of wide inputs and outputs is that of the sum of the matrices, as are gradients") {
  constexpr Index rows = 5, in = 1100, out = 1300, rank = 2;
  const Tensor x = normal_tensor({rows, in}, 1), w = normal_tensor({out, in}, 2, 0.1), a = normal_tensor({rank, in}, 3),
               b = normal_tensor({out, rank}, 4), whole = w.copy();
  for (Index o = 0; o < out; ++o) {
    for (Index i = 0; i < in; ++i) {
      for (Index r = 0; r < rank; ++r) whole[o * in + i] += Real(0.5) * b[o * rank + r] * a[r * in + i];
    }
  }
  const Operation low_rank = [&](const auto& v) {
    return ops::linear(v[0], Variable(w), {},
                       {.low_rank = ops::LowRankTerm{{}, Variable(a), Variable(b), {0}, Real(0.5)}});
  };
  const Operation merged = [&](const auto& v) { return ops::linear(v[0], Variable(whole), {}); };
  const Differentiated found = differentiate(low_rank, {x}), expected = differentiate(merged, {x});
  CHECK(relative_difference(found.output, expected.output) < by_precision(1e-13, 1e-5));
  CHECK(relative_difference(found.gradients[0], expected.gradients[0]) < by_precision(1e-13, 1e-5));
}

TEST_CASE("linear: a low-rank term that does not fit is refused") {
  const Variable x(Tensor({4, 3}, 1)), weight(Tensor({5, 3}, 1));
  const auto with = [&](const Shape& a, const Shape& b, Index column) {
    return ops::linear(x, weight, {},
                       {.low_rank = ops::LowRankTerm{{}, Variable(Tensor(a, 1)), Variable(Tensor(b, 1)), {column}}});
  };
  CHECK_NOTHROW(with({2, 3}, {5, 2}, 0));
  CHECK_THROWS_AS(with({2, 3}, {5, 2}, 1), ShapeError);
  CHECK_THROWS_AS(with({2, 4}, {5, 2}, 0), ShapeError);
  CHECK_THROWS_AS(with({3, 3}, {5, 2}, 0), ShapeError);
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
