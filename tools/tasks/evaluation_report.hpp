// Evaluates predictions: metrics for training, and a report for people.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "formats/archives/json_archive.hpp"
#include "libcore/training/objective.hpp"
#include "tools/tasks/baseline.hpp"
#include "tools/tasks/task_answers.hpp"

namespace heddle {

// The metric that decides, of a model, against that of a baseline on the same examples.
struct Comparison {
  double baseline = 0;
  double difference = 0;     // metric of the model minus that of the baseline
  double low = 0, high = 0;  // 95 % confidence interval of the difference
  bool is_better = false;    // whether the model is, by more than chance
  bool is_worse = false;     // the same
  bool is_few = false;       // too few examples for the bootstrap, so that neither is

  // "better", "worse" or, where it may be chance, "not better".
  std::string rank() const;
  // "difference of accuracy 0.0210, from 0.0050 to 0.0370 with 95 % confidence"
  std::string text(const std::string& metric) const;
};

struct Judgement {
  std::vector<training::Metric> metrics;  // the first one decides
  std::optional<Comparison> comparison;   // if there is a baseline, and intervals are asked for
  formats::Json json;
  std::string text;  // tables for people
};

struct Judge {
  std::string metric = "auto";  // the metric that decides; auto: the task's own
  bool intervals = false;  // interval of that metric: exact for a fraction of texts or questions that are right; else
                           // by the bootstrap over texts, sentences, graphs, the parts of a single graph, or questions
  double null_threshold = 0;  // spans only
  std::uint64_t seed = 1;
  const Baseline* baseline = nullptr;  // compared with the model
};

// Whether lower or higher values of the metric are better.
training::Better better_of(const std::string& metric);

// Throws UsageError for a metric that the task does not have.
Judgement judge(const TaskData& data, const models::TaskConfig& task, const data::LabelSet& labels,
                const TaskGuesses& guesses, const Judge& criteria);

// The same for the texts whose most probable class has at least that probability, and the coverage, their fraction of
// all texts. If there are none, only the coverage.
Judgement judge_answered(const TaskData& data, const models::TaskConfig& task, const data::LabelSet& labels,
                         const TaskGuesses& guesses, double threshold, const Judge& criteria);

// Throws UsageError for a metric that the task does not have, before predictions are computed.
void check_metric(const TaskData& data, const models::TaskConfig& task, const data::LabelSet& labels,
                  const std::string& metric);

}  // namespace heddle
