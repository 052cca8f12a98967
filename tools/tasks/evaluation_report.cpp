#include "tools/tasks/evaluation_report.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <functional>
#include <numeric>

#include "libcore/base/printable.hpp"
#include "libcore/base/values.hpp"
#include "libcore/metrics/bootstrap.hpp"
#include "libcore/metrics/calibration.hpp"
#include "libcore/metrics/classification.hpp"
#include "libcore/metrics/entities.hpp"
#include "libcore/metrics/proportion.hpp"
#include "libcore/metrics/ranking.hpp"
#include "libcore/metrics/regression.hpp"
#include "libcore/metrics/span_answers.hpp"
#include "tools/tasks/graph_data.hpp"
#include "tools/tasks/label_sets.hpp"
#include "tools/tasks/measures.hpp"

namespace heddle {

namespace {

std::string confusion_table(const metrics::ClassificationReport& report) {
  std::size_t width = 8;
  for (const auto& [name, row] : report.confusion.entries) width = std::max(width, display_width(name) + 2);
  const auto cell = [&](const std::string& text) { return std::string(width - display_width(text), ' ') + text; };
  std::string table = "gold \\ predicted\n" + std::string(width, ' ');
  for (const auto& [name, row] : report.confusion.entries) table += cell(name);
  table += "\n";
  for (const auto& [name, row] : report.confusion.entries) {
    table += name + std::string(width - display_width(name), ' ');
    for (const auto& [predicted, count] : row.entries) table += cell(std::to_string(count));
    table += "\n";
  }
  return table;
}

// Labels with their predictions, in the groups that are resampled: one for a text, one per word for a sentence; those
// of a single graph are groups of their own.
class Predictions {
 public:
  explicit Predictions(Index classes) : classes_(classes) {}

  void add(Index gold, std::optional<Index> predicted) { pairs_.emplace_back(gold, predicted); }
  // For two classes, with the probability of the second.
  void add_ranked(Index gold, const Guess& guess) {
    add(gold, guess.label);
    ranked_.push_back({guess.label == 1 ? guess.probability : 1 - guess.probability, gold == 1});
  }
  void end_group() { ends_.push_back(pairs_.size()); }
  // One forecast for each group, which is one label.
  void set_forecasts(std::vector<metrics::Forecast> forecasts) { forecasts_ = std::move(forecasts); }

  Index groups() const { return static_cast<Index>(ends_.size()); }
  // Whether each group is one label.
  bool are_single() const { return ends_.size() == pairs_.size(); }
  // Precondition: are_single().
  bool is_right(Index group) const {
    const auto& [gold, predicted] = pairs_[static_cast<std::size_t>(group)];
    return predicted == gold;
  }
  metrics::Confusion confusion(Places places) const {
    metrics::Confusion confusion(classes_);
    for (const Index place : places) {
      const auto group = static_cast<std::size_t>(place);
      for (std::size_t i = group == 0 ? 0 : ends_[group - 1]; i < ends_[group]; ++i) {
        confusion.add(pairs_[i].first, pairs_[i].second);
      }
    }
    return confusion;
  }
  metrics::Confusion confusion() const { return confusion(all_places(groups())); }
  bool have_probabilities() const { return !forecasts_.empty(); }
  std::vector<metrics::Forecast> forecasts(Places places) const {
    std::vector<metrics::Forecast> forecasts;
    for (const Index place : places) forecasts.push_back(forecasts_[static_cast<std::size_t>(place)]);
    return forecasts;
  }
  // Whether each group is of two classes.
  bool are_ranked() const { return !ranked_.empty(); }
  std::vector<metrics::RankedExample> ranked(Places places) const {
    std::vector<metrics::RankedExample> ranked;
    for (const Index place : places) ranked.push_back(ranked_[static_cast<std::size_t>(place)]);
    return ranked;
  }

