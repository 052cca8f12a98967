// How well a model does a task, for training and for people.
#pragma once

#include <string>
#include <vector>

#include "heddle/formats/archives/json_archive.hpp"
#include "heddle/training/objective.hpp"
#include "tools/tasks/answers.hpp"

namespace heddle {

struct Judgement {
  std::vector<training::Metric> metrics;  // the first one decides
  formats::Json json;
  std::string text;  // tables for people
};

struct Judge {
  std::string metric;         // the metric that decides; "": the task's own
  bool intervals = false;     // a bootstrap interval of that metric, for which texts, sentences or questions are drawn
  double null_threshold = 0;  // of spans
  std::uint64_t seed = 1;
};

// Throws UsageError for a metric that the task does not have.
Judgement judge(const TaskData& data, const models::TaskConfig& task, const data::LabelSet& labels,
                const TaskAnswers& answers, const Judge& how);

// The same of the texts whose most likely class has at least that probability, and which fraction of all these are: the
// coverage. Nothing but that where there are none.
Judgement judge_answered(const TaskData& data, const models::TaskConfig& task, const data::LabelSet& labels,
                         const TaskAnswers& answers, double threshold, const Judge& how);

// Throws UsageError for a metric that such examples cannot be judged by, before anything has judged them.
void check_metric(const TaskData& data, const models::TaskConfig& task, const data::LabelSet& labels,
                  const std::string& metric);

}  // namespace heddle
