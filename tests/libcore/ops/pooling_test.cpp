#include "libcore/ops/pooling.hpp"

#include <doctest/doctest.h>

#include "support/gradient_check.hpp"

using namespace heddle;
using namespace heddle::testing;

TEST_CASE("mean_over_time: gradients and oracle, whatever lies beyond the lengths") {
  const std::vector<Index> lengths{3, 1, 5};
  constexpr std::size_t time = 5, width = 7;
  const Tensor x = normal_tensor({3, time, width}, 1);
  const Operation operation = [&](const auto& in) { return ops::mean_over_time(in[0], lengths); };
  const Oracle oracle = [&](const auto& in) {
    std::vector<double> y;
    for (std::size_t b = 0; b < lengths.size(); ++b) {
      const auto count = static_cast<std::size_t>(lengths[b]);
      for (std::size_t i = 0; i < width; ++i) {
        double sum = 0;
        for (std::size_t t = 0; t < count; ++t) sum += in[0][(b * time + t) * width + i];
        y.push_back(sum / static_cast<double>(count));
      }
    }
    return y;
  };
  check_operation(operation, {x});
  check_oracle(operation, oracle, {x});
}

TEST_CASE("mean_over_time: lengths that cannot be are refused") {
  const Variable x(normal_tensor({2, 3, 4}, 1));
  CHECK_THROWS_AS(ops::mean_over_time(x, {1, 4}), ShapeError);
  CHECK_THROWS_AS(ops::mean_over_time(x, {0, 1}), ShapeError);
  CHECK_THROWS_AS(ops::mean_over_time(x, {1}), ShapeError);
}
