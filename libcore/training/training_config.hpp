// Training config, for every objective.
#pragma once

#include <cstdint>

#include "libcore/base/visit.hpp"
#include "libcore/tensor/precision.hpp"
#include "libcore/training/optimizer.hpp"
#include "libcore/training/schedule.hpp"

namespace heddle::training {

// A rate that suits the model. Whoever makes a TrainingConfig sets it.
inline constexpr double automatic_rate = -1;

struct TrainingOptions {
  PrecisionChoice precision = PrecisionChoice::f32;
  Index steps = 2000;  // 0: by epochs; if they are 0, too, by the number of samples: see trainer.cpp
  double epochs = 0;   // 0: by steps
  Index batch_size = 12;
  Index accumulate = 1;
  double learning_rate = 1e-3;
  double clip_norm = 1;  // 0: none
  double ema_decay = 0;  // 0: none
  double label_smoothing = 0;
  Index eval_every = 250;  // 0: an epoch
  Index eval_tokens = 131072;
  Index log_every = 10;

  Index samples_per_step() const { return batch_size * accumulate; }

  template <class Self, class Visitor>
  static void visit(Self& self, Visitor& visitor) {
    visitor(Field("precision", "precision of matrix products and activations; auto: the faster one")
                .takes("NAME")
                .essential()
                .changeable(),
            self.precision);
    visitor(Field("steps", "steps; auto: by `epochs`")
                .formerly("max_steps")
                .formerly("num_steps")
                .range(1, 1e9)
                .word(0, "auto")
                .takes("N")
                .essential()
                .changeable(),
            self.steps);
    visitor(Field("epochs", "passes over the data; auto: by `steps`")
                .formerly("num_epochs")
                .above(0, 1e9)
                .word(0, "auto")
                .takes("X")
                .essential()
                .changeable(),
            self.epochs);
    visitor(Field("batch_size", "sequences in a micro-batch").range(1, 1000000).takes("N").essential(),
            self.batch_size);
    visitor(Field("accumulate", "micro-batches in a step")
                .formerly("gradient_accumulation_steps")
                .range(1, 1000000)
                .takes("N"),
            self.accumulate);
    visitor(Field("learning_rate", "peak learning rate; auto: by model")
                .formerly("lr")
                .above(0, 1000)
                .word(automatic_rate, "auto")
                .takes("RATE")
                .essential()
                .changeable(),
            self.learning_rate);
    visitor(Field("clip_norm", "maximum norm of the gradient")
                .above(0, 1e6)
                .word(0, "none")
                .formerly("clip")
                .formerly("grad_clip")
                .formerly("max_grad_norm")
                .takes("NORM")
                .changeable(),
            self.clip_norm);
    visitor(Field("ema_decay", "decay of the exponential moving average of the weights, which is evaluated and saved")
                .above(0, 0.999999)
                .word(0, "none")
                .formerly("ema")
                .takes("X"),
            self.ema_decay);
    visitor(Field("label_smoothing", "fraction of the target probability that is spread evenly over all classes")
                .range(0, 0.99)
                .takes("P"),
            self.label_smoothing);
    visitor(Field("eval_every", "steps between evaluations; epoch: one after each")
                .range(1, 1e9)
                .word(0, "epoch")
                .takes("N")
                .changeable(),
            self.eval_every);
    visitor(Field("eval_tokens", "maximum number of tokens per evaluation")
                .range(1, 1e12)
                .word(0, "all")
                .takes("N")
                .changeable(),
            self.eval_tokens);
    visitor(Field("log_every", "steps between log lines").range(1, 1e9).takes("N").changeable(), self.log_every);
  }
};

struct TrainingConfig {
  OptimizerChoice optimizer{};
  ScheduleChoice schedule{};
  TrainingOptions training{};
  std::uint64_t seed = 0;
  Index checkpoint_every = 0;  // steps; 0: never
};

}  // namespace heddle::training
