// Biases, and weights on request.
#include <doctest/doctest.h>

#include <limits>

#include "attention_cases.hpp"

using namespace heddle;
using namespace heddle::testing;

namespace {

// A problem with a full bias, a table by offset, or both, of which each may be shared by batches and by heads.
struct BiasCase {
  const char* name;
  AttentionCase attention;
  Index batch = 0, heads = 0;        // first dimension of the full bias; 0: none
  Index table_heads = 0, reach = 0;  // heads of the table; 0: none

  std::vector<Tensor> inputs() const {
    std::vector<Tensor> result = attention.inputs();
    const AttentionSizes& s = attention.sizes;
    if (batch > 0) result.push_back(normal_tensor({batch, heads, s.query_time, s.key_time}, 4));
    if (table_heads > 0) result.push_back(normal_tensor({table_heads, 2 * reach + 1}, 5));
    return result;
  }
  Operation operation(ops::FusedAttention options) const {
    options.mask = attention.mask;
    return [*this, options](const auto& in) {
      ops::FusedAttention with = options;
      if (batch > 0) with.bias = in[3];
      if (table_heads > 0) with.offset_bias = in.back();
      return ops::fused_attention(in[0], in[1], in[2], with);
    };
  }
  NaiveBias naive_bias(const std::vector<std::vector<double>>& in) const {
    NaiveBias bias{batch, heads, {}, table_heads, reach, {}};
    if (batch > 0) bias.full = in[3];
    if (table_heads > 0) bias.table = in.back();
    return bias;
  }
  Oracle oracle(double scale) const {
    return [*this, scale](const auto& in) {
      return naive_attention(in[0], in[1], in[2], attention.sizes, attention.mask, scale, naive_bias(in));
    };
  }
};

const std::vector<BiasCase>& bias_cases() {
  static const Mask causal{.causal = true};
  static const std::vector<BiasCase> cases{
      {"full", {"", {2, 3, 6, 7, 3}}, 2, 3},
      {"full, shared by batches", {"", {3, 2, 6, 6, 3}, causal}, 1, 2},
      {"full, shared by heads", {"", {2, 4, 5, 6, 3, 2}}, 2, 1},
      {"full, shared by all", {"", {5, 4, 4, 5, 3}, {.key_lengths = {5, 2, 0, 4, 5}}}, 1, 1},
      // More heads than have sums of their own at once.
      {"full, shared by many heads", {"", {9, 2, 3, 4, 2}}, 9, 1},
      {"full, shared by many batches", {"", {6, 3, 3, 4, 2}}, 1, 3},
      {"offsets", {"", {2, 3, 7, 7, 3}, causal}, 0, 0, 3, 8},
      {"offsets, more queries and keys than a task has", {"", {2, 2, 70, 300, 2}}, 0, 0, 2, 40},
      {"offsets beyond the reach", {"", {2, 2, 9, 9, 3}}, 0, 0, 2, 3},
      {"offsets, one for all heads", {"", {2, 4, 6, 8, 3, 2}}, 0, 0, 1, 2},
      {"offsets after a cache", {"", {2, 2, 4, 9, 3}, {.causal = true, .query_offsets = {5, 2}}}, 0, 0, 2, 4},
      {"offsets of one query", {"", {2, 2, 1, 9, 3}, {.causal = true, .query_offsets = {8, 2}}}, 0, 0, 2, 4},
      {"both, every rule",
       {"", {2, 4, 9, 9, 3, 2, 2}, {.causal = true, .window = 5, .key_lengths = {9, 6}, .pairs = some_pairs(1, 9, 9)}},
       2,
       4,
       4,
       3},
  };
  return cases;
}

}  // namespace

TEST_CASE("fused_attention: biases equal triple loops, and so do the gradients, for every tile size") {
  for (const BiasCase& c : bias_cases()) {
    CAPTURE(c.name);
    for (const auto& [query_tile, key_tile] : {std::pair{64, 1024}, {3, 4}, {4, 1}}) {
      CAPTURE(key_tile);
      check_oracle(c.operation({.scale = Real(0.6), .query_tile = query_tile, .key_tile = key_tile}), c.oracle(0.6),
                   c.inputs());
    }
  }
}

TEST_CASE("fused_attention: gradients of biases") {
  for (const BiasCase& c : bias_cases()) {
    CAPTURE(c.name);
    for (const auto& [query_tile, key_tile] : {std::pair{64, 1024}, {2, 3}}) {
      check_operation(c.operation({.scale = Real(0.6), .query_tile = query_tile, .key_tile = key_tile}), c.inputs());
    }
  }
}

TEST_CASE("fused_attention: a bias without scores gets its gradient, too") {
  const BiasCase c{"", {"", {2, 2, 5, 5, 3}}, 1, 1, 2, 2};
  check_oracle(c.operation({.scale = 0}), c.oracle(0), c.inputs());
}

