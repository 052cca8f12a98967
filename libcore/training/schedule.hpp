// The learning rate as a function of the step.
#pragma once

#include "libcore/base/kind.hpp"
#include "libcore/training/warmup.hpp"

namespace heddle::training {

// A step after the warm-up.
struct SchedulePlace {
  Index step;       // from 0
  Index warmup;     // steps
  double progress;  // 0 at the peak, 1 at the last step
};

// Base of the settings of every schedule. A schedule's own derive from it and have a visit().
struct ScheduleSettings {
  Warmup warmup{.percent = 4};

  virtual ~ScheduleSettings() = default;
  virtual void validate() const {}
  virtual double rate(double peak, const SchedulePlace& place) const = 0;

  template <class Self, class Visitor>
  static void visit(Self& self, Visitor& visitor) {
    visitor(Field("warmup", "warmup steps, or a percentage of all steps")
                .formerly("warmup_share")
                .formerly("warmup_ratio")
                .formerly("warmup_steps")
                .takes("N|P%")
                .changeable(),
            self.warmup);
  }
};

// One that ends at a fraction of the peak.
struct FallingSchedule : ScheduleSettings {
  double end_fraction = 0.1;

  template <class Self, class Visitor>
  static void visit(Self& self, Visitor& visitor) {
    ScheduleSettings::visit(self, visitor);
    visitor(Field("final", "learning rate at the last step, as a fraction of the peak")
                .formerly("final_learning_rate")
                .range(0, 1)
                .takes("X")
                .changeable(),
            self.end_fraction);
  }
};

using ScheduleChoice = KindOf<ScheduleSettings>;

}  // namespace heddle::training

namespace heddle {

// The schedules, in the order of schedules.def.
template <>
const KindList<training::ScheduleSettings>& kinds();

}  // namespace heddle

namespace heddle::training {

// The rate of step s (from 0) of S in all, with w warm-up steps and peak r (SPEC A11). The warm-up is linear:
// r (s + 1) / w, so that step t = max(0, w - 1) has the peak. After it, the progress is p = (s - t) / (S - 1 - t).
class Schedule {
 public:
  Schedule(const ScheduleChoice& choice, double peak, Index steps);
  double rate(Index step) const;

 private:
  ScheduleChoice choice_;
  double peak_;
  Index warmup_, steps_;
};

}  // namespace heddle::training
