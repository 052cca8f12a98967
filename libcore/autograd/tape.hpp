// Reverse-mode differentiation. While a Recording exists, operations append to its tape; backward() walks the tape from
// its end, without recursion, so graphs may be as deep as memory allows. Without a Recording operations only compute,
// and their intermediate results are freed at once.
//
// Gradients accumulate: an operation adds its contribution to each of its inputs' gradients. What an entry of the tape
// keeps alive is freed as soon as its backward step has run.
#pragma once

#include <functional>
#include <initializer_list>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <utility>
#include <vector>

#include "libcore/tensor/profile.hpp"
#include "libcore/tensor/tensor.hpp"

namespace heddle {

// Destination of an operation's contribution to a gradient. When `add` is false the tensor holds nothing yet and the
// operation must set every element; else it adds to what is there.
struct GradientTarget {
  Tensor tensor;
  bool add;
  Real beta() const { return add ? Real(1) : Real(0); }
};

// The gradient of one variable: of the shape of its value once anything has been contributed, and of its dtype
// unless another was contributed whole.
class Gradient {
 public:
  using View = std::function<Tensor(const Tensor&)>;

  // A persistent gradient, that of a parameter, keeps its memory from step to step.
  enum class Lifetime { step, persistent };
  explicit Gradient(const Shape& shape, Lifetime lifetime = Lifetime::step, DType dtype = DType::real)
      : shape_(shape), lifetime_(lifetime), dtype_(dtype) {}
  // The gradient of a view is the same view of the base's gradient.
  Gradient(const Shape& shape, std::shared_ptr<Gradient> base, View view)
      : shape_(shape),
        lifetime_(Lifetime::step),
        dtype_(base->dtype_),
        base_(std::move(base)),
        view_(std::move(view)) {}

  // The tensor to contribute to.
  GradientTarget target();
  // The tensor to contribute to, holding zeros or earlier contributions: for operations that can only add.
  Tensor adding_target();
  // The same, for an operation that adds to these rows of a matrix alone; one may occur several times. A persistent
  // gradient keeps which they are, so that nothing need read or clear all of a large table of which few rows are used.
  Tensor adding_target(std::span<const TokenId> rows);
  // Contributes a tensor that nothing else reads or writes afterwards, so that it may be taken over instead of copied.
  void contribute(const Tensor& tensor);

  bool is_empty() const;  // nothing contributed yet
  Tensor tensor() const;  // the sum so far; empty when is_empty()
  void clear();           // clears the sum; a persistent gradient keeps its memory
  Tensor release();       // clears it and hands over the sum with its memory; not of views
  // The rows that may not be zero, in ascending order; nothing where they are not known.
  std::optional<std::vector<Index>> rows() const;

  // The gradient that owns the elements; for a view, the one that it is a view of.
  const Gradient* root() const { return base_ ? base_->root() : this; }
  Gradient* root() { return base_ ? base_->root() : this; }

 private:
  const Shape shape_;
  const Lifetime lifetime_;
  const DType dtype_;
  // The gradient of a persistent matrix to which only rows were added so far.
  struct Rows {
    std::vector<char> has;      // per row
    std::vector<Index> listed;  // rows that it has
  };
  void start_rows();

  Tensor sum_;
  Tensor kept_;
  bool kept_is_zero_ = false;
  bool taken_over_ = false;  // sum_ came whole from contribute()
  bool by_rows_ = false;     // rows_ has all that may not be zero in sum_
  Rows rows_;
  std::shared_ptr<Gradient> base_;
  View view_;
};

// A value in a computation. Copies are handles to the same value and gradient.
class Variable {
 public:
  Variable() = default;
  // A constant: nothing flows back into it.
  explicit Variable(Tensor value) : value_(std::move(value)) {}
  Variable(Tensor value, std::shared_ptr<Gradient> gradient)
      : value_(std::move(value)), gradient_(std::move(gradient)) {}

  const Tensor& value() const { return value_; }
  const Shape& shape() const { return value_.shape(); }
  bool empty() const { return value_.empty(); }
  // Null for constants and for results outside a Recording.
  const std::shared_ptr<Gradient>& gradient() const { return gradient_; }

