// A training run as one value: what its command line, defaults and, if it is resumed, its file come to. It is what
// checkpoints and finished models store, what two runs are compared by, and what trains. Nothing that comes after it
// asks the command line again, but for messages.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "formats/heddle/model_file.hpp"
#include "libcore/data/problems.hpp"
#include "libcore/models/config.hpp"
#include "libcore/training/trainer.hpp"
#include "tools/training/run_options.hpp"
#include "tools/training/tuning_spec.hpp"

namespace heddle {

struct RunSpec {
  std::string tool;  // pretrain or finetune
  // The configuration of a new model, with sizes in place of "auto", but for those that the examples of a task decide;
  // else that of the model that is tuned.
  models::ModelConfig model;
  std::optional<training::ObjectiveChoice> objective;  // none: that of the task
  Budget budget;
  training::OptimizerChoice optimizer;
  training::ScheduleChoice schedule;
  training::TrainingOptions training;
  SelectionOptions selection;
  Index seed = 1;
  std::optional<data::ProblemChoice> tasks;  // problems of an update rule
  std::optional<TuningSpec> tuning;          // finetune only

  training::TrainingConfig config(PrecisionChoice computed, Index checkpoint_every = 0) const;

  template <class Self, class Visitor>
  static void visit(Self& self, Visitor& visitor) {
    visitor(Field("tool", "program that trains"), self.tool);
    visitor(Field("budget", "what the run may cost"), self.budget);
    visitor(Field("model", "Model"), self.model);
    visit_optional(Field("objective", "Objective"), self.objective, visitor);
    visitor(Field("optimizer", "Optimizer"), self.optimizer);
    visitor(Field("schedule", "Schedule"), self.schedule);
    visitor(Field("training", "Training"), self.training);
    visitor(Field("selection", "Selection"), self.selection);
    visitor(Field("seed", "seed of the random numbers").range(0), self.seed);
    visit_optional(Field("tasks", "Problems"), self.tasks, visitor);
    visit_optional(Field("tuning", "Task"), self.tuning, visitor);
  }

 private:
  // Whether there is one, and it.
  template <class Optional, class Visitor>
  static void visit_optional(const Field& field, Optional& value, Visitor& visitor) {
    bool is_there = value.has_value();
    if constexpr (std::is_const_v<Optional>) {
      visitor(Field("has_" + field.name, ""), std::as_const(is_there));
    } else {
      visitor(Field("has_" + field.name, ""), is_there);
      if (is_there && !value) value.emplace();
    }
    if (is_there && value) visitor(field, *value);
  }
};

// A field in which two runs differ.
struct Difference {
  std::string field, then, now;
  bool may_change;  // when a run is resumed
};
std::vector<Difference> differences(const RunSpec& now, const RunSpec& then);
// Fields and their values as text, which differences() compares.
std::vector<std::pair<std::string, std::string>> described(const RunSpec& spec);

// Progress of a run, for the command that resumes it: /training/state of a checkpoint, /run of a finished model.
struct RunRecord {
  training::TrainingState progress;
  RunSpec spec;
  PrecisionChoice computed = PrecisionChoice::f32;  // result of spec.training.precision on that machine
  Index changed_at = 0;

  template <class Self, class Visitor>
  static void visit(Self& self, Visitor& visitor) {
    visitor(Field("progress", "progress of the training"), self.progress);
    visitor(Field("spec", "the run"), self.spec);
    visitor(Field("computed", "precision in which it computes"), self.computed);
    visitor(Field("changed_at", "last step at which --resume changed an option; 0 for never").range(0),
            self.changed_at);
  }
};

}  // namespace heddle
