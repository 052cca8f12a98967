#include "libcore/ops/binary_cross_entropy.hpp"

#include <doctest/doctest.h>

#include <cmath>

#include "support/gradient_check.hpp"

using namespace heddle;
using namespace heddle::testing;

TEST_CASE("binary_cross_entropy: gradients and oracle") {
  const std::vector<char> is_one{1, 0, 0, 1, 1};
  const Tensor x = normal_tensor({5, 1}, 1);
  const Operation operation = [&](const auto& in) { return ops::binary_cross_entropy(in[0], is_one, 8); };
  const Oracle oracle = [&](const auto& in) {
    double sum = 0;
    for (std::size_t i = 0; i < 5; ++i) {
      const double one = 1 / (1 + std::exp(-in[0][i]));
      sum -= std::log(is_one[i] ? one : 1 - one);
    }
    return std::vector<double>{sum / 8};
  };
  check_operation(operation, {x});
  check_oracle(operation, oracle, {x});
  CHECK_THROWS_AS(ops::binary_cross_entropy(Variable(x), {1, 0}, 1), ShapeError);
}

TEST_CASE("binary_cross_entropy: large logits give finite losses, those of the wrong class their own size") {
  const Tensor x({2, 1});
  x[0] = 2000, x[1] = -2000;
  CHECK(ops::binary_nats(x, {1, 0}) == 0);
  CHECK(ops::binary_nats(x, {0, 1}) == 4000);
}
