// Scaled dot products (SPEC 1.2), windows (1.10) and convolutions (1.12).
#include <doctest/doctest.h>

#include <cmath>

#include "identities.hpp"

using namespace heddle;
using namespace heddle::testing;

TEST_CASE("dot: the factor of the scores is 1 / sqrt(key_width), or the one that is given") {
  const Shape shape{2, 3, 11, 4};
  const Tensor q = normal_tensor(shape, 1), k = normal_tensor(shape, 2), v = normal_tensor(shape, 3), twice = q.copy();
  twice.scale(2);
  const Tensor usual = mixed("dot", twice, k, v);
  CHECK(difference(mixed("dot:scale=1", q, k, v), usual) < 1e-12);  // the key width is 4
  CHECK(difference(mixed("dot:scale=0.5", twice, k, v), usual) < 1e-12);
  const Tensor uniform = Made("dot:scale=0", {3, 4})->weights(call_of(q, k, v)).weights;
  for (Index i = 0; i < uniform.size(); ++i) CHECK(uniform[i] == doctest::Approx(1.0 / 11));
  CHECK_THROWS_WITH_AS(Made("dot:scale=-1", {3, 4}), "dot:scale=-1 must be from 0 to 1000", UsageError);
}

namespace {

// The mean over queries of sum_j w_j (1 - w_j): how much the weights can still change.
double mean_slack(const std::string& text, const Tensor& q, const Tensor& k) {
  const Index width = q.shape()[3], keys = k.shape()[2];
  const Tensor weights = Made(text, {1, width})->weights(call_of(q, k, k)).weights;
  double sum = 0;
  for (Index i = 0; i < weights.size(); ++i) sum += weights[i] * (1 - weights[i]);
  return sum * static_cast<double>(keys) / static_cast<double>(weights.size());
}

}  // namespace

TEST_CASE("dot: the variance of scores is the width, scaled it is one; unscaled, the weights saturate (SPEC 1.2)") {
  for (const Index width : {16, 64, 256}) {
    CAPTURE(width);
    constexpr Index count = 200;
    const Tensor q = normal_tensor({1, 1, count, width}, 1), k = normal_tensor({1, 1, count, width}, 2);
    double squares = 0;
    for (Index i = 0; i < count; ++i) {
      for (Index j = 0; j < count; ++j) {
        double score = 0;
        for (Index c = 0; c < width; ++c) score += q[i * width + c] * k[j * width + c];
        squares += score * score;
      }
    }
    const double variance = squares / (count * count);
    CHECK(variance / static_cast<double>(width) == doctest::Approx(1).epsilon(0.05));
  }
  const Tensor q = normal_tensor({1, 1, 200, 256}, 3), k = normal_tensor({1, 1, 64, 256}, 4);
  const double unscaled = mean_slack("dot:scale=1", q, k), scaled = mean_slack("dot", q, k);
  CHECK(unscaled == doctest::Approx(0.13).epsilon(0.2));
  CHECK(scaled == doctest::Approx(0.96).epsilon(0.02));
}

TEST_CASE("dot: a window of time - 1 is none, and each layer reaches one window further (SPEC 1.10)") {
  constexpr Index time = 24, width = 4, window = 3;
  const Tensor x = normal_tensor({1, 1, time, width}, 1);
  for (const bool causal : {false, true}) {
    CAPTURE(causal);
    const auto layer = [&](const Tensor& h, Index reach) {
      return mixed("dot", h, h, h, {.causal = causal, .window = reach}).swapped(1, 2).copy();
    };
    CHECK(difference(layer(x, time - 1), layer(x, 0)) < 1e-12);
    for (const Index layers : {1, 2, 3}) {
      CAPTURE(layers);
      const auto run = [&](Tensor h) {
        for (Index i = 0; i < layers; ++i) h = layer(h, window);
        return h;
      };
      const Tensor changed = x.copy();
      const Index at = causal ? 0 : time / 2;
      changed.narrowed(2, at, 1).fill(3);
      const Tensor before = run(x), after = run(changed);
      for (Index t = 0; t < time; ++t) {
        const double moved = difference(before.narrowed(2, t, 1), after.narrowed(2, t, 1));
        CHECK((moved > 0) == (std::abs(t - at) <= layers * window));
      }
    }
  }
}

TEST_CASE("dot: heads whose scores are 1000 at one offset each are the taps of a convolution (SPEC 1.12)") {
  constexpr Index time = 12, width = 5, taps = 3, reach = 4;
  constexpr Index offsets[taps] = {-2, 0, 1};
  const Tensor x = normal_tensor({1, 1, time, width}, 1), kernel = normal_tensor({taps, width}, 2);
  const Tensor zeros({1, taps, time, width}, Real(0)), values({1, taps, time, width});
  const Tensor scores({taps, 2 * reach + 1}, Real(0));
  for (Index tap = 0; tap < taps; ++tap) {
    scores[tap * (2 * reach + 1) + offsets[tap] + reach] = 1000;
    values.narrowed(1, tap, 1).assign(x);
  }
  const Made dot("dot", {taps, width});
  AttentionCall call = call_of(zeros, zeros, values);
  call.offsets.bias = Variable(scores);
  const Tensor heads = dot->mix(call).value();  // [1, time, taps, width]
  for (Index t = 2; t + 1 < time; ++t) {
    for (Index c = 0; c < width; ++c) {
      double attended = 0, convolved = 0;
      for (Index tap = 0; tap < taps; ++tap) {
        attended += kernel[tap * width + c] * heads[(t * taps + tap) * width + c];
        convolved += kernel[tap * width + c] * x[(t + offsets[tap]) * width + c];
      }
      CHECK(std::abs(attended - convolved) < 1e-9);
    }
  }
}
