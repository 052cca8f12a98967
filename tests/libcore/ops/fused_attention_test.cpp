#include "libcore/ops/fused_attention.hpp"

#include <doctest/doctest.h>

#include <optional>

#include "attention_cases.hpp"
#include "libcore/ops/linear.hpp"
#include "libcore/tensor/matmul.hpp"
#include "libcore/tensor/threads.hpp"
#include "support/footprint.hpp"

using namespace heddle;
using namespace heddle::testing;

namespace {

Oracle naive_attention(const AttentionCase& c, double scale) {
  return [c, scale](const auto& in) { return naive_attention(in[0], in[1], in[2], c.sizes, c.mask, scale); };
}

std::vector<Tensor> narrowed(const std::vector<Tensor>& inputs, int dimension, Index begin, Index length) {
  std::vector<Tensor> parts;
  for (const Tensor& input : inputs) parts.push_back(input.narrowed(dimension, begin, length));
  return parts;
}

// The rows of dimension `dimension` in reverse order.
Tensor reversed(const Tensor& x, int dimension) {
  const Tensor y(x.shape());
  const Index count = x.shape()[dimension];
  for (Index i = 0; i < count; ++i) y.narrowed(dimension, i, 1).assign(x.narrowed(dimension, count - 1 - i, 1));
  return y;
}

}  // namespace

TEST_CASE("fused_attention: equals triple loops for every tile size") {
  for (const AttentionCase& c : attention_cases()) {
    CAPTURE(c.name);
    const std::vector<Tensor> inputs = c.inputs();
    const std::vector<double> expected =
        naive_attention(c, 0.6)({doubles(inputs[0]), doubles(inputs[1]), doubles(inputs[2])});
    const AttentionSizes& s = c.sizes;
    const Tensor y({s.batch, s.query_time, s.heads, s.value_width}, {expected.begin(), expected.end()});
    for (const Index query_tile : {1, 3, 4, 7, 16, 64}) {
      CAPTURE(query_tile);
      for (const Index key_tile : {1, 2, 3, 5, 8, 1024}) {
        CAPTURE(key_tile);
        CHECK(difference(attention(inputs, {Real(0.6), c.mask, query_tile, key_tile}), y) < by_precision(1e-12, 2e-6));
      }
    }
  }
}

TEST_CASE("fused_attention: gradients equal differences of the triple loops") {
  for (const AttentionCase& c : attention_cases()) {
    CAPTURE(c.name);
    check_oracle(attention_operation({Real(0.5), c.mask, 4, 3}), naive_attention(c, 0.5), c.inputs());
    check_oracle(attention_operation({Real(0.5), c.mask}), naive_attention(c, 0.5), c.inputs());
  }
}

TEST_CASE("fused_attention: listed pairs of which those of later queries begin far on, in one tile and in many") {
  constexpr Index queries = 4, keys = 38;
  std::vector<std::uint8_t> allowed;
  for (Index i = 0; i < queries; ++i) {
    for (Index j = 0; j < keys; ++j) allowed.push_back(j >= 9 * i && (i + j) % 3 != 0 ? 1 : 0);
  }
  const AttentionCase c{
      "", {1, 2, queries, keys, 3}, {.pairs = std::make_shared<const AllowedPairs>(1, queries, keys, allowed)}};
  for (const Index query_tile : {1, 2, 64}) {
    CAPTURE(query_tile);
    for (const Index key_tile : {5, 20, 1024}) {
      CAPTURE(key_tile);
      check_oracle(attention_operation({Real(0.5), c.mask, query_tile, key_tile}), naive_attention(c, 0.5), c.inputs());
    }
  }
}

TEST_CASE("fused_attention: picked rows of keys are as if they stood there") {
  const AttentionCase c{"", {2, 2, 3, 5, 4}, {.key_lengths = {5, 4}}};
  const std::vector<Tensor> inputs = c.inputs(), turned{inputs[0], reversed(inputs[1], 0), reversed(inputs[2], 0)};
  CHECK(attention(inputs, {.mask = c.mask, .key_rows = {1, 0}}).elements() ==
        attention(turned, {.mask = c.mask}).elements());
  const std::vector<Tensor> one = narrowed(inputs, 0, 1, 1);
  const Tensor both = attention(inputs, {.key_rows = {1, 1}});
  CHECK(both.narrowed(0, 1, 1).elements() == attention(one, {}).elements());
  for (const std::vector<Index>& rows : std::vector<std::vector<Index>>{{0}, {0, 2}, {-1, 0}, {0, 1, 1}}) {
    CHECK_THROWS_AS(attention(inputs, {.key_rows = rows}), ShapeError);
  }
}

