// The simplest predictions for a task, which a model must be better than: the most frequent class of the training
// examples for every text, or for every word its most frequent tag, or for every text the mean of their numbers.
#pragma once

#include <optional>
#include <string>

#include "tools/tasks/task_answers.hpp"

namespace heddle {

struct Baseline {
  std::string description;  // "always 'spam'"
  TaskGuesses guesses;
};

// Stores what a baseline needs: how often each label occurs and, of words, their most frequent tags.
void learn_baseline(models::TaskConfig& task, const TaskData& train, const data::LabelSet& labels);

// The baseline's predictions for the examples; nothing for answers in texts, and for classifiers that do not know how
// often labels occur, as those made by earlier versions.
std::optional<Baseline> baseline_of(const TaskData& data, const models::TaskConfig& task, const data::LabelSet& labels);

}  // namespace heddle
