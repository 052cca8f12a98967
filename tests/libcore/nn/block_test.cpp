// The orders of a block's sublayers (SPEC 3.3, 3.5). Built in double.
#include "libcore/nn/block.hpp"

#include <doctest/doctest.h>

#include <cmath>

#include "libcore/ops/arithmetic.hpp"
#include "support/gradient_check.hpp"
#include "support/tensors.hpp"

using namespace heddle;
using namespace heddle::testing;

namespace {

constexpr Index block_batch = 2, block_time = 4, block_width = 6;

struct Made {
  Made(BlockOrder order, bool cross, bool gated = false, std::uint64_t seed = 3) : parameters(ParameterSource(seed)) {
    nn::BlockOptions options{.order = order,
                             .attention = {.width = block_width, .shape = {3, 2}, .stddev = 0.4, .output_stddev = 0.4},
                             .feed_forward = {block_width, 10, Activation::silu, gated, nn::Bias::yes, 0.4, 0.4}};
    if (cross) options.cross_attention = options.attention;
    block.emplace(Scope(parameters, "0"), Scope(parameters, ""), options);
  }
  void zero(std::string_view ending) {
    for (const Parameter& parameter : parameters.all()) {
      if (parameter.name.find(ending) != std::string::npos) parameter.value().fill(0);
    }
  }
  Tensor run(const Tensor& x) const { return (*block)(Variable(x), {.causal = true}, {}).value(); }
  Parameters parameters;
  std::optional<nn::Block> block;
};

}  // namespace

TEST_CASE("block: gradients of every order, with and without cross-attention and gate, match differences") {
  for (const auto& [order, name] : Names<BlockOrder>::list) {
    for (const bool cross : {false, true}) {
      for (const bool gated : {false, true}) {
        CAPTURE(name);
        CAPTURE(cross);
        CAPTURE(gated);
        const Made made(order, cross, gated);
        testing::check_operation(
            [&](const std::vector<Variable>& inputs) {
              if (!cross) return (*made.block)(inputs[0], {.causal = true}, {});
              const auto memory = made.block->cross_attention()->remember(inputs[1], {3, 2});
              return (*made.block)(inputs[0], {.causal = true}, {}, {.memory = &memory});
            },
            {normal_tensor({block_batch, block_time, block_width}, 1),
             normal_tensor({block_batch, 3, block_width}, 2)});
      }
    }
  }
}

TEST_CASE(
    "pre-norm block: the identity where both sublayers write nothing; post-norm rows have mean 0 and variance 1") {
  const Tensor x = normal_tensor({block_batch, block_time, block_width}, 1);
  for (const BlockOrder order : {BlockOrder::pre, BlockOrder::parallel}) {
    Made made(order, false);
    made.zero("output/");
    made.zero("down/");
    CHECK(difference(made.run(x), x) == 0);
  }
  const Tensor y = Made(BlockOrder::post, false).run(x);
  for (Index row = 0; row < block_batch * block_time; ++row) {
    double mean = 0, square = 0;
    for (Index i = 0; i < block_width; ++i) mean += y[row * block_width + i] / block_width;
    for (Index i = 0; i < block_width; ++i)
      square += (y[row * block_width + i] - mean) * (y[row * block_width + i] - mean) / block_width;
    CHECK(std::abs(mean) < 1e-12);
    CHECK(square == doctest::Approx(1).epsilon(1e-3));
  }
}