TEST_CASE("fused_attention: many tiles of the size that users get") {
  const AttentionCase c{"", {1, 1, 150, 700, 8}, {.causal = true, .window = 300, .query_offsets = {500}}};
  const std::vector<Tensor> inputs = c.inputs();
  const auto expected = naive_attention(c, 0.4)({doubles(inputs[0]), doubles(inputs[1]), doubles(inputs[2])});
  const Tensor y({1, 150, 1, 8}, std::vector<Real>(expected.begin(), expected.end()));
  for (const Index key_tile : {100, 192, 1024}) {
    CHECK(difference(attention(inputs, {Real(0.4), c.mask, 64, key_tile}), y) < by_precision(1e-12, 2e-6));
  }
}

TEST_CASE("fused_attention: one key gives its value; equal values are kept, since weights sum to one") {
  const AttentionCase one{"", {2, 2, 4, 1, 3}};
  const std::vector<Tensor> inputs = one.inputs();
  const Tensor y = attention(inputs, {});
  for (Index i = 0; i < 4; ++i) {
    CHECK(difference(y.narrowed(1, i, 1).swapped(1, 2), inputs[2]) == 0);
  }
  const AttentionCase many{"", {1, 2, 40, 40, 3}, {.causal = true}};
  std::vector<Tensor> equal = many.inputs();
  equal[2].fill(1);
  CHECK(difference(attention(equal, {1, many.mask, 7}), Tensor({1, 40, 2, 3}, 1)) < by_precision(1e-14, 1e-6));
}

TEST_CASE("fused_attention: the future changes nothing that came before, not by one bit") {
  const AttentionCase c{"", {2, 2, 20, 20, 3}, {.causal = true}};
  for (const Index tile : {1, 4, 7, 64}) {
    CAPTURE(tile);
    const ops::FusedAttention options{1, c.mask, tile};
    const std::vector<Tensor> inputs = c.inputs();
    const Tensor before = attention(inputs, options);
    for (const Index s : {1, 7, 19}) {
      CAPTURE(s);
      for (std::size_t which = 0; which < 3; ++which) {
        std::vector<Tensor> changed = inputs;
        changed[which] = inputs[which].copy();
        changed[which].narrowed(2, s, 1).fill(100);
        const Tensor after = attention(changed, options);
        CHECK(difference(after.narrowed(1, 0, s), before.narrowed(1, 0, s)) == 0);
        CHECK(difference(after.narrowed(1, s, 1), before.narrowed(1, s, 1)) > 1e-6);
      }
    }
  }
}

TEST_CASE("fused_attention: a padded batch equals the shorter one, and padding would matter unmasked") {
  const AttentionCase c{"", {2, 2, 12, 12, 3}};
  const std::vector<Tensor> inputs = c.inputs();
  const Index length = 7;
  const std::vector<Tensor> shorter = narrowed(narrowed(inputs, 0, 1, 1), 2, 0, length);
  for (const bool causal : {false, true}) {
    const Tensor expected = attention(shorter, {1, {.causal = causal}, 4});
    const auto padded = [&](const Mask& mask) {
      return attention(inputs, {1, mask, 4}).narrowed(0, 1, 1).narrowed(1, 0, length);
    };
    CHECK(difference(padded({.causal = causal, .key_lengths = {12, length}}), expected) < by_precision(1e-12, 1e-6));
    CHECK((difference(padded({.causal = causal}), expected) > 0.01) == !causal);
  }
}

