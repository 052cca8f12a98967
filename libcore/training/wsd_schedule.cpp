// wsd, warmup-stable-decay, with the end e = final r and the part d that decays: r while p < 1 - d, then
// r + (e - r) (p - 1 + d) / d.
// Source: Hu et al. 2024, "MiniCPM"; Hägele et al. 2024, "Scaling laws and compute-optimal training beyond fixed
// training durations".
#include <algorithm>

#include "libcore/training/schedule.hpp"

namespace heddle::training {

namespace {

struct Wsd final : ScheduleSettings {
  static constexpr const char* kind_name = "wsd";
  double decay = 0.2, end_fraction = 0;

  double rate(double peak, const SchedulePlace& place) const override {
    const double fallen = std::clamp((place.progress - (1 - decay)) / decay, 0.0, 1.0);
    return peak + (peak * end_fraction - peak) * fallen;
  }

  template <class Self, class Visitor>
  static void visit(Self& self, Visitor& visitor) {
    ScheduleSettings::visit(self, visitor);
    visitor(Field("decay", "fraction of the steps after the warm-up in which the rate falls")
                .above(0, 1)
                .takes("X")
                .changeable(),
            self.decay);
    visitor(
        Field("final", "learning rate at the last step, as a fraction of the peak").range(0, 1).takes("X").changeable(),
        self.end_fraction);
  }
};

}  // namespace

ScheduleChoice wsd_defaults() {
  return Wsd();
}

}  // namespace heddle::training
