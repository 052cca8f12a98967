#include "tools/tasks/answers.hpp"

#include <algorithm>

namespace heddle {

TaskAnswers answer(const models::TaskModel& model, const TaskData& data, std::span<const data::TaskExample> examples,
                   const decoding::SpanLimits& limits, const decoding::PredictOptions& options) {
  const std::vector<decoding::TaskOutput> outputs = decoding::predict(model, examples, options);
  TaskAnswers answers;
  if (options.stop()) return answers;
  switch (model.task().task) {
    case models::Task::regress:
      answers.numbers = decoding::numbers(model.task(), examples, outputs, data.size());
      break;
    case models::Task::span:
      answers.spans = decoding::found_answers(data.questions, examples, outputs, limits);
      break;
    case models::Task::label: {
      std::vector<Index> words;
      for (const data::TaggedSentence& sentence : data.sentences) {
        words.push_back(static_cast<Index>(sentence.words.size()));
      }
      const auto tags = static_cast<Index>(model.task().labels.size());
      answers.tags = decoding::tag_probabilities(examples, outputs, words, tags);
      break;
    }
    default:
      answers.classes = decoding::class_probabilities(examples, outputs, data.size());
      break;
  }
  return answers;
}

Index best_of(const std::vector<double>& probabilities) {
  return std::max_element(probabilities.begin(), probabilities.end()) - probabilities.begin();
}

std::vector<std::optional<Index>> predicted_tags(const std::vector<std::vector<double>>& words,
                                                 const data::LabelSet& labels) {
  std::vector<std::optional<Index>> tags;
  for (const auto& probabilities : words) {
    tags.push_back(probabilities.empty() ? labels.find("O") : best_of(probabilities));
  }
  return tags;
}

Index unseen_words(const TaskAnswers& answers) {
  Index count = 0;
  for (const auto& sentence : answers.tags) {
    count += std::count_if(sentence.begin(), sentence.end(), [](const auto& tags) { return tags.empty(); });
  }
  return count;
}

std::string predicted_answer(const data::SpanQuestion& question, const std::vector<decoding::FoundAnswer>& found,
                             double null_threshold) {
  if (found.empty() || found.front().null_score > null_threshold) return "";
  const data::TextSpan place = found.front().place;
  return question.context->substr(place.begin, place.end - place.begin);
}

}  // namespace heddle