 private:
  Index classes_;
  std::vector<std::pair<Index, std::optional<Index>>> pairs_;
  std::vector<std::size_t> ends_;  // end of each group
  std::vector<metrics::RankedExample> ranked_;
  std::vector<metrics::Forecast> forecasts_;
};

Predictions text_predictions(const TaskData& data, const data::LabelSet& labels, const TaskGuesses& guesses) {
  Predictions predictions(labels.size());
  const std::vector<Index> gold = gold_labels(data, labels);
  for (std::size_t i = 0; i < gold.size(); ++i) {
    if (labels.size() == 2) {
      predictions.add_ranked(gold[i], guesses.classes[i]);
    } else {
      predictions.add(gold[i], guesses.classes[i].label);
    }
    predictions.end_group();
  }
  predictions.set_forecasts(guesses.forecasts);
  return predictions;
}

Predictions tag_predictions(const TaskData& data, const data::LabelSet& labels, const TaskGuesses& guesses) {
  Predictions predictions(labels.size());
  for (std::size_t s = 0; s < data.sentences.size(); ++s) {
    const std::vector<Index> gold = data::tag_ids(data.sentences[s], labels, data.file);
    const std::vector<std::optional<Index>> tags = predicted_tags(guesses.tags[s], labels);
    for (std::size_t w = 0; w < gold.size(); ++w) {
      predictions.add(gold[w], tags[w]);
      if (is_one_graph(data)) predictions.end_group();
    }
    if (!is_one_graph(data)) predictions.end_group();
  }
  return predictions;
}

std::vector<Measure> class_measures(const Predictions& predictions) {
  Measure accuracy{"accuracy", [&](Places places) { return predictions.confusion(places).accuracy(); }};
  if (predictions.are_single()) accuracy.is_right = [&](Index place) { return predictions.is_right(place); };
  std::vector<Measure> measures{std::move(accuracy),
                                {"macro_f1", [&](Places places) { return predictions.confusion(places).macro_f1(); }},
                                {"matthews", [&](Places places) { return predictions.confusion(places).matthews(); }}};
  if (predictions.are_ranked()) {
    measures.push_back({"roc_auc", [&](Places places) { return metrics::roc_auc(predictions.ranked(places)); }});
    measures.push_back({"pr_auc", [&](Places places) { return metrics::pr_auc(predictions.ranked(places)); }});
  }
  if (!predictions.have_probabilities()) return measures;
  const auto add = [&](const char* name, double (*metric)(std::span<const metrics::Forecast>)) {
    measures.push_back({name, [&predictions, metric](Places places) { return metric(predictions.forecasts(places)); }});
  };
  add("log_loss", metrics::log_loss);
  add("brier", metrics::brier_score);
  add("ece", metrics::calibration_error);
  return measures;
}

// For graphs whose nodes or edges have two classes, how well these are ranked; for several labels, how well each is, on
// average over those that have both.
class ColumnRanks {
 public:
  ColumnRanks(const TaskData& data, const data::LabelSet& labels, const TaskGuesses& guesses)
      : columns_(std::max<std::size_t>(1, data.columns.size())) {
    for (std::size_t s = 0; s < data.sentences.size(); ++s) {
      if (!is_one_graph(data)) examples_.emplace_back();
      const std::vector<Index> gold = data::tag_ids(data.sentences[s], labels, data.file);
      for (std::size_t w = 0; w < gold.size(); ++w) {
        const Guess& guess = *guesses.tags[s][w];
        if (is_one_graph(data)) examples_.emplace_back();
        const double second = guess.label == 1 ? guess.probability : 1 - guess.probability;
        examples_.back().push_back({data.columns.empty() ? 0 : data.sentences[s].parts[w], {second, gold[w] == 1}});
      }
    }
  }

  double mean(Places places, double (*metric)(std::vector<metrics::RankedExample>)) const {
    std::vector<std::vector<metrics::RankedExample>> ranked(columns_);
    for (const Index place : places) {
      for (const auto& [column, example] : examples_[static_cast<std::size_t>(place)]) {
        ranked[static_cast<std::size_t>(column)].push_back(example);
      }
    }
    double sum = 0, count = 0;
    for (std::vector<metrics::RankedExample>& column : ranked) {
      const auto positive = std::ranges::count_if(column, &metrics::RankedExample::is_positive);
      if (positive == 0 || positive == std::ssize(column)) continue;
      sum += metric(std::move(column));
      ++count;
    }
    return count > 0 ? sum / count : 0.5;
  }
  std::vector<Measure> measures() const {
    return {{"roc_auc", [this](Places places) { return mean(places, metrics::roc_auc); }},
            {"pr_auc", [this](Places places) { return mean(places, metrics::pr_auc); }}};
  }

