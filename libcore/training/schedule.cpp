#include "libcore/training/schedule.hpp"

#include <algorithm>

namespace heddle::training {

#define HEDDLE_SCHEDULE(name, identifier, summary) ScheduleChoice identifier##_defaults();
#include "libcore/training/schedules.def"
#undef HEDDLE_SCHEDULE

Schedule::Schedule(const ScheduleChoice& choice, double peak, Index steps)
    : choice_(choice), peak_(peak), warmup_(choice->warmup.of(steps)), steps_(steps) {}

double Schedule::rate(Index step) const {
  if (step < warmup_) return peak_ * (static_cast<double>(step) + 1) / static_cast<double>(warmup_);
  const Index summit = std::max<Index>(0, warmup_ - 1), last = steps_ - 1;
  const double progress = static_cast<double>(step - summit) / static_cast<double>(std::max<Index>(1, last - summit));
  return choice_->rate(peak_, {step, warmup_, std::clamp(progress, 0.0, 1.0)});
}

}  // namespace heddle::training

namespace heddle {

template <>
const KindList<training::ScheduleSettings>& kinds() {
  static const KindList<training::ScheduleSettings> list{"schedule",
                                                         {
#define HEDDLE_SCHEDULE(name, identifier, summary) {#name, summary, training::identifier##_defaults()},
#include "libcore/training/schedules.def"
#undef HEDDLE_SCHEDULE
                                                         }};
  return list;
}

}  // namespace heddle
