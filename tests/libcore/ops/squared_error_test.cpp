#include "libcore/ops/squared_error.hpp"

#include <doctest/doctest.h>

#include "support/gradient_check.hpp"

using namespace heddle;
using namespace heddle::testing;

TEST_CASE("squared_error: gradients and oracle") {
  const std::vector<double> targets{1, -2, 0.5, 3};
  const Tensor x = normal_tensor({4, 1}, 1);
  const Operation operation = [&](const auto& in) { return ops::squared_error(in[0], targets, 8); };
  const Oracle oracle = [&](const auto& in) {
    double sum = 0;
    for (std::size_t i = 0; i < 4; ++i) sum += (in[0][i] - targets[i]) * (in[0][i] - targets[i]);
    return std::vector<double>{sum / 8};
  };
  check_operation(operation, {x});
  check_oracle(operation, oracle, {x});
  CHECK_THROWS_AS(ops::squared_error(Variable(x), {1, 2}, 1), ShapeError);
}
