// The command line of pretrain.
#pragma once

#include <string>
#include <vector>

#include "libcore/models/presets.hpp"
#include "libcore/training/objectives.hpp"
#include "tools/lines/document_cutter.hpp"
#include "tools/training/choose_objective.hpp"
#include "tools/training/fields.hpp"
#include "tools/training/model_options.hpp"
#include "tools/training/run_control.hpp"
#include "tools/training/setup.hpp"

namespace heddle {

// The settings of a run besides its model and its training setup; stored in files for resuming.
struct PretrainSettings {
  std::string objective = "auto";
  Index patience = 0;
  Select select = Select::automatic;

  template <class Self, class Visitor>
  static void visit(Self& self, Visitor& visitor) {
    visitor(Field("objective", "what to predict; " + training::objective_summaries() +
                                   "; auto: the first one that fits the model and --train")
                .not_empty()
                .one_of(objective_choices())
                .takes("NAME")
                .essential(),
            self.objective);
    visitor(Field("select",
                  "the model that the output holds: best, of the evaluations on --valid, or last; auto is "
                  "best where there is --valid")
                .takes("NAME"),
            self.select);
    visitor(Field("patience", "stop after this many evaluations in a row without improvement")
                .needs({"valid"})
                .range(1, 1000000)
                .word(0, "never")
                .takes("N"),
            self.patience);
  }
};

struct PretrainOptions {
  std::vector<std::string> train;
  std::string valid, tokenizer, output, preset, log;
  Documents documents = Documents::file;
  bool dry_run = false, json = false;
  RunControl control;
  PretrainSettings settings;
  ModelOptions model;
  TrainingSetup setup;

  template <class Self, class Visitor>
  static void visit(Self& self, Visitor& visitor) {
    visitor(
        Field("train",
              "token files or a pairs file to train on, made by tokenize, or text with -t; a weight sets how often a "
              "file is read per epoch (default 1)")
            .not_empty()
            .takes("FILE[:WEIGHT],...")
            .essential(),
        self.train);
    visitor(valid_field(), self.valid);
    visitor(Field("tokenizer",
                  "tokenizer that encodes text: a tokenizer, token or model file, Hugging Face's tokenizer.json, "
                  "BERT's vocab.txt, or a directory with one of these or GPT-2's vocabulary")
                .letter('t')
                .needs({"train"})
                .not_empty()
                .takes("FILE")
                .essential(),
            self.tokenizer);
    visitor(Field("documents", "what ends a document in text: a line, blank lines, or the end of a file")
                .needs({"tokenizer"}),
            self.documents);
    visitor(Field("output", "model file, written when training has finished")
                .letter('o')
                .not_empty()
                .takes("FILE")
                .essential(),
            self.output);
    visitor(Field("preset", "shape of a known model; the model options override it")
                .not_empty()
                .one_of(models::preset_names())
                .takes("NAME")
                .essential(),
            self.preset);
    PretrainSettings::visit(self.settings, visitor);
    visitor(log_field(), self.log);
    visitor(dry_run_field(), self.dry_run);
    visitor(dry_run_json_field(), self.json);
    visitor(Field("control", "Checkpoints, stopping and resuming"), self.control);
    visitor(Field("model", "Model"), self.model);
    TrainingSetup::visit(self.setup, visitor);
  }
};

// The group /training/state of a checkpoint, /run of a finished model.
struct PretrainRecord {
  static constexpr const char *tool = "pretrain", *section = "pretraining";

  TrainingRecord training;
  PretrainSettings settings;

  template <class Self, class Visitor>
  static void visit(Self& self, Visitor& visitor) {
    TrainingRecord::visit(self.training, visitor);
    visitor(Field(section, "what the model learns, and which is kept"), self.settings);
  }
};

// The model that the options describe; fields that are not given are the preset's or the architecture's defaults.
models::ModelConfig chosen_model(const PretrainOptions& options, const cli::Arguments& arguments);

}  // namespace heddle
