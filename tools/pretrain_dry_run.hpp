// What a training run would take.
#pragma once

#include "pretrain_options.hpp"

namespace heddle {

struct Estimate {
  Index parameters = 0;
  double memory_bytes = 0;  // peak of the process, from the second step on
  double flops_per_step = 0;
  double seconds_per_step = 0;
  Index steps = 0;

  template <class Self, class Visitor>
  static void visit(Self& self, Visitor& visitor) {
    visitor(Field("parameters", "numbers that are trained"), self.parameters);
    visitor(Field("memory_bytes", "peak memory of the process"), self.memory_bytes);
    visitor(Field("flops_per_step", "floating-point operations of a step's matrix products"), self.flops_per_step);
    visitor(Field("seconds_per_step", "estimated from the rate of matrix products and memory measured now"),
            self.seconds_per_step);
    visitor(Field("steps", "steps in all"), self.steps);
  }
};

Estimate estimate(const PretrainOptions& options);  // at the precision in force

// Prints the estimate to standard output.
void dry_run(const PretrainOptions& options);

}  // namespace heddle
