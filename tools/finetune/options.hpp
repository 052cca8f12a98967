// The command line of finetune, and the part of it that is stored in files.
#pragma once

#include <string>
#include <vector>

#include "formats/labelled/labelled_input.hpp"
#include "libcore/data/framing.hpp"
#include "libcore/models/architecture.hpp"
#include "libcore/models/task.hpp"
#include "libcore/nn/low_rank_options.hpp"
#include "tools/training/fields.hpp"
#include "tools/training/model_options.hpp"
#include "tools/training/run_control.hpp"
#include "tools/training/setup.hpp"

namespace heddle {

enum class ClassWeights { none, balanced };
template <>
struct Names<ClassWeights> {
  static constexpr std::pair<ClassWeights, std::string_view> list[] = {{ClassWeights::none, "none"},
                                                                       {ClassWeights::balanced, "auto"}};
};

// The settings of a run besides its training setup; stored in files for resuming.
struct FinetuneSettings {
  models::Task task = models::Task::classify;
  models::Pooling pooling = models::Pooling::automatic;
  bool layer_mix = false;
  formats::LabelledInput input;
  data::Overlong overlong = data::Overlong::truncate;
  Index folds = 0, fold = 1, patience = 0;
  Select select = Select::automatic;
  ClassWeights class_weights = ClassWeights::none;
  std::string metric = "auto", freeze;
  double layer_decay = 1;
  Index reset_layers = 0;
  double dropout = -1, token_dropout = 0, auxiliary_weight = 0;
  LowRankOptions adapters;

  template <class Self, class Visitor>
  static void visit(Self& self, Visitor& visitor) {
    visitor(Field("task",
                  "what to learn: a class for a text or a pair of texts, a number, a tag for each word, the span of a "
                  "context that answers a question, or language modelling (lm)")
                .takes("NAME")
                .essential(),
            self.task);
    visitor(Field("input", "Labelled files"), self.input);
    visitor(
        Field("overlong",
              "examples longer than the context, and questions longer than half of it: truncate them, report an error, "
              "or split them and train on all parts (not questions)"),
        self.overlong);
    visitor(Field("folds", "split --train into K folds of equal size").range(2, 10000).word(0, "none").takes("K"),
            self.folds);
    visitor(Field("fold",
                  "number of the fold, from 1, to leave out of training, and to evaluate on unless --valid is given")
                .needs({"folds"})
                .range(1, 10000)
                .takes("I"),
            self.fold);
    visitor(Field("metric", "validation metric that decides which model is best; auto means the usual one of the task")
                .needs({"valid", "folds"})
                .takes("NAME"),
            self.metric);
    visitor(Field("select",
                  "the model that the output holds: best, of the evaluations on --valid or the fold, or last; auto is "
                  "best where there are evaluations")
                .takes("NAME"),
            self.select);
    visitor(Field("patience", "stop after this many evaluations in a row without improvement")
                .needs({"valid", "folds"})
                .range(1, 1000000)
                .word(0, "never")
                .takes("N"),
            self.patience);
    visitor(Field("pooling",
                  "hidden state that represents a text: of the first token, of the last, or the mean; auto means the "
                  "mean for encoders, the first for those with a pooler, and the last for decoders")
                .needs({"task=classify", "task=pair", "task=regress"}),
            self.pooling);
    visitor(
        Field("layer_mix",
              "give the task's layer a learned mix of the hidden states of all layers and the embeddings instead of "
              "the last ones (Peters et al. 2018)")
            .needs({"task=classify", "task=pair", "task=regress", "task=label", "task=span"}),
        self.layer_mix);
    visitor(
        Field("class_weights", "weights of the classes in the loss; auto: inversely proportional to their frequency")
            .needs({"task=classify", "task=pair", "task=label"}),
        self.class_weights);
    visitor(
        Field("freeze",
              "parts of the model that are not trained: comma-separated, embeddings, body, or prefixes of weight names")
            .takes("LIST"),
        self.freeze);
    visitor(Field("layer_decay", "factor on the learning rate from each block to the block below it")
                .above(0, 1)
                .takes("X"),
            self.layer_decay);
    visitor(Field("reset_layers",
                  "start this many layers, counted from the last, from random weights instead of those of --from "
                  "(Zhang et al. 2021)")
                .range(0, 1000)
                .takes("N"),
            self.reset_layers);
    visitor(Field("dropout", "dropout rate; auto means that of --from, or 0.1 if it is less")
                .range(0, 0.99)
                .word(-1, "auto")
                .takes("P"),
            self.dropout);
    visitor(Field("token_dropout",
                  "fraction of the tokens of the examples that are masked in training, selected anew in every epoch")
                .formerly("piece_dropout")
                .range(0, 0.99)
                .takes("P"),
            self.token_dropout);
    visitor(
        Field("auxiliary_weight",
              "weight of an additional loss: predicting the texts of the examples, as in pre-training; for example 0.5")
            .formerly("auxiliary_text")
            .range(0, 100)
            .takes("X"),
        self.auxiliary_weight);
    visitor(Field("adapters", "Low-rank adapters (LoRA)"), self.adapters);
  }

