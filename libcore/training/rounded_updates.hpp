// Updates of weights that are rounded to bfloat16, so that ranks can send these in place of the weights
// (WeightExchange): after an update of w to u the weight is w + round(u - w), on all ranks and on one alone. The error
// of a weight is that of its last update, 1/512 of it at most. Tables that all ranks update are left as they are.
#pragma once

#include <vector>

#include "libcore/parallel/group.hpp"
#include "libcore/training/owners.hpp"

namespace heddle::training {

class RoundedUpdates {
 public:
  // Both must outlive this.
  RoundedUpdates(const Owners& owners, const parallel::Group& group);

  // Before an update: keeps the weights that this rank updates, until round(), after it.
  void keep();
  void round();

  // The memory of a gradient's update, [size of the weights] bfloat16. This rank's own have values after round(), those
  // of others when they have arrived; then add() adds them to the weights.
  const Tensor& of(std::size_t gradient);
  void add(std::size_t gradient);
  void release(std::size_t gradient) { updates_[gradient] = {}; }

 private:
  bool is_own(const Trained& of) const { return of.owner == group_.rank(); }

  const Owners& owners_;
  const parallel::Group& group_;
  std::vector<Tensor> before_, updates_;  // by gradient; empty where there is none
};

}  // namespace heddle::training
