// Operations at bf16 precision: what they give, and what flows back, is their f32 result but for rounding.
#include <doctest/doctest.h>

#include <cmath>

#include "libcore/ops/arithmetic.hpp"
#include "libcore/ops/cross_entropy.hpp"
#include "libcore/ops/dropout.hpp"
#include "libcore/ops/fused_attention.hpp"
#include "libcore/ops/linear.hpp"
#include "libcore/ops/norm.hpp"
#include "libcore/tensor/context.hpp"
#include "support/gradient_check.hpp"
#include "support/skips.hpp"

using namespace heddle;
using namespace heddle::testing;

namespace {

Differentiated computed_at(Precision wanted, const Operation& operation, const std::vector<Tensor>& inputs) {
  const PrecisionScope scope(wanted);
  return differentiate(operation, inputs);
}

// |a - b| / |b|, as vectors.
double distance(const Tensor& a, const Tensor& b) {
  const std::vector<double> x = doubles(a), y = doubles(b);
  double difference = 0, size = 0;
  for (std::size_t i = 0; i < x.size(); ++i) {
    difference += (x[i] - y[i]) * (x[i] - y[i]);
    size += y[i] * y[i];
  }
  return std::sqrt(difference / size);
}

bool has_bf16() {
  if (!bf16_is_supported() && !real_is_double) skipped("this processor has no bf16 arithmetic");
  return bf16_is_supported();
}

// Checks that both are close but not equal: an operation that ignored the precision would be exact.
void check_close(const Operation& operation, const std::vector<Tensor>& inputs) {
  if (!has_bf16()) return;
  const Differentiated exact = computed_at(Precision::f32, operation, inputs),
                       rounded = computed_at(Precision::bf16, operation, inputs);
  double apart = distance(rounded.output, exact.output);
  CHECK(apart < 0.006);
  for (std::size_t i = 0; i < inputs.size(); ++i) {
    CAPTURE(i);
    const double here = distance(rounded.gradients[i], exact.gradients[i]);
    CHECK(here < 0.01);
    apart = std::max(apart, here);
  }
  CHECK(apart > 5e-4);  // numbers of eight bits were multiplied, not floats
}

}  // namespace

namespace {

// The nearest number with 8 significant bits, of two the one whose last bit is 0.
double upper_half(double x) {
  int exponent = 0;
  const double fraction = std::frexp(x, &exponent);
  return std::ldexp(std::nearbyint(std::ldexp(fraction, 8)), exponent - 8);
}

}  // namespace

TEST_CASE("bf16: a linear layer multiplies its operands rounded to 8 bits, and sums in single precision") {
  if (!has_bf16()) return;
  const Tensor x = normal_tensor({64, 40}, 1), weight = normal_tensor({50, 40}, 2);
  const PrecisionScope scope(Precision::bf16);
  const Tensor y = ops::linear(Variable(x), Variable(weight), {}, {.output = DType::real}).value();
  const Tensor expected({64, 50});
  for (Index row = 0; row < 64; ++row) {
    for (Index column = 0; column < 50; ++column) {
      double sum = 0;
      for (Index i = 0; i < 40; ++i) {
        sum +=
            upper_half(static_cast<double>(x[row * 40 + i])) * upper_half(static_cast<double>(weight[column * 40 + i]));
      }
      expected[row * 50 + column] = static_cast<Real>(sum);
    }
  }
  CHECK(distance(y, expected) < 1e-6);
}

TEST_CASE("bf16: linear, with what may follow it in the cache") {
  const std::vector<Tensor> inputs{normal_tensor({3, 7, 40}, 1), normal_tensor({50, 40}, 2, 0.2),
                                   normal_tensor({50}, 3)};
  check_close([](const auto& in) { return ops::linear(in[0], in[1], in[2]); }, inputs);
  check_close([](const auto& in) { return ops::linear(in[0], in[1]); }, {inputs[0], inputs[1]});
  for (const Activation activation : {Activation::gelu_tanh, Activation::silu}) {
    check_close([&](const auto& in) { return ops::linear(in[0], in[1], in[2], {.activation = activation}); }, inputs);
  }
  check_close([](const auto& in) { return ops::linear(in[0], in[1], in[2], {.residual = in[3]}); },
              {inputs[0], inputs[1], inputs[2], normal_tensor({3, 7, 50}, 4)});
}

TEST_CASE("bf16: norms that store bfloat16") {
  const std::vector<Tensor> inputs{normal_tensor({5, 48}, 1), normal_tensor({48}, 2), normal_tensor({48}, 3)};
  check_close([](const auto& in) { return ops::layer_norm(in[0], in[1], in[2], Real(1e-5), activation_dtype()); },
              inputs);
  check_close([](const auto& in) { return ops::rms_norm(in[0], in[1], Real(1e-5), activation_dtype()); },
              {inputs[0], inputs[1]});
}