TEST_CASE("post-norm block: what each sublayer writes is normalised, with its own gain, before the next one reads it") {
  const Tensor x = normal_tensor({block_batch, block_time, block_width}, 1);
  for (const bool cross : {false, true}) {
    CAPTURE(cross);
    Made made(BlockOrder::post, cross);
    const auto fill = [&](const std::string& name, std::uint64_t seed) -> const Tensor& {
      const Parameter* const parameter = made.parameters.find("0/" + name);
      REQUIRE(parameter != nullptr);
      parameter->value().assign(normal_tensor(parameter->value().shape(), seed));
      return parameter->value();
    };
    // Sublayers that write their last bias, whatever they read.
    made.zero("output/");
    made.zero("down/");
    Tensor expected = x.copy();
    std::uint64_t seed = 10;
    const auto then = [&](const std::string& bias, const std::string& norm) {
      const Tensor &written = fill(bias, seed++), &gain = fill(norm + "/gain", seed++),
                   &last = fill(norm + "/bias", seed++);
      for (Index row = 0; row < block_batch * block_time; ++row) {
        Real* const h = expected.data() + row * block_width;
        double mean = 0, square = 0;
        for (Index i = 0; i < block_width; ++i) mean += (h[i] += written[i]) / block_width;
        for (Index i = 0; i < block_width; ++i) square += (h[i] - mean) * (h[i] - mean) / block_width;
        for (Index i = 0; i < block_width; ++i) h[i] = (h[i] - mean) / std::sqrt(square + 1e-5) * gain[i] + last[i];
      }
    };
    then("attention/output/bias", "attention_norm");
    if (cross) then("cross_attention/output/bias", "cross_attention_norm");
    then("feed_forward/down/bias", "feed_forward_norm");
    if (!cross) {
      CHECK(difference(made.run(x), expected) < 1e-12);
      continue;
    }
    const auto memory =
        made.block->cross_attention()->remember(Variable(normal_tensor({block_batch, 3, block_width}, 2)), {3, 2});
    CHECK(difference((*made.block)(Variable(x), {.causal = true}, {}, {.memory = &memory}).value(), expected) < 1e-12);
  }
}

TEST_CASE("parallel block: equals the sequential one where a sublayer writes nothing, and has one norm less") {
  const Tensor x = normal_tensor({block_batch, block_time, block_width}, 1);
  for (const char* silent : {"output/", "down/"}) {
    CAPTURE(silent);
    Made pre(BlockOrder::pre, false), parallel(BlockOrder::parallel, false);
    pre.zero(silent);
    parallel.zero(silent);
    CHECK(difference(pre.run(x), parallel.run(x)) < 1e-12);
  }
  CHECK(Made(BlockOrder::pre, false).parameters.count() - Made(BlockOrder::parallel, false).parameters.count() ==
        2 * block_width);
}

TEST_CASE("parallel block: differs from the sequential one in the second order of what sublayers write") {
  const Tensor x = normal_tensor({block_batch, block_time, block_width}, 1);
  const auto apart = [&](Real scale) {
    Made pre(BlockOrder::pre, false), parallel(BlockOrder::parallel, false);
    for (Made* made : {&pre, &parallel}) {
      for (const Parameter& parameter : made->parameters.all()) {
        if (parameter.name.find("output/") != std::string::npos || parameter.name.find("down/") != std::string::npos) {
          parameter.value().scale(scale);
        }
      }
    }
    return difference(pre.run(x), parallel.run(x));
  };
  CHECK(apart(Real(0.01)) / apart(Real(0.005)) == doctest::Approx(4).epsilon(0.05));
}

TEST_CASE("block: at one position, and step by step, it computes what it computes for all") {
  for (const auto& [order, name] : Names<BlockOrder>::list) {
    CAPTURE(name);
    const Made made(order, false);
    const Tensor x = normal_tensor({block_batch, block_time, block_width}, 1), whole = made.run(x);
    const Tensor some = made.block->at({3, 1}, Variable(x), {.causal = true}, {}).value();
    CHECK(difference(some.narrowed(0, 0, 1), whole.narrowed(0, 0, 1).narrowed(1, 3, 1)) < 1e-12);
    CHECK(difference(some.narrowed(0, 1, 1), whole.narrowed(0, 1, 1).narrowed(1, 1, 1)) < 1e-12);
    const auto state = made.block->start(block_batch, block_time, DType::real);
    for (Index t = 0; t < block_time; ++t) {
      const Tensor y = made.block->step(x.narrowed(1, t, 1).copy(), {{t, t}, {1, 1}}, 0, *state);
      CHECK(difference(y, whole.narrowed(1, t, 1)) < 1e-12);
    }
  }
}

TEST_CASE("gated feed-forward: a gate of ones is the plain network") {
  Parameters gated{ParameterSource(3)}, plain{ParameterSource(3)};
  const nn::FeedForward with(Scope(gated, "f"), {block_width, 10, Activation::identity, true, nn::Bias::yes, 0.4, 0.4});
  const nn::FeedForward without(Scope(plain, "f"),
                                {block_width, 10, Activation::identity, false, nn::Bias::yes, 0.4, 0.4});
  gated.find("f/gate/weight")->value().fill(0);
  gated.find("f/gate/bias")->value().fill(1);
  const Variable x(normal_tensor({block_batch, block_time, block_width}, 1));
  CHECK(difference(with(x).value(), without(x).value()) < 1e-12);
}
