#include "libcore/ops/layer_mix.hpp"

#include <doctest/doctest.h>

#include <cmath>

#include "support/gradient_check.hpp"

using namespace heddle;
using namespace heddle::testing;

namespace {

// Scores, scale, layers.
Variable mixed(const std::vector<Variable>& in) {
  return ops::layer_mix({in.begin() + 2, in.end()}, in[0], in[1]);
}

std::vector<double> naive_layer_mix(const std::vector<std::vector<double>>& in) {
  double sum = 0;
  for (const double score : in[0]) sum += std::exp(score);
  std::vector<double> y(in[2].size(), 0);
  for (std::size_t j = 0; j + 2 < in.size(); ++j) {
    for (std::size_t i = 0; i < y.size(); ++i) y[i] += in[1][0] * std::exp(in[0][j]) / sum * in[j + 2][i];
  }
  return y;
}

}  // namespace

TEST_CASE("layer mix: gradients and oracle for several numbers of layers") {
  for (const Index layers : {1, 2, 3, 5}) {
    for (const Shape& shape : {Shape{1}, Shape{2, 3, 4}, Shape{3, 70, 100}}) {
      CAPTURE(layers);
      CAPTURE(shape);
      std::vector<Tensor> inputs{normal_tensor({layers}, 1), normal_tensor({1}, 2)};
      for (Index j = 0; j < layers; ++j) inputs.push_back(normal_tensor(shape, 3 + static_cast<std::uint64_t>(j)));
      check_oracle(mixed, naive_layer_mix, inputs);
      if (shape.size() < 1000) check_operation(mixed, inputs);
    }
  }
}

TEST_CASE("layer mix: with a score far above the others it is that layer, and with equal ones the mean") {
  std::vector<Variable> layers;
  for (std::uint64_t j = 0; j < 3; ++j) layers.emplace_back(normal_tensor({4, 5}, j + 1));
  const Variable one(Tensor({1}, Real(1)));
  for (Index chosen = 0; chosen < 3; ++chosen) {
    const Tensor scores({3}, Real(-1000));
    scores[chosen] = 0;
    const Tensor& layer = layers[static_cast<std::size_t>(chosen)].value();
    CHECK(difference(ops::layer_mix(layers, Variable(scores), one).value(), layer) == 0);
  }
  const Tensor mean = ops::layer_mix(layers, Variable(Tensor({3}, Real(7))), one).value();
  for (Index i = 0; i < 20; ++i) {
    const double sum = double(layers[0].value()[i]) + double(layers[1].value()[i]) + double(layers[2].value()[i]);
    CHECK(mean[i] == doctest::Approx(sum / 3).epsilon(1e-6));
  }
}

TEST_CASE("layer mix: shapes that do not fit are refused") {
  const Variable a(Tensor({2, 3}, 1)), b(Tensor({3, 2}, 1)), one(Tensor({1}, 1)), two(Tensor({2}, 1));
  CHECK_THROWS_AS(ops::layer_mix({a, b}, two, one), ShapeError);
  CHECK_THROWS_AS(ops::layer_mix({a, a}, one, one), ShapeError);
  CHECK_THROWS_AS(ops::layer_mix({a, a}, two, two), ShapeError);
  CHECK_THROWS_AS(ops::layer_mix({}, two, one), ShapeError);
}
