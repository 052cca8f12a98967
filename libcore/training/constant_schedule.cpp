// constant: r
#include "libcore/training/schedule.hpp"

namespace heddle::training {

namespace {

struct Constant final : ScheduleSettings {
  static constexpr const char* kind_name = "constant";

  double rate(double peak, const SchedulePlace&) const override { return peak; }
};

}  // namespace

ScheduleChoice constant_defaults() {
  return Constant();
}

}  // namespace heddle::training
