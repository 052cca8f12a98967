// Training options, as files and command lines describe them.
#pragma once

#include <string>
#include <vector>

#include "libcore/base/visit.hpp"
#include "libcore/tensor/precision.hpp"
#include "libcore/training/warmup.hpp"

namespace heddle::training {

// The update rules by name, in the order of optimizers.def, and what they do: "adamw: …; adam: …".
std::vector<std::string> optimizer_names();
std::string optimizer_summaries();

enum class ScheduleKind { constant, linear, cosine, inverse_sqrt };

struct OptimizerOptions {
  std::string optimizer = "adamw";
  double beta1 = 0.9;
  double beta2 = 0.98;
  double epsilon = 1e-8;
  double weight_decay = -1;  // -1: 0.1 with adamw and coupled, where it is decoupled, else 0
  double momentum = 0.9;
  double clip_norm = 1.0;  // 0: none
  double ema_decay = 0;    // 0: none

  double decay() const {
    return weight_decay >= 0 ? weight_decay : optimizer == "adamw" || optimizer == "coupled" ? 0.1 : 0;
  }

  template <class Self, class Visitor>
  static void visit(Self& self, Visitor& visitor);
};

// A rate that suits the model. Whoever makes a training::TrainingConfig sets it.
inline constexpr double automatic_rate = -1;

struct ScheduleOptions {
  double learning_rate = 1e-3;
  double final_learning_rate = -1;  // -1: a tenth of the peak
  ScheduleKind schedule = ScheduleKind::cosine;
  Warmup warmup{.percent = 4};

  template <class Self, class Visitor>
  static void visit(Self& self, Visitor& visitor);
};

struct TrainingOptions {
  PrecisionChoice precision = PrecisionChoice::f32;
  Index steps = 2000;  // 0: by epochs; if they are 0, too, by the number of samples: see trainer.cpp
  double epochs = 0;   // 0: by steps
  Index batch_size = 12;
  Index accumulate = 1;
  double label_smoothing = 0;
  Index eval_every = 250;  // 0: an epoch
  Index eval_tokens = 131072;
  Index log_every = 10;

  Index samples_per_step() const { return batch_size * accumulate; }

  template <class Self, class Visitor>
  static void visit(Self& self, Visitor& visitor);
};

// Of the objective that detects replaced tokens.
struct DetectionOptions {
  double detection_weight = 50;

  template <class Self, class Visitor>
  static void visit(Self& self, Visitor& visitor) {
    visitor(Field("detection_weight", "weight of the loss of detecting replaced tokens, beside that of the generator")
                .above(0, 1e6)
                .takes("X"),
            self.detection_weight);
  }
};

// All of it.
struct TrainingConfig {
  OptimizerOptions optimizer;
  ScheduleOptions schedule;
  TrainingOptions training;
  std::uint64_t seed = 0;
  Index checkpoint_every = 0;  // steps; 0: never
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
  visitor(Field("beta1", "Adam's decay of the first moment")
              .needs({"optimizer=adamw", "optimizer=coupled", "optimizer=adam"})
              .range(0, 0.999999)
              .takes("X"),
          self.beta1);
  visitor(Field("beta2", "decay of the second moment, and of Adadelta's squared steps (rho)")
              .needs({"optimizer=adamw", "optimizer=coupled", "optimizer=adam", "optimizer=adadelta"})
              .range(0, 0.999999)
              .takes("X"),
          self.beta2);
  visitor(
      Field("epsilon", "added to the square root of the second moment; by Adadelta under both of its roots")
          .needs({"optimizer=adamw", "optimizer=coupled", "optimizer=adam", "optimizer=adagrad", "optimizer=adadelta"})
          .above(0, 1)
          .takes("X"),
      self.epsilon);
  visitor(
      Field("weight_decay",
            "weight decay of matrices; norms and biases have none; auto means 0.1 with --optimizer adamw and coupled, "
            "else 0")
          .range(0, 100)
          .word(-1, "auto")
          .takes("X"),
      self.weight_decay);
  visitor(Field("momentum", "momentum coefficient").needs({"optimizer=sgd"}).range(0, 0.999999).takes("X"),
          self.momentum);
  visitor(Field("clip_norm", "maximum norm of the gradient")
              .above(0, 1e6)
              .word(0, "none")
              .formerly("clip")
              .formerly("grad_clip")
              .formerly("max_grad_norm")
              .takes("NORM"),
          self.clip_norm);
  visitor(Field("ema_decay",
                "decay of the exponential moving average of the weights, for example 0.99; the average is evaluated "
                "and saved")
              .above(0, 0.999999)
              .word(0, "none")
              .formerly("ema")
              .takes("X"),
          self.ema_decay);
}

template <class Self, class Visitor>
void heddle::training::ScheduleOptions::visit(Self& self, Visitor& visitor) {
  visitor(Field("learning_rate", "peak learning rate; auto means 0.001, or 0.08 / width for a trained model")
              .formerly("lr")
              .above(0, 1000)
              .word(automatic_rate, "auto")
              .takes("RATE")
              .essential(),
          self.learning_rate);
  visitor(Field("final_learning_rate", "learning rate at the last step; auto means a tenth of the peak")
              .needs({"schedule=linear", "schedule=cosine"})
              .range(0, 1000)
              .word(-1, "auto")
              .takes("RATE"),
          self.final_learning_rate);
  visitor(Field("schedule", "learning rate after the warmup").takes("NAME"), self.schedule);
  visitor(Field("warmup", "warmup steps, or a percentage of all steps")
              .formerly("warmup_share")
              .formerly("warmup_ratio")
              .formerly("warmup_steps")
              .takes("N|P%"),
          self.warmup);
}

template <class Self, class Visitor>
void heddle::training::TrainingOptions::visit(Self& self, Visitor& visitor) {
  visitor(
      Field("precision", "precision of matrix products and activations, all else is f32; auto measures which is faster")
          .takes("NAME")
          .essential(),
      self.precision);
  visitor(Field("steps", "steps; auto means by --epochs")
              .formerly("max_steps")
              .formerly("num_steps")
              .range(1, 1e9)
              .word(0, "auto")
              .takes("N")
              .essential(),
          self.steps);
  visitor(Field("epochs", "number of passes over the training data; auto means by --steps")
              .formerly("num_epochs")
              .above(0, 1e9)
              .word(0, "auto")
              .takes("X")
              .essential(),
          self.epochs);
  visitor(Field("batch_size", "number of sequences in a micro-batch").range(1, 1000000).takes("N").essential(),
          self.batch_size);
  visitor(Field("accumulate", "number of micro-batches in a step")
              .formerly("gradient_accumulation_steps")
              .range(1, 1000000)
              .takes("N"),
          self.accumulate);
  visitor(Field("label_smoothing", "fraction of the target probability that is spread evenly over all classes")
              .range(0, 0.99)
              .takes("P"),
          self.label_smoothing);
  visitor(Field("eval_every", "steps between evaluations, or after each epoch; the last step always has one")
              .range(1, 1e9)
              .word(0, "epoch")
              .takes("N"),
          self.eval_every);
  visitor(Field("eval_tokens", "maximum number of tokens per evaluation").range(1, 1e12).word(0, "all").takes("N"),
          self.eval_tokens);
  visitor(Field("log_every", "steps between log lines").range(1, 1e9).takes("N"), self.log_every);
}
