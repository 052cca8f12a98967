#include "libcore/decoding/best_spans.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <limits>

#include "libcore/base/error.hpp"
#include "libcore/base/random.hpp"

using namespace heddle;
using namespace heddle::decoding;

namespace {

// All spans, sorted.
std::vector<ScoredSpan> all_spans(const std::vector<Real>& start, const std::vector<Real>& end,
                                  const std::vector<bool>& allowed, Index longest) {
  std::vector<ScoredSpan> spans;
  for (std::size_t i = 0; i < start.size(); ++i) {
    for (std::size_t j = 0; j < end.size(); ++j) {
      const auto length = static_cast<Index>(j) - static_cast<Index>(i) + 1;
      if (!allowed[i] || !allowed[j] || length < 1 || length > longest) continue;
      spans.push_back({static_cast<Index>(i), static_cast<Index>(j), double(start[i]) + double(end[j])});
    }
  }
  std::ranges::stable_sort(spans, [](const auto& a, const auto& b) { return a.score > b.score; });
  return spans;
}

}  // namespace

TEST_CASE("best spans: equal to trying all, on random scores") {
  for (std::uint64_t seed = 0; seed < 500; ++seed) {
    const RandomStream random(seed, 1);
    const std::size_t time = random.below(0, 20);
    // Whole numbers, so that there are equal scores.
    std::vector<Real> start, end;
    std::vector<bool> allowed;
    for (std::uint64_t i = 0; i < time; ++i) {
      start.push_back(static_cast<Real>(random.below(3 * i + 1, 6)));
      end.push_back(static_cast<Real>(random.below(3 * i + 2, 6)));
      allowed.push_back(random.below(3 * i + 3, 4) > 0);
    }
    const SpanLimits limits{.longest = 1 + static_cast<Index>(seed % 7), .count = 1 + static_cast<Index>(seed % 5)};
    std::vector<ScoredSpan> expected = all_spans(start, end, allowed, limits.longest);
    if (expected.size() > static_cast<std::size_t>(limits.count))
      expected.resize(static_cast<std::size_t>(limits.count));
    const std::vector<ScoredSpan> found = best_spans(start, end, allowed, limits);
    REQUIRE(found.size() == expected.size());
    for (std::size_t i = 0; i < found.size(); ++i) {
      CHECK(found[i].first == expected[i].first);
      CHECK(found[i].last == expected[i].last);
      CHECK(found[i].score == expected[i].score);
    }
  }
}

TEST_CASE("best spans: the best start and end in the wrong order are no span") {
  const std::vector<Real> start = {0, 1, 9}, end = {0, 9, 2};
  const std::vector<bool> allowed(3, true);
  const std::vector<ScoredSpan> found = best_spans(start, end, allowed, {});
  REQUIRE(found.size() == 1);
  CHECK(found[0].first == 2);
  CHECK(found[0].last == 2);
  CHECK(found[0].score == 11);
}

TEST_CASE("best spans: scores that are not finite, positions that are not allowed, sizes that do not fit") {
  const Real nan = std::numeric_limits<Real>::quiet_NaN(), minus = -std::numeric_limits<Real>::infinity();
  const std::vector<ScoredSpan> found =
      best_spans(std::vector<Real>{nan, minus, 1}, std::vector<Real>{nan, 3, 1}, {true, true, true}, {.count = 9});
  REQUIRE(found.size() == 1);
  CHECK(found[0].first == 2);
  CHECK(best_spans(std::vector<Real>{1}, std::vector<Real>{1}, {false}, {}).empty());
  CHECK(best_spans({}, {}, {}, {}).empty());
  CHECK_THROWS_AS(best_spans(std::vector<Real>{1}, {}, {true}, {}), ShapeError);
  CHECK_THROWS_AS(best_spans({}, {}, {}, {.longest = 0}), UsageError);
}
