// Kernel regression (SPEC 1.7).
#include <doctest/doctest.h>

#include <cmath>

#include "identities.hpp"

using namespace heddle;
using namespace heddle::testing;

namespace {

Tensor normalised(const Tensor& x) {
  const Tensor y = x.copy();
  const Index width = x.shape()[3];
  for (Index row = 0; row < x.size() / width; ++row) {
    double squares = 0;
    for (Index c = 0; c < width; ++c) squares += x[row * width + c] * x[row * width + c];
    for (Index c = 0; c < width; ++c) y[row * width + c] = static_cast<Real>(x[row * width + c] / std::sqrt(squares));
  }
  return y;
}

// The mean squared error on a grid of the estimate of sin 3k from `count` noisy observations.
double regression_error(Index count) {
  const double sigma = std::pow(static_cast<double>(count), -0.2);
  const RandomStream stream(11, random_site("regression"));
  const Tensor keys({1, 1, count, 1}), values({1, 1, count, 1});
  for (Index i = 0; i < count; ++i) {
    const auto at = static_cast<std::uint64_t>(i);
    keys[i] = static_cast<Real>(4 * stream.uniform(4 * at) - 2);
    values[i] = static_cast<Real>(std::sin(3 * keys[i]) + 0.1 * stream.normal(2 * at + 1));
  }
  constexpr Index grid = 61;
  const Tensor queries({1, 1, grid, 1});
  for (Index i = 0; i < grid; ++i) queries[i] = static_cast<Real>(-1.5 + 3.0 * static_cast<double>(i) / (grid - 1));
  const Tensor estimate = mixed(concatenate("gaussian:bandwidth=", sigma * sigma), queries, keys, values);
  double error = 0;
  for (Index i = 0; i < grid; ++i) error += std::pow(estimate[i] - std::sin(3 * queries[i]), 2);
  return error / grid;
}

}  // namespace

TEST_CASE("gaussian: equals dot products at temperature sigma^2 for keys of one length, only then (SPEC 1.7)") {
  const Shape shape{1, 2, 30, 16};
  const Tensor q = normal_tensor(shape, 1), k = normal_tensor(shape, 2), v = normal_tensor(shape, 3);
  const Tensor unit = normalised(k), longer = normalised(k);
  longer.scale(3);
  CHECK(difference(mixed("gaussian", q, unit, v), mixed("dot", q, unit, v)) <= 1e-12);
  CHECK(difference(mixed("gaussian", q, longer, v), mixed("dot", q, longer, v)) <= 1e-12);
  CHECK(difference(mixed("gaussian", q, k, v), mixed("dot", q, k, v)) > 1e-2);
  // With the lengths of the keys as a bias of dot products, they are equal again.
  const Tensor biased_k({1, 2, 30, 17}), biased_q({1, 2, 30, 17});
  biased_q.narrowed(3, 0, 16).assign(q);
  biased_q.narrowed(3, 16, 1).fill(1);
  biased_k.narrowed(3, 0, 16).assign(k);
  for (Index row = 0; row < 60; ++row) {
    double squares = 0;
    for (Index c = 0; c < 16; ++c) squares += k[row * 16 + c] * k[row * 16 + c];
    biased_k[row * 17 + 16] = static_cast<Real>(-squares / 2);
  }
  CHECK(difference(mixed("gaussian", q, k, v), mixed("dot:scale=0.25", biased_q, biased_k, v)) <= 1e-12);
  // The settings say the same.
  CHECK(difference(mixed("gaussian:key-norm=0", q, k, v), mixed("dot", q, k, v)) <= 1e-12);
  CHECK(difference(mixed("gaussian:unit-keys=1", q, k, v), mixed("dot", q, unit, v)) <= 1e-12);
  CHECK(difference(mixed("gaussian:bandwidth=0.5,key-norm=0", q, k, v), mixed("dot:scale=2", q, k, v)) <= 1e-12);
}

TEST_CASE("gaussian: learned bandwidths begin at the given one, and a key of length zero keeps its zeros") {
  const Shape shape{1, 2, 6, 4};
  const Tensor q = normal_tensor(shape, 1), k = normal_tensor(shape, 2), v = normal_tensor(shape, 3);
  k.narrowed(2, 3, 1).fill(0);
  const Made learned("gaussian:bandwidth=0.7,learned=1", {2, 4});
  REQUIRE(learned.parameters.all().size() == 1);
  CHECK(learned.parameters.all()[0].name == "layer/log_bandwidth");
  CHECK(difference(learned->mix(call_of(q, k, v)).value(), mixed("gaussian:bandwidth=0.7", q, k, v)) < 1e-12);
  CHECK(is_finite(mixed("gaussian:unit-keys=1", q, k, v)));
  CHECK_THROWS_WITH_AS(Made("gaussian:bandwidth=0", {2, 4}), "gaussian:bandwidth=0 must be from 1e-06 to 1e+06",
                       UsageError);
  CHECK_THROWS_WITH_AS(Made("gaussian:learned=2", {2, 4}), "gaussian:learned=2 must be from 0 to 1", UsageError);
}

TEST_CASE("gaussian: the error of the regression falls with the number of observations (SPEC 1.7)") {
  const double few = regression_error(100), some = regression_error(1000), many = regression_error(10000);
  CHECK(some < few);
  CHECK(many < some);
}