 private:
  Tensor value_;
  std::shared_ptr<Gradient> gradient_;
};

// A leaf whose gradient is wanted, for tests and for parameters.
Variable leaf(const Tensor& value);

// Records operations on this thread until it is destroyed. Recordings do not nest.
class Recording {
 public:
  Recording();
  ~Recording();
  Recording(const Recording&) = delete;
  Recording& operator=(const Recording&) = delete;

  // The recording on this thread, or null.
  static Recording* current();

  using Backward = std::function<void(const Tensor& gradient)>;
  // `input_bytes`: of the operation's inputs, for profiles.
  void append(std::shared_ptr<Gradient> output, std::size_t input_bytes, Backward backward);

  // Called with each result of an operation that is recorded from here on, and with its inputs: for debugging.
  using Watch = std::function<void(const Tensor& result, std::span<const Variable> inputs)>;
  void watch(Watch watch) { watch_ = std::move(watch); }
  void show(const Tensor& result, std::span<const Variable> inputs) const {
    if (watch_) watch_(result, inputs);
  }

  // To be called before anything is recorded: has backward() call complete(i) once for each of these leaves, as soon as
  // nothing more is added to its gradient, so that it may be exchanged with other processes meanwhile. The order is a
  // function of what was recorded: first the leaves that nothing used, in their own order, then by their first uses,
  // the last one first. Views of a leaf count as the leaf.
  using Complete = std::function<void(std::size_t leaf)>;
  void watch_leaves(const std::vector<const Gradient*>& leaves, Complete complete);
  // Notes the uses by the operation that was appended last.
  void note_uses(std::span<const Variable> inputs) {
    if (!unused_.empty()) find_first_uses(inputs);
  }

  // Propagates d(seed * root) to every leaf and empties the tape. Root must have one element.
  void backward(const Variable& root, Real seed = 1);

 private:
  struct Entry {
    std::shared_ptr<Gradient> output;
    std::size_t input_bytes;
    const char* name;  // name of the section that recorded it; null without a profile
    const char* part;  // the section's
    Backward backward;
  };
  struct FirstUse {
    std::size_t entry, leaf;
  };
  static void run(const Entry& entry, const Tensor& gradient);
  void find_first_uses(std::span<const Variable> inputs);
  void complete_unused();
  std::vector<Entry> entries_;
  Watch watch_;
  Complete complete_;
  std::map<const Gradient*, std::size_t> unused_;  // leaves that no operation has used yet
  std::vector<FirstUse> first_uses_;               // in the order of the entries
};

// Wraps a result. When recording and any input has a gradient, `backward` is called later with the result's gradient
// and contributes to the gradients of the inputs that it captured; else it is dropped.
template <class Function>
Variable record(Tensor value, std::span<const Variable> inputs, Function&& backward) {
  Recording* recording = Recording::current();
  bool wanted = false;
  std::size_t input_bytes = 0;
  for (const Variable& input : inputs) {
    wanted = wanted || input.gradient() != nullptr;
    input_bytes += input.value().bytes();
  }
  if (Section* section = Section::current()) section->add_bytes(static_cast<double>(input_bytes + value.bytes()));
  if (recording == nullptr || !wanted) return Variable(std::move(value));
  recording->show(value, inputs);
  auto gradient = std::make_shared<Gradient>(value.shape(), Gradient::Lifetime::step, value.dtype());
  recording->append(gradient, input_bytes, std::forward<Function>(backward));
  recording->note_uses(inputs);
  return {std::move(value), std::move(gradient)};
}
template <class Function>
Variable record(Tensor value, std::initializer_list<Variable> inputs, Function&& backward) {
  return record(std::move(value), std::span(inputs.begin(), inputs.size()), std::forward<Function>(backward));
}

// Applies a view of tensors (Tensor::narrowed and its like) to a variable, without an entry on the tape.
template <class View>
Variable view(const Variable& x, View&& function) {
  Tensor value = function(x.value());
  if (Recording::current() == nullptr || x.gradient() == nullptr) return Variable(std::move(value));
  auto gradient = std::make_shared<Gradient>(value.shape(), x.gradient(), std::forward<View>(function));
  return {std::move(value), std::move(gradient)};
}

}  // namespace heddle
