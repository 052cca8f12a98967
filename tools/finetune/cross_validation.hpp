// finetune --folds K --fold all: K models, each trained without one fold of the examples, answer for that fold.
#pragma once

#include <string>
#include <vector>

#include "tools/cli/arguments.hpp"
#include "tools/finetune/labelled_task.hpp"
#include "tools/finetune/options.hpp"

namespace heddle {

// The answers to all examples, each from the model that was not trained on it or on a copy of it.
struct OutOfFold {
  TaskData data;             // all examples, in the order of the files
  std::vector<Index> folds;  // fold of each example, from 0
  TaskAnswers answers;
  models::TaskConfig task;  // its statistics are those of all examples
  data::LabelSet labels;
  std::vector<std::vector<training::Metric>> metrics;  // metrics of each fold
};

// Trains and asks the models of all folds. Without --valid, each is trained to its last step and not calibrated; with
// it, the best one by --valid is, with a temperature. `candidate` names the kind of model in notes of -v; "" for notes
// without. Nothing is written. Throws DataError for examples that cannot be divided, and cli::Stopped at a signal;
// returns false, with a note, when --max-time is over.
bool answer_out_of_fold(const FinetuneOptions& options, const RunSpec& defaults, const std::string& candidate,
                        const cli::Arguments& arguments, OutOfFold& result);

// The same of one model and the validation data, without folds; `candidate` is not empty.
bool answer_validation(const FinetuneOptions& options, const RunSpec& defaults, const std::string& candidate,
                       const cli::Arguments& arguments, OutOfFold& result);

// Prints the metrics of each fold, their mean and standard deviation, and the evaluation of all answers; writes these
// to -o, where it is given. Returns the exit status. Throws UsageError for options that have no effect.
int cross_validate(const FinetuneOptions& options, const RunSpec& defaults, const cli::Arguments& arguments);

}  // namespace heddle
