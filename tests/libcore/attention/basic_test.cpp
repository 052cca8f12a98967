// Attention without parameters (SPEC 1.1).
#include <doctest/doctest.h>

#include <cmath>

#include "identities.hpp"

using namespace heddle;
using namespace heddle::testing;

TEST_CASE("basic: one position keeps its state; orthonormal states get e / (e + time - 1) from themselves (SPEC 1.1)") {
  CHECK(Made("basic", {2, 4}).parameters.all().empty());
  const Tensor one = normal_tensor({1, 2, 1, 4}, 1);
  CHECK(difference(mixed("basic", one, one, one), one.swapped(1, 2)) == 0);
  constexpr Index time = 5;
  const Tensor unit({1, 1, time, time}, Real(0));
  for (Index i = 0; i < time; ++i) unit[i * time + i] = 1;
  const Tensor weights = Made("basic", {1, time})->weights(call_of(unit, unit, unit)).weights;
  const double e = std::exp(1.0);
  for (Index i = 0; i < weights.size(); ++i) {
    CHECK(weights[i] == doctest::Approx((i % (time + 1) == 0 ? e : 1) / (e + time - 1)).epsilon(1e-12));
  }
}

TEST_CASE("basic: equals softmax(X X^T) X, so a permutation of X permutes the result (SPEC 1.1)") {
  constexpr Index time = 9, width = 4;
  const Tensor x = normal_tensor({1, 1, time, width}, 2), y = mixed("basic", x, x, x);
  const Tensor permuted(x.shape());
  const auto source = [](Index i) { return i * 4 % time; };
  for (Index i = 0; i < time; ++i) permuted.narrowed(2, i, 1).assign(x.narrowed(2, source(i), 1));
  const Tensor result = mixed("basic", permuted, permuted, permuted);
  for (Index i = 0; i < time; ++i) {
    CHECK(difference(result.narrowed(1, i, 1), y.narrowed(1, source(i), 1)) < 1e-12);
    double sum = 0, mean = 0;
    for (Index j = 0; j < time; ++j) {
      double score = 0;
      for (Index c = 0; c < width; ++c) score += x[i * width + c] * x[j * width + c];
      sum += std::exp(score);
      mean += std::exp(score) * x[j * width];
    }
    CHECK(y[i * width] == doctest::Approx(mean / sum).epsilon(1e-12));
  }
}
