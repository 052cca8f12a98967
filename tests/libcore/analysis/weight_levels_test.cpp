#include "libcore/analysis/weight_levels.hpp"

#include <doctest/doctest.h>

#include <cmath>
#include <limits>
#include <vector>

using namespace heddle;
using namespace heddle::analysis;

TEST_CASE("weight levels: round(255 w), also of halves, and 0 of what is not finite") {
  std::vector<Real> weights;
  for (int i = 0; i <= 4 * 255; ++i) weights.push_back(static_cast<Real>(i) / Real(4 * 255));
  for (int i = 0; i < 255; ++i) {  // the nearest number to a half, and its neighbours
    const Real half = (static_cast<Real>(i) + Real(0.5)) / 255;
    for (const Real weight : {half, std::nextafter(half, Real(0)), std::nextafter(half, Real(1))}) {
      weights.push_back(weight);
    }
  }
  std::vector<std::uint8_t> levels(weights.size());
  std::vector<std::uint32_t> greys(weights.size());
  weight_levels(weights, levels.data());
  weight_greys(weights, greys.data());
  for (std::size_t i = 0; i < weights.size(); ++i) {
    CAPTURE(weights[i]);
    CHECK(static_cast<long>(levels[i]) == std::lround(255 * static_cast<double>(weights[i])));
    CHECK(greys[i] == 0x010101U * levels[i]);
  }
  constexpr Real infinite = std::numeric_limits<Real>::infinity();
  const std::vector<Real> others{std::nanf(""), infinite, -infinite, Real(-0.5), Real(1.5), 0};
  levels.resize(others.size());
  weight_levels(others, levels.data());
  CHECK(levels == std::vector<std::uint8_t>{0, 0, 0, 0, 255, 0});
}

TEST_CASE("weight levels: one weight decides whether all are finite, and zero") {
  std::vector<Real> weights(70000, Real(0));  // more than are counted at a time
  CHECK(are_finite(weights));
  CHECK(are_zero(weights));
  CHECK(are_zero({}));
  for (const std::size_t at : {std::size_t{0}, std::size_t{65536}, weights.size() - 1}) {
    CAPTURE(at);
    for (const Real strange : {std::nanf(""), -std::numeric_limits<Real>::infinity()}) {
      weights[at] = strange;
      CHECK_FALSE(are_finite(weights));
      CHECK_FALSE(are_zero(weights));
    }
    weights[at] = std::numeric_limits<Real>::denorm_min();
    CHECK(are_finite(weights));
    CHECK_FALSE(are_zero(weights));
    weights[at] = 0;
  }
}
