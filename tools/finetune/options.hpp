// The command line of finetune, and what its files keep of it.
#pragma once

#include <string>
#include <vector>

#include "heddle/data/framing.hpp"
#include "heddle/formats/labelled/labelled_input.hpp"
#include "heddle/models/task.hpp"
#include "heddle/nn/low_rank_options.hpp"
#include "tools/training/run_control.hpp"
#include "tools/training/setup.hpp"

namespace heddle {

enum class ClassWeights { none, balanced };
template <>
struct Names<ClassWeights> {
  static constexpr std::pair<ClassWeights, std::string_view> list[] = {{ClassWeights::none, "none"},
                                                                       {ClassWeights::balanced, "auto"}};
};

// What a run is beside its training setup; its file keeps it for going on.
struct FinetuneSettings {
  models::Task task = models::Task::classify;
  models::Pooling pooling = models::Pooling::automatic;
  formats::LabelledInput input;
  data::Overlong overlong = data::Overlong::error;
  Index folds = 0, fold = 0, patience = 0;
  ClassWeights class_weights = ClassWeights::none;
  std::string metric, freeze;
  double layer_decay = 1;
  double dropout = -1, piece_dropout = 0, auxiliary_text = 0;
  LowRankOptions adapters;

  template <class Self, class Visitor>
  static void visit(Self& self, Visitor& visitor) {
    visitor(Field("task",
                  "what to learn: a class of a text or of two (pair), a number, a tag for each word, the span "
                  "of a text that answers a question, or more of what the model was pre-trained for (lm)")
                .takes("NAME")
                .essential(),
            self.task);
    visitor(Field("input", "Labelled files"), self.input);
    visitor(Field("overlong",
                  "examples longer than the context, and questions longer than half of it: an error, cut them, or "
                  "(not questions) learn from all of their parts")
                .essential(),
            self.overlong);
    visitor(Field("folds", "cut --train into this many equal parts").range(2, 10000).word(0, "none").takes("K"),
            self.folds);
    visitor(Field("fold", "the part, from 0, to leave out of training, and to evaluate on unless --valid is given")
                .needs({"folds"})
                .range(0, 9999)
                .takes("I"),
            self.fold);
    visitor(Field("metric", "the metric of the validation that decides which model is best; default: the task's own")
                .needs({"valid", "folds"})
                .takes("NAME")
                .essential(),
            self.metric);
    visitor(Field("patience", "stop when this many evaluations in a row bring nothing better")
                .needs({"valid", "folds"})
                .range(1)
                .word(0, "never")
                .takes("N"),
            self.patience);
    visitor(Field("pooling",
                  "the hidden state that stands for a text: of the first token, of the last, or the mean; "
                  "auto is the first for encoders and the last for decoders")
                .needs({"task=classify", "task=pair", "task=regress"}),
            self.pooling);
    visitor(Field("class_weights", "auto lets every class count alike, however rare")
                .needs({"task=classify", "task=pair", "task=label"}),
            self.class_weights);
    visitor(Field("freeze",
                  "parts of the model that stay as they are: embeddings, body, or first parts of weights' names, "
                  "apart by commas")
                .takes("LIST"),
            self.freeze);
    visitor(Field("layer_decay", "learning rates shrink by this factor from each block to the one below it")
                .above(0, 1)
                .takes("X"),
            self.layer_decay);
    visitor(
        Field("dropout",
              "fraction of the embeddings and of each sublayer's result to drop in training; auto is the model's own")
            .range(0, 0.99)
            .word(-1, "auto")
            .takes("P"),
        self.dropout);
    visitor(Field("piece_dropout",
                  "fraction of the pieces of the examples that are masked in training, other ones in every "
                  "epoch")
                .range(0, 0.99)
                .takes("P"),
            self.piece_dropout);
    visitor(Field("auxiliary_text",
                  "weight of the loss of predicting the examples' own texts too, as in pre-training: 0.5, "
                  "say")
                .range(0, 100)
                .takes("X"),
            self.auxiliary_text);
    visitor(Field("adapters", "Low-rank adapters (LoRA)"), self.adapters);
  }

  bool adapts() const { return adapters.lora_rank > 0; }
};

struct FinetuneOptions {
  std::string from, valid, output, log;
  std::vector<std::string> train;
  bool dry_run = false, json = false;
  RunControl control;
  FinetuneSettings settings;
  TrainingSetup setup;

  template <class Self, class Visitor>
  static void visit(Self& self, Visitor& visitor) {
    visitor(
        Field("from", "the model to start from, made by pretrain or convert").not_empty().takes("MODEL").essential(),
        self.from);
    visitor(Field("train",
                  "labelled files to train on; for lm token files or texts, each of which is read as often in an "
                  "epoch as its weight says, once unless told otherwise; not standard input")
                .not_empty()
                .takes("FILE[:WEIGHT],...")
                .essential(),
            self.train);
    visitor(Field("valid", "the same to evaluate on; the best model so far is kept as OUTPUT.best.h5")
                .not_empty()
                .takes("FILE")
                .essential(),
            self.valid);
    visitor(Field("output", "the model file; with --lora-rank an adapter file")
                .letter('o')
                .not_empty()
                .takes("FILE")
                .essential(),
            self.output);
    visitor(Field("log", "a JSON object a line for each reported step and each evaluation")
                .not_empty()
                .takes("FILE")
                .essential(),
            self.log);
    visitor(Field("dry_run", "print parameters, memory, arithmetic and time; train nothing").essential(), self.dry_run);
    visitor(Field("json", "the dry run's answer as JSON").needs({"dry_run"}), self.json);
    visitor(Field("control", "Stopping and going on"), self.control);
    FinetuneSettings::visit(self.settings, visitor);
    auto for_this_tool = [&visitor](Field field, auto& value) {
      if (field.name == "masking") field.help += ", with --task lm";
      visitor(field, value);
    };
    TrainingSetup::visit(self.setup, for_this_tool);
  }

  // What fine-tuning takes where pre-training takes other values.
  FinetuneOptions() {
    setup.training.steps = 0;
    setup.training.epochs = 3;
    setup.training.eval_every = 0;
    setup.training.batch_size = 16;
    setup.training.checkpoint_every = 0;
    setup.schedule.learning_rate = 1e-4;
    setup.schedule.final_learning_rate = 0;
    setup.schedule.warmup = {.percent = 10};
    setup.schedule.schedule = training::ScheduleKind::linear;
    setup.optimizer.beta2 = 0.999;
    setup.optimizer.weight_decay = 0.01;
  }
};

// The group /training/state of what finetune writes.
struct FinetuneRecord {
  TrainingRecord training;
  FinetuneSettings settings;

  template <class Self, class Visitor>
  static void visit(Self& self, Visitor& visitor) {
    TrainingRecord::visit(self.training, visitor);
    visitor(Field("finetuning", "what the model is trained for, and how"), self.settings);
  }
};

}  // namespace heddle
