// Which options go together, and with the task of a model.
#pragma once

#include "tools/classify/options.hpp"
#include "tools/cli/arguments.hpp"
#include "tools/tasks/task_data.hpp"

namespace heddle {

// Throws UsageError for options that contradict each other, and for an output that is an input.
void check_usage(const ClassifyOptions& options, const cli::Arguments& arguments);

// Throws UsageError for an option that models of the task do not use.
void refuse_unused(models::Task task, const ClassifyOptions& options, const cli::Arguments& arguments);

// How the task's examples are read.
TaskInput input_of(const models::TaskConfig& task, const ClassifyOptions& options, formats::Gold gold);

// The threshold of the score of no answer: infinity for a model of questions that all have one, unless it was given.
double null_threshold(const models::TaskConfig& task, const ClassifyOptions& options, const cli::Arguments& arguments);

}  // namespace heddle
