// The options of a training run that pretrain and finetune share. resolve_options.hpp makes a run of them.
#pragma once

#include <string>

#include "libcore/training/objectives.hpp"
#include "libcore/training/training_config.hpp"
#include "tools/cli/kind_choice.hpp"
#include "tools/training/budget.hpp"
#include "tools/training/rank_plan.hpp"
#include "tools/training/run_control.hpp"

namespace heddle {

// Choice of the model in the output, and early stopping.
struct SelectionOptions {
  Select select = Select::automatic;
  Index patience = 0;

  template <class Self, class Visitor>
  static void visit(Self& self, Visitor& visitor) {
    visitor(Field("select",
                  "the model that the output holds: best of the evaluations, or last; auto: best where there are some")
                .takes("NAME")
                .changeable(),
            self.select);
    visitor(Field("patience", "stop after this many evaluations in a row without improvement")
                .range(1, 1000000)
                .word(0, "never")
                .takes("N")
                .changeable(),
            self.patience);
  }
};

// Objective, optimizer and length of the training.
struct LearningOptions {
  cli::KindChoice<training::ObjectiveSettings> objective;
  cli::KindChoice<training::OptimizerSettings> optimizer{{"weight_decay"}, training::OptimizerChoice()};
  cli::KindChoice<training::ScheduleSettings> schedule{{"warmup"}, training::ScheduleChoice()};
  Budget budget;
  training::TrainingOptions training;
  SelectionOptions selection;
  // As tools begin: with a rate that suits.
  LearningOptions() { training.learning_rate = training::automatic_rate; }

  bool has_average = true;  // whether there is an option for a moving average of the weights
  std::string objective_help = "what to predict; default: what fits the model and --train";
  std::string optimizer_help = "update rule", schedule_help = "learning rate after the warmup";
  std::string budget_help = "choose shape, batch and steps for this time (30m) or arithmetic (2e15flop)";

  template <class Self, class Visitor>
  static void visit(Self& self, Visitor& visitor) {
    visitor(Field("objective", self.objective_help).essential(), self.objective);
    visitor(Field("optimizer", self.optimizer_help), self.optimizer);
    visitor(Field("schedule", self.schedule_help), self.schedule);
    visitor(Field("budget", self.budget_help).takes("TIME|none").essential(), self.budget);
    auto offered = [&](const Field& field, auto& value) {
      if (self.has_average || field.name != "ema_decay") visitor(field, value);
    };
    training::TrainingOptions::visit(self.training, offered);
    SelectionOptions::visit(self.selection, visitor);
  }
};

struct RunOptions {
  std::string valid, output, log;
  bool dry_run = false, json = false;
  Index tensor_parallel = 1;  // ranks that share each model
  RankPlan ranks;             // an option of pretrain
  LearningOptions learning;
  RunControl control;

  // Visits the fields without the sections.
  template <class Self, class Visitor>
  static void visit_files(Self& self, Visitor& visitor) {
    visitor(Field("valid", "file of the same kind to evaluate on, or a percentage of --train to hold out, such as 10%")
                .not_empty()
                .takes("FILE|N%")
                .essential(),
            self.valid);
    visitor(Field("output", "the model file, written when training has finished")
                .letter('o')
                .not_empty()
                .takes("FILE")
                .essential(),
            self.output);
    visitor(Field("log", "log file: a JSON object per line for each logged step and each evaluation")
                .not_empty()
                .takes("FILE"),
            self.log);
    visitor(Field("tensor_parallel",
                  "ranks that share a model too large for one process: they divide the heads of dot attention and the "
                  "columns of feed-forward layers")
                .range(1, 1024)
                .takes("M"),
            self.tensor_parallel);
    visitor(Field("dry_run", "print size, memory, time and cost; train nothing").essential(), self.dry_run);
    visitor(Field("json", "print the result of the dry run as JSON").needs({"dry_run"}), self.json);
  }
};

}  // namespace heddle
