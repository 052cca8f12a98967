#include "libcore/metrics/bootstrap.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>
#include <vector>

#include "libcore/base/error.hpp"
#include "libcore/base/random.hpp"

using namespace heddle;
using namespace heddle::metrics;

namespace {

// The share of the drawn examples that are right, where every third is wrong.
double accuracy(std::span<const Index> drawn) {
  return static_cast<double>(std::ranges::count_if(drawn, [](Index i) { return i % 3 != 0; })) /
         static_cast<double>(drawn.size());
}

}  // namespace

TEST_CASE("bootstrap: the interval of a share is that of the normal approximation") {
  const Interval interval = bootstrap_interval(900, accuracy, {.samples = 4000});
  const double half = 1.96 * std::sqrt(2.0 / 3 / 3 / 900);
  CHECK(interval.low == doctest::Approx(2.0 / 3 - half).epsilon(0.005));
  CHECK(interval.high == doctest::Approx(2.0 / 3 + half).epsilon(0.005));
  const Interval narrow = bootstrap_interval(900, accuracy, {.samples = 4000, .level = 0.5});
  CHECK(narrow.low > interval.low);
  CHECK(narrow.high < interval.high);
}

TEST_CASE("bootstrap: covers the truth about as often as it says") {
  int covered = 0;
  constexpr int repetitions = 300;
  for (int repetition = 0; repetition < repetitions; ++repetition) {
    const RandomStream random(static_cast<std::uint64_t>(repetition), 6);
    std::vector<double> numbers;
    for (std::uint64_t i = 0; i < 60; ++i) numbers.push_back(random.normal(i));
    const auto mean = [&](std::span<const Index> drawn) {
      double sum = 0;
      for (const Index i : drawn) sum += numbers[static_cast<std::size_t>(i)];
      return sum / static_cast<double>(drawn.size());
    };
    const Interval interval = bootstrap_interval(60, mean, {.samples = 400, .level = 0.9});
    covered += interval.low <= 0 && 0 <= interval.high;
  }
  CHECK(covered > 0.84 * repetitions);
  CHECK(covered < 0.95 * repetitions);
}

TEST_CASE("bootstrap: every place is drawn equally often, and the seed decides") {
  std::vector<Index> counts(7);
  std::vector<Index> first;
  bootstrap_interval(7,
                     [&](std::span<const Index> drawn) {
                       if (first.empty()) first.assign(drawn.begin(), drawn.end());
                       for (const Index i : drawn) ++counts[static_cast<std::size_t>(i)];
                       return 0.0;
                     },
                     {.samples = 2000});
  for (const Index count : counts) CHECK(std::abs(static_cast<double>(count) - 2000) < 200);
  const Interval once = bootstrap_interval(50, accuracy, {.seed = 3}),
                 again = bootstrap_interval(50, accuracy, {.seed = 3});
  CHECK(once.low == again.low);
  CHECK(once.high == again.high);
}

TEST_CASE("bootstrap: quantiles lie between neighbours") {
  // One sample a value: 0, 1, 2, 3, 4.
  double next = 0;
  const Interval interval =
      bootstrap_interval(1, [&](std::span<const Index>) { return next++; }, {.samples = 5, .level = 0.75});
  CHECK(interval.low == doctest::Approx(0.5));
  CHECK(interval.high == doctest::Approx(3.5));
  CHECK(bootstrap_interval(1, [](std::span<const Index>) { return 2.0; }, {.samples = 1}).high == 2);
}

TEST_CASE("bootstrap: by default a thousand samples, of which 95 % lie in the interval") {
  double next = 0;  // the values are 0 to 999, whose quantiles lie at 0.025 and 0.975 times 999
  const Interval interval = bootstrap_interval(5, [&](std::span<const Index>) { return next++; }, {});
  CHECK(next == 1000);
  CHECK(interval.low == doctest::Approx(24.975));
  CHECK(interval.high == doctest::Approx(974.025));
}

TEST_CASE("bootstrap: what makes no sense is refused") {
  CHECK_THROWS_AS(bootstrap_interval(0, accuracy, {}), DataError);
  CHECK_THROWS_AS(bootstrap_interval(5, accuracy, {.samples = 0}), UsageError);
  CHECK_THROWS_AS(bootstrap_interval(5, accuracy, {.level = 1}), UsageError);
}