TEST_CASE("fused_attention: a window of time - 1 or more is none; a smaller one bounds what is seen") {
  const AttentionCase c{"", {1, 2, 15, 15, 3}};
  const std::vector<Tensor> inputs = c.inputs();
  for (const bool causal : {false, true}) {
    const Tensor full = attention(inputs, {1, {.causal = causal}, 4});
    for (const Index window : {14, 15, 1000}) {
      CHECK(difference(attention(inputs, {1, {.causal = causal, .window = window}, 4}), full) < 1e-12);
    }
    const Mask mask{.causal = causal, .window = 3};
    const Tensor before = attention(inputs, {1, mask, 4});
    CHECK(difference(before, full) > 0.01);
    const Tensor values = inputs[2].copy();
    values.narrowed(2, 7, 1).fill(100);
    const Tensor after = attention({inputs[0], inputs[1], values}, {1, mask, 4});
    for (Index i = 0; i < 15; ++i) {
      const bool sees = std::abs(i - 7) <= 3 && (!causal || i >= 7);
      CHECK((difference(after.narrowed(1, i, 1), before.narrowed(1, i, 1)) > 0) == sees);
    }
  }
}

TEST_CASE("fused_attention: permuting the tokens permutes the result, permuting the keys changes nothing") {
  const AttentionCase c{"", {2, 2, 13, 13, 3}};
  const std::vector<Tensor> inputs = c.inputs();
  const ops::FusedAttention options{1, {}, 4};
  const Tensor y = attention(inputs, options);
  const Tensor query = reversed(inputs[0], 2), key = reversed(inputs[1], 2), value = reversed(inputs[2], 2);
  CHECK(difference(attention({query, key, value}, options), reversed(y, 1)) < by_precision(1e-12, 2e-6));
  CHECK(difference(attention({inputs[0], key, value}, options), y) < by_precision(1e-12, 2e-6));
  CHECK(difference(attention({inputs[0], key, inputs[2]}, options), y) > 0.01);
}

TEST_CASE("fused_attention: memory is linear in time") {
  const auto bytes = [](Index time) {
    std::vector<Variable> inputs;
    for (std::uint64_t i = 0; i < 3; ++i) inputs.push_back(leaf(normal_tensor({1, 2, time, 16}, i)));
    return footprint([&] {
      Recording recording;
      const Variable y = ops::fused_attention(inputs[0], inputs[1], inputs[2], {Real(0.25), {.causal = true}});
      recording.backward(weighted_sum(y));
    });
  };
  const OnThreads scope(1);
  const std::size_t once = bytes(1024), twice = bytes(2048);
  CHECK(static_cast<double>(twice) < 2.2 * static_cast<double>(once));
  CHECK(twice < 2048 * 2048 * sizeof(Real));
}

TEST_CASE("fused_attention: counts four operations a pair and element forward, eight backward") {
  const AttentionCase c{"", {2, 3, 5, 7, 4}};
  std::vector<Variable> inputs;
  for (const Tensor& input : c.inputs()) inputs.push_back(leaf(input));
  Recording recording;
  const double start = matmul_flops(), pairs = 2 * 3 * 5 * 7 * 4;
  const Variable y = attention_operation({})(inputs);
  CHECK(matmul_flops() - start == 4 * pairs);
  recording.backward(weighted_sum(y));
  CHECK(matmul_flops() - start == 12 * pairs);
}

TEST_CASE("fused_attention: counts the pairs of tiles that the mask leaves, in a simulation, too") {
  const auto pairs_counted = [](Index time, const ops::FusedAttention& options, bool simulate) {
    const AttentionCase c{"", {2, 3, time, time, 4}};
    const std::vector<Tensor> tensors = c.inputs();
    std::optional<Simulation> simulation;  // before what takes memory from it
    if (simulate) simulation.emplace();
    std::vector<Variable> inputs;
    for (const Tensor& input : tensors) inputs.push_back(leaf(input));
    Recording recording;
    const double start = matmul_flops();
    const Variable y = attention_operation(options)(inputs);
    const double forward = matmul_flops() - start;
    recording.backward(record(Tensor({1}, 1), {y}, [g = y.gradient()](const Tensor&) { g->adding_target(); }));
    CHECK(matmul_flops() - start == 3 * forward);
    return forward / (4.0 * 4 * 2 * 3);
  };
  for (const bool simulate : {false, true}) {
    CAPTURE(simulate);
    CHECK(pairs_counted(300, {}, simulate) == 300 * 300);
    CHECK(pairs_counted(300, {.mask = {.causal = true}}, simulate) == 300 * 301 / 2);
    CHECK(pairs_counted(300, {.mask = {.key_lengths = {300, 0}}}, simulate) == 300 * 300 / 2);
    // Two graphs side by side: tiles between them are empty.
    std::vector<std::uint8_t> blocks(192 * 192);
    for (std::size_t i = 0; i < blocks.size(); ++i) blocks[i] = (i / 192 < 96) == (i % 192 < 96) ? 1 : 0;
    const auto pairs = std::make_shared<const AllowedPairs>(1, 192, 192, std::move(blocks));
    CHECK(pairs_counted(192, {.mask = {.pairs = pairs}, .query_tile = 32, .key_tile = 96}, simulate) == 2 * 96 * 96);
    // Every tile of 64 queries sees at most 64 + 20 keys, which begin at a multiple of 96.
    const double window = pairs_counted(1000, {.mask = {.causal = true, .window = 20}}, simulate);
    CHECK(window >= 1000 * 21 - 210);
    CHECK(window < 1000 * (64 + 20 + 96));
  }
}