TEST_CASE("bf16: attention over a product's parts, dropout and the residual") {
  const auto part = [](const Variable& x, Index i) {
    return view(x, [i](const Tensor& t) { return t.narrowed(-1, 32 * i, 32).split(-1, 2).swapped(1, 2); });
  };
  const auto block = [&](const auto& in) {
    const Variable stacked = ops::linear(in[0], in[1]);
    const Variable mixed =
        ops::fused_attention(part(stacked, 0), part(stacked, 1), part(stacked, 2), {Real(0.25), {.causal = true}});
    const Variable merged = view(mixed, [](const Tensor& t) { return t.reshaped({2, 70, 32}); });
    const Variable dropped = ops::dropout(ops::linear(merged, in[2]), 0.25, RandomStream(1, 2));
    return ops::add(in[0], dropped);
  };
  check_close(block, {normal_tensor({2, 70, 32}, 1), normal_tensor({96, 32}, 2, 0.2), normal_tensor({32, 32}, 3, 0.2)});
}

TEST_CASE("bf16: the loss of a head") {
  const std::vector<TokenId> targets{0, 59, 7, -1, 33, 2};
  check_close([&](const auto& in) { return ops::linear_cross_entropy(in[0], in[1], {}, targets, {.smoothing = 0.1}); },
              {normal_tensor({6, 40}, 1), normal_tensor({60, 40}, 2, 0.2)});
}

TEST_CASE("linear_cross_entropy: equals the cross-entropy of the linear layer, and differences") {
  const std::vector<TokenId> targets{0, 8, -1, 4};
  const std::vector<Tensor> inputs{normal_tensor({4, 5}, 1), normal_tensor({9, 5}, 2), normal_tensor({9}, 3)};
  for (const bool biased : {false, true}) {
    const auto bias = [biased](const auto& in) { return biased ? in[2] : Variable(); };
    for (const double smoothing : {0.0, 0.2}) {
      for (const double divisor : {0.0, 11.0}) {
        const ops::CrossEntropy options{smoothing, divisor};
        const Operation fused = [&](const auto& in) {
          return ops::linear_cross_entropy(in[0], in[1], bias(in), targets, options);
        };
        const std::vector<Tensor> used(inputs.begin(), inputs.end() - (biased ? 0 : 1));
        check_operation(fused, used);
        const Differentiated actual = differentiate(fused, used);
        const Differentiated expected = differentiate(
            [&](const auto& in) { return ops::cross_entropy(ops::linear(in[0], in[1], bias(in)), targets, options); },
            used);
        CHECK(difference(actual.output, expected.output) < by_precision(1e-14, 1e-6));
        for (std::size_t i = 0; i < used.size(); ++i) {
          CHECK(difference(actual.gradients[i], expected.gradients[i]) < by_precision(1e-14, 1e-6));
        }
      }
    }
  }
  CHECK_THROWS_AS(ops::linear_cross_entropy(Variable(inputs[0]), Variable(inputs[1]), Variable(inputs[0]), targets),
                  ShapeError);
}

TEST_CASE("linear_cross_entropy: logits in parts") {
  // More logits than are kept at once: 270,000 classes, 300 rows.
  const Index classes = real_is_double ? 9 : 270000, rows = 300;
  std::vector<TokenId> targets;
  for (Index i = 0; i < rows; ++i) targets.push_back(static_cast<TokenId>((i * 7919) % classes));
  const std::vector<Tensor> inputs{normal_tensor({rows, 2}, 1), normal_tensor({classes, 2}, 2),
                                   normal_tensor({classes}, 3)};
  const Differentiated actual = differentiate(
      [&](const auto& in) { return ops::linear_cross_entropy(in[0], in[1], in[2], targets, {}); }, inputs);
  const Differentiated expected = differentiate(
      [&](const auto& in) { return ops::cross_entropy(ops::linear(in[0], in[1], in[2]), targets, {}); }, inputs);
  CHECK(difference(actual.output, expected.output) < 1e-5);
  for (std::size_t i = 0; i < 3; ++i) CHECK(relative_difference(actual.gradients[i], expected.gradients[i]) < 1e-4);
}

TEST_CASE("linear: an activation or a residual is what the operation by itself gives") {
  const std::vector<Tensor> inputs{normal_tensor({3, 6}, 1), normal_tensor({5, 6}, 2), normal_tensor({5}, 3),
                                   normal_tensor({3, 5}, 4)};
  const auto equal = [&](const Operation& fused, const Operation& apart) {
    check_operation(fused, inputs);
    const Differentiated actual = differentiate(fused, inputs), expected = differentiate(apart, inputs);
    CHECK(difference(actual.output, expected.output) < by_precision(1e-14, 1e-6));
    for (std::size_t i = 0; i < 3; ++i) {
      CHECK(difference(actual.gradients[i], expected.gradients[i]) < by_precision(1e-14, 2e-6));
    }
  };
  for (const Activation activation : {Activation::gelu, Activation::gelu_tanh, Activation::silu}) {
    equal([&](const auto& in) { return ops::linear(in[0], in[1], in[2], {.activation = activation}); },
          [&](const auto& in) { return ops::activate(ops::linear(in[0], in[1], in[2]), activation); });
  }
  equal([](const auto& in) { return ops::linear(in[0], in[1], in[2], {.residual = in[3]}); },
        [](const auto& in) { return ops::add(in[3], ops::linear(in[0], in[1], in[2])); });
  const Variable x(inputs[0]), weight(inputs[1]), rest(inputs[3]);
  CHECK_THROWS_AS(ops::linear(x, weight, {}, {.activation = Activation::relu, .residual = rest}), ShapeError);
  CHECK_THROWS_AS(ops::linear(x, weight, {}, {.residual = x}), ShapeError);
}
