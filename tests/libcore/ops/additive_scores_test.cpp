// Scores of additive attention (SPEC A8).
#include "heddle/ops/additive_scores.hpp"

#include <doctest/doctest.h>

#include <cmath>

#include "support/gradient_check.hpp"
#include "support/tensors.hpp"

using namespace heddle;
using namespace heddle::testing;

namespace {

constexpr Index batch = 2, queries = 3, keys = 4, width = 5;

Oracle scores_of(const std::vector<Index>& lengths) {
  return [lengths](const std::vector<std::vector<double>>& inputs) {
    std::vector<double> scores;
    for (Index b = 0; b < batch; ++b) {
      for (Index i = 0; i < queries; ++i) {
        for (Index j = 0; j < keys; ++j) {
          double sum = 0;
          for (Index k = 0; k < width; ++k) {
            sum += inputs[2][static_cast<std::size_t>(k)] *
                   std::tanh(inputs[0][static_cast<std::size_t>((b * queries + i) * width + k)] +
                             inputs[1][static_cast<std::size_t>((b * keys + j) * width + k)]);
          }
          scores.push_back(lengths.empty() || j < lengths[static_cast<std::size_t>(b)] ? sum : 0);
        }
      }
    }
    return scores;
  };
}

}  // namespace

TEST_CASE("additive scores: equal their equation, with and without padding, and so do their gradients") {
  const std::vector<Tensor> inputs{normal_tensor({batch, queries, width}, 1), normal_tensor({batch, keys, width}, 2),
                                   normal_tensor({1, width}, 3)};
  for (const std::vector<Index>& lengths : {std::vector<Index>{}, std::vector<Index>{4, 2}}) {
    const auto operation = [&](const std::vector<Variable>& given) {
      return ops::additive_scores(given[0], given[1], given[2], lengths);
    };
    check_oracle(operation, scores_of(lengths), inputs);
    check_operation(operation, inputs);
  }
  CHECK_THROWS_AS(ops::additive_scores(Variable(inputs[0]), Variable(inputs[1]), Variable(normal_tensor({1, 4}, 3))),
                  ShapeError);
  CHECK_THROWS_AS(ops::additive_scores(Variable(inputs[0]), Variable(inputs[1]), Variable(inputs[2]), {4}), ShapeError);
}
