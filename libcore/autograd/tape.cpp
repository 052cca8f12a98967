#include "libcore/autograd/tape.hpp"

#include <algorithm>

#include "libcore/base/error.hpp"

namespace heddle {

namespace {
thread_local Recording* current_recording = nullptr;
}

GradientTarget Gradient::target() {
  if (base_) return {adding_target(), true};
  if (sum_.empty()) {
    sum_ = kept_.empty() ? Tensor(shape_, dtype_) : kept_;
    if (lifetime_ == Lifetime::persistent) kept_ = sum_;
    return {sum_, false};
  }
  by_rows_ = false;
  // Elements taken over by contribute() may be another gradient's too, which must not see this addition.
  if (std::exchange(taken_over_, false) && sum_.is_shared()) sum_ = sum_.copy();
  return {sum_, true};
}

Tensor Gradient::adding_target() {
  if (base_) return view_(base_->adding_target());
  const GradientTarget here = target();
  if (!here.add) here.tensor.fill(0);
  return here.tensor;
}

// Sets the sum to zeros, of which none is written where the last sum of rows has been cleared.
void Gradient::start_rows() {
  sum_ = kept_.empty() ? Tensor(shape_, dtype_) : kept_;
  if (!kept_is_zero_) sum_.fill(0);
  kept_ = sum_;
  by_rows_ = true;
  rows_.has.resize(static_cast<std::size_t>(shape_[0]), 0);
}

Tensor Gradient::adding_target(std::span<const TokenId> rows) {
  const bool follows = lifetime_ == Lifetime::persistent && !base_ && (by_rows_ || sum_.empty());
  if (!follows) return adding_target();
  if (sum_.empty()) start_rows();
  for (const TokenId row : rows) {
    char& has = rows_.has[static_cast<std::size_t>(row)];
    if (std::exchange(has, 1) == 0) rows_.listed.push_back(row);
  }
  return sum_;
}

std::optional<std::vector<Index>> Gradient::rows() const {
  if (!by_rows_) return std::nullopt;
  std::vector<Index> sorted = rows_.listed;
  std::ranges::sort(sorted);
  return sorted;
}

void Gradient::contribute(const Tensor& tensor) {
  check<ShapeError>(tensor.shape() == shape_, "gradient of shape ", tensor.shape(), " for a value of shape ", shape_);
  if (!base_ && sum_.empty() && lifetime_ == Lifetime::step && tensor.is_contiguous()) {
    sum_ = tensor;
    taken_over_ = true;
    return;
  }
  const GradientTarget here = target();
  if (here.add) {
    here.tensor.add(tensor);
  } else {
    here.tensor.assign(tensor);
  }
}

bool Gradient::is_empty() const {
  return base_ ? base_->is_empty() : sum_.empty();
}

Tensor Gradient::tensor() const {
  if (!base_) return sum_;
  return base_->is_empty() ? Tensor() : view_(base_->tensor());
}

void Gradient::clear() {
  if (base_) {
    base_->clear();
    return;
  }
  if (!sum_.empty()) kept_is_zero_ = by_rows_;
  for (const Index row : rows_.listed) {
    if (by_rows_) sum_.narrowed(0, row, 1).fill(0);
    rows_.has[static_cast<std::size_t>(row)] = 0;
  }
  rows_.listed.clear();
  by_rows_ = false;
  sum_ = Tensor();
  taken_over_ = false;
}

Tensor Gradient::release() {
  check<Error>(!base_, "the memory of a view is its base's");
  const Tensor sum = sum_;
  by_rows_ = false;  // or they were zeroed
  clear();
  kept_ = Tensor();
  kept_is_zero_ = false;
  return sum;
}

Variable leaf(const Tensor& value) {
  return {value, std::make_shared<Gradient>(value.shape())};
}

Recording::Recording() {
  check<Error>(current_recording == nullptr, "recordings do not nest");
  current_recording = this;
}

Recording::~Recording() {
  current_recording = nullptr;
}

Recording* Recording::current() {
  return current_recording;
}

void Recording::append(std::shared_ptr<Gradient> output, std::size_t input_bytes, Backward backward) {
  const Section* section = Section::current();
  entries_.push_back({std::move(output), input_bytes, section == nullptr ? nullptr : section->name(),
                      section == nullptr ? nullptr : section->part(), std::move(backward)});
}

void Recording::run(const Entry& entry, const Tensor& gradient) {
  if (entry.name == nullptr) return entry.backward(gradient);
  const Part part(entry.part);
  Section section(entry.name, Section::Pass::backward);
  // Inputs are read again and their gradients written.
  section.add_bytes(static_cast<double>(2 * entry.input_bytes + gradient.bytes()));
  entry.backward(gradient);
}

void Recording::watch_leaves(const std::vector<const Gradient*>& leaves, Complete complete) {
  check<Error>(entries_.empty(), "leaves are watched from the beginning of a recording or not at all");
  for (std::size_t i = 0; i < leaves.size(); ++i) {
    check<Error>(unused_.emplace(leaves[i]->root(), i).second, "a leaf is watched twice");
  }
  complete_ = std::move(complete);
}

void Recording::find_first_uses(std::span<const Variable> inputs) {
  for (const Variable& input : inputs) {
    if (input.gradient() == nullptr) continue;
    const auto found = unused_.find(input.gradient()->root());
    if (found == unused_.end()) continue;
    first_uses_.push_back({entries_.size() - 1, found->second});
    unused_.erase(found);
  }
}

void Recording::complete_unused() {
  std::vector<std::size_t> leaves;
  for (const auto& [gradient, leaf] : unused_) leaves.push_back(leaf);
  std::sort(leaves.begin(), leaves.end());  // the map goes by address
  for (const std::size_t leaf : leaves) complete_(leaf);
  unused_.clear();
}

void Recording::backward(const Variable& root, Real seed) {
  check<ShapeError>(root.value().size() == 1, "backward() starts from one number, not from shape ", root.shape());
  check<Error>(root.gradient() != nullptr, "backward() from a value that does not depend on any parameter");
  root.gradient()->contribute(Tensor(root.shape(), seed));
  complete_unused();
  while (!entries_.empty()) {
    {
      const Entry entry = std::move(entries_.back());
      entries_.pop_back();
      if (!entry.output->is_empty()) {
        const Tensor gradient = entry.output->tensor();
        entry.output->clear();
        run(entry, gradient);
      }
    }
    for (; !first_uses_.empty() && first_uses_.back().entry == entries_.size(); first_uses_.pop_back()) {
      complete_(first_uses_.back().leaf);
    }
  }
}

}  // namespace heddle