TEST_CASE("attention: normal queries and keys have scores of variance head_width, and saturate unless scaled") {
  for (const Index width : {16, 64, 256}) {
    CAPTURE(width);
    const Tensor scores =
        ops::linear(Variable(normal_tensor({600, width}, 1)), Variable(normal_tensor({600, width}, 2))).value();
    double mean = 0, squares = 0;
    for (const double s : doubles(scores)) {
      mean += s / 360000;
      squares += s * s / 360000;
    }
    CHECK(squares - mean * mean == doctest::Approx(static_cast<double>(width)).epsilon(0.05));
  }
  // Values that are unit vectors make the outputs the weights themselves.
  const Tensor values({1, 1, 64, 256}, 0);
  for (Index i = 0; i < 64; ++i) values[i * 256 + i] = 1;
  const auto spread = [&](Real scale) {
    const Tensor weights =
        attention({normal_tensor({1, 1, 64, 256}, 1), normal_tensor({1, 1, 64, 256}, 2), values}, {scale});
    double sum = 0;
    for (const double p : doubles(weights)) sum += p * (1 - p) / 64;
    return sum;
  };
  CHECK(spread(1) < 0.5 * spread(Real(1.0 / 16)));
}

TEST_CASE("fused_attention: shapes and masks that do not fit are refused") {
  const Variable q(Tensor({2, 2, 5, 3}, 1)), wider(Tensor({2, 2, 5, 4}, 1)), longer(Tensor({2, 2, 6, 3}, 1)),
      flat(Tensor({2, 5, 3}, 1)), turned(Tensor({2, 2, 3, 5}, 1).swapped(2, 3));
  CHECK_THROWS_AS(ops::fused_attention(q, wider, wider, {}), ShapeError);
  CHECK_THROWS_AS(ops::fused_attention(q, q, longer, {}), ShapeError);
  CHECK_THROWS_AS(ops::fused_attention(flat, flat, flat, {}), ShapeError);
  CHECK_THROWS_AS(ops::fused_attention(q, turned, q, {}), ShapeError);
  CHECK_THROWS_AS(ops::fused_attention(q, q, Variable(Tensor({2, 1, 5, 3}, 1)), {}), ShapeError);
  CHECK_THROWS_AS(ops::fused_attention(q, q, q, {.query_tile = 65}), ShapeError);
  CHECK_THROWS_AS(ops::fused_attention(q, q, q, {.key_tile = 0}), ShapeError);
  CHECK_THROWS_AS(ops::fused_attention(q, q, q, {1, {.pairs = some_pairs(2, 5, 6)}}), ShapeError);
  CHECK_THROWS_AS(ops::fused_attention(q, q, q, {1, {.pairs = some_pairs(3, 5, 5)}}), ShapeError);
  CHECK_THROWS_AS(ops::fused_attention(q, q, q, {1, {.key_lengths = {5}}}), ShapeError);
  CHECK_THROWS_AS(ops::fused_attention(q, q, q, {1, {.query_offsets = {0, 0, 0}}}), ShapeError);
  const Variable four(Tensor({2, 4, 5, 3}, 1)), three(Tensor({2, 3, 5, 3}, 1));
  CHECK_THROWS_WITH_AS(ops::fused_attention(four, three, three, {}),
                       "attention: 4 heads of queries cannot share 3 heads of keys and values evenly: query "
                       "[2, 4, 5, 3], key [2, 3, 5, 3]",
                       ShapeError);
}
