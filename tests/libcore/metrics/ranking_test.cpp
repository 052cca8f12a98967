#include "libcore/metrics/ranking.hpp"

#include <doctest/doctest.h>

#include "libcore/base/random.hpp"

using heddle::metrics::RankedExample;

namespace {

// Ten examples drawn from few scores, so that some are equal, in no order.
std::vector<RankedExample> random_examples(std::uint64_t seed) {
  const heddle::RandomStream stream(seed, heddle::random_site("ranking test"));
  std::vector<RankedExample> examples;
  for (std::uint64_t i = 0; i < 10; ++i) {
    examples.push_back({static_cast<double>(stream.below(2 * i, 5)) / 4, stream.below(2 * i + 1, 2) == 1});
  }
  return examples;
}

// By its definition: all pairs of a positive and a negative example.
double pairs_in_order(const std::vector<RankedExample>& examples) {
  double right = 0, pairs = 0;
  for (const RankedExample& a : examples) {
    for (const RankedExample& b : examples) {
      if (!a.is_positive || b.is_positive) continue;
      pairs += 1;
      right += a.score > b.score ? 1 : a.score == b.score ? 0.5 : 0;
    }
  }
  return pairs == 0 ? 0.5 : right / pairs;
}

// By its definition: the mean over positive examples of the precision at their scores.
double mean_precision(const std::vector<RankedExample>& examples) {
  double sum = 0, positive = 0;
  for (const RankedExample& a : examples) {
    if (!a.is_positive) continue;
    double found = 0, all = 0;
    for (const RankedExample& b : examples) {
      if (b.score < a.score) continue;
      all += 1;
      found += b.is_positive ? 1 : 0;
    }
    sum += found / all;
    positive += 1;
  }
  return positive == 0 ? 0 : sum / positive;
}

}  // namespace

TEST_CASE("ranking: the areas are those of their definitions, with ties") {
  for (std::uint64_t seed = 1; seed <= 50; ++seed) {
    const std::vector<RankedExample> examples = random_examples(seed);
    CHECK(heddle::metrics::roc_auc(examples) == doctest::Approx(pairs_in_order(examples)));
    CHECK(heddle::metrics::pr_auc(examples) == doctest::Approx(mean_precision(examples)));
  }
}

TEST_CASE("ranking: the best and the worst order, equal scores, and one class alone") {
  CHECK(heddle::metrics::roc_auc({{0.9, true}, {0.8, true}, {0.1, false}}) == 1);
  CHECK(heddle::metrics::roc_auc({{0.1, true}, {0.8, false}, {0.9, false}}) == 0);
  CHECK(heddle::metrics::roc_auc({{0.5, true}, {0.5, false}}) == 0.5);
  CHECK(heddle::metrics::roc_auc({{0.5, true}}) == 0.5);
  CHECK(heddle::metrics::pr_auc({{0.9, true}, {0.8, false}, {0.1, true}}) == doctest::Approx((1 + 2.0 / 3) / 2));
  CHECK(heddle::metrics::pr_auc({{0.9, false}}) == 0);
}
