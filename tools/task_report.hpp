// How well a model does a task, for training and for people.
#pragma once

#include <string>
#include <vector>

#include "heddle/decoding/predict.hpp"
#include "heddle/formats/json_archive.hpp"
#include "heddle/training/objective.hpp"
#include "task_data.hpp"

namespace heddle {

// What a model says of each example; the part that its task has.
struct TaskAnswers {
  std::vector<std::vector<double>> classes;              // [examples][classes]
  std::vector<double> numbers;                           // [examples]
  std::vector<std::vector<std::vector<double>>> tags;    // [sentences][words][tags]
  std::vector<std::vector<decoding::FoundAnswer>> spans; // [questions][answers]
};

TaskAnswers answer(const models::TaskModel& model, const TaskData& data, std::span<const data::TaskExample> examples,
                   const decoding::SpanLimits& limits, const decoding::PredictOptions& options = {});

// The most likely one.
Index best_of(const std::vector<double>& probabilities);

// The names of the predicted tags; `unknown` for words that no token stands for.
std::vector<std::string> predicted_tags(const std::vector<std::vector<double>>& words, const data::LabelSet& labels,
                                        const std::string& unknown);

// The answer's text; "" where no answer is better than it by more than the threshold.
std::string predicted_answer(const data::SpanQuestion& question, const std::vector<decoding::FoundAnswer>& found,
                             double null_threshold);

struct Judgement {
  std::vector<training::Figure> figures;  // the first one decides
  training::Better better = training::Better::higher;
  formats::Json json;
  std::string text;  // tables for people
};

struct Judge {
  std::string metric;        // the figure that decides; "": the task's own
  bool intervals = false;    // bootstrap intervals of the first figure
  double null_threshold = 0; // of spans
  std::uint64_t seed = 1;
};

// Throws UsageError for a metric that the task does not have.
Judgement judge(const TaskData& data, const models::TaskConfig& task, const data::LabelSet& labels,
                const TaskAnswers& answers, const Judge& how);

}  // namespace heddle
