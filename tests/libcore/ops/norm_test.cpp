#include "libcore/ops/norm.hpp"

#include <doctest/doctest.h>

#include "support/gradient_check.hpp"

using namespace heddle;
using namespace heddle::testing;

namespace {

constexpr Real epsilon = Real(1e-5);

const Operation layer_norm = [](const auto& in) {
  return ops::layer_norm(in[0], in[1], in.size() > 2 ? in[2] : Variable(), epsilon);
};
const Operation rms_norm = [](const auto& in) { return ops::rms_norm(in[0], in[1], epsilon); };

// Both norms, from the definitions: inputs x, gain and, where there is one, bias.
Oracle naive_norm(bool centred) {
  return [centred](const auto& in) {
    const std::size_t width = in[1].size();
    std::vector<double> y;
    for (std::size_t row = 0; row < in[0].size(); row += width) {
      double mean = 0, variance = 0;
      for (std::size_t i = 0; centred && i < width; ++i) mean += in[0][row + i] / static_cast<double>(width);
      for (std::size_t i = 0; i < width; ++i) {
        variance += (in[0][row + i] - mean) * (in[0][row + i] - mean) / static_cast<double>(width);
      }
      for (std::size_t i = 0; i < width; ++i) {
        const double normal = (in[0][row + i] - mean) / std::sqrt(variance + 1e-5);
        y.push_back(in[1][i] * normal + (in.size() > 2 ? in[2][i] : 0));
      }
    }
    return y;
  };
}

// One row of several sizes; then more rows than one task takes, and more columns.
const std::vector<Shape> shapes{{1, 3}, {1, 7}, {3, 5}, {2, 3, 9}, {70, 4}, {37, 130}};

Tensor with_ones(const Tensor& x, Real epsilon_used, bool centred = true) {
  const Variable gain(Tensor({x.shape()[-1]}, 1));
  return centred ? ops::layer_norm(Variable(x), gain, {}, epsilon_used).value()
                 : ops::rms_norm(Variable(x), gain, epsilon_used).value();
}

// Rows of x minus their mean.
Tensor centred_rows(const Tensor& x) {
  const Tensor y = x.copy();
  const Index width = x.shape()[-1];
  for (Index row = 0; row < x.size(); row += width) {
    double mean = 0;
    for (Index i = 0; i < width; ++i) mean += x[row + i] / static_cast<double>(width);
    for (Index i = 0; i < width; ++i) y[row + i] -= static_cast<Real>(mean);
  }
  return y;
}

}  // namespace

TEST_CASE("layer_norm: gradients and oracle, with and without bias") {
  for (const Shape& shape : shapes) {
    CAPTURE(shape);
    const Index width = shape[-1];
    std::vector<Tensor> inputs{normal_tensor(shape, 1, 2), normal_tensor({width}, 2), normal_tensor({width}, 3)};
    check_operation(layer_norm, inputs);
    check_oracle(layer_norm, naive_norm(true), inputs);
    inputs.pop_back();
    check_operation(layer_norm, inputs);
    check_oracle(layer_norm, naive_norm(true), inputs);
  }
}

TEST_CASE("rms_norm: gradients and oracle") {
  for (const Shape& shape : shapes) {
    CAPTURE(shape);
    const std::vector<Tensor> inputs{normal_tensor(shape, 1, 2), normal_tensor({shape[-1]}, 2)};
    check_operation(rms_norm, inputs);
    check_oracle(rms_norm, naive_norm(false), inputs);
  }
}

TEST_CASE("norms: rows may lie apart, as heads do, and be stored as bfloat16") {
  const Tensor states = normal_tensor({2, 35, 4 * 3 * 6}, 1, 2), gain = normal_tensor({6}, 2);
  // The second of three parts in four heads: [2, 4, 35, 6], whose rows are contiguous.
  const auto heads = [](const Tensor& t) { return t.narrowed(-1, 24, 24).split(-1, 4).swapped(1, 2); };
  const auto norm_of_heads = [&](const auto& in) { return ops::rms_norm(view(in[0], heads), in[1], epsilon); };
  check_operation(norm_of_heads, {states, gain});
  const Tensor apart = norm_of_heads(std::vector<Variable>{Variable(states), Variable(gain)}).value();
  const Tensor together = ops::rms_norm(Variable(heads(states).copy()), Variable(gain), epsilon).value();
  CHECK(apart.is_contiguous());
  CHECK(difference(apart, together) == 0);

  const Tensor few(Shape{40, 6}, DType::bfloat16), rounded({40, 6});
  for (Index i = 0; i < few.size(); ++i) {
    store(few.data<BFloat16>()[i], states[i]);
    rounded[i] = load(few.data<BFloat16>()[i]);
  }
  // Compilers may add the squares of the two types in different orders.
  CHECK(difference(ops::rms_norm(Variable(few), Variable(gain), epsilon).value(),
                   ops::rms_norm(Variable(rounded), Variable(gain), epsilon).value()) < 1e-6);
}

