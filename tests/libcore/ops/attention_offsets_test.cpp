// Terms by the offset of a key from its query.
#include "libcore/ops/attention_offsets.hpp"

#include <doctest/doctest.h>

#include <algorithm>

#include "attention_cases.hpp"
#include "libcore/ops/heads.hpp"

using namespace heddle;
using namespace heddle::testing;

namespace {

// Element i of a row-major array.
double element_at(const std::vector<double>& x, Index i) {
  return x[static_cast<std::size_t>(i)];
}

// A table of queries [batch, heads, query_time, offsets] as a bias of all pairs.
std::vector<double> spread(const std::vector<double>& table, const AttentionSizes& s, const Mask& mask, Index offsets,
                           Index zero) {
  std::vector<double> bias;
  for (Index row = 0; row < s.batch * s.heads * s.query_time; ++row) {
    const Index position = mask.position_of(row / s.query_time / s.heads, row % s.query_time);
    for (Index j = 0; j < s.key_time; ++j) {
      bias.push_back(element_at(table, row * offsets + std::clamp(j - position + zero, Index{0}, offsets - 1)));
    }
  }
  return bias;
}

}  // namespace

TEST_CASE("fused_attention: a table of each query by offset is the bias of its pairs, and so are the gradients") {
  for (const AttentionCase& c : attention_cases()) {
    CAPTURE(c.name);
    for (const auto& [offsets, zero] : std::vector<std::pair<Index, Index>>{{1, 0}, {4, 1}, {5, 4}, {23, 11}}) {
      if (offsets == 1 && !real_is_double) continue;  // softmax ignores it: its gradients are rounding errors
      CAPTURE(offsets);
      std::vector<Tensor> inputs = c.inputs();
      inputs.push_back(normal_tensor({c.sizes.batch, c.sizes.heads, c.sizes.query_time, offsets}, 4));
      const auto fused = [&, of = zero](Index query_tile, Index key_tile) -> Operation {
        return [&c, of, query_tile, key_tile](const auto& in) {
          return ops::fused_attention(in[0], in[1], in[2],
                                      {.scale = Real(0.6),
                                       .mask = c.mask,
                                       .query_tile = query_tile,
                                       .key_tile = key_tile,
                                       .query_bias = {in[3], of}});
        };
      };
      const Oracle oracle = [&, columns = offsets, of = zero](const auto& in) {
        const NaiveBias bias{c.sizes.batch, c.sizes.heads, spread(in[3], c.sizes, c.mask, columns, of), 0, 0, {}};
        return naive_attention(in[0], in[1], in[2], c.sizes, c.mask, 0.6, bias);
      };
      check_oracle(fused(64, 1024), oracle, inputs);
      check_oracle(fused(3, 4), oracle, inputs);
      check_operation(fused(2, 3), inputs);
    }
  }
}

TEST_CASE("fused_attention: tables by query and by offset and a full bias add up") {
  const AttentionCase c{"", {2, 3, 6, 7, 3}, {.causal = true, .query_offsets = {1, 0}}};
  std::vector<Tensor> inputs = c.inputs();
  inputs.push_back(normal_tensor({2, 3, 6, 5}, 4));
  inputs.push_back(normal_tensor({3, 7}, 5));
  inputs.push_back(normal_tensor({1, 1, 6, 7}, 6));
  const Operation all = [&](const auto& in) {
    return ops::fused_attention(
        in[0], in[1], in[2],
        {.scale = 1, .mask = c.mask, .bias = in[5], .offset_bias = in[4], .query_bias = {in[3], 4}});
  };
  const Oracle oracle = [&](const auto& in) {
    NaiveBias bias{2, 3, spread(in[3], c.sizes, c.mask, 5, 4), 3, 3, in[4]};
    for (std::size_t i = 0; i < bias.full.size(); ++i) bias.full[i] += in[5][i % 42];
    return naive_attention(in[0], in[1], in[2], c.sizes, c.mask, 1, bias);
  };
  check_oracle(all, oracle, inputs);
}

TEST_CASE("fused_attention: tables that do not fit the scores are refused") {
  const Variable q(Tensor({2, 3, 4, 5}, Real(0)));
  const auto with = [&](const Shape& shape, Index zero) {
    return ops::fused_attention(q, q, q, {.query_bias = {Variable(Tensor(shape, 0)), zero}});
  };
  CHECK_THROWS_WITH_AS(with({2, 1, 4, 7}, 3),
                       "attention: a bias by query and offset of shape [2, 1, 4, 7] with offset 0 at 3, for scores of "
                       "[2, 3, 4, 4]",
                       ShapeError);
  CHECK_THROWS_AS(with({2, 3, 4, 7}, 7), ShapeError);
  CHECK_THROWS_AS(with({2, 3, 4, 7}, -1), ShapeError);
}

