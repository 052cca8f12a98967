#include "libcore/metrics/proportion.hpp"

#include <doctest/doctest.h>

#include <cmath>

#include "libcore/base/error.hpp"

using namespace heddle;
using namespace heddle::metrics;

namespace {

double choose(Index n, Index k) {
  return std::exp(std::lgamma(static_cast<double>(n + 1)) - std::lgamma(static_cast<double>(k + 1)) -
                  std::lgamma(static_cast<double>(n - k + 1)));
}

// The probability of k hits or more in n trials.
double at_least(Index n, Index k, double p) {
  double sum = 0;
  for (Index i = k; i <= n; ++i)
    sum += choose(n, i) * std::pow(p, static_cast<double>(i)) * std::pow(1 - p, static_cast<double>(n - i));
  return sum;
}

}  // namespace

TEST_CASE("proportion: beyond its ends so few, or so many, hits have a probability of 0.025") {
  for (const auto& [hits, n] : {std::pair<Index, Index>{1, 5}, {7, 20}, {40, 41}, {95, 100}}) {
    CAPTURE(hits);
    CAPTURE(n);
    const Interval interval = proportion_interval(hits, n);
    CHECK(at_least(n, hits, interval.low) == doctest::Approx(0.025).epsilon(1e-6));
    CHECK(1 - at_least(n, hits + 1, interval.high) == doctest::Approx(0.025).epsilon(1e-6));
  }
  // All right: low^n = 0.025.
  CHECK(proportion_interval(3, 3).low == doctest::Approx(std::cbrt(0.025)));
  CHECK(proportion_interval(3, 3).high == 1);
  CHECK(proportion_interval(0, 1).low == 0);
  CHECK(proportion_interval(0, 1).high == doctest::Approx(0.975));
  CHECK_THROWS_WITH_AS(proportion_interval(0, 0), "no fraction: 0 of 0 examples", DataError);
  CHECK_THROWS_WITH_AS(proportion_interval(4, 3), "no fraction: 4 of 3 examples", DataError);
}

TEST_CASE("difference: above 0 where McNemar's exact test rejects that both are equally good") {
  // With g alone right and none lost, the test's p is 2 / 2^g: 0.0625 for 5, 0.03125 for 6.
  CHECK(difference_interval(5, 0, 100).low < 0);
  CHECK(difference_interval(6, 0, 100).low > 0);
  CHECK(difference_interval(0, 6, 100).high < 0);
  const Interval interval = difference_interval(15, 5, 50);
  const Interval of_gained = proportion_interval(15, 20);
  CHECK(interval.low == doctest::Approx(0.4 * (2 * of_gained.low - 1)));
  CHECK(interval.high == doctest::Approx(0.4 * (2 * of_gained.high - 1)));
  CHECK(interval.low < 0.2);
  CHECK(interval.high > 0.2);
  const Interval alike = difference_interval(0, 0, 10);
  CHECK(alike.high == doctest::Approx(1 - std::pow(0.025, 0.1)));
  CHECK(alike.low == -alike.high);
  CHECK_THROWS_WITH_AS(difference_interval(2, 2, 3), "no fractions: 2 and 2 of 3 examples", DataError);
}
