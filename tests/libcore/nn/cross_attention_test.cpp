// Cross-attention (SPEC 1.5), grouped heads and heads of a width of their own. Built in double.
#include <doctest/doctest.h>

#include <cmath>

#include "libcore/nn/multi_head_attention.hpp"
#include "support/gradient_check.hpp"
#include "support/tensors.hpp"

using namespace heddle;
using namespace heddle::testing;

namespace {

constexpr Index cross_batch = 2, cross_time = 3, memory_time = 5, cross_width = 6, memory_width = 8;

struct Cross {
  explicit Cross(HeadShape shape = {3, 2})
      : attention(Scope(parameters, "cross"), Scope(parameters, ""),
                  {.width = cross_width,
                   .shape = shape,
                   .memory_width = memory_width,
                   .needed = {.cross = true},
                   .stddev = 0.4,
                   .output_stddev = 0.4}) {}
  Tensor run(const Tensor& x, const Tensor& memory, const std::vector<Index>& lengths) const {
    return attention(Variable(x), attention.remember(Variable(memory), lengths)).value();
  }
  Parameters parameters{ParameterSource(3)};
  nn::CrossAttention attention;
};

}  // namespace

TEST_CASE("cross-attention: the order of the memory does not matter, its padding neither") {
  const Cross cross;
  const Tensor x = normal_tensor({cross_batch, cross_time, cross_width}, 1),
               memory = normal_tensor({cross_batch, memory_time, memory_width}, 2);
  const Tensor before = cross.run(x, memory, {5, 3});
  const Tensor other = memory.copy();
  other.narrowed(1, 0, 1).assign(memory.narrowed(1, 2, 1));
  other.narrowed(1, 2, 1).assign(memory.narrowed(1, 0, 1));
  other.narrowed(0, 1, 1).narrowed(1, 3, 2).fill(77);
  CHECK(difference(before, cross.run(x, other, {5, 3})) < 1e-12);
  CHECK(difference(before, cross.run(x, memory, {5, 4})) > 1e-3);
}

TEST_CASE("cross-attention: a memory of one gives its value to every query") {
  const Cross cross;
  const Tensor y =
      cross.run(normal_tensor({1, cross_time, cross_width}, 1), normal_tensor({1, 1, memory_width}, 2), {1});
  for (Index t = 1; t < cross_time; ++t) CHECK(difference(y.narrowed(1, 0, 1), y.narrowed(1, t, 1)) < 1e-12);
}

TEST_CASE("cross-attention: weights sum to one over what is there") {
  const Cross cross;
  const auto memory =
      cross.attention.remember(Variable(normal_tensor({cross_batch, memory_time, memory_width}, 2)), {5, 3});
  const Tensor weights =
      cross.attention.weights(Variable(normal_tensor({cross_batch, cross_time, cross_width}, 1)), memory).weights;
  CHECK(weights.shape() == Shape{cross_batch, 3, cross_time, memory_time});
  for (Index row = 0; row < weights.size() / memory_time; ++row) {
    double sum = 0;
    for (Index j = 0; j < memory_time; ++j) sum += weights[row * memory_time + j];
    CHECK(sum == doctest::Approx(1).epsilon(1e-12));
    if (row >= 3 * cross_time) CHECK(weights[row * memory_time + 4] == 0);
  }
}

TEST_CASE("cross-attention: gradients of both sequences match differences") {
  for (const HeadShape shape : {HeadShape{3, 2}, HeadShape{4, 2, 2, 3}}) {
    const Cross cross(shape);
    testing::check_operation(
        [&](const std::vector<Variable>& inputs) {
          return cross.attention(inputs[0], cross.attention.remember(inputs[1], {5, 3}));
        },
        {normal_tensor({cross_batch, cross_time, cross_width}, 1),
         normal_tensor({cross_batch, memory_time, memory_width}, 2)});
  }
}

// Keys and values of one width are one product, others two.
TEST_CASE("self-attention: grouped heads equal heads whose keys and values are copies") {
  constexpr Index heads = 4, kv_heads = 2, key_width = 2;
  for (const Index value_width : {Index{2}, Index{3}}) {
    CAPTURE(value_width);
    Parameters grouped{ParameterSource(3)}, whole{ParameterSource(4)};
    const auto make = [&](Parameters& parameters, Index shared) {
      return nn::SelfAttention(Scope(parameters, "a"), Scope(parameters, ""),
                               {.width = cross_width, .shape = {heads, key_width, shared, value_width}, .stddev = 0.4});
    };
    const nn::SelfAttention few = make(grouped, kv_heads), many = make(whole, heads);
    for (const Parameter& parameter : whole.all()) {
      const Tensor from = grouped.find(parameter.name)->value(), to = parameter.value();
      if (from.shape() == to.shape()) {
        to.assign(from);
        continue;
      }
      const Index rows = from.shape()[0] / kv_heads;
      for (Index head = 0; head < heads; ++head) {
        to.narrowed(0, head * rows, rows).assign(from.narrowed(0, head / (heads / kv_heads) * rows, rows));
      }
    }
    const Variable x(normal_tensor({cross_batch, cross_time, cross_width}, 1));
    CHECK(difference(few(x, {.causal = true}).value(), many(x, {.causal = true}).value()) < 1e-12);
    CHECK(grouped.find("a/key/weight")->value().shape() == Shape{kv_heads * key_width, cross_width});
    CHECK(grouped.find("a/value/weight")->value().shape() == Shape{kv_heads * value_width, cross_width});
    CHECK(grouped.find("a/output/weight")->value().shape() == Shape{cross_width, heads * value_width});
  }
}

TEST_CASE("self-attention: key heads that do not divide the heads are refused") {
  Parameters parameters{ParameterSource(3)};
  CHECK_THROWS_WITH_AS(
      nn::SelfAttention(Scope(parameters, "a"), Scope(parameters, ""), {.width = 6, .shape = {6, 1, 4}}),
      "`heads` = 6 is not a multiple of `kv_heads` = 4", UsageError);
}