TEST_CASE("layer_norm: rows have mean 0 and variance s / (s + epsilon)") {
  const Index width = 50;
  const Tensor x = normal_tensor({4, width}, 1, 0.01), y = with_ones(x, epsilon);
  const Tensor c = centred_rows(x);
  for (Index row = 0; row < 4; ++row) {
    double mean = 0, variance = 0, before = 0;
    for (Index i = 0; i < width; ++i) {
      mean += y[row * width + i] / 50.0;
      variance += double(y[row * width + i]) * y[row * width + i] / 50.0;
      before += double(c[row * width + i]) * c[row * width + i] / 50.0;
    }
    CHECK(std::abs(mean) < by_precision(1e-14, 1e-6));
    CHECK(variance == doctest::Approx(before / (before + 1e-5)).epsilon(by_precision(1e-12, 1e-5)));
  }
}

TEST_CASE("layer_norm: shifting and scaling the input changes nothing; rms_norm: scaling") {
  const Tensor x = normal_tensor({5, 33}, 1), moved = x.copy(), larger = x.copy();
  for (Index i = 0; i < x.size(); ++i) {
    moved[i] = 3 * x[i] + 7;
    larger[i] = 3 * x[i];
  }
  CHECK(difference(with_ones(moved, 0), with_ones(x, 0)) < by_precision(1e-13, 5e-6));
  CHECK(difference(with_ones(larger, 0, false), with_ones(x, 0, false)) < by_precision(1e-14, 1e-6));
  CHECK(difference(with_ones(moved, 0, false), with_ones(x, 0, false)) > 0.1);
}

TEST_CASE("rms_norm: equals layer_norm where the mean is zero, and differs elsewhere") {
  const Tensor x = centred_rows(normal_tensor({5, 33}, 1)), shifted = x.copy();
  for (Index i = 0; i < x.size(); ++i) shifted[i] += 1;
  CHECK(difference(with_ones(x, epsilon, false), with_ones(x, epsilon)) < by_precision(1e-14, 2e-6));
  CHECK(difference(with_ones(shifted, epsilon, false), with_ones(shifted, epsilon)) > 0.1);
}

TEST_CASE("layer_norm: the input's gradient is orthogonal to ones and to the normalised input") {
  const Index width = 21;
  const std::vector<Tensor> inputs{normal_tensor({6, width}, 1), normal_tensor({width}, 2)};
  const auto without_epsilon = [](const auto& in) { return ops::layer_norm(in[0], in[1], {}, 0); };
  const Tensor dx = differentiate(without_epsilon, inputs).gradients[0], normal = with_ones(inputs[0], 0);
  for (Index row = 0; row < 6; ++row) {
    double sum = 0, product = 0, size = 0;
    for (Index i = row * width; i < (row + 1) * width; ++i) {
      sum += dx[i];
      product += double(dx[i]) * normal[i];
      size += std::abs(dx[i]);
    }
    CHECK(std::abs(sum) < by_precision(1e-14, 1e-6) * size);
    CHECK(std::abs(product) < by_precision(1e-14, 1e-6) * size);
  }
}

TEST_CASE("norms: rows of equal or zero elements stay finite") {
  for (const Real value : {Real(0), Real(3), Real(1e4)}) {
    CAPTURE(value);
    const std::vector<Tensor> inputs{Tensor({2, 5}, value), Tensor({5}, 1)};
    for (const Operation& norm : {layer_norm, rms_norm}) {
      const Differentiated result = differentiate(norm, inputs);
      CHECK(is_finite(result.output));
      CHECK(is_finite(result.gradients[0]));
    }
  }
}

TEST_CASE("norms: shapes that do not fit are refused") {
  const Variable x(Tensor({4, 3}, 1)), gain(Tensor({3}, 1)), wrong(Tensor({4}, 1));
  CHECK_THROWS_AS(ops::layer_norm(x, wrong, {}, epsilon), ShapeError);
  CHECK_THROWS_AS(ops::layer_norm(x, gain, wrong, epsilon), ShapeError);
  CHECK_THROWS_AS(ops::rms_norm(x, wrong, epsilon), ShapeError);
  CHECK_THROWS_AS(ops::rms_norm(Variable(Tensor({3, 4}, 1).swapped(0, 1)), gain, epsilon), ShapeError);
}
