// What models say of the examples of labelled files.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "heddle/decoding/predict.hpp"
#include "tools/tasks/data.hpp"

namespace heddle {

// What a model says of each example; the part that its task has.
struct TaskAnswers {
  std::vector<std::vector<double>> classes;            // [examples][classes]
  std::vector<double> numbers;                         // [examples]
  std::vector<std::vector<std::vector<double>>> tags;  // [sentences][words][tags]; empty for words that it did not see
  std::vector<std::vector<decoding::FoundAnswer>> spans;  // [questions][answers]
};

TaskAnswers answer(const models::TaskModel& model, const TaskData& data, std::span<const data::TaskExample> examples,
                   const decoding::SpanLimits& limits, const decoding::PredictOptions& options = {});

// The most likely one.
Index best_of(const std::vector<double>& probabilities);

// The predicted tags. Words that the model did not see, because they lie beyond the context or have no token, are O
// where that is a tag, which says that a word belongs to nothing, and nothing otherwise.
std::vector<std::optional<Index>> predicted_tags(const std::vector<std::vector<double>>& words,
                                                 const data::LabelSet& labels);
Index unseen_words(const TaskAnswers& answers);

// The answer's text; "" where no answer is better than it by more than the threshold.
std::string predicted_answer(const data::SpanQuestion& question, const std::vector<decoding::FoundAnswer>& found,
                             double null_threshold);

}  // namespace heddle
