// Plans a budget: the shape, batch and number of steps that reach the lowest loss in a time, from the measured speed of
// this machine and the losses that architectures predict (models::Recipe).
#pragma once

#include <functional>

#include "tools/training/training_run.hpp"

namespace heddle {

// The run of the options where those that are not given are those of the argument.
using SettleRun = std::function<RunSpec(RunSpec base)>;

// A run within options.learning.budget, which is given. Says what it chose, and what to expect. Throws UsageError for
// an architecture without measurements, and for a budget that is shorter than a step.
RunSpec plan_budget(const RunOptions& options, const RunSpec& defaults, Trainee& trainee, const SettleRun& settle,
                    const cli::Arguments& arguments);

// `defaults` with what plan_budget() chose for the run `then`: where options do not say otherwise, the run again.
RunSpec with_choices(const RunSpec& defaults, const RunSpec& then);

}  // namespace heddle
