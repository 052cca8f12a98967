#include "libcore/training/rounded_updates.hpp"

#include <algorithm>

#include "libcore/tensor/kernel.hpp"
#include "libcore/tensor/profile.hpp"
#include "libcore/tensor/threads.hpp"
#include "libcore/training/slices.hpp"

namespace heddle::training {

namespace {

HEDDLE_KERNEL void round_update(Real* weights, const Real* before, BFloat16* update, Index count) {
  for (Index i = 0; i < count; ++i) {
    store(update[i], weights[i] - before[i]);
    weights[i] = before[i] + load(update[i]);
  }
}

HEDDLE_KERNEL void add_update(Real* weights, const BFloat16* update, Index count) {
  for (Index i = 0; i < count; ++i) weights[i] += load(update[i]);
}

}  // namespace

RoundedUpdates::RoundedUpdates(const Owners& owners, const parallel::Group& group)
    : owners_(owners), group_(group), before_(owners.trained().size()), updates_(owners.trained().size()) {}

void RoundedUpdates::keep() {
  const Section section("rounding of updates");
  for (std::size_t i = 0; i < before_.size(); ++i) {
    const Trained& of = owners_.trained()[i];
    if (!is_own(of)) continue;
    before_[i] = Tensor({of.size()});
    const Real* const weights = of.weights().data();
    Real* const kept = before_[i].data();
    parallel_ranges(of.size(), slice_elements,
                    [&](Index begin, Index end) { std::copy(weights + begin, weights + end, kept + begin); });
  }
}

void RoundedUpdates::round() {
  const Section section("rounding of updates");
  for (std::size_t i = 0; i < before_.size(); ++i) {
    if (before_[i].empty()) continue;
    const Trained& trained = owners_.trained()[i];
    Real* const weights = trained.weights().data();
    const Real* const kept = before_[i].data();
    BFloat16* const update = of(i).data<BFloat16>();
    parallel_ranges(trained.size(), slice_elements, [&](Index begin, Index end) {
      round_update(weights + begin, kept + begin, update + begin, end - begin);
    });
    before_[i] = {};
    if (group_.is_alone()) release(i);
  }
}

const Tensor& RoundedUpdates::of(std::size_t gradient) {
  Tensor& update = updates_[gradient];
  if (update.empty()) update = Tensor({owners_.trained()[gradient].size()}, DType::bfloat16);
  return update;
}

void RoundedUpdates::add(std::size_t gradient) {
  const Trained& trained = owners_.trained()[gradient];
  Real* const weights = trained.weights().data();
  const BFloat16* const update = of(gradient).data<BFloat16>();
  parallel_ranges(trained.size(), slice_elements,
                  [&](Index begin, Index end) { add_update(weights + begin, update + begin, end - begin); });
}

}  // namespace heddle::training
