// The learning rate as a function of the step.
#pragma once

#include "libcore/training/options.hpp"

namespace heddle::training {

// The rate of step s (from 0) of S in all, with w warm-up steps, peak r and end e (SPEC A11). The warm-up is linear:
// r (s + 1) / w, so that step t = max(0, w - 1) has the peak. After it, with p = (s - t) / (S - 1 - t), which is 1 at
// the last step:
//   constant r;  linear r + (e - r) p;  cosine e + (r - e) (1 + cos pi p) / 2;  inverse-sqrt r sqrt(w / (s + 1)).
class Schedule {
 public:
  Schedule(const ScheduleOptions& options, Index steps);  // throws UsageError for an end below 0 other than -1
  double rate(Index step) const;

 private:
  ScheduleKind kind_;
  double peak_, end_;
  Index warmup_, steps_;
};

}  // namespace heddle::training
