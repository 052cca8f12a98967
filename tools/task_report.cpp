#include "task_report.hpp"

#include <algorithm>
#include <iomanip>
#include <sstream>

#include "heddle/metrics/answers.hpp"
#include "heddle/metrics/bootstrap.hpp"
#include "heddle/metrics/classification.hpp"
#include "heddle/metrics/entities.hpp"
#include "heddle/metrics/regression.hpp"

namespace heddle {

namespace {

using models::Task;
using training::Figure;

std::string rounded(double value) {
  std::ostringstream out;
  out << std::fixed << std::setprecision(4) << value;
  return out.str();
}

std::string scores_line(const std::string& name, const metrics::Scores& scores, std::size_t width) {
  std::ostringstream out;
  out << std::left << std::setw(static_cast<int>(width)) << name << std::right << std::fixed << std::setprecision(4)
      << std::setw(11) << scores.precision << std::setw(9) << scores.recall << std::setw(9) << scores.f1
      << std::setw(9) << scores.support << "\n";
  return out.str();
}

std::string scores_table(const std::vector<std::pair<std::string, metrics::Scores>>& rows) {
  std::size_t width = 5;
  for (const auto& [name, scores] : rows) width = std::max(width, name.size());
  std::string table = std::string(width, ' ') + "  precision   recall       F1  support\n";
  for (const auto& [name, scores] : rows) table += scores_line(name, scores, width);
  return table;
}

std::string confusion_table(const metrics::ClassificationReport& report) {
  std::size_t width = 8;
  for (const auto& [name, row] : report.confusion.entries) width = std::max(width, name.size() + 2);
  const auto cell = [&](const std::string& text) { return std::string(width - text.size(), ' ') + text; };
  std::string table = "gold \\ predicted\n" + std::string(width, ' ');
  for (const auto& [name, row] : report.confusion.entries) table += cell(name);
  table += "\n";
  for (const auto& [name, row] : report.confusion.entries) {
    table += name + std::string(width - name.size(), ' ');
    for (const auto& [predicted, count] : row.entries) table += cell(std::to_string(count));
    table += "\n";
  }
  return table;
}

// Brings the figure that decides to the front.
void choose(std::vector<Figure>& figures, const std::string& metric) {
  if (metric.empty()) return;
  const auto found = std::find_if(figures.begin(), figures.end(), [&](const Figure& f) { return f.name == metric; });
  std::vector<std::string> names;
  for (const Figure& figure : figures) names.push_back(figure.name);
  check<UsageError>(found != figures.end(), "--metric: the task has no '", metric, "', but ", join(names));
  std::rotate(figures.begin(), found, found + 1);
}

void add_figures(Judgement& judgement, const Judge& how) {
  choose(judgement.figures, how.metric);
  for (const Figure& figure : judgement.figures) {
    judgement.text += figure.name + std::string(20 - std::min<std::size_t>(19, figure.name.size()), ' ') +
                      rounded(figure.value) + "\n";
  }
}

void add_interval(Judgement& judgement, const Judge& how, Index examples, const char* name,
                  const std::function<double(std::span<const Index>)>& metric) {
  if (!how.intervals) return;
  const metrics::Interval interval = metrics::bootstrap_interval(examples, metric, {.seed = how.seed});
  judgement.json["interval"] = {{"figure", name}, {"level", 0.95}, {"low", interval.low}, {"high", interval.high}};
  judgement.text += concatenate("95 % of bootstrap samples have ", name, " from ", rounded(interval.low), " to ",
                                rounded(interval.high), "\n");
}

Judgement judge_classes(std::span<const Index> gold, std::span<const Index> predicted, const data::LabelSet& labels,
                        const Judge& how) {
  const auto confusion_of = [&](auto&& places) {
    metrics::Confusion confusion(labels.size());
    for (const Index i : places) {
      confusion.add(gold[static_cast<std::size_t>(i)], predicted[static_cast<std::size_t>(i)]);
    }
    return confusion;
  };
  std::vector<Index> all;
  for (std::size_t i = 0; i < gold.size(); ++i) all.push_back(static_cast<Index>(i));
  const metrics::ClassificationReport report = metrics::report(confusion_of(all), labels.names());
  Judgement judgement;
  judgement.figures = {{"accuracy", report.accuracy}, {"macro_f1", report.macro_f1}, {"matthews", report.matthews}};
  judgement.json = formats::to_json(report);
  judgement.text = scores_table(report.classes.entries) + "\n";
  if (labels.size() <= 12) judgement.text += confusion_table(report) + "\n";
  add_figures(judgement, how);
  add_interval(judgement, how, static_cast<Index>(gold.size()), "accuracy",
               [&](std::span<const Index> places) { return confusion_of(places).accuracy(); });
  return judgement;
}

Judgement judge_texts(const TaskData& data, const data::LabelSet& labels, const TaskAnswers& answers, const Judge& how) {
  std::vector<Index> predicted;
  for (const auto& probabilities : answers.classes) predicted.push_back(best_of(probabilities));
  return judge_classes(gold_labels(data, labels), predicted, labels, how);
}

// Accuracy over words; entities where the tags mark them.
Judgement judge_tags(const TaskData& data, const data::LabelSet& labels, const TaskAnswers& answers, const Judge& how) {
  std::vector<Index> gold, predicted;
  metrics::EntityMatches matches;
  std::vector<metrics::EntityMatches> by_sentence;
  const bool entities = metrics::mark_entities(labels.names());
  for (std::size_t s = 0; s < data.sentences.size(); ++s) {
    const std::vector<Index> ids = data::tag_ids(data.sentences[s], labels, data.file);
    const std::vector<std::string> names = predicted_tags(answers.tags[s], labels, labels.name(0));
    for (std::size_t w = 0; w < ids.size(); ++w) {
      gold.push_back(ids[w]);
      predicted.push_back(*labels.find(names[w]));
    }
    if (!entities) continue;
    metrics::add_entities(data.sentences[s].tags, names, matches);
    metrics::add_entities(data.sentences[s].tags, names, by_sentence.emplace_back());
  }
  if (!entities) return judge_classes(gold, predicted, labels, how);
  const metrics::EntityReport report = metrics::report(matches);
  metrics::Confusion confusion(labels.size());
  for (std::size_t i = 0; i < gold.size(); ++i) confusion.add(gold[i], predicted[i]);
  Judgement judgement;
  judgement.figures = {{"entity_f1", report.all.f1}, {"entity_precision", report.all.precision},
                       {"entity_recall", report.all.recall}, {"accuracy", confusion.accuracy()}};
  judgement.json = formats::to_json(metrics::report(confusion, labels.names()));
  judgement.json["entities"] = formats::to_json(report);
  judgement.text = scores_table(report.types.entries) + "\n";
  add_figures(judgement, how);
  add_interval(judgement, how, static_cast<Index>(by_sentence.size()), "entity_f1", [&](std::span<const Index> places) {
    metrics::Matches sum;
    for (const Index place : places) sum += metrics::total(by_sentence[static_cast<std::size_t>(place)]);
    return metrics::scores_of(sum).f1;
  });
  return judgement;
}

Judgement judge_numbers(const TaskData& data, const TaskAnswers& answers, const Judge& how) {
  const metrics::RegressionReport report = metrics::regression_report(gold_numbers(data), answers.numbers);
  Judgement judgement;
  judgement.figures = {{"pearson", report.pearson}, {"spearman", report.spearman},
                       {"mean_squared_error", report.mean_squared_error}};
  judgement.json = formats::to_json(report);
  add_figures(judgement, how);
  if (how.metric == "mean_squared_error") judgement.better = training::Better::lower;
  return judgement;
}

Judgement judge_spans(const TaskData& data, const TaskAnswers& answers, const Judge& how) {
  std::vector<metrics::AnswerScore> scores;
  for (std::size_t i = 0; i < data.questions.size(); ++i) {
    std::vector<std::string> gold;
    for (const data::SpanAnswer& answer : data.questions[i].answers) gold.push_back(answer.text);
    scores.push_back(metrics::score_answer(
        predicted_answer(data.questions[i], answers.spans[i], how.null_threshold), gold));
  }
  const metrics::AnswerReport report = metrics::report(scores);
  Judgement judgement;
  judgement.figures = {{"token_f1", report.all.token_f1}, {"exact_match", report.all.exact_match}};
  judgement.json = formats::to_json(report);
  add_figures(judgement, how);
  add_interval(judgement, how, static_cast<Index>(scores.size()), "token_f1", [&](std::span<const Index> places) {
    double sum = 0;
    for (const Index place : places) sum += scores[static_cast<std::size_t>(place)].token_f1;
    return sum / static_cast<double>(places.size());
  });
  return judgement;
}

}  // namespace

TaskAnswers answer(const models::TaskModel& model, const TaskData& data, std::span<const data::TaskExample> examples,
                   const decoding::SpanLimits& limits, const decoding::PredictOptions& options) {
  const std::vector<decoding::TaskOutput> outputs = decoding::predict(model, examples, options);
  TaskAnswers answers;
  if (options.stop()) return answers;
  switch (model.task().task) {
    case Task::regress: answers.numbers = decoding::numbers(model.task(), examples, outputs, data.size()); break;
    case Task::span: answers.spans = decoding::found_answers(data.questions, examples, outputs, limits); break;
    case Task::label: {
      std::vector<Index> words;
      for (const data::TaggedSentence& sentence : data.sentences) {
        words.push_back(static_cast<Index>(sentence.words.size()));
      }
      const auto tags = static_cast<Index>(model.task().labels.size());
      answers.tags = decoding::tag_probabilities(examples, outputs, words, tags);
      break;
    }
    default: answers.classes = decoding::class_probabilities(examples, outputs, data.size()); break;
  }
  return answers;
}

Index best_of(const std::vector<double>& probabilities) {
  return std::max_element(probabilities.begin(), probabilities.end()) - probabilities.begin();
}

std::vector<std::string> predicted_tags(const std::vector<std::vector<double>>& words, const data::LabelSet& labels,
                                        const std::string& unknown) {
  std::vector<std::string> names;
  for (const auto& probabilities : words) {
    names.push_back(probabilities.empty() ? unknown : labels.name(best_of(probabilities)));
  }
  return names;
}

std::string predicted_answer(const data::SpanQuestion& question, const std::vector<decoding::FoundAnswer>& found,
                             double null_threshold) {
  if (found.empty() || found.front().null_score > null_threshold) return "";
  const data::TextSpan place = found.front().place;
  return question.context->substr(place.begin, place.end - place.begin);
}

Judgement judge(const TaskData& data, const models::TaskConfig& task, const data::LabelSet& labels,
                const TaskAnswers& answers, const Judge& how) {
  switch (task.task) {
    case Task::label: return judge_tags(data, labels, answers, how);
    case Task::regress: return judge_numbers(data, answers, how);
    case Task::span: return judge_spans(data, answers, how);
    default: return judge_texts(data, labels, answers, how);
  }
}

}  // namespace heddle
