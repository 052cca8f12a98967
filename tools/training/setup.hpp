// The training settings of a run, as options and as stored in files.
#pragma once

#include "libcore/data/masking.hpp"
#include "libcore/data/noise.hpp"
#include "libcore/data/pair_batches.hpp"
#include "libcore/training/objectives.hpp"
#include "libcore/training/trainer.hpp"
#include "tools/cli/arguments.hpp"

namespace heddle {

struct TrainingSetup {
  data::MaskingOptions masking;
  data::PermutationOptions permutation;
  training::DetectionOptions detection;
  data::NoiseOptions noise;
  data::PairOptions pairs;
  training::TrainingOptions training;
  training::ScheduleOptions schedule;
  training::OptimizerOptions optimizer;

  template <class Self, class Visitor>
  static void visit(Self& self, Visitor& visitor) {
    visitor(Field("masking", "Masking"), self.masking);
    visitor(Field("permutation", "Permutations"), self.permutation);
    visitor(Field("detection", "Detection"), self.detection);
    visitor(Field("noise", "Noise"), self.noise);
    visitor(Field("pairs", "Pairs of texts"), self.pairs);
    visitor(Field("training", "Training"), self.training);
    visitor(Field("schedule", "Learning rate"), self.schedule);
    visitor(Field("optimizer", "Optimizer"), self.optimizer);
  }

  // For an objective, all but the data and its tokenizers. They refer to this setup and to the configuration.
  training::ObjectiveInputs objective_inputs(models::Model& model, const training::TrainingConfig& config) const {
    return {.model = model,
            .train = {},
            .masking = masking,
            .noise = noise,
            .pairs = pairs,
            .config = config,
            .permutation = permutation,
            .detection = detection};
  }

  // Interval of checkpoints in steps; 0: never.
  training::TrainingConfig config(Index seed, Index checkpoint_every = 0) const {
    return {optimizer, schedule, training, static_cast<std::uint64_t>(seed), checkpoint_every};
  }
};

// Steps or epochs: the one that the user set replaces the other, which is a default or comes from a file. Throws
// UsageError if both are set.
inline void settle_length(training::TrainingOptions& training, const cli::Arguments& arguments) {
  const bool by_steps = arguments.given("steps") && training.steps > 0;
  const bool by_epochs = arguments.given("epochs") && training.epochs > 0;
  check<UsageError>(!by_steps || !by_epochs,
                    "--steps and --epochs both set the length of the training; give one of them");
  if (by_steps) training.epochs = 0;
  if (by_epochs) training.steps = 0;
}

// The settings and the progress of a run, for the command that resumes it: a part of /training/state of a checkpoint,
// and of /run of a finished model.
struct TrainingRecord {
  training::TrainingState progress;
  TrainingSetup setup;  // with the precision that the run computes in
  PrecisionChoice asked_precision = PrecisionChoice::f32;
  Index seed = 0;
  Index changed_at = 0;

  template <class Self, class Visitor>
  static void visit(Self& self, Visitor& visitor) {
    visitor(Field("progress", "progress of the training"), self.progress);
    TrainingSetup::visit(self.setup, visitor);
    visitor(Field("asked_precision", "what --precision asked for"), self.asked_precision);
    visitor(Field("seed", "seed of the random numbers").range(0), self.seed);
    visitor(Field("changed_at", "last step at which --resume changed an option; 0 for never").range(0),
            self.changed_at);
  }
};

// The contents of a run's files.
enum class Contents {
  checkpoint,  // everything needed for resuming
  best,        // the best model so far
  result,      // the finished model
};

}  // namespace heddle
