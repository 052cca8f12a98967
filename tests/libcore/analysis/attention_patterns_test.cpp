#include "libcore/analysis/attention_patterns.hpp"

#include <doctest/doctest.h>

#include <cmath>
#include <limits>

#include "libcore/base/error.hpp"

using namespace heddle;
using namespace heddle::analysis;

TEST_CASE("attention patterns: means over the queries, by hand") {
  const Tensor weights({3, 3}, {1, 0, 0, 0.5, 0.5, 0, 0.25, 0.25, 0.5});
  const HeadPattern pattern = head_pattern(weights);
  CHECK(pattern.first == doctest::Approx((1 + 0.5 + 0.25) / 3));
  CHECK(pattern.previous == doctest::Approx((0.5 + 0.25) / 3));
  CHECK(pattern.own == doctest::Approx((1 + 0.5 + 0.5) / 3));
  CHECK(pattern.next == 0);
  CHECK(pattern.distance == doctest::Approx((0 + 0.5 + 0.25 * 2 + 0.25) / 3));
  CHECK(pattern.bits == doctest::Approx((0 + 1 + 1.5) / 3));
  CHECK(head_pattern(Tensor({2, 2}, {0, 1, 1, 0})).next == 0.5);
}

TEST_CASE("attention patterns: the strongest links, in order, and never one that is no number") {
  const Real nan = std::numeric_limits<Real>::quiet_NaN();
  const Tensor weights({2, 3}, {Real(0.2), nan, Real(0.5), Real(0.5), Real(0.1), Real(0.4)});
  const auto links = strongest_links(weights, 3);
  REQUIRE(links.size() == 3);
  CHECK(links[0].query == 0);
  CHECK(links[0].key == 2);
  CHECK(links[1].query == 1);
  CHECK(links[1].key == 0);
  CHECK(links[2].weight == Real(0.4));
  CHECK(strongest_links(weights, 100).size() == 5);
  CHECK(strongest_links(weights, 0).empty());
  const auto others = strongest_links(weights, 100, [](Index query, Index key) { return query == key; });
  for (const AttentionLink& link : others) CHECK(link.query != link.key);
  double first = 0;
  for (Index i = 0; i < weights.shape()[0]; ++i) first += static_cast<double>(weights[i * weights.shape()[1]]);
  if (std::isfinite(first)) {
    CHECK(weight_of_keys(weights, {0}) == doctest::Approx(first / static_cast<double>(weights.shape()[0])));
  }
  CHECK(weight_of_keys(weights, {}) == 0);
  // Ties: the first.
  const auto equal = strongest_links(Tensor({2, 2}, Real(0.5)), 2);
  REQUIRE(equal.size() == 2);
  CHECK(equal[0].query + equal[0].key == 0);
  CHECK(equal[1].query == 0);
  CHECK(equal[1].key == 1);
}

TEST_CASE("attention rollout: half the residual, half the mean of the heads, layer by layer (Abnar and Zuidema 2020)") {
  AttentionRollout rollout;
  // Heads whose mean is [[1, 0], [0.5, 0.5]]; with the residual [[1, 0], [0.25, 0.75]].
  const Tensor first({2, 2, 2}, {1, 0, 1, 0, 1, 0, 0, 1});
  const Tensor one = rollout.add(first);
  const double expected_one[] = {1, 0, 0.25, 0.75};
  for (Index i = 0; i < 4; ++i) CHECK(one[i] == doctest::Approx(expected_one[i]));
  // One head that swaps; with the residual [[0.5, 0.5], [0.5, 0.5]], times the layer before.
  const Tensor two = rollout.add(Tensor({1, 2, 2}, {0, 1, 1, 0}));
  const double expected_two[] = {0.625, 0.375, 0.625, 0.375};
  for (Index i = 0; i < 4; ++i) CHECK(two[i] == doctest::Approx(expected_two[i]));
  CHECK_THROWS_AS(rollout.add(Tensor({1, 2, 3}, Real(0))), ShapeError);
  CHECK_THROWS_AS(rollout.add(Tensor({1, 3, 3}, Real(0))), ShapeError);
}