  bool adapts() const { return adapters.lora_rank > 0; }
};

// The shape of a new model; its dropout is that of FinetuneSettings.
struct NewModelOptions {
  ModelOptions shape;

  template <class Self, class Visitor>
  static void visit(Self& self, Visitor& visitor) {
    auto field_of_new_model = [&visitor](Field field, auto& value) {
      if (field.name == "dropout") return;
      if (field.name == "arch") {
        field.help =
            "architecture of a new model, instead of --from; bag: a classifier by words and n-grams that trains in "
            "seconds";
      } else {
        field.is_essential = false;
      }
      visitor(field, value);
    };
    ModelOptions::visit(self.shape, field_of_new_model);
  }
};

struct FinetuneOptions {
  std::string from, ensemble, tokenizer, valid, output, log;
  std::vector<std::string> train;
  bool dry_run = false, json = false;
  RunControl control;
  FinetuneSettings settings;
  NewModelOptions model;
  TrainingSetup setup;

  // Takes the settings with which a new model of an architecture is trained.
  void suit(const models::FromScratch& scratch) {
    setup.schedule.learning_rate = scratch.learning_rate;
    setup.training.batch_size = scratch.batch_size;
    setup.training.epochs = scratch.epochs;
    setup.optimizer.optimizer = scratch.optimizer;
    setup.optimizer.weight_decay = scratch.weight_decay;
  }

  // Whether the model is a new one, not that of `from`.
  bool begins_new() const { return from.empty(); }

  template <class Self, class Visitor>
  static void visit(Self& self, Visitor& visitor) {
    visitor(Field("from", "model to start from, made by pretrain or convert").not_empty().takes("MODEL").essential(),
            self.from);
    visitor(Field("ensemble",
                  "train nothing, but find on --valid the weights with which these models predict together best")
                .not_empty()
                .takes("MODEL,..."),
            self.ensemble);
    visitor(Field("tokenizer",
                  "tokenizer of a new model: a tokenizer, token or model file, or one of another program; by default "
                  "one of words in lower case is trained on the examples")
                .letter('t')
                .needs({"arch"})
                .not_empty()
                .takes("FILE"),
            self.tokenizer);
    visitor(Field("train",
                  "labelled files to train on; for lm, token files or texts, each with a weight: how often it is read "
                  "per epoch, by default 1; not standard input")
                .not_empty()
                .takes("FILE[:WEIGHT],...")
                .essential(),
            self.train);
    visitor(valid_field(), self.valid);
    visitor(
        Field("output", "the model file, which appears when training has finished; with --lora-rank an adapter file")
            .letter('o')
            .not_empty()
            .takes("FILE")
            .essential(),
        self.output);
    visitor(log_field(), self.log);
    visitor(dry_run_field(), self.dry_run);
    visitor(dry_run_json_field(), self.json);
    visitor(Field("control", "Checkpoints, stopping and resuming"), self.control);
    FinetuneSettings::visit(self.settings, visitor);
    visitor(Field("model", "New models"), self.model);
    auto for_this_tool = [&visitor](Field field, auto& value) {
      if (field.name == "masking" || field.name == "permutation" || field.name == "detection" || field.name == "noise")
        field.help += ", with --task lm";
      if (field.name == "pairs") field.help += ", with --task translate or lm";
      visitor(field, value);
    };
    TrainingSetup::visit(self.setup, for_this_tool);
  }

  // Defaults of fine-tuning that differ from those of pre-training.
  FinetuneOptions() {
    setup.training.steps = 0;
    setup.training.epochs = 0;
    setup.training.eval_every = 0;
    setup.training.batch_size = 16;
    control.checkpoint_every = {};
    setup.schedule.learning_rate = training::automatic_rate;
    setup.schedule.final_learning_rate = 0;
    setup.schedule.warmup = {.percent = 10};
    setup.schedule.schedule = training::ScheduleKind::linear;
    setup.optimizer.beta2 = 0.999;
    setup.optimizer.weight_decay = 0.01;
  }
};

// The group /training/state of a checkpoint, /run of a finished model.
struct FinetuneRecord {
  static constexpr const char *tool = "finetune", *section = "finetuning";

  TrainingRecord training;
  FinetuneSettings settings;
  std::string shape;  // of a new model, as asked for

  template <class Self, class Visitor>
  static void visit(Self& self, Visitor& visitor) {
    TrainingRecord::visit(self.training, visitor);
    visitor(Field("shape", "shape that was asked for of a new model"), self.shape);
    visitor(Field(section, "what the model is trained for, and how"), self.settings);
  }
};

}  // namespace heddle
