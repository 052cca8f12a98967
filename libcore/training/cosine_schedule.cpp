// cosine, with the end e = final r: e + (r - e) (1 + cos pi p) / 2
#include <cmath>
#include <numbers>

#include "libcore/training/schedule.hpp"

namespace heddle::training {

namespace {

struct Cosine final : FallingSchedule {
  static constexpr const char* kind_name = "cosine";

  double rate(double peak, const SchedulePlace& place) const override {
    const double end = peak * end_fraction;
    return end + (peak - end) * 0.5 * (1 + std::cos(std::numbers::pi * place.progress));
  }
};

}  // namespace

ScheduleChoice cosine_defaults() {
  return Cosine();
}

}  // namespace heddle::training
