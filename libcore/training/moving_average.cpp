#include "libcore/training/moving_average.hpp"

#include <algorithm>

#include "libcore/tensor/kernel.hpp"
#include "libcore/tensor/profile.hpp"
#include "libcore/tensor/threads.hpp"
#include "libcore/training/slices.hpp"

namespace heddle::training {

namespace {

HEDDLE_KERNEL void approach(Real* average, const Real* weights, Real fraction, Index count) {
  for (Index i = 0; i < count; ++i) average[i] += fraction * (weights[i] - average[i]);
}

}  // namespace

MovingAverage::MovingAverage(double decay, Parameters& parameters) : decay_(decay) {
  if (decay == 0) return;
  for (const Parameter& parameter : parameters.all()) {
    if (!parameter.is_trained()) continue;
    kept_.push_back({"trained/" + parameter.name, parameter.value().copy()});
    weights_.push_back(parameter.value());
  }
}

void MovingAverage::update(Index step) const {
  if (kept_.empty()) return;
  Section section("weight average");
  const auto n = static_cast<double>(step + 1);
  const auto fraction = static_cast<Real>(1 - std::min(decay_, (1 + n) / (10 + n)));
  for (std::size_t i = 0; i < kept_.size(); ++i) {
    const Tensor &average = kept_[i].value, &weights = weights_[i];
    section.add_bytes(3.0 * static_cast<double>(weights.bytes()));
    parallel_ranges(weights.size(), slice_elements, [&](Index begin, Index end) {
      approach(average.data() + begin, weights.data() + begin, fraction, end - begin);
    });
  }
}

void MovingAverage::exchange() const {
  for (std::size_t i = 0; i < kept_.size(); ++i) {
    const Tensor &kept = kept_[i].value, &weights = weights_[i];
    std::swap_ranges(weights.data(), weights.data() + weights.size(), kept.data());
  }
}

}  // namespace heddle::training
