// A matrix for each head.
#include "libcore/ops/head_product.hpp"

#include <doctest/doctest.h>

#include "support/gradient_check.hpp"

using namespace heddle;
using namespace heddle::testing;

TEST_CASE("head_product: equals its equation for one and several blocks of rows, and so do its gradients") {
  for (const Index time : {3, 300}) {
    CAPTURE(time);
    constexpr Index batch = 2, heads = 2, width = 3, out = 4;
    const std::vector<Tensor> inputs{normal_tensor({batch, heads, time, width}, 1),
                                     normal_tensor({heads, width, out}, 2)};
    const Oracle oracle = [&](const std::vector<std::vector<double>>& in) {
      std::vector<double> y;
      for (Index row = 0; row < batch * heads * time; ++row) {
        const Index head = row / time % heads;
        for (Index j = 0; j < out; ++j) {
          double sum = 0;
          for (Index i = 0; i < width; ++i) {
            sum += in[0][static_cast<std::size_t>(row * width + i)] *
                   in[1][static_cast<std::size_t>((head * width + i) * out + j)];
          }
          y.push_back(sum);
        }
      }
      return y;
    };
    check_oracle([](const auto& in) { return ops::head_product(in[0], in[1]); }, oracle, inputs);
  }
}

TEST_CASE("head_product: views, threads, bfloat16; shapes that do not fit are refused") {
  const std::vector<Tensor> inputs{normal_tensor({2, 3, 5, 4}, 1), normal_tensor({3, 4, 4}, 2)};
  check_operation([](const auto& in) { return ops::head_product(in[0], in[1]); }, inputs);
  check_halves([&](const auto& in) { return ops::head_product(in[0], Variable(inputs[1])); }, {inputs[0]});
  CHECK_THROWS_AS(ops::head_product(Variable(inputs[0]), Variable(normal_tensor({2, 4, 4}, 2))), ShapeError);
  CHECK_THROWS_AS(ops::head_product(Variable(inputs[0]), Variable(normal_tensor({3, 5, 4}, 2))), ShapeError);
}
