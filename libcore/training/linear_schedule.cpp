// linear, with the end e = final r: r + (e - r) p
#include "libcore/training/schedule.hpp"

namespace heddle::training {

namespace {

struct Linear final : FallingSchedule {
  static constexpr const char* kind_name = "linear";
  Linear() { end_fraction = 0; }

  double rate(double peak, const SchedulePlace& place) const override {
    return peak + (peak * end_fraction - peak) * place.progress;
  }
};

}  // namespace

ScheduleChoice linear_defaults() {
  return Linear();
}

}  // namespace heddle::training
