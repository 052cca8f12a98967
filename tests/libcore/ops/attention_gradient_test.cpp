#include <doctest/doctest.h>

#include "attention_cases.hpp"

using namespace heddle;
using namespace heddle::testing;

TEST_CASE("fused_attention: gradients for every mask, with tiles that divide and tiles that do not") {
  for (const AttentionCase& c : attention_cases()) {
    CAPTURE(c.name);
    for (const auto& [query_tile, key_tile] : {std::pair{64, 1024}, {3, 4}, {1, 1}, {4, 3}}) {
      CAPTURE(query_tile);
      check_operation(attention_operation({Real(0.6), c.mask, query_tile, key_tile}), c.inputs());
    }
  }
}

TEST_CASE("fused_attention: gradients when time exceeds the tiles that users get") {
  const AttentionCase c{"long", {1, 2, 70, 300, 4}, {.causal = true, .query_offsets = {225}}};
  check_operation(attention_operation({Real(0.5), c.mask}), c.inputs());
}

TEST_CASE("fused_attention: query, key and value cut from one [batch, time, 3 width] tensor") {
  const Index heads = 2, width = 6;
  const auto part = [](const Variable& x, Index i) {
    return view(x, [i](const Tensor& t) { return t.narrowed(-1, i * width, width).split(-1, heads).swapped(1, 2); });
  };
  const Tensor stacked = normal_tensor({2, 7, 3 * width}, 1);
  for (const Mask& mask : {Mask{}, Mask{.causal = true}, Mask{.window = 2, .key_lengths = {7, 4}}}) {
    const ops::FusedAttention options{Real(0.7), mask, 3};
    const auto operation = [&](const auto& in) {
      return ops::fused_attention(part(in[0], 0), part(in[0], 1), part(in[0], 2), options);
    };
    check_operation(operation, {stacked});

    std::vector<Tensor> apart;
    for (Index i = 0; i < 3; ++i) apart.push_back(part(Variable(stacked), i).value().copy());
    const Differentiated expected = differentiate(attention_operation(options), apart);
    const Differentiated actual = differentiate(operation, {stacked});
    CHECK(difference(actual.output, expected.output) < by_precision(1e-14, 1e-6));
    for (Index i = 0; i < 3; ++i) {
      const Tensor gradient = part(Variable(actual.gradients[0]), i).value();
      CHECK(difference(gradient, expected.gradients[static_cast<std::size_t>(i)]) < by_precision(1e-13, 1e-5));
    }
  }
}

TEST_CASE("fused_attention: one tensor as query, key and value") {
  check_operation([](const auto& in) { return ops::fused_attention(in[0], in[0], in[0], {}); },
                  {normal_tensor({2, 2, 6, 3}, 1)});
}

TEST_CASE("fused_attention: constant inputs get no gradient, the others the same as ever") {
  const AttentionCase& c = attention_cases()[3];
  const std::vector<Tensor> inputs = c.inputs();
  const Operation operation = attention_operation({Real(0.6), c.mask});
  const std::vector<Tensor> expected = differentiate(operation, inputs).gradients;
  for (std::size_t wanted = 0; wanted < 3; ++wanted) {
    std::vector<Variable> variables(inputs.begin(), inputs.end());
    variables[wanted] = leaf(inputs[wanted]);
    Recording recording;
    recording.backward(weighted_sum(operation(variables)));
    CHECK(variables[wanted].gradient()->tensor().elements() == expected[wanted].elements());
  }
}

TEST_CASE("fused_attention: views of one tensor that overlap get both gradients, however tasks are cut") {
  const Tensor x = normal_tensor({1, 2, 9, 3}, 1);
  const auto operation = [](Index key_tile) {
    return [key_tile](const auto& in) {
      const auto from = [&](Index begin) {
        return view(in[0], [begin](const Tensor& t) { return t.narrowed(2, begin, 7); });
      };
      return ops::fused_attention(from(0), from(1), from(2), {.query_tile = 2, .key_tile = key_tile});
    };
  };
  check_operation(operation(2), {x});
  const Tensor tiled = differentiate(operation(2), {x}).gradients[0];
  CHECK(difference(tiled, differentiate(operation(9), {x}).gradients[0]) < by_precision(1e-13, 1e-5));
}

