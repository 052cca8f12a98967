// Predictions for the examples of labelled files.
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "libcore/decoding/predict.hpp"
#include "libcore/metrics/calibration.hpp"
#include "tools/tasks/task_data.hpp"

namespace heddle {

// Answers for texts with any number of labels: probabilities, [examples][labels], and for each label the
// least with which a text is given it; no thresholds: 1/2.
struct LabelProbabilities {
  std::vector<std::vector<double>> of_texts{};
  std::vector<double> thresholds{};
};

// The predictions for each example; only the member of the model's task is filled.
struct TaskAnswers {
  std::vector<std::vector<double>> classes;  // [examples][classes]
  std::vector<double> numbers;               // [examples]
  std::vector<std::vector<std::vector<double>>>
      tags;  // [sentences][words][tags]; empty for words that the model did not read
  std::vector<std::vector<decoding::FoundAnswer>> spans;  // [questions][answers]
  LabelProbabilities labels{};
};

TaskAnswers answer(const models::TaskModel& model, const TaskData& data, std::span<const data::TaskExample> examples,
                   const decoding::SpanLimits& limits, const decoding::PredictOptions& options = {});

// The class with the highest probability.
struct Guess {
  Index label = 0;
  double probability = 0;
};
Guess guess_of(const std::vector<double>& probabilities);

// Predictions, as evaluations read them.
struct TaskGuesses {
  std::vector<Guess> classes;                           // [examples]
  std::vector<metrics::Forecast> forecasts{};           // [examples] of classes, where the gold ones are known
  std::vector<double> numbers;                          // [examples]
  std::vector<std::vector<std::optional<Guess>>> tags;  // [sentences][words]
  std::vector<std::vector<decoding::FoundAnswer>> spans;
  LabelProbabilities labels{};
};
// For examples with gold labels, of which those that are none of `labels` have no probability.
TaskGuesses guesses_of(TaskAnswers answers, const TaskData& data, const data::LabelSet& labels);

// The guesses for all examples, which are answered some at a time, so that few probabilities are in memory at once.
TaskGuesses guesses_in_parts(const TaskData& data, const data::LabelSet& labels,
                             const std::function<TaskAnswers(const TaskData&)>& answers_of);

// The predicted tags. Words that the model did not read, because they are beyond the context or have no token, get the
// tag O ("outside") if it exists, and no tag otherwise.
std::vector<std::optional<Index>> predicted_tags(const std::vector<std::optional<Guess>>& words,
                                                 const data::LabelSet& labels);
std::vector<std::optional<Index>> predicted_tags(const std::vector<std::vector<double>>& words,
                                                 const data::LabelSet& labels);
Index unseen_words(const TaskAnswers& answers);

// The answer's text; "" if the score of "no answer" exceeds the answer's by more than the threshold.
std::string predicted_answer(const data::SpanQuestion& question, const std::vector<decoding::FoundAnswer>& found,
                             double null_threshold);

}  // namespace heddle
