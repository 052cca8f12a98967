#include "tools/tasks/label_sets.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <numeric>

#include "libcore/base/printable.hpp"
#include "libcore/metrics/calibration.hpp"
#include "tools/tasks/measures.hpp"

namespace heddle {

namespace {

constexpr double usual_threshold = 0.5;
constexpr double never = 2;  // the threshold of a label that the model cannot give

// The gold sets and what a model says of them.
class GivenSets {
 public:
  GivenSets(const TaskData& data, const data::LabelSet& labels, const LabelProbabilities& given) {
    const std::size_t known = given.of_texts.empty() ? 0 : given.of_texts.front().size();
    for (std::size_t label = 0; label < static_cast<std::size_t>(labels.size()); ++label)
      thresholds_.push_back(label < known ? threshold_of(given.thresholds, label) : never);
    for (std::size_t i = 0; i < data.texts.size(); ++i) {
      texts_.push_back(ranked_labels(data.texts[i], given.of_texts[i], labels));
      scores_.push_back(metrics::score_text(texts_.back(), thresholds_));
    }
  }

  // Pointers to this object must stay valid.
  std::vector<Measure> measures() const {
    std::vector<Measure> measures{
        {"micro_f1", [this](Places places) { return metrics::micro_f1(scores(places)); }},
        {"macro_f1", [this](Places places) { return metrics::macro_f1(matches(places)); }},
        {"subset_accuracy", [this](Places places) { return metrics::subset_accuracy(scores(places)); },
         [this](Index place) { return scores_[static_cast<std::size_t>(place)].is_exact; }},
        {"hamming_loss",
         [this](Places places) { return metrics::hamming_loss(scores(places), std::ssize(thresholds_)); }},
        {"lrap", [this](Places places) { return metrics::ranking_precision(scores(places)); }},
        {"map", [this](Places places) { return metrics::mean_average_precision(texts(places)); }}};
    const auto add = [&](const char* name, double (*metric)(std::span<const metrics::Forecast>)) {
      measures.push_back({name, [this, metric](Places places) { return metric(forecasts(places)); }});
    };
    add("log_loss", metrics::log_loss);
    add("brier", metrics::brier_score);
    add("ece", metrics::calibration_error);
    return measures;
  }

  metrics::LabelSetReport report(const data::LabelSet& labels) const {
    metrics::LabelSetReport report{.examples = std::ssize(texts_), .labels = {}};
    const std::vector<metrics::Matches> found = matches(all_places(report.examples));
    for (std::size_t label = 0; label < found.size(); ++label) {
      std::vector<metrics::RankedExample> examples;
      for (const metrics::RankedLabels& text : texts_) examples.push_back(text[label]);
      report.labels.entries.push_back({labels.name(static_cast<Index>(label)),
                                       {.scores = metrics::scores_of(found[label]),
                                        .threshold = std::min(thresholds_[label], 1.0),
                                        .average_precision = metrics::pr_auc(std::move(examples))}});
    }
    return report;
  }

 private:
  std::vector<metrics::TextScores> scores(Places places) const {
    std::vector<metrics::TextScores> some;
    for (const Index place : places) some.push_back(scores_[static_cast<std::size_t>(place)]);
    return some;
  }
  std::vector<const metrics::RankedLabels*> texts(Places places) const {
    std::vector<const metrics::RankedLabels*> some;
    for (const Index place : places) some.push_back(&texts_[static_cast<std::size_t>(place)]);
    return some;
  }
  std::vector<metrics::Matches> matches(Places places) const {
    return metrics::label_matches(texts(places), thresholds_);
  }
  std::vector<metrics::Forecast> forecasts(Places places) const {
    std::vector<metrics::Forecast> some;
    for (const metrics::RankedLabels* const text : texts(places)) {
      for (const auto& [probability, is_gold] : *text) {
        const double both[] = {1 - probability, probability};
        some.push_back(metrics::forecast_of(both, is_gold ? 1 : 0));
      }
    }
    return some;
  }