TEST_CASE("fused_attention: biases of sizes that users have, on any number of threads") {
  const BiasCase c{"", {"", {1, 2, 600, 600, 8}, {.causal = true}}, 1, 1, 2, 100};
  const Operation operation = c.operation({.scale = Real(0.3), .key_tile = 200});
  check_operation(operation, c.inputs());
  std::vector<std::vector<double>> values;
  for (const Tensor& input : c.inputs()) values.push_back(doubles(input));
  const std::vector<double> expected = c.oracle(0.3)(values);
  const Tensor y({1, 600, 2, 8}, std::vector<Real>(expected.begin(), expected.end()));
  CHECK(difference(differentiate(operation, c.inputs()).output, y) < by_precision(1e-12, 3e-6));
}

TEST_CASE("fused_attention: a constant bias changes nothing, and its gradient is zero") {
  for (const Index reach : {0, 4}) {
    const BiasCase c{"", {"", {2, 2, 9, 9, 3}, {.causal = true}}, 0, 0, 2, reach};
    std::vector<Tensor> inputs = c.inputs();
    inputs[3].fill(3);
    const Differentiated result = differentiate(c.operation({}), inputs);
    CHECK(difference(result.output, attention(c.attention.inputs(), {.mask = c.attention.mask})) <
          by_precision(1e-14, 2e-6));
    double sum = 0;
    for (const double x : doubles(result.gradients[3])) sum += x;
    CHECK(std::abs(sum) < by_precision(1e-13, 1e-5));
  }
}

TEST_CASE("fused_attention: a bias of minus infinity is a mask, also of whole rows") {
  const AttentionCase c{"", {1, 2, 6, 6, 3}};
  const Tensor bias({1, 1, 6, 6}, 0);
  for (Index i = 0; i < 6; ++i) {
    for (Index j = 0; j < 6; ++j) {
      if (j > i || i == 3) bias[i * 6 + j] = -std::numeric_limits<Real>::infinity();
    }
  }
  const std::vector<Tensor> inputs = c.inputs();
  const Differentiated masked = differentiate(attention_operation({1, {.causal = true}}), inputs);
  for (const Index key_tile : {2, 1024}) {
    CAPTURE(key_tile);
    const ops::FusedAttention options{.key_tile = key_tile, .bias = Variable(bias)};
    const Differentiated result = differentiate(attention_operation(options), inputs);
    CHECK(difference(result.output.narrowed(1, 0, 3), masked.output.narrowed(1, 0, 3)) < by_precision(1e-14, 1e-6));
    CHECK(largest(result.output.narrowed(1, 3, 1)) == 0);
    for (const Tensor& gradient : result.gradients) CHECK(is_finite(gradient));
    CHECK(largest(result.gradients[0].narrowed(2, 3, 1)) == 0);
  }
}

TEST_CASE("attention_weights: equal triple loops, and mix values as fused_attention does") {
  for (const BiasCase& c : bias_cases()) {
    CAPTURE(c.name);
    const AttentionSizes& s = c.attention.sizes;
    const std::vector<Tensor> inputs = c.inputs();
    std::vector<std::vector<double>> values;
    for (const Tensor& input : inputs) values.push_back(doubles(input));
    ops::FusedAttention options{.scale = Real(0.6), .mask = c.attention.mask, .query_tile = 4};
    if (c.batch > 0) options.bias = Variable(inputs[3]);
    if (c.table_heads > 0) options.offset_bias = Variable(inputs.back());
    const Tensor weights = ops::attention_weights(inputs[0], inputs[1], options);
    REQUIRE(weights.shape() == Shape{s.batch, s.heads, s.query_time, s.key_time});
    std::vector<Real> expected;
    for (Index row = 0; row < s.batch * s.heads * s.query_time; ++row) {
      const Index head = row / s.query_time;
      const auto one = naive_weights(values[0], values[1], s, c.attention.mask, 0.6, c.naive_bias(values),
                                     head / s.heads, head % s.heads, row % s.query_time);
      expected.insert(expected.end(), one.begin(), one.end());
    }
    CHECK(difference(weights, Tensor(weights.shape(), expected)) < by_precision(1e-12, 2e-6));
  }
}

TEST_CASE("fused_attention: biases of wrong shapes are refused with both shapes") {
  const Variable q(Tensor({2, 4, 5, 3}, 1));
  const auto with_bias = [&](const Shape& shape) {
    return ops::fused_attention(q, q, q, {.bias = Variable(Tensor(shape, 0))});
  };
  CHECK_THROWS_WITH_AS(with_bias({2, 2, 5, 5}),
                       "attention: a bias of shape [2, 2, 5, 5] for scores of shape [2, 4, 5, 5]", ShapeError);
  for (const Shape& shape : {Shape{3, 4, 5, 5}, Shape{1, 4, 5, 6}, Shape{1, 4, 1, 5}, Shape{4, 5, 5}}) {
    CHECK_THROWS_AS(with_bias(shape), ShapeError);
  }
  const auto with_table = [&](const Shape& shape) {
    return ops::fused_attention(q, q, q, {.offset_bias = Variable(Tensor(shape, 0))});
  };
  CHECK_THROWS_WITH_AS(with_table({3, 5}),
                       "attention: a bias by offset of shape [3, 5], not [heads or 1, 2 reach + 1], for scores of "
                       "[2, 4, 5, 5]",
                       ShapeError);
  CHECK_THROWS_AS(with_table({4, 6}), ShapeError);
  CHECK_THROWS_AS(with_table({4, 0}), ShapeError);
}
