// What finetune teaches a model: the data, and what is to be learned from them.
#pragma once

#include <memory>
#include <string>

#include "evaluation_sample.hpp"
#include "finetune_options.hpp"
#include "heddle/cli/arguments.hpp"
#include "heddle/models/task_model.hpp"
#include "heddle/text/tokenizer.hpp"
#include "heddle/training/objective.hpp"

namespace heddle {

class Lesson {
 public:
  virtual ~Lesson() = default;

  virtual models::TaskConfig task() const = 0;
  // The model and this must stay.
  virtual std::unique_ptr<training::Objective> objective(models::TaskModel& model, const training::Plan& plan) = 0;
  // For a dry run: has evaluations of the objectives made from now on read a part of the data.
  virtual EvaluationSample sample_evaluation(training::Plan& plan, const models::ModelConfig& model) = 0;
  // What is learned from, for people: "4,014 examples of 2 classes".
  virtual std::string summary() const = 0;
};

// The options and the arguments must stay. Reads the data. Throws UsageError and DataError for options and files that
// do not go together.
std::unique_ptr<Lesson> make_lesson(const FinetuneOptions& options, const models::ModelConfig& model,
                                    const text::Tokenizer& tokenizer, const cli::Arguments& arguments);

}  // namespace heddle