  std::vector<double> thresholds_;
  std::vector<metrics::RankedLabels> texts_;
  std::vector<metrics::TextScores> scores_;
};

std::string label_table(const metrics::LabelSetReport& report) {
  std::size_t width = 5;
  for (const auto& [name, row] : report.labels.entries) width = std::max(width, display_width(name));
  std::string table = std::string(width, ' ') + "  threshold  precision   recall       F1  average  support\n";
  for (const auto& [name, row] : report.labels.entries) {
    const metrics::Scores& scores = row.scores;
    table += fmt::format("{}{:{}}{:>11}{:>11}{:>9}{:>9}{:>9}{:9}\n", name, "", width - display_width(name),
                         metric_text(row.threshold), metric_text(scores.precision), metric_text(scores.recall),
                         metric_text(scores.f1), metric_text(row.average_precision), scores.support);
  }
  return table;
}

}  // namespace

double threshold_of(const std::vector<double>& thresholds, std::size_t label) {
  return thresholds.empty() ? usual_threshold : thresholds[label];
}

std::vector<Index> given_labels(const std::vector<double>& probabilities, const std::vector<double>& thresholds) {
  std::vector<Index> given;
  for (std::size_t label = 0; label < probabilities.size(); ++label) {
    if (probabilities[label] >= threshold_of(thresholds, label)) given.push_back(static_cast<Index>(label));
  }
  std::ranges::stable_sort(given, std::ranges::greater(),
                           [&](Index label) { return probabilities[static_cast<std::size_t>(label)]; });
  return given;
}

metrics::RankedLabels ranked_labels(const data::LabelledText& text, const std::vector<double>& probabilities,
                                    const data::LabelSet& labels) {
  metrics::RankedLabels ranked(static_cast<std::size_t>(labels.size()));
  for (std::size_t label = 0; label < ranked.size() && label < probabilities.size(); ++label)
    ranked[label].score = probabilities[label];
  for (const std::string& name : text.labels) {
    if (const auto id = labels.find(name)) ranked[static_cast<std::size_t>(*id)].is_positive = true;
  }
  return ranked;
}

std::vector<double> best_thresholds(const LabelProbabilities& of, const TaskData& data, const data::LabelSet& labels) {
  std::vector<std::vector<metrics::RankedExample>> examples(static_cast<std::size_t>(labels.size()));
  for (std::size_t i = 0; i < data.texts.size(); ++i) {
    const metrics::RankedLabels ranked = ranked_labels(data.texts[i], of.of_texts[i], labels);
    for (std::size_t label = 0; label < ranked.size(); ++label) examples[label].push_back(ranked[label]);
  }
  std::vector<double> thresholds;
  for (std::vector<metrics::RankedExample>& label : examples)
    thresholds.push_back(metrics::best_threshold(std::move(label)));
  return thresholds;
}

LabelProbabilities tempered(const LabelProbabilities& given, double temperature) {
  LabelProbabilities result{.of_texts = given.of_texts};
  for (std::vector<double>& text : result.of_texts) {
    for (double& probability : text) {
      const double both[] = {1 - probability, probability};
      probability = metrics::tempered(both, temperature)[1];
    }
  }
  return result;
}

LabelPairs label_pairs(const LabelProbabilities& of, const TaskData& data, const data::LabelSet& labels) {
  LabelPairs pairs;
  for (std::size_t i = 0; i < data.texts.size(); ++i) {
    for (const auto& [probability, is_gold] : ranked_labels(data.texts[i], of.of_texts[i], labels)) {
      pairs.probabilities.push_back({1 - probability, probability});
      pairs.gold.push_back(is_gold ? 1 : 0);
    }
  }
  return pairs;
}

std::vector<Index> rarest_labels(const TaskData& data, const data::LabelSet& labels) {
  std::vector<Index> counts(static_cast<std::size_t>(labels.size())), rarest;
  for (const data::LabelledText& text : data.texts) {
    for (const std::string& name : text.labels) ++counts[static_cast<std::size_t>(*labels.find(name))];
  }
  for (const data::LabelledText& text : data.texts) {
    Index best = labels.size();
    for (const std::string& name : text.labels) {
      const Index id = *labels.find(name);
      const auto count = [&](Index of) { return counts[static_cast<std::size_t>(of)]; };
      if (best == labels.size() || std::pair(count(id), id) < std::pair(count(best), best)) best = id;
    }
    rarest.push_back(best);
  }
  return rarest;
}

Judgement judge_label_sets(const TaskData& data, const data::LabelSet& labels, const TaskGuesses& guesses,
                           const Judge& criteria) {
  const GivenSets sets(data, labels, guesses.labels);
  std::optional<GivenSets> of_baseline;
  if (criteria.baseline != nullptr) of_baseline.emplace(data, labels, criteria.baseline->guesses.labels);
  const metrics::LabelSetReport report = sets.report(labels);
  Judgement judgement;
  judgement.json = formats::to_json(report);
  judgement.text = label_table(report) + "\n";
  add_measures(judgement, sets.measures(), report.examples, criteria,
               of_baseline ? of_baseline->measures() : std::vector<Measure>());
  return judgement;
}

}  // namespace heddle