TEST_CASE("fused_attention: gradients are the same for every tile size") {
  for (const AttentionCase& c : attention_cases()) {
    CAPTURE(c.name);
    const Differentiated whole = differentiate(attention_operation({Real(0.6), c.mask}), c.inputs());
    for (const auto& [query_tile, key_tile] : {std::pair{1, 5}, {3, 2}, {4, 4}, {7, 1}, {16, 1024}, {2, 7}}) {
      const auto tiled = differentiate(attention_operation({Real(0.6), c.mask, query_tile, key_tile}), c.inputs());
      for (std::size_t i = 0; i < 3; ++i) {
        CHECK(difference(tiled.gradients[i], whole.gradients[i]) < by_precision(1e-12, 1e-5));
      }
    }
  }
}

TEST_CASE("fused_attention: nothing flows back to the future, to padding or to other batches") {
  const AttentionCase c{"", {2, 2, 9, 9, 3}, {.causal = true, .key_lengths = {9, 5}}};
  std::vector<Variable> variables;
  for (const Tensor& input : c.inputs()) variables.push_back(leaf(input));
  Recording recording;
  const Variable y = attention_operation({1, c.mask, 4})(variables);
  // Only the outputs of batch 1 at times before 7 count: keys 5 and above are padding, queries 7 and above the future.
  const Tensor weights({2, 9, 2, 3}, 0);
  weights.narrowed(0, 1, 1).narrowed(1, 0, 7).assign(sum_weights({1, 7, 2, 3}));
  recording.backward(weighted_sum(y, weights));
  for (std::size_t i = 0; i < 3; ++i) {
    CAPTURE(i);
    const Tensor gradient = variables[i].gradient()->tensor();
    const Index seen = i == 0 ? 7 : 5;
    CHECK(largest(gradient.narrowed(0, 0, 1)) == 0);
    CHECK(largest(gradient.narrowed(0, 1, 1).narrowed(2, seen, 9 - seen)) == 0);
    CHECK(largest(gradient.narrowed(0, 1, 1).narrowed(2, 0, seen)) > 0.1);
  }
}

TEST_CASE("fused_attention: queries without keys get zeros and give zero gradients") {
  const AttentionCase c{"", {2, 2, 5, 5, 3}, {.key_lengths = {0, 3}}};
  for (const Index key_tile : {2, 1024}) {
    const Differentiated result = differentiate(attention_operation({1, c.mask, 2, key_tile}), c.inputs());
    CHECK(largest(result.output.narrowed(0, 0, 1)) == 0);
    CHECK(largest(result.output.narrowed(0, 1, 1)) > 0.1);
    for (const Tensor& gradient : result.gradients) {
      CHECK(is_finite(gradient));
      CHECK(largest(gradient.narrowed(0, 0, 1)) == 0);
    }
  }
}

TEST_CASE("fused_attention: scores of 10,000 stay finite, forward and backward") {
  const AttentionCase c{"", {1, 2, 9, 9, 4}, {.causal = true}};
  std::vector<Tensor> inputs = c.inputs();
  for (Index i = 0; i < inputs[0].size(); ++i) inputs[0][i] *= 10000;
  for (const Index tile : {2, 64}) {
    const Differentiated result = differentiate(attention_operation({1, c.mask, tile, tile}), inputs);
    CHECK(is_finite(result.output));
    CHECK(largest(result.output) <= largest(inputs[2]) * (1 + by_precision(1e-12, 1e-5)));
    for (const Tensor& gradient : result.gradients) CHECK(is_finite(gradient));
  }
}
