#include "libcore/metrics/weat.hpp"

#include <doctest/doctest.h>

#include <cmath>

#include "libcore/base/random.hpp"

using namespace heddle;
using namespace heddle::metrics;

namespace {

std::vector<double> normals(std::size_t count, std::uint64_t seed, double shift) {
  std::vector<double> values;
  for (std::size_t i = 0; i < count; ++i) values.push_back(RandomStream(seed, 1).normal(i) + shift);
  return values;
}

}  // namespace

TEST_CASE("weat: an association is the difference of the mean cosines") {
  const std::vector<Vector> a{{2, 0}, {0, 1}}, b{{-3, 0}};
  CHECK(association({5, 0}, a, b) == doctest::Approx(0.5 + 1));
  CHECK(association({1, 1}, a, b) == doctest::Approx(std::sqrt(0.5) + std::sqrt(0.5)));
  CHECK(association({0, 0}, a, b) == 0);
  CHECK_THROWS_AS(association({1, 2, 3}, a, b), ShapeError);
  CHECK_THROWS_AS(association({1, 2}, a, {}), DataError);
}

TEST_CASE("weat: effect size and p of sets small enough to count by hand") {
  const std::vector<double> high{3, 4}, low{1, 2};
  const Association result = weat(high, low, {});
  CHECK(result.effect_size == doctest::Approx(2 / std::sqrt(5.0 / 3)));
  CHECK(result.exact);
  CHECK(result.permutations == 6);
  CHECK(result.p == doctest::Approx(1.0 / 6));
  CHECK(weat(low, high, {}).p == 1);
  CHECK(weat(low, high, {}).effect_size == doctest::Approx(-result.effect_size));
  // Among the ten partitions of 1 2 3 4 5, those with 1 5, 2 4, 2 5, 3 4, 3 5 and 4 5 have a first sum of 6 or more.
  CHECK(weat(std::vector<double>{1, 5}, std::vector<double>{2, 3, 4}, {}).p == doctest::Approx(0.6));
  const std::vector<double> same{0.1, 0.1, 0.1};
  CHECK(weat(same, same, {}).effect_size == 0);
  CHECK(weat(same, same, {}).p == 1);
  const std::vector<double> zeros{0, 0};  // their standard deviations are exactly 0
  CHECK(weat(zeros, zeros, {}).effect_size == 0);
}

TEST_CASE("weat: equal sums count whatever the order of adding") {
  // 0.1 + 0.2 and 0.3 differ in the last bit; {0.1, 0.2, 0.6} and {0.3, 0, 0.6} are equally large.
  const std::vector<double> x{0.1, 0.2, 0.6}, y{0.3, 0.0, -5};
  CHECK(weat(x, y, {}).p == weat(std::vector<double>{0.3, 0.0, 0.6}, std::vector<double>{0.1, 0.2, -5}, {}).p);
}

TEST_CASE("weat: partitions drawn at random tell nearly what all of them tell, and the same with the same seed") {
  const std::vector<double> x = normals(8, 1, 0.4), y = normals(8, 2, 0);
  const Association all = weat(x, y, {.most = 12870}), some = weat(x, y, {.most = 12869, .seed = 3});
  CHECK(all.exact);
  CHECK(all.permutations == 12870);
  CHECK_FALSE(some.exact);
  CHECK(some.permutations == 12870);
  CHECK(some.p != all.p);
  CHECK(std::abs(some.p - all.p) < 4 * std::sqrt(all.p * (1 - all.p) / 12870));
  CHECK(some.p == weat(x, y, {.most = 12869, .seed = 3}).p);
  CHECK(some.p != weat(x, y, {.most = 12869, .seed = 4}).p);
  const std::vector<double> far = normals(40, 5, 50);
  CHECK(weat(far, normals(40, 6, 0), {.most = 99}).p == doctest::Approx(0.01));  // only the one that was found
}

TEST_CASE("weat: sets of one word, and no partitions, are refused") {
  CHECK_THROWS_AS(weat(std::vector<double>{1}, std::vector<double>{1, 2}, {}), DataError);
  CHECK_THROWS_AS(weat(std::vector<double>{1, 2}, std::vector<double>{1, 2}, {.most = 0}), UsageError);
}
