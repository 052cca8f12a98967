#include "libcore/metrics/label_sets.hpp"

#include <algorithm>
#include <cmath>
#include <functional>

#include "libcore/base/error.hpp"

namespace heddle::metrics {

namespace {

Matches matches_of(const RankedExample& label, double threshold) {
  const bool is_given = label.score >= threshold;
  return {.gold = label.is_positive ? 1 : 0,
          .predicted = is_given ? 1 : 0,
          .correct = label.is_positive && is_given ? 1 : 0};
}

double mean(std::span<const TextScores> texts, const std::function<double(const TextScores&)>& of) {
  check<DataError>(!texts.empty(), "there is no text to evaluate");
  double sum = 0;
  for (const TextScores& text : texts) sum += of(text);
  return sum / static_cast<double>(texts.size());
}

}  // namespace

double ranking_precision(const RankedLabels& labels) {
  return std::ranges::any_of(labels, &RankedExample::is_positive) ? pr_auc(labels) : 1;
}

double best_threshold(std::vector<RankedExample> examples) {
  constexpr double usual = 0.5;
  std::ranges::sort(examples, std::ranges::greater(), &RankedExample::score);
  const auto gold = static_cast<Index>(std::ranges::count_if(examples, &RankedExample::is_positive));
  Matches matches{.gold = gold};
  double best = usual, best_f1 = 0;
  for (std::size_t i = 0; i < examples.size(); ++i) {
    matches.predicted += 1;
    matches.correct += examples[i].is_positive ? 1 : 0;
    const double above = examples[i].score, below = i + 1 < examples.size() ? examples[i + 1].score : 0;
    if (i + 1 < examples.size() && above == below) continue;
    const double middle = (above + below) / 2;
    const double threshold = below < usual && usual <= above ? usual : middle > below ? middle : above;
    const double f1 = scores_of(matches).f1;
    const bool is_nearer = std::abs(threshold - usual) < std::abs(best - usual);
    if (f1 > best_f1 || (f1 == best_f1 && f1 > 0 && is_nearer)) {
      best = threshold;
      best_f1 = f1;
    }
  }
  return best;
}

TextScores score_text(const RankedLabels& labels, std::span<const double> thresholds) {
  TextScores text{.labels = {}, .is_exact = true, .ranking_precision = ranking_precision(labels)};
  for (std::size_t label = 0; label < labels.size(); ++label) {
    const Matches matches = matches_of(labels[label], thresholds[label]);
    text.labels += matches;
    text.is_exact = text.is_exact && matches.gold == matches.predicted;
  }
  return text;
}

double micro_f1(std::span<const TextScores> texts) {
  Matches total;
  for (const TextScores& text : texts) total += text.labels;
  return texts.empty() ? mean(texts, {}) : scores_of(total).f1;
}

double subset_accuracy(std::span<const TextScores> texts) {
  return mean(texts, [](const TextScores& text) { return text.is_exact ? 1.0 : 0.0; });
}

double hamming_loss(std::span<const TextScores> texts, Index labels) {
  return mean(texts, [labels](const TextScores& text) {
    const Matches& of = text.labels;
    return static_cast<double>(of.gold + of.predicted - 2 * of.correct) / static_cast<double>(labels);
  });
}

double ranking_precision(std::span<const TextScores> texts) {
  return mean(texts, [](const TextScores& text) { return text.ranking_precision; });
}

std::vector<Matches> label_matches(std::span<const RankedLabels* const> texts, std::span<const double> thresholds) {
  std::vector<Matches> labels(thresholds.size());
  for (const RankedLabels* const text : texts) {
    for (std::size_t label = 0; label < labels.size(); ++label)
      labels[label] += matches_of((*text)[label], thresholds[label]);
  }
  return labels;
}

double macro_f1(std::span<const Matches> labels) {
  double sum = 0, count = 0;
  for (const Matches& matches : labels) {
    if (matches.gold + matches.predicted == 0) continue;
    sum += scores_of(matches).f1;
    ++count;
  }
  return count > 0 ? sum / count : 0;
}

double mean_average_precision(std::span<const RankedLabels* const> texts) {
  check<DataError>(!texts.empty(), "there is no text to evaluate");
  double sum = 0, count = 0;
  for (std::size_t label = 0; label < texts.front()->size(); ++label) {
    std::vector<RankedExample> examples;
    for (const RankedLabels* const text : texts) examples.push_back((*text)[label]);
    if (std::ranges::none_of(examples, &RankedExample::is_positive)) continue;
    sum += pr_auc(std::move(examples));
    ++count;
  }
  return count > 0 ? sum / count : 0;
}

}  // namespace heddle::metrics