 private:
  std::size_t columns_;
  std::vector<std::vector<std::pair<Index, metrics::RankedExample>>>
      examples_;  // examples of each group, with their columns
};

// Further measures of the model, and of the baseline if there is one, before or after those of the classes.
struct MoreMeasures {
  std::vector<Measure> model{}, baseline{};
  bool are_first = false;
};

std::vector<Measure> joined(std::vector<Measure> first, const std::vector<Measure>& more) {
  first.insert(first.end(), more.begin(), more.end());
  return first;
}

// The baseline's predictions are null if there is none.
Judgement judge_classes(const Predictions& predictions, const std::optional<Predictions>& of_baseline,
                        const data::LabelSet& labels, const Judge& criteria, const MoreMeasures& more = {}) {
  const metrics::ClassificationReport report = metrics::report(predictions.confusion(), labels.names());
  Judgement judgement;
  judgement.json = formats::to_json(report);
  judgement.text = scores_table(report.classes.entries) + "\n";
  if (labels.size() <= 12) judgement.text += confusion_table(report) + "\n";
  const auto all = [&](const Predictions& of, const std::vector<Measure>& additions) {
    return more.are_first ? joined(additions, class_measures(of)) : joined(class_measures(of), additions);
  };
  add_measures(judgement, all(predictions, more.model), predictions.groups(), criteria,
               of_baseline ? all(*of_baseline, more.baseline) : std::vector<Measure>());
  return judgement;
}

Judgement judge_ranked_parts(const TaskData& data, const data::LabelSet& labels, const TaskGuesses& guesses,
                             const std::optional<Predictions>& of_baseline, const Judge& criteria) {
  const ColumnRanks ranks(data, labels, guesses);
  const ColumnRanks of_constant(data, labels, of_baseline ? criteria.baseline->guesses : guesses);
  return judge_classes(tag_predictions(data, labels, guesses), of_baseline, labels, criteria,
                       {ranks.measures(), of_constant.measures(), !data.columns.empty()});
}

// The matches of each sentence.
std::vector<metrics::EntityMatches> entity_matches(const TaskData& data, const data::LabelSet& labels,
                                                   const TaskGuesses& guesses, metrics::Mark mark) {
  std::vector<metrics::EntityMatches> matches(data.sentences.size());
  for (std::size_t s = 0; s < matches.size(); ++s) {
    std::vector<std::string> names;
    for (const std::optional<Index>& tag : predicted_tags(guesses.tags[s], labels)) {
      names.push_back(tag ? labels.name(*tag) : "");
    }
    metrics::add_entities(data.sentences[s].tags, names, matches[s], mark);
  }
  return matches;
}

// Tags by which entities of the sentences are compared, and their predictions.
struct EntityPredictions {
  Predictions tags;
  std::vector<metrics::EntityMatches> by_sentence;

  EntityPredictions(const TaskData& data, const data::LabelSet& labels, const TaskGuesses& guesses, metrics::Mark mark)
      : tags(tag_predictions(data, labels, guesses)), by_sentence(entity_matches(data, labels, guesses, mark)) {}

