#include "libcore/metrics/ranking.hpp"

#include <algorithm>

namespace heddle::metrics {

namespace {

// Calls body(positive, negative) for the counts of examples of each score, the highest first.
template <class Body>
void for_each_score(std::vector<RankedExample>& examples, const Body& body) {
  std::ranges::sort(examples, [](const RankedExample& a, const RankedExample& b) { return a.score > b.score; });
  for (std::size_t i = 0; i < examples.size();) {
    const double score = examples[i].score;
    double positive = 0, negative = 0;
    for (; i < examples.size() && examples[i].score == score; ++i) ++(examples[i].is_positive ? positive : negative);
    body(positive, negative);
  }
}

}  // namespace

double roc_auc(std::vector<RankedExample> examples) {
  double positive = 0, negative = 0, pairs = 0;
  for_each_score(examples, [&](double of_positive, double of_negative) {
    pairs += of_negative * (positive + of_positive / 2);
    positive += of_positive;
    negative += of_negative;
  });
  return positive == 0 || negative == 0 ? 0.5 : pairs / (positive * negative);
}

double pr_auc(std::vector<RankedExample> examples) {
  double positive = 0, all = 0, sum = 0;
  for_each_score(examples, [&](double of_positive, double of_negative) {
    positive += of_positive;
    all += of_positive + of_negative;
    sum += of_positive * positive / all;
  });
  return positive == 0 ? 0 : sum / positive;
}

}  // namespace heddle::metrics
