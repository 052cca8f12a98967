#include "libcore/ops/segment_bias.hpp"

#include <doctest/doctest.h>

#include "support/gradient_check.hpp"

using namespace heddle;
using namespace heddle::testing;

TEST_CASE("segment_bias: each pair has the value of its query for the same segment or for another one, and gradients") {
  const auto queries = std::make_shared<const TokenIds>(Shape{2, 3}, std::vector<TokenId>{0, 0, 1, 2, 1, 1});
  const auto keys = std::make_shared<const TokenIds>(Shape{2, 4}, std::vector<TokenId>{0, 1, 1, 0, 2, 2, 1, 0});
  const Operation bias = [&](const std::vector<Variable>& in) { return ops::segment_bias({in[0], queries, keys}); };
  const Oracle oracle = [&](const auto& in) {
    std::vector<double> y;
    for (std::size_t b = 0; b < 2; ++b) {
      for (std::size_t head = 0; head < 2; ++head) {
        for (std::size_t i = 0; i < 3; ++i) {
          for (std::size_t j = 0; j < 4; ++j) {
            const bool same = queries->ids[3 * b + i] == keys->ids[4 * b + j];
            y.push_back(in[0][2 * ((b * 2 + head) * 3 + i) + (same ? 0 : 1)]);
          }
        }
      }
    }
    return y;
  };
  const std::vector<Tensor> inputs{normal_tensor({2, 2, 3, 2}, 1)};
  check_oracle(bias, oracle, inputs);
  check_operation(bias, inputs);
  CHECK_THROWS_AS(ops::segment_bias({Variable(normal_tensor({2, 2, 4, 2}, 1)), queries, keys}), ShapeError);
  CHECK_THROWS_AS(ops::segment_bias({Variable(normal_tensor({2, 2, 3, 3}, 1)), queries, keys}), ShapeError);
}
