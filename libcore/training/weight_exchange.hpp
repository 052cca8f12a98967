// Sends the weights that each rank has updated to the others, during the next forward pass: a weight that operations
// announce (autograd/first_uses.hpp) need only have arrived when it is used, and in most models that is all of the
// matrices. The others are waited for before the pass. Where ranks exchange bfloat16, updates are rounded to it, on one
// rank as well, and sent in place of the weights.
#pragma once

#include <map>
#include <memory>
#include <optional>
#include <vector>

#include "libcore/autograd/first_uses.hpp"
#include "libcore/autograd/tape.hpp"
#include "libcore/parallel/group.hpp"
#include "libcore/tensor/precision.hpp"
#include "libcore/tensor/timeline.hpp"
#include "libcore/training/owners.hpp"
#include "libcore/training/rounded_updates.hpp"

namespace heddle::training {

// Numbers under way: as many as keep a network busy, and no more, since those on their way together arrive together.
inline constexpr Index most_weights_under_way = 1 << 22;

class WeightExchange {
 public:
  // Both must outlive this.
  WeightExchange(const Owners& owners, const parallel::Group& group, Precision exchanged = Precision::f32);

  // Before an update, when all weights have arrived.
  void before_update();
  // After it, before anything else reads the weights: they are not those of all ranks yet.
  void updated();
  // Every rank gets the weights that others have updated, if it has not yet.
  void finish();

  // The same, during a forward pass: what is recorded while it exists finds each weight there. To be created before
  // anything is recorded, and finish() called before the backward pass. Throws Error where an operation has read a
  // weight that was on its way.
  class During {
   public:
    During(WeightExchange& exchange, Recording& recording);

   private:
    UseWatch uses_;
  };

 private:
  // First use of the gradient's weights in a pass.
  enum class Use : char { unknown, announced, unannounced };
  void start();
  std::span<std::byte> bytes_of(std::size_t i);
  std::unique_ptr<parallel::Pending> begin_sending(std::size_t i);
  void begin_next();
  void begin_some();
  void arrive(std::size_t i);
  void end(std::size_t i);
  void see_announced(const Gradient& leaf);
  void see_used(std::span<const Variable> inputs);

  const Owners& owners_;
  const parallel::Group& group_;
  std::optional<RoundedUpdates> rounded_;           // set if updates are exchanged as bfloat16
  std::map<const Gradient*, std::size_t> numbers_;  // index in owners_.trained()
  std::vector<Use> uses_;                           // per gradient
  struct Sending {
    std::unique_ptr<parallel::Pending> messages;
    Transit transit{"weights"};
  };
  std::vector<char> is_there_;                     // per gradient: its owner's weights have arrived
  std::vector<std::optional<Sending>> under_way_;  // per gradient
  bool is_due_ = false;
  // In an exchange:
  std::vector<std::size_t> order_;      // order in which they are sent
  std::size_t begun_ = 0, oldest_ = 0;  // index in order_; all before the oldest have arrived
  Index numbers_under_way_ = 0;
};

}  // namespace heddle::training
