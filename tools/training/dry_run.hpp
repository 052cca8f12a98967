// Estimates memory, time and disk space of a training run.
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <string>

#include "libcore/training/trainer.hpp"
#include "tools/cli/arguments.hpp"
#include "tools/training/evaluation_sample.hpp"
#include "tools/training/rank_plan.hpp"
#include "tools/training/run_control.hpp"
#include "tools/training/scaling_estimate.hpp"

namespace heddle {

// Peak memory of the process in bytes, by category.
struct MemoryEstimate {
  double weights = 0, gradients = 0, optimizer = 0, average = 0;
  double waiting = 0;      // gradients of micro-batches that wait to be added to others
  double activations = 0;  // per micro-batch or an evaluation, with temporary memory of operations
  double problems = 0;     // problems that an update rule learns to minimise
  double program = 0;      // the program itself, its libraries and tables

  double total() const {
    return weights + gradients + waiting + optimizer + average + activations + problems + program;
  }

  template <class Self, class Visitor>
  static void visit(Self& self, Visitor& visitor) {
    visitor(Field("weights_bytes", "weights"), self.weights);
    visitor(Field("gradients_bytes", "gradients"), self.gradients);
    visitor(Field("waiting_bytes", "gradients of micro-batches that wait to be added to others"), self.waiting);
    visitor(Field("optimizer_bytes", "optimizer state"), self.optimizer);
    visitor(Field("average_bytes", "moving average of the weights"), self.average);
    visitor(Field("activations_bytes", "activations of a micro-batch or an evaluation"), self.activations);
    visitor(Field("problems_bytes", "problems that an update rule learns to minimise"), self.problems);
    visitor(Field("program_bytes", "the program, its libraries and tables"), self.program);
  }
};

struct Estimate {
  Index parameters = 0;
  Index own_parameters = 0;  // parameters of a rank that shares the model; else the same
  double memory_bytes = 0;
  MemoryEstimate memory;
  double late_part = 0;        // late part of the gradients: RankStep
  double summed_bytes = 0;     // summed per step: AloneStep
  double optimizer_bytes = 0;  // in checkpoints: of all ranks, if these are planned
  double flops_per_step = 0;
  double seconds_per_step = 0, seconds_per_evaluation = 0;
  bool measured = false;
  Index steps = 0, evaluations = 0;
  double seconds = 0, seconds_to_save = 0;
  double checkpoint_bytes = 0, disk_bytes = 0;
  double objective_bytes = 0;  // the objective's state, stored among the activations
  ScalingEstimate scaling;     // set if ranks are planned; everything else is then per rank

  template <class Self, class Visitor>
  static void visit(Self& self, Visitor& visitor) {
    visitor(Field("parameters", "number of trained parameters"), self.parameters);
    visitor(Field("memory_bytes", "peak memory of the process"), self.memory_bytes);
    visitor(Field("memory", "peak memory by category"), self.memory);
    visitor(Field("flops_per_step", "floating-point operations per step, of the matrix products"), self.flops_per_step);
    visitor(Field("seconds_per_step", "seconds per step, without evaluations and checkpoints"), self.seconds_per_step);
    visitor(Field("seconds_per_evaluation", "seconds per evaluation"), self.seconds_per_evaluation);
    visitor(
        Field("measured",
              "whether steps were timed; otherwise the time is estimated from the rates of matrix products and memory"),
        self.measured);
    visitor(Field("steps", "remaining steps"), self.steps);
    visitor(Field("evaluations", "evaluations in them"), self.evaluations);
    visitor(Field("seconds", "seconds for these steps, with evaluations and checkpoints"), self.seconds);
    visitor(Field("seconds_to_save", "seconds to write a checkpoint"), self.seconds_to_save);
    visitor(Field("checkpoint_bytes", "size of a checkpoint"), self.checkpoint_bytes);
    visitor(Field("disk_bytes",
                  "maximum disk space at any time: checkpoints, best models, the file being written, the output"),
            self.disk_bytes);
  }
};

// The model of a dry run, which may be of any type, and its objective.
struct Trial {
  std::shared_ptr<const void> model;
  std::unique_ptr<training::Objective> objective;
};

struct DryRun {
  // Called once in a simulation, in which tensors have no elements, and once for measured steps.
  std::function<Trial(const training::TrainingConfig&)> begin;
  training::TrainingConfig config;
  const RunControl& control;
  std::string output;                  // to find its disk
  bool saves_what_is_trained = false;  // omits frozen weights
  Index steps_to_simulate = 1;         // more if steps differ
  Index steps_done = 0;                // steps of the run that is continued
  bool evaluates = false;
  bool keeps_best = false;           // the best model so far, in a file of its own
  bool simulates_evaluation = true;  // if evaluating reads no elements
  EvaluationSample evaluation = {};  // the data that a trial's evaluation reads
  RankPlan ranks = {};
  const nn::ModelRanks* sharing = nullptr;  // ranks that share each copy of the model; null: none
  std::optional<Network> network = {};      // measured by the ranks of the dry run
};

// The first of so many ranks that are not there: enough for checks and simulations.
std::unique_ptr<const parallel::Group> planned_ranks(Index ranks);

// A step, without its time.
struct StepSize {
  double flops = 0;
  double units = 0, unique_units = 0;  // units read in all, and in a pass over the data
  double body_parameters = 0;          // excludes embeddings and output
};
StepSize step_size(DryRun run);

// The number of parameters that layers compute with: without embeddings and output.
double body_parameters(const Parameters& parameters);

// Steps are simulated to find the memory, and timed if they are short enough and the memory suffices. Where ranks are
// planned, what a rank needs, and the time of all with their exchanges; throws UsageError, as the run does, unless they
// divide the micro-batches.
Estimate estimate(DryRun run);

// Prints the estimate for the configured precision to standard output, and returns it.
Estimate dry_run(const DryRun& run, bool json, const cli::Arguments& arguments);

}  // namespace heddle
