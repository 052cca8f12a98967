// The command line of pretrain.
#pragma once

#include <string>
#include <vector>

#include "heddle/models/presets.hpp"
#include "heddle/training/objectives.hpp"
#include "tools/training/choose_objective.hpp"
#include "tools/training/model_options.hpp"
#include "tools/training/run_control.hpp"
#include "tools/training/setup.hpp"

namespace heddle {

struct PretrainOptions {
  std::vector<std::string> train;
  std::string valid, output, preset, log;
  bool dry_run = false, json = false;
  Index patience = 0;
  RunControl control;
  std::string objective = "auto";
  ModelOptions model;
  TrainingSetup setup;

  template <class Self, class Visitor>
  static void visit(Self& self, Visitor& visitor) {
    visitor(Field("train",
                  "token file to train on, made by tokenize; of several, each is read as often in an epoch as its "
                  "weight says, once unless told otherwise")
                .not_empty()
                .takes("FILE[:WEIGHT],...")
                .essential(),
            self.train);
    visitor(Field("valid", "token file to evaluate on; the best model so far is kept as OUTPUT.best.h5")
                .not_empty()
                .takes("FILE")
                .essential(),
            self.valid);
    visitor(Field("output", "the model file").letter('o').not_empty().takes("FILE").essential(), self.output);
    visitor(Field("preset", "shape of a known model; options for the model override it")
                .not_empty()
                .one_of(models::preset_names())
                .takes("NAME")
                .essential(),
            self.preset);
    visitor(Field("objective", "what to predict; " + training::objective_summaries() +
                                   "; auto: the first of them that the model can be trained for")
                .not_empty()
                .one_of(objective_choices())
                .takes("NAME")
                .essential(),
            self.objective);
    visitor(Field("log", "a JSON object a line for each reported step and each evaluation")
                .not_empty()
                .takes("FILE")
                .essential(),
            self.log);
    visitor(Field("patience", "stop when this many evaluations in a row bring nothing better")
                .needs({"valid"})
                .range(1)
                .word(0, "never")
                .takes("N"),
            self.patience);
    visitor(Field("dry_run", "print parameters, memory, arithmetic and time; train nothing").essential(), self.dry_run);
    visitor(Field("json", "the dry run's answer as JSON").needs({"dry_run"}), self.json);
    visitor(Field("control", "Stopping and going on"), self.control);
    visitor(Field("model", "Model"), self.model);
    TrainingSetup::visit(self.setup, visitor);
  }
};

// The model that the options describe: what they give, over the preset's fields or the architecture's defaults.
models::ModelConfig chosen_model(const PretrainOptions& options, const cli::Arguments& arguments);

}  // namespace heddle
