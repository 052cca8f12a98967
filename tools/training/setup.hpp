// How a run trains: what command lines say of it, and what its file keeps for going on.
#pragma once

#include "heddle/cli/arguments.hpp"
#include "heddle/data/masking.hpp"
#include "heddle/training/trainer.hpp"

namespace heddle {

struct TrainingSetup {
  data::MaskingOptions masking;
  training::TrainingOptions training;
  training::ScheduleOptions schedule;
  training::OptimizerOptions optimizer;

  template <class Self, class Visitor>
  static void visit(Self& self, Visitor& visitor) {
    visitor(Field("masking", "Masking"), self.masking);
    visitor(Field("training", "Training"), self.training);
    visitor(Field("schedule", "Learning rate"), self.schedule);
    visitor(Field("optimizer", "Optimizer"), self.optimizer);
  }

  training::TrainingConfig config(Index seed) const {
    return {optimizer, schedule, training, static_cast<std::uint64_t>(seed)};
  }
};

// Steps or epochs: whichever the user set takes the place of the other, a default or what a file says. Throws
// UsageError where both are set.
inline void settle_length(training::TrainingOptions& training, const cli::Arguments& arguments) {
  const bool by_steps = arguments.given("steps") && training.steps > 0;
  const bool by_epochs = arguments.given("epochs") && training.epochs > 0;
  check<UsageError>(!by_steps || !by_epochs, "--steps and --epochs both say how long to train; give one of them");
  if (by_steps) training.epochs = 0;
  if (by_epochs) training.steps = 0;
}

// The group /training/state of a model file.
struct TrainingRecord {
  training::TrainingState progress;
  TrainingSetup setup;
  Index seed = 0;

  template <class Self, class Visitor>
  static void visit(Self& self, Visitor& visitor) {
    visitor(Field("progress", "where training stands"), self.progress);
    TrainingSetup::visit(self.setup, visitor);
    visitor(Field("seed", "seed of all random numbers").range(0), self.seed);
  }
};

}  // namespace heddle