TEST_CASE("offset_products: of heads of their own, shared, and of groups") {
  for (const auto& [x_heads, table_heads] : std::vector<std::pair<Index, Index>>{{3, 3}, {3, 1}, {2, 4}, {1, 1}}) {
    CAPTURE(x_heads);
    CAPTURE(table_heads);
    const Index heads = table_heads == 1 ? x_heads : table_heads, groups = heads / x_heads;
    const Oracle oracle = [=, of_x = x_heads, of_table = table_heads](const auto& in) {
      std::vector<double> y;
      for (Index row = 0; row < 2 * heads * 4; ++row) {
        const Index b = row / 4 / heads, h = row / 4 % heads, t = row % 4;
        for (Index c = 0; c < 5; ++c) {
          double sum = 0;
          for (Index i = 0; i < 3; ++i) {
            sum += element_at(in[0], ((b * of_x + h / groups) * 4 + t) * 3 + i) *
                   element_at(in[1], ((of_table == 1 ? 0 : h) * 5 + c) * 3 + i);
          }
          y.push_back(sum);
        }
      }
      return y;
    };
    const Operation operation = [](const auto& in) { return ops::offset_products(in[0], in[1]); };
    const std::vector<Tensor> inputs{normal_tensor({2, x_heads, 4, 3}, 1), normal_tensor({table_heads, 5, 3}, 2)};
    check_oracle(operation, oracle, inputs);
    check_operation(operation, inputs);
  }
  CHECK_THROWS_AS(ops::offset_products(Variable(Tensor({2, 2, 4, 3}, 0)), Variable(Tensor({3, 5, 3}, 0))), ShapeError);
  CHECK_THROWS_AS(ops::offset_products(Variable(Tensor({2, 3, 4, 3}, 0)), Variable(Tensor({3, 5, 2}, 0))), ShapeError);
}

TEST_CASE("key_bias: entry (i, j) is the key's column of j - i") {
  const std::vector<Tensor> inputs{normal_tensor({2, 3, 7, 5}, 1)};
  for (const std::vector<Index>& starts : std::vector<std::vector<Index>>{{}, {4, 1}}) {
    const Operation operation = [&](const auto& in) { return ops::key_bias({in[0], 3}, 4, starts); };
    check_oracle(
        operation,
        [&](const auto& in) {
          std::vector<double> y;
          for (Index row = 0; row < 2 * 3 * 4; ++row) {
            const Index position = row % 4 + (starts.empty() ? 0 : starts[static_cast<std::size_t>(row / 12)]);
            for (Index j = 0; j < 7; ++j) {
              y.push_back(element_at(in[0], (row / 4 * 7 + j) * 5 + std::clamp(j - position + 3, Index{0}, Index{4})));
            }
          }
          return y;
        },
        inputs);
    check_operation(operation, inputs);
  }
}

TEST_CASE("query_bias: entry (i, j) is the query's column of j - i") {
  const AttentionSizes sizes{2, 3, 4, 7, 1};
  const std::vector<Tensor> inputs{normal_tensor({2, 3, 4, 5}, 1)};
  for (const std::vector<Index>& starts : std::vector<std::vector<Index>>{{}, {4, 1}}) {
    const Operation operation = [&](const auto& in) { return ops::query_bias({in[0], 3}, 7, starts); };
    check_oracle(
        operation, [&](const auto& in) { return spread(in[0], sizes, {.query_offsets = starts}, 5, 3); }, inputs);
    check_operation(operation, inputs);
  }
}

TEST_CASE("sum_by_offset: weights of the keys of a column add up") {
  const std::vector<Tensor> inputs{normal_tensor({2, 3, 4, 7}, 1)};
  for (const std::vector<Index>& starts : std::vector<std::vector<Index>>{{}, {4, 1}}) {
    const Operation operation = [&](const auto& in) { return ops::sum_by_offset(in[0], {5, 3}, starts); };
    check_oracle(
        operation,
        [&](const auto& in) {
          std::vector<double> y(2 * 3 * 4 * 5, 0.0);
          for (Index row = 0; row < 2 * 3 * 4; ++row) {
            const Index position = row % 4 + (starts.empty() ? 0 : starts[static_cast<std::size_t>(row / 12)]);
            for (Index j = 0; j < 7; ++j) {
              const Index column = std::clamp(j - position + 3, Index{0}, Index{4});
              y[static_cast<std::size_t>(row * 5 + column)] += element_at(in[0], row * 7 + j);
            }
          }
          return y;
        },
        inputs);
    check_operation(operation, inputs);
  }
}

TEST_CASE("shift_heads: a vector for each head, and a scale") {
  const std::vector<Tensor> inputs{normal_tensor({2, 3, 4, 5}, 1), normal_tensor({3, 5}, 2)};
  const Operation operation = [](const auto& in) { return ops::shift_heads(in[0], in[1], Real(0.7)); };
  check_oracle(
      operation,
      [](const auto& in) {
        std::vector<double> y;
        for (Index i = 0; i < 120; ++i)
          y.push_back(0.7 * (element_at(in[0], i) + element_at(in[1], i / 20 % 3 * 5 + i % 5)));
        return y;
      },
      inputs);
  check_operation(operation, inputs);
  check_operation([](const auto& in) { return ops::shift_heads(in[0], {}, Real(0.7)); }, {inputs[0]});
  CHECK_THROWS_AS(ops::shift_heads(Variable(inputs[0]), Variable(Tensor({3, 4}, 0)), 1), ShapeError);
}
