// Metrics of sets of labels: values by hand, and as scikit-learn 1.2.1 documents them.
#include "libcore/metrics/label_sets.hpp"

#include <doctest/doctest.h>

#include "libcore/base/error.hpp"

using namespace heddle;
using namespace heddle::metrics;

namespace label_sets_tests {

namespace {

// The definition: for each gold label, the fraction of gold ones among those with at least its probability.
double slow_ranking_precision(const RankedLabels& labels) {
  double sum = 0, gold = 0;
  for (const RankedExample& label : labels) {
    if (!label.is_positive) continue;
    double above = 0, gold_above = 0;
    for (const RankedExample& other : labels) {
      if (other.score < label.score) continue;
      ++above;
      gold_above += other.is_positive ? 1 : 0;
    }
    sum += gold_above / above;
    ++gold;
  }
  return gold > 0 ? sum / gold : 1;
}

}  // namespace

TEST_CASE("label sets: the ranking precision is its definition's, and that of scikit-learn's example") {
  // y_true = [[1, 0, 0], [0, 0, 1]], y_score = [[0.75, 0.5, 1], [1, 0.2, 0.1]]: 0.416...
  const RankedLabels first{{0.75, true}, {0.5, false}, {1, false}}, second{{1, false}, {0.2, false}, {0.1, true}};
  CHECK((ranking_precision(first) + ranking_precision(second)) / 2 == doctest::Approx(0.4166666666666));
  CHECK(ranking_precision({{0.1, false}, {0.2, false}}) == 1);
  CHECK(ranking_precision({{0.1, true}, {0.2, true}}) == 1);
  for (unsigned pattern = 0; pattern < 64; ++pattern) {
    RankedLabels labels;
    for (unsigned l = 0; l < 6; ++l) labels.push_back({(l * 5 + pattern) % 4 / 4.0, (pattern >> l & 1U) == 1});
    CAPTURE(pattern);
    CHECK(ranking_precision(labels) == doctest::Approx(slow_ranking_precision(labels)));
  }
}

TEST_CASE("label sets: sums, means and exact sets, by hand") {
  // Gold a; a b; none. Given a b; a b; c.
  const std::vector<double> thresholds{0.5, 0.3, 0.9};
  const std::vector<RankedLabels> texts{{{0.5, true}, {0.4, false}, {0.1, false}},
                                        {{0.6, true}, {0.3, true}, {0.8, false}},
                                        {{0.1, false}, {0.2, false}, {0.9, false}}};
  std::vector<TextScores> scores;
  std::vector<const RankedLabels*> all;
  for (const RankedLabels& text : texts) {
    scores.push_back(score_text(text, thresholds));
    all.push_back(&text);
  }
  const std::vector<Matches> labels = label_matches(all, thresholds);
  CHECK(labels[0].correct == 2);
  CHECK(labels[1].predicted == 2);
  CHECK(micro_f1(scores) == doctest::Approx(6.0 / 8));  // 3 correct, 5 given, 3 gold
  CHECK(macro_f1(labels) == doctest::Approx((1 + 2.0 / 3 + 0) / 3));
  CHECK(subset_accuracy(scores) == doctest::Approx(1.0 / 3));
  CHECK(hamming_loss(scores, 3) == doctest::Approx(2.0 / 9));
  CHECK(ranking_precision(scores) == doctest::Approx((1 + (1.0 / 2 + 2.0 / 3) / 2 + 1) / 3));
  // a: both gold ones first, 1; b: gold 0.3 after 0.4, 1/2; c: no gold one.
  CHECK(mean_average_precision(all) == doctest::Approx(0.75));
  CHECK(mean_average_precision(std::vector{&texts[2]}) == 0);
  CHECK_THROWS_AS(micro_f1({}), DataError);
  CHECK_THROWS_AS(subset_accuracy({}), DataError);
}

TEST_CASE("label sets: a label that neither occurs nor is given does not count in macro F1") {
  CHECK(macro_f1(std::vector{Matches{1, 1, 1}, Matches{}}) == 1);
}

TEST_CASE("label sets: the threshold with the best F1, 1/2 where that is as good") {
  CHECK(best_threshold({{0.9, true}, {0.1, false}}) == 0.5);
  CHECK(best_threshold({{0.3, true}, {0.1, false}}) == doctest::Approx(0.2));
  CHECK(best_threshold({{0.9, true}, {0.7, false}}) == doctest::Approx(0.8));
  CHECK(best_threshold({{0.9, false}, {0.1, false}}) == 0.5);
  CHECK(best_threshold({}) == 0.5);
  // Given to two of three, F1 4/5; to one 2/3; to all, with both gold ones, 4/5: the nearer to 1/2 of equal ones.
  CHECK(best_threshold({{0.8, true}, {0.4, false}, {0.2, true}}) == doctest::Approx(0.1));
  CHECK(best_threshold({{0.8, true}, {0.6, true}, {0.3, false}, {0.2, false}}) == 0.5);
  // Equal probabilities are given the label together.
  CHECK(best_threshold({{0.4, true}, {0.4, false}, {0.4, false}, {0.2, true}, {0.1, false}}) == doctest::Approx(0.15));
}

}  // namespace label_sets_tests
