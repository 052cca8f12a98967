// The command line of pretrain, and what a model file keeps of it.
#pragma once

#include <string>

#include "heddle/data/masking.hpp"
#include "heddle/models/config.hpp"
#include "heddle/training/trainer.hpp"
#include "make_objective.hpp"

namespace heddle {

struct PretrainOptions {
  std::string train, valid, output, preset, log;
  bool resume = false, dry_run = false, json = false;
  ObjectiveKind objective = ObjectiveKind::automatic;
  models::ModelConfig model;
  data::MaskingOptions masking;
  training::TrainingOptions training;
  training::ScheduleOptions schedule;
  training::OptimizerOptions optimizer;

  template <class Self, class Visitor>
  static void visit(Self& self, Visitor& visitor) {
    visitor(Field("train", "token file to train on, made by tokenize").takes("FILE"), self.train);
    visitor(Field("valid", "token file to evaluate on; the best model so far is kept as OUTPUT.best.h5").takes("FILE"),
            self.valid);
    visitor(Field("output", "the model file").letter('o').takes("FILE"), self.output);
    visitor(Field("preset", "shape of a known model (" + join(models::preset_names()) + "); options for the model override it")
                .takes("NAME"), self.preset);
    visitor(Field("objective",
                  "what to learn: to predict each next token (causal, decoders), or masked tokens from all "
                  "others (masked, encoders); auto goes by --arch"),
            self.objective);
    visitor(Field("resume", "go on from the model file that -o names"), self.resume);
    visitor(Field("log", "a JSON object a line for each reported step and each evaluation").takes("FILE"), self.log);
    visitor(Field("dry_run", "tell parameters, memory, arithmetic and time; train nothing"), self.dry_run);
    visitor(Field("json", "the dry run's answer as JSON"), self.json);
    visitor(Field("model", "Model"), self.model);
    visitor(Field("masking", "Masking"), self.masking);
    visitor(Field("training", "Training"), self.training);
    visitor(Field("schedule", "Learning rate"), self.schedule);
    visitor(Field("optimizer", "Optimizer"), self.optimizer);
  }
};

// The group /training/state of a model file.
struct TrainingRecord {
  training::TrainingState progress;
  data::MaskingOptions masking;
  training::TrainingOptions training;
  training::ScheduleOptions schedule;
  training::OptimizerOptions optimizer;
  Index seed = 0;

  template <class Self, class Visitor>
  static void visit(Self& self, Visitor& visitor) {
    visitor(Field("progress", "where training stands"), self.progress);
    visitor(Field("masking", "what an encoder has to predict"), self.masking);
    visitor(Field("training", "how it trains"), self.training);
    visitor(Field("schedule", "the learning rate"), self.schedule);
    visitor(Field("optimizer", "the update rule"), self.optimizer);
    visitor(Field("seed", "seed of all random numbers").range(0), self.seed);
  }

  training::Plan plan() const { return {optimizer, schedule, training, static_cast<std::uint64_t>(seed)}; }
};

}  // namespace heddle
