// Softmax of scores under a mask, and mixing by ready weights.
#include "libcore/ops/mixing.hpp"

#include <doctest/doctest.h>

#include <cmath>

#include "attention_cases.hpp"

using namespace heddle;
using namespace heddle::testing;

namespace {

Shape scores_shape(const AttentionSizes& s) {
  return {s.batch, s.heads, s.query_time, s.key_time};
}

Oracle softmax_oracle(const AttentionCase& c, Index table_heads, Index reach) {
  return [=](const std::vector<std::vector<double>>& in) {
    const AttentionSizes& s = c.sizes;
    const NaiveBias bias{.table_heads = table_heads, .reach = reach, .table = in[1]};
    std::vector<double> weights;
    for (Index row = 0; row < s.batch * s.heads * s.query_time; ++row) {
      const Index b = row / s.heads / s.query_time, h = row / s.query_time % s.heads, i = row % s.query_time;
      std::vector<double> powers;
      double sum = 0;
      for (Index j = 0; j < s.key_time; ++j) {
        const double score = in[0][static_cast<std::size_t>(row * s.key_time + j)] + bias.at(s, c.mask, b, h, i, j);
        powers.push_back(may_attend(c.mask, b, i, j) ? std::exp(score) : 0);
        sum += powers.back();
      }
      for (const double power : powers) weights.push_back(sum > 0 ? power / sum : 0);
    }
    return weights;
  };
}

}  // namespace

TEST_CASE("masked_softmax: equals its equation under every mask, with a bias by offset, and so do its gradients") {
  for (const AttentionCase& c : attention_cases()) {
    CAPTURE(c.name);
    const AttentionSizes& s = c.sizes;
    for (const Index table_heads : {Index{1}, s.heads}) {
      const std::vector<Tensor> inputs{normal_tensor(scores_shape(s), 1), normal_tensor({table_heads, 5}, 2)};
      const auto operation = [&](const std::vector<Variable>& in) { return ops::masked_softmax(in[0], c.mask, in[1]); };
      check_oracle(operation, softmax_oracle(c, table_heads, 2), inputs);
    }
  }
}

TEST_CASE("masked_softmax: large scores do not overflow, and what does not fit is refused") {
  const Tensor scores({1, 1, 1, 3}, std::vector<Real>{5000, 5000, -5000});
  const Tensor weights = ops::masked_softmax(Variable(scores), {}).value();
  CHECK(weights.elements() == std::vector<Real>{0.5, 0.5, 0});
  CHECK(scores[0] == 5000);  // not written to
  const Variable x(normal_tensor({2, 2, 3, 4}, 1));
  CHECK_THROWS_AS(ops::masked_softmax(x, {.key_lengths = {4}}), ShapeError);
  CHECK_THROWS_AS(ops::masked_softmax(x, {}, Variable(normal_tensor({3, 5}, 2))), ShapeError);
  CHECK_THROWS_AS(ops::masked_softmax(x, {}, Variable(normal_tensor({2, 4}, 2))), ShapeError);
  check_operation([](const auto& in) { return ops::masked_softmax(in[0], {.causal = true}, in[1]); },
                  {normal_tensor({2, 3, 5, 5}, 1), normal_tensor({3, 3}, 2)});
}

TEST_CASE("mix_values: equals its equation for shared heads and any shape, and so do its gradients") {
  for (const AttentionCase& c : attention_cases()) {
    CAPTURE(c.name);
    const AttentionSizes& s = c.sizes;
    const std::vector<Tensor> inputs{normal_tensor(scores_shape(s), 1), normal_tensor(s.value_shape(), 2)};
    const Oracle oracle = [&](const std::vector<std::vector<double>>& in) {
      std::vector<double> y;
      for (Index b = 0; b < s.batch; ++b) {
        for (Index i = 0; i < s.query_time; ++i) {
          for (Index h = 0; h < s.heads; ++h) {
            for (Index v = 0; v < s.value_width; ++v) {
              double sum = 0;
              for (Index j = 0; j < s.key_time; ++j) {
                const Index weight = ((b * s.heads + h) * s.query_time + i) * s.key_time + j;
                const Index value = ((b * s.kv_heads + h / (s.heads / s.kv_heads)) * s.key_time + j) * s.value_width;
                sum += in[0][static_cast<std::size_t>(weight)] * in[1][static_cast<std::size_t>(value + v)];
              }
              y.push_back(sum);
            }
          }
        }
      }
      return y;
    };
    check_oracle([](const auto& in) { return ops::mix_values(in[0], in[1]); }, oracle, inputs);
  }
}

TEST_CASE("mix_values: many queries, views and threads; picked rows of values; bfloat16") {
  const std::vector<Tensor> inputs{normal_tensor({2, 4, 70, 9}, 1), normal_tensor({2, 2, 9, 5}, 2)};
  check_operation([](const auto& in) { return ops::mix_values(in[0], in[1]); }, inputs);
  const Tensor picked = ops::mix_values(Variable(inputs[0]), Variable(inputs[1]), {.key_rows = {1, 1}}).value();
  const Tensor alone =
      ops::mix_values(Variable(inputs[0].narrowed(0, 0, 1)), Variable(inputs[1].narrowed(0, 1, 1))).value();
  CHECK(difference(picked.narrowed(0, 0, 1), alone) < by_precision(1e-13, 1e-5));
  const Variable half(inputs[1].as(DType::bfloat16));
  const Tensor rounded = ops::mix_values(Variable(inputs[0]), half, {.output = DType::bfloat16}).value();
  CHECK(rounded.dtype() == DType::bfloat16);
  CHECK(relative_difference(rounded, ops::mix_values(Variable(inputs[0]), Variable(inputs[1])).value()) < 0.02);
  CHECK_THROWS_AS(ops::mix_values(Variable(inputs[0]), Variable(normal_tensor({2, 3, 9, 5}, 2))), ShapeError);
  CHECK_THROWS_AS(ops::mix_values(Variable(inputs[0]), Variable(normal_tensor({2, 2, 8, 5}, 2))), ShapeError);
}
