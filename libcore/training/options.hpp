// How to train: what files and command lines say about it.
#pragma once

#include <string>
#include <vector>

#include "heddle/base/visit.hpp"
#include "heddle/tensor/precision.hpp"
#include "heddle/training/warmup.hpp"

namespace heddle::training {

// The update rules by name, in the order of optimizers.def, and what they do: "adamw: …; adam: …".
std::vector<std::string> optimizer_names();
std::string optimizer_summaries();

enum class ScheduleKind { constant, linear, cosine, inverse_sqrt };

struct OptimizerOptions {
  std::string optimizer = "adamw";
  double beta1 = 0.9;
  double beta2 = 0.95;
  double epsilon = 1e-8;
  double weight_decay = 0.1;
  double momentum = 0.9;
  double clip_norm = 1.0;  // 0: none
  double ema_decay = 0;    // 0: none

  template <class Self, class Visitor>
  static void visit(Self& self, Visitor& visitor);
};

struct ScheduleOptions {
  double learning_rate = 1e-3;
  double final_learning_rate = -1;  // -1: a tenth of the peak
  ScheduleKind schedule = ScheduleKind::cosine;
  Warmup warmup{.percent = 1};

  template <class Self, class Visitor>
  static void visit(Self& self, Visitor& visitor);
};

struct TrainingOptions {
  PrecisionChoice precision = PrecisionChoice::f32;
  Index steps = 2000;  // 0: by epochs
  double epochs = 0;   // 0: by steps
  Index batch_size = 12;
  Index accumulate = 1;
  double label_smoothing = 0;
  Index eval_every = 250;  // 0: an epoch
  Index eval_tokens = 131072;
  Index checkpoint_every = 500;
  Index log_every = 10;

  Index samples_per_step() const { return batch_size * accumulate; }

  template <class Self, class Visitor>
  static void visit(Self& self, Visitor& visitor);
};

// All of it.
struct TrainingConfig {
  OptimizerOptions optimizer;
  ScheduleOptions schedule;
  TrainingOptions training;
  std::uint64_t seed = 0;
};

}  // namespace heddle::training

template <>
struct heddle::Names<heddle::training::ScheduleKind> {
  using Kind = heddle::training::ScheduleKind;
  static constexpr std::pair<Kind, std::string_view> list[] = {{Kind::constant, "constant"},
                                                               {Kind::linear, "linear"},
                                                               {Kind::cosine, "cosine"},
                                                               {Kind::inverse_sqrt, "inverse-sqrt"}};
};

template <class Self, class Visitor>
void heddle::training::OptimizerOptions::visit(Self& self, Visitor& visitor) {
  visitor(
      Field("optimizer", "update rule; " + optimizer_summaries()).not_empty().one_of(optimizer_names()).takes("NAME"),
      self.optimizer);
  visitor(Field("beta1", "Adam's decay of the mean gradient")
              .needs({"optimizer=adamw", "optimizer=adam"})
              .range(0, 0.999999)
              .takes("X"),
          self.beta1);
  visitor(Field("beta2", "Adam's decay of the squared gradient")
              .needs({"optimizer=adamw", "optimizer=adam"})
              .range(0, 0.999999)
              .takes("X"),
          self.beta2);
  visitor(Field("epsilon", "added to the root of the squared gradient")
              .needs({"optimizer=adamw", "optimizer=adam", "optimizer=adagrad"})
              .above(0, 1)
              .takes("X"),
          self.epsilon);
  visitor(Field("weight_decay", "shrinks matrices, never norms and biases").range(0, 100).takes("X"),
          self.weight_decay);
  visitor(Field("momentum", "momentum coefficient").needs({"optimizer=sgd"}).range(0, 0.999999).takes("X"),
          self.momentum);
  visitor(
      Field("clip_norm", "largest norm of the whole gradient").above(0).word(0, "none").formerly("clip").takes("NORM"),
      self.clip_norm);
  visitor(Field("ema_decay",
                "decay of the exponential moving average of the weights, which is then what is evaluated and "
                "saved, such as 0.99")
              .above(0, 0.999999)
              .word(0, "none")
              .formerly("ema")
              .takes("X"),
          self.ema_decay);
}

template <class Self, class Visitor>
void heddle::training::ScheduleOptions::visit(Self& self, Visitor& visitor) {
  visitor(Field("learning_rate", "peak learning rate").above(0, 1000).takes("RATE").essential(), self.learning_rate);
  visitor(Field("final_learning_rate", "learning rate at the last step; auto is a tenth of the peak")
              .needs({"schedule=linear", "schedule=cosine"})
              .range(0, 1000)
              .word(-1, "auto")
              .takes("RATE"),
          self.final_learning_rate);
  visitor(Field("schedule", "course of the learning rate after the warm-up").takes("NAME"), self.schedule);
  visitor(
      Field("warmup", "steps to reach the peak, or a percentage of all steps").formerly("warmup_share").takes("N|P%"),
      self.warmup);
}

template <class Self, class Visitor>
void heddle::training::TrainingOptions::visit(Self& self, Visitor& visitor) {
  visitor(Field("precision",
                "arithmetic of matrix products and of their operands; weights, norms, softmax and "
                "loss are always f32; auto measures which is faster")
              .takes("NAME")
              .essential(),
          self.precision);
  visitor(Field("steps", "optimizer steps; auto: as --epochs says").range(1).word(0, "auto").takes("N").essential(),
          self.steps);
  visitor(Field("epochs", "passes over the training data, instead of --steps; auto: as --steps says")
              .above(0, 1e9)
              .word(0, "auto")
              .takes("X")
              .essential(),
          self.epochs);
  visitor(Field("batch_size", "sequences in a micro-batch").range(1, 1000000).takes("N").essential(), self.batch_size);
  visitor(Field("accumulate", "micro-batches in a step").range(1, 1000000).takes("N"), self.accumulate);
  visitor(Field("label_smoothing", "probability of each target that is spread over all classes, or the vocabulary")
              .range(0, 0.99)
              .takes("P"),
          self.label_smoothing);
  visitor(Field("eval_every", "steps between evaluations, or after each epoch; the last step always has one")
              .range(1)
              .word(0, "epoch")
              .takes("N")
              .essential(),
          self.eval_every);
  visitor(
      Field("eval_tokens", "most tokens of an evaluation on token files or texts").range(1).word(0, "all").takes("N"),
      self.eval_tokens);
  visitor(Field("checkpoint_every", "steps between checkpoints; 0 means at the end only").range(0).takes("N"),
          self.checkpoint_every);
  visitor(Field("log_every", "steps between log lines").range(1).takes("N"), self.log_every);
}
