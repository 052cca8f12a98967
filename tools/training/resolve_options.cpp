#include "tools/training/resolve_options.hpp"

namespace heddle {

namespace {

// Steps or epochs: the one that the user set replaces the other.
void settle_length(training::TrainingOptions& training, const cli::Arguments& arguments) {
  const bool by_steps = arguments.given("steps") && training.steps > 0;
  const bool by_epochs = arguments.given("epochs") && training.epochs > 0;
  check<UsageError>(!by_steps || !by_epochs,
                    "--steps and --epochs both set the length of the training; give one of them");
  if (by_steps) training.epochs = 0;
  if (by_epochs) training.steps = 0;
}

}  // namespace

RunSpec resolved(const LearningOptions& options, const RunSpec& base, const cli::Arguments& arguments) {
  RunSpec spec = base;
  take_given(spec.training, options.training, arguments);
  take_given(spec.selection, options.selection, arguments);
  if (arguments.given("budget")) spec.budget = options.budget;
  settle_length(spec.training, arguments);
  if (options.objective.is_given()) {
    const bool is_named = !options.objective.name.empty();
    check<UsageError>(is_named || base.objective, "--objective: settings without a name; write NAME:KEY=VALUE,…");
    spec.objective = options.objective.resolved(base.objective.value_or(training::ObjectiveChoice()), "objective");
    spec.objective->check();
  }
  spec.optimizer = options.optimizer.resolved(base.optimizer, "optimizer");
  spec.schedule = options.schedule.resolved(base.schedule, "schedule");
  if (arguments.given("seed")) spec.seed = arguments.common().seed;
  check<UsageError>(
      !arguments.given("batch_size") || !spec.objective || (*spec.objective)->batch_tokens() == 0,
      "--batch-size and batch-tokens of --objective both set the size of a micro-batch; give one of them");
  return spec;
}

}  // namespace heddle
