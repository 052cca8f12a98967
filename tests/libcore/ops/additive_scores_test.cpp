// Scores of additive attention (SPEC A8).
#include "libcore/ops/additive_scores.hpp"

#include <doctest/doctest.h>

#include <cmath>

#include "attention_cases.hpp"

using namespace heddle;
using namespace heddle::testing;

namespace {

// Scores of the whole problem, row-major.
Oracle naive_additive_scores(const AttentionCase& c) {
  return [c](const std::vector<std::vector<double>>& inputs) {
    const AttentionSizes& s = c.sizes;
    const Index width = s.head_width;
    std::vector<double> scores;
    const auto row = [&](std::size_t input, Index number) { return inputs[input].data() + number * width; };
    for (Index b = 0; b < s.batch; ++b) {
      for (Index h = 0; h < s.heads; ++h) {
        const Index kv_head = h / (s.heads / s.kv_heads);
        for (Index i = 0; i < s.query_time; ++i) {
          for (Index j = 0; j < s.key_time; ++j) {
            double sum = 0;
            const double* q = row(0, (b * s.heads + h) * s.query_time + i);
            const double* k = row(1, (b * s.kv_heads + kv_head) * s.key_time + j);
            for (Index x = 0; x < width; ++x) sum += row(2, h)[x] * std::tanh(q[x] + k[x]);
            scores.push_back(may_attend(c.mask, b, i, j) ? sum : 0);
          }
        }
      }
    }
    return scores;
  };
}

}  // namespace

TEST_CASE("additive scores: equal their equation under every mask, and so do their gradients") {
  std::vector<AttentionCase> cases = attention_cases();
  cases.push_back({"more numbers than a task takes", {1, 5, 2, 2, 27}});
  for (const AttentionCase& c : cases) {
    CAPTURE(c.name);
    const AttentionSizes& s = c.sizes;
    const std::vector<Tensor> inputs{normal_tensor(s.query_shape(), 1), normal_tensor(s.key_shape(), 2),
                                     normal_tensor({s.heads, s.head_width}, 3)};
    const auto operation = [&](const std::vector<Variable>& given) {
      return ops::additive_scores(given[0], given[1], given[2], {.mask = c.mask});
    };
    check_oracle(operation, naive_additive_scores(c), inputs);
  }
}

TEST_CASE("additive scores: gradients through views, on any number of threads; what does not fit is refused") {
  const std::vector<Tensor> inputs{normal_tensor({2, 2, 3, 5}, 1), normal_tensor({2, 1, 4, 5}, 2),
                                   normal_tensor({2, 5}, 3)};
  const auto operation = [](const std::vector<Variable>& given) {
    return ops::additive_scores(given[0], given[1], given[2], {.mask = {.key_lengths = {4, 2}}});
  };
  check_operation(operation, inputs);
  const auto scores = [&](const Tensor& v, const ops::AdditiveScores& options) {
    return ops::additive_scores(Variable(inputs[0]), Variable(inputs[1]), Variable(v), options);
  };
  CHECK_THROWS_AS(scores(normal_tensor({1, 5}, 3), {}), ShapeError);
  CHECK_THROWS_AS(scores(inputs[2], {.mask = {.key_lengths = {4}}}), ShapeError);
  CHECK_THROWS_AS(scores(inputs[2], {.key_rows = {0, 2}}), ShapeError);
}
