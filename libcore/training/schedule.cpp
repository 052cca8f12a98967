#include "libcore/training/schedule.hpp"

#include <algorithm>
#include <cmath>

namespace heddle::training {

Schedule::Schedule(const ScheduleOptions& options, Index steps)
    : kind_(options.schedule),
      peak_(options.learning_rate),
      end_(options.final_learning_rate < 0 ? options.learning_rate / 10 : options.final_learning_rate),
      warmup_(options.warmup.of(steps)),
      steps_(steps) {
  check<UsageError>(options.final_learning_rate >= 0 || options.final_learning_rate == -1, "--final-learning-rate ",
                    options.final_learning_rate, ": must be -1 or at least 0");
}

double Schedule::rate(Index step) const {
  const auto s = static_cast<double>(step), w = static_cast<double>(warmup_);
  if (step < warmup_) return peak_ * (s + 1) / w;
  const Index summit = std::max<Index>(0, warmup_ - 1), last = steps_ - 1;
  const double progress =
      std::clamp(static_cast<double>(step - summit) / static_cast<double>(std::max<Index>(1, last - summit)), 0.0, 1.0);
  switch (kind_) {
    case ScheduleKind::constant:
      return peak_;
    case ScheduleKind::linear:
      return peak_ + (end_ - peak_) * progress;
    case ScheduleKind::cosine:
      return end_ + (peak_ - end_) * 0.5 * (1 + std::cos(3.14159265358979323846 * progress));
    case ScheduleKind::inverse_sqrt:
      return peak_ * std::sqrt(std::max(1.0, w) / (s + 1));
  }
  return peak_;
}

}  // namespace heddle::training