  metrics::Scores scores(Places places) const {
    metrics::Matches sum;
    for (const Index place : places) sum += metrics::total(by_sentence[static_cast<std::size_t>(place)]);
    return metrics::scores_of(sum);
  }
  std::vector<Measure> measures() const {
    return {{"entity_f1", [this](Places places) { return scores(places).f1; }},
            {"entity_precision", [this](Places places) { return scores(places).precision; }},
            {"entity_recall", [this](Places places) { return scores(places).recall; }},
            {"accuracy", [this](Places places) { return tags.confusion(places).accuracy(); }}};
  }
};

Judgement judge_entities(const TaskData& data, const data::LabelSet& labels, const TaskGuesses& guesses,
                         metrics::Mark mark, const Judge& criteria) {
  const EntityPredictions predictions(data, labels, guesses, mark);
  std::optional<EntityPredictions> of_baseline;
  if (criteria.baseline != nullptr) of_baseline.emplace(data, labels, criteria.baseline->guesses, mark);
  metrics::EntityMatches all;
  for (const metrics::EntityMatches& matches : predictions.by_sentence) {
    for (const auto& [type, of_type] : matches) all[type] += of_type;
  }
  const metrics::EntityReport report = metrics::report(all);
  Judgement judgement;
  judgement.json = formats::to_json(metrics::report(predictions.tags.confusion(), labels.names()));
  judgement.json["entities"] = formats::to_json(report);
  judgement.text = scores_table(report.types.entries) + "\n";
  add_measures(judgement, predictions.measures(), predictions.tags.groups(), criteria,
               of_baseline ? of_baseline->measures() : std::vector<Measure>());
  return judgement;
}

// Measures of the numbers; both must outlive the measures.
std::vector<Measure> number_measures(const std::vector<double>& gold, const std::vector<double>& predicted) {
  const auto measure = [&](const char* name, double (*metric)(std::span<const double>, std::span<const double>)) {
    return Measure{name, [&gold, &predicted, metric](Places places) {
                     std::vector<double> right, answered;
                     for (const Index place : places) {
                       right.push_back(gold[static_cast<std::size_t>(place)]);
                       answered.push_back(predicted[static_cast<std::size_t>(place)]);
                     }
                     return metric(right, answered);
                   }};
  };
  return {measure("pearson", metrics::pearson),
          measure("spearman", metrics::spearman),
          measure("mean_squared_error", metrics::mean_squared_error),
          measure("rmse", metrics::root_mean_squared_error),
          measure("mae", metrics::mean_absolute_error),
          measure("r2", metrics::explained_variance)};
}

Judgement judge_numbers(const TaskData& data, const TaskGuesses& guesses, const Judge& criteria) {
  const std::vector<double> gold = gold_numbers(data);
  Judgement judgement;
  judgement.json = formats::to_json(metrics::regression_report(gold, guesses.numbers));
  add_measures(judgement, number_measures(gold, guesses.numbers), static_cast<Index>(gold.size()), criteria,
               criteria.baseline != nullptr ? number_measures(gold, criteria.baseline->guesses.numbers)
                                            : std::vector<Measure>());
  return judgement;
}

metrics::AnswerScore score_of(const data::SpanQuestion& question, const std::string& predicted) {
  std::vector<std::string> gold;
  for (const data::SpanAnswer& answer : question.answers) gold.push_back(answer.text);
  return metrics::score_answer(predicted, gold);
}

std::vector<metrics::AnswerScore> scores_with(double null_threshold, const TaskData& data, const TaskGuesses& guesses) {
  std::vector<metrics::AnswerScore> scores;
  for (std::size_t i = 0; i < data.questions.size(); ++i) {
    scores.push_back(
        score_of(data.questions[i], predicted_answer(data.questions[i], guesses.spans[i], null_threshold)));
  }
  return scores;
}

// The threshold that maximises token_f1, and that token_f1.
void add_best_threshold(Judgement& judgement, const TaskData& data, const TaskGuesses& guesses) {
  constexpr double digits = 1e4;
  std::vector<metrics::NullDecision> decisions;
  for (std::size_t i = 0; i < data.questions.size(); ++i) {
    const auto& found = guesses.spans[i];
    if (found.empty()) continue;
    const double null_score = found.front().null_score;
    decisions.push_back({null_score,
                         score_of(data.questions[i], predicted_answer(data.questions[i], found, null_score)).token_f1,
                         score_of(data.questions[i], "").token_f1});
  }
  if (decisions.empty()) return;
  // Rounded up, so that the question with exactly this score is still answered with the printed threshold.
  const double best = std::ceil(metrics::best_null_threshold(decisions) * digits) / digits;
  const double token_f1 = metrics::report(scores_with(best, data, guesses)).all.token_f1;
  judgement.json["best_null_threshold"] = {{"threshold", best}, {"token_f1", token_f1}};
  judgement.text +=
      concatenate("--null-threshold ", metric_text(best), " would give token_f1 ", metric_text(token_f1), "\n");
}

// Measures of the scores, which must outlive them.
std::vector<Measure> answer_measures(const std::vector<metrics::AnswerScore>& scores) {
  const auto mean = [&](double metrics::AnswerScore::*metric) {
    return [&scores, metric](Places places) {
      double sum = 0;
      for (const Index place : places) sum += scores[static_cast<std::size_t>(place)].*metric;
      return sum / static_cast<double>(places.size());
    };
  };
  const auto is_exact = [&scores](Index place) { return scores[static_cast<std::size_t>(place)].exact_match == 1; };
  return {{"token_f1", mean(&metrics::AnswerScore::token_f1)},
          {"exact_match", mean(&metrics::AnswerScore::exact_match), is_exact}};
}

Judgement judge_spans(const TaskData& data, const TaskGuesses& guesses, const Judge& criteria) {
  const std::vector<metrics::AnswerScore> scores = scores_with(criteria.null_threshold, data, guesses);
  std::vector<metrics::AnswerScore> of_baseline;
  if (criteria.baseline != nullptr)
    of_baseline = scores_with(criteria.null_threshold, data, criteria.baseline->guesses);
  Judgement judgement;
  judgement.json = formats::to_json(metrics::report(scores));
  add_measures(judgement, answer_measures(scores), static_cast<Index>(scores.size()), criteria,
               criteria.baseline != nullptr ? answer_measures(of_baseline) : std::vector<Measure>());
  if (std::isfinite(criteria.null_threshold)) add_best_threshold(judgement, data, guesses);
  return judgement;
}

}  // namespace

Judgement judge(const TaskData& data, const models::TaskConfig& task, const data::LabelSet& of_model,
                const TaskGuesses& guesses, const Judge& criteria) {
  const data::LabelSet labels = with_labels_in(data, task.task, of_model);
  const auto of_baseline = [&](const auto& predictions) -> std::optional<Predictions> {
    if (criteria.baseline == nullptr) return std::nullopt;
    return predictions(data, labels, criteria.baseline->guesses);
  };
  if (answered_by(task.task) == models::Answered::parts) {
    const auto mark = metrics::mark_of_entities(of_model.names());
    if (mark && data.graphs == nullptr) return judge_entities(data, labels, guesses, *mark, criteria);
    if (data.graphs != nullptr && labels.size() == 2) {
      return judge_ranked_parts(data, labels, guesses, of_baseline(tag_predictions), criteria);
    }
    return judge_classes(tag_predictions(data, labels, guesses), of_baseline(tag_predictions), labels, criteria);
  }
  switch (answer_of(task.task)) {
    case models::Answer::number:
      return judge_numbers(data, guesses, criteria);
    case models::Answer::labels:
      return judge_label_sets(data, labels, guesses, criteria);
    case models::Answer::span:
      return judge_spans(data, guesses, criteria);
    default:
      return judge_classes(text_predictions(data, labels, guesses), of_baseline(text_predictions), labels, criteria);
  }
}

Judgement judge_answered(const TaskData& data, const models::TaskConfig& task, const data::LabelSet& labels,
                         const TaskGuesses& guesses, double threshold, const Judge& criteria) {
  TaskData answered{.file = data.file, .texts = {}, .sentences = {}, .questions = {}};
  TaskGuesses given;
  Baseline baseline;  // for the same texts
  if (criteria.baseline != nullptr) baseline.description = criteria.baseline->description;
  for (std::size_t i = 0; i < data.texts.size(); ++i) {
    if (guesses.classes[i].probability < threshold) continue;
    answered.texts.push_back(data.texts[i]);
    given.classes.push_back(guesses.classes[i]);
    if (!guesses.forecasts.empty()) given.forecasts.push_back(guesses.forecasts[i]);
    if (criteria.baseline == nullptr) continue;
    const TaskGuesses& others = criteria.baseline->guesses;
    baseline.guesses.classes.push_back(others.classes[i]);
    if (!others.forecasts.empty()) baseline.guesses.forecasts.push_back(others.forecasts[i]);
  }
  const std::size_t count = answered.texts.size(), all = data.texts.size();
  const double coverage = static_cast<double>(count) / static_cast<double>(all);
  Judge of_answered = criteria;
  if (criteria.baseline != nullptr) of_answered.baseline = &baseline;
  Judgement judgement = count > 0 ? judge(answered, task, labels, given, of_answered) : Judgement();
  judgement.json["coverage"] = coverage;
  judgement.json["answered"] = count;
  judgement.text += concatenate("coverage            ", metric_text(coverage), " (", count, " of ", all, " texts)\n");
  return judgement;
}

// Judges placeholder answers.
void check_metric(const TaskData& data, const models::TaskConfig& task, const data::LabelSet& labels,
                  const std::string& metric) {
  if (metric == "auto") return;
  const auto count = static_cast<std::size_t>(data.size());
  TaskGuesses none;
  none.classes.resize(count);
  none.forecasts.resize(count);
  none.numbers.resize(count);
  none.spans.resize(count);
  none.labels.of_texts.resize(count);
  for (const data::TaggedSentence& sentence : data.sentences) none.tags.emplace_back(sentence.words.size(), Guess());
  judge(data, task, labels, none, {.metric = metric});
}

}  // namespace heddle
