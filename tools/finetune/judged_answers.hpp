// Predictions for the validation data, and how good they are.
#pragma once

#include <optional>
#include <utility>

#include "libcore/training/objective.hpp"
#include "tools/tasks/task_answers.hpp"

namespace heddle {

struct JudgedAnswers {
  double metric;  // the metric for selection
  TaskGuesses guesses;
};

inline void keep_best(std::optional<JudgedAnswers>& best, training::Better better, JudgedAnswers now) {
  const bool is_first = !best.has_value();
  if (is_first || (better == training::Better::lower ? now.metric < best->metric : now.metric > best->metric)) {
    best = std::move(now);
  }
}

}  // namespace heddle
