#include "libcore/training/weight_exchange.hpp"

#include "libcore/base/error.hpp"
#include "libcore/nn/parts.hpp"
#include "libcore/tensor/profile.hpp"

namespace heddle::training {

WeightExchange::WeightExchange(const Owners& owners, const parallel::Group& group, Precision exchanged)
    : owners_(owners),
      group_(group),
      uses_(owners.trained().size(), Use::unknown),
      is_there_(owners.trained().size(), 1),
      under_way_(owners.trained().size()) {
  if (exchanged == Precision::bf16) rounded_.emplace(owners, group);
  for (std::size_t i = 0; i < owners.trained().size(); ++i) numbers_[owners.trained()[i].gradient] = i;
}

void WeightExchange::before_update() {
  if (rounded_) rounded_->keep();
}

void WeightExchange::updated() {
  if (rounded_) rounded_->round();
  is_due_ = !group_.is_alone();
}

// Bytes sent: the weights, or their update.
std::span<std::byte> WeightExchange::bytes_of(std::size_t i) {
  if (!rounded_) return std::as_writable_bytes(owners_.trained()[i].weights());
  const Tensor& update = rounded_->of(i);
  return {static_cast<std::byte*>(update.raw()), update.bytes()};
}

std::unique_ptr<parallel::Pending> WeightExchange::begin_sending(std::size_t i) {
  const int owner = owners_.trained()[i].owner;
  const std::span<std::byte> bytes = bytes_of(i);
  std::vector<parallel::Outgoing> sent;
  std::vector<parallel::Incoming> received;
  if (owner != group_.rank()) received.push_back({owner, bytes});
  for (int other = 0; other < group_.size() && owner == group_.rank(); ++other) {
    if (other != group_.rank()) sent.push_back({other, bytes});
  }
  return group_.begin(sent, received);
}

// Weights that a pass needs first are sent first, since messages between two ranks are ordered.
void WeightExchange::start() {
  if (!is_due_) return;
  is_due_ = false;
  order_.clear();
  numbers_under_way_ = 0;
  begun_ = oldest_ = 0;
  for (const bool is_announced : {false, true}) {
    for (std::size_t i = 0; i < uses_.size(); ++i) {
      if (owners_.trained()[i].owner != everyone && (uses_[i] == Use::announced) == is_announced) order_.push_back(i);
    }
  }
  for (const std::size_t i : order_) is_there_[i] = 0;
  for (const std::size_t i : order_) {
    if (uses_[i] != Use::announced) arrive(i);
  }
  begin_some();
}

void WeightExchange::begin_next() {
  const Part part(nn::parts::optimizer);
  Section section("exchange of weights");
  const std::size_t i = order_[begun_++];
  section.add_bytes(static_cast<double>(bytes_of(i).size()));
  under_way_[i] = Sending{.messages = begin_sending(i)};
  numbers_under_way_ += owners_.trained()[i].size();
}

void WeightExchange::begin_some() {
  while (begun_ < order_.size() && numbers_under_way_ < most_weights_under_way) begin_next();
}

void WeightExchange::finish() {
  start();
  for (const std::size_t i : order_) arrive(i);
}

// All ranks begin them in one order, and one that waits has begun all before: so none waits for ever.
void WeightExchange::arrive(std::size_t i) {
  if (is_there_[i]) return;
  const Part part(nn::parts::optimizer);
  const Section section("exchange of weights");
  begin_some();
  while (!under_way_[i]) begin_next();
  under_way_[i]->messages->wait();
  end(i);
}

void WeightExchange::end(std::size_t i) {
  under_way_[i]->transit.arrived();
  under_way_[i].reset();
  if (rounded_ && owners_.trained()[i].owner != group_.rank()) rounded_->add(i);
  if (rounded_) rounded_->release(i);
  is_there_[i] = 1;
  numbers_under_way_ -= owners_.trained()[i].size();
}

// Also advances pending messages: some networks make no progress between calls.
void WeightExchange::see_announced(const Gradient& leaf) {
  const auto found = numbers_.find(&leaf);
  if (found == numbers_.end()) return;
  arrive(found->second);
  if (uses_[found->second] == Use::unknown) uses_[found->second] = Use::announced;
  for (; oldest_ < begun_; ++oldest_) {
    const std::size_t i = order_[oldest_];
    if (is_there_[i]) continue;
    if (!under_way_[i]->messages->is_done()) break;
    end(i);
  }
  begin_some();
}

void WeightExchange::see_used(std::span<const Variable> inputs) {
  for (const Variable& input : inputs) {
    if (!input.gradient()) continue;
    const auto found = numbers_.find(input.gradient()->root());
    if (found == numbers_.end()) continue;
    check<Error>(is_there_[found->second] != 0, owners_.trained()[found->second].parameters.front()->name,
                 " was used before it had arrived from rank ", owners_.trained()[found->second].owner);
    if (uses_[found->second] == Use::unknown) uses_[found->second] = Use::unannounced;
  }
}

WeightExchange::During::During(WeightExchange& exchange, Recording& recording)
    : uses_([&exchange](const Gradient& leaf) { exchange.see_announced(leaf); }) {
  recording.watch([&exchange](const Tensor&, std::span<const Variable> inputs) { exchange.see_used(inputs); });
  exchange.start();
}

}  // namespace heddle::training
