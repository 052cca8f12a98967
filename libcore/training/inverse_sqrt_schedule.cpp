// inverse-sqrt: r sqrt(w / (s + 1)).  Source: Vaswani et al. 2017, equation 3.
#include <algorithm>
#include <cmath>

#include "libcore/training/schedule.hpp"

namespace heddle::training {

namespace {

struct InverseSquareRoot final : ScheduleSettings {
  static constexpr const char* kind_name = "inverse-sqrt";

  double rate(double peak, const SchedulePlace& place) const override {
    return peak * std::sqrt(std::max(1.0, static_cast<double>(place.warmup)) / (static_cast<double>(place.step) + 1));
  }
};

}  // namespace

ScheduleChoice inverse_sqrt_defaults() {
  return InverseSquareRoot();
}

}  // namespace heddle::training
