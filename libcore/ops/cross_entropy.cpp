#include "libcore/ops/cross_entropy.hpp"

#include <algorithm>
#include <memory>
#include <numeric>
#include <utility>

#include "libcore/autograd/first_uses.hpp"
#include "libcore/tensor/exponentials.hpp"
#include "libcore/tensor/math.hpp"
#include "libcore/tensor/matmul.hpp"
#include "libcore/tensor/precision.hpp"
#include "libcore/tensor/threads.hpp"

namespace heddle::ops {

namespace {

constexpr Index rows_per_task = 8;

// Terms common to the elements of a row of gradients.
struct RowGradient {
  Real log_sum, uniform, factor;
  Real inverse_cap;  // 0: none

  // factor (p - q) times the derivative of the cap, 1 - (y / c)^2.
  HEDDLE_INLINE Real at(Real logit, Real expected) const {
    const Real capped = inverse_cap * logit;
    return factor * (math::exp(logit - log_sum) - expected) * (1 - capped * capped);
  }
};

// The gradient for all classes as if none were the target: q is the uniform part of the target's distribution.
template <class T>
HEDDLE_INLINE void gradient_loop(const Real* logits, const RowGradient& row, T* gradient, Index count) {
  for (Index i = 0; i < count; ++i) store(gradient[i], row.at(logits[i], row.uniform));
}
HEDDLE_KERNEL void row_gradient(const Real* logits, const RowGradient& row, Real* gradient, Index count) {
  gradient_loop(logits, row, gradient, count);
}
HEDDLE_KERNEL void row_gradient(const Real* logits, const RowGradient& row, BFloat16* gradient, Index count) {
  gradient_loop(logits, row, gradient, count);
}
HEDDLE_KERNEL void cap_row(Real cap, Real* logits, Index count) {
  for (Index i = 0; i < count; ++i) logits[i] = cap * math::tanh(logits[i] / cap);
}

void check_targets(const Shape& logits, const std::vector<TokenId>& targets) {
  const Index classes = logits[-1], rows = logits.size() / std::max<Index>(1, classes);
  check<ShapeError>(rows == static_cast<Index>(targets.size()), targets.size(), " targets for logits of shape ",
                    logits);
  for (const TokenId target : targets) {
    check<DataError>(target < classes, "target ", target, " is outside the ", classes, " classes");
  }
}

// Weight of each row.
std::vector<double> row_weights(const std::vector<TokenId>& targets, const std::vector<double>& class_weights,
                                Index classes) {
  check<ShapeError>(class_weights.empty() || static_cast<Index>(class_weights.size()) == classes, class_weights.size(),
                    " class weights for ", classes, " classes");
  std::vector<double> weights;
  for (const TokenId target : targets) {
    weights.push_back(target < 0 ? 0 : class_weights.empty() ? 1 : class_weights[static_cast<std::size_t>(target)]);
  }
  return weights;
}

// The loss of all rows. Their logits may come in parts, rows [first, first + rows of the part).
class RowLosses {
 public:
  RowLosses(const std::vector<TokenId>& targets, Index classes, const CrossEntropy& options)
      : targets_(targets),
        weights_(row_weights(targets, options.class_weights, classes)),
        smoothing_(options.smoothing),
        inverse_cap_(options.cap > 0 ? static_cast<Real>(1 / options.cap) : Real(0)),
        divisor_(options.divisor > 0 ? options.divisor : std::accumulate(weights_.begin(), weights_.end(), 0.0)),
        log_sums_({static_cast<Index>(targets.size())}),
        losses_(targets.size(), 0.0) {
    if (divisor_ == 0) divisor_ = 1;
  }

  void add(Index first, const Tensor& logits) {
    const Index classes = logits.shape()[-1];
    parallel_ranges(logits.size() / classes, rows_per_task, [&](Index begin, Index end) {
      for (Index r = begin; r < end; ++r) {
        const TokenId target = targets_[static_cast<std::size_t>(first + r)];
        if (target < 0) continue;
        const Real* row = logits.data() + r * classes;
        const double log_sum = log_sum_exp(row, classes);
        const double mean = smoothing_ > 0 ? sum_of(row, classes) / static_cast<double>(classes) : 0;
        const auto at = static_cast<std::size_t>(first + r);
        losses_[at] = weights_[at] * (log_sum - (1 - smoothing_) * row[target] - smoothing_ * mean);
        log_sums_[first + r] = static_cast<Real>(log_sum);
      }
    });
  }

  Tensor total() const {
    double sum = 0;
    for (const double row : losses_) sum += row;
    return Tensor({1}, static_cast<Real>(sum / divisor_));
  }

  // gradient = seed d loss / d logits; it may be the logits themselves.
  void write_gradient(Index first, const Tensor& logits, const Tensor& gradient, Real seed) const {
    const Index classes = logits.shape()[-1];
    gradient.with_data([&](auto* to) {
      parallel_ranges(logits.size() / classes, rows_per_task, [&](Index begin, Index end) {
        for (Index r = begin; r < end; ++r)
          write_row(first + r, logits.data() + r * classes, classes, seed, to + r * classes);
      });
    });
  }

 private:
  template <class T>
  void write_row(Index row, const Real* logits, Index classes, Real seed, T* to) const {
    const TokenId target = targets_[static_cast<std::size_t>(row)];
    if (target < 0) {
      std::fill_n(to, classes, T{});
      return;
    }
    const auto factor = static_cast<Real>(seed * weights_[static_cast<std::size_t>(row)] / divisor_);
    const RowGradient of_row{log_sums_[row], static_cast<Real>(smoothing_ / static_cast<double>(classes)), factor,
                             inverse_cap_};
    const Real logit = logits[target];
    row_gradient(logits, of_row, to, classes);
    store(to[target], of_row.at(logit, static_cast<Real>(1 - smoothing_) + of_row.uniform));
  }

  std::vector<TokenId> targets_;
  std::vector<double> weights_;
  double smoothing_;
  Real inverse_cap_;
  double divisor_;
  Tensor log_sums_;  // [rows]
  std::vector<double> losses_;
};

// Adds the rows of dy [rows, classes] up: the gradient of what was added to each.
template <class T>
void add_rows(const T* dy, Index rows, const GradientTarget& to) {
  const Index classes = to.tensor.size();
  parallel_ranges(classes, 1024, [&](Index begin, Index end) {
    for (Index i = begin; i < end; ++i) {
      double sum = to.add ? to.tensor[i] : 0.0;
      for (Index r = 0; r < rows; ++r) sum += static_cast<double>(load(dy[r * classes + i]));
      to.tensor[i] = static_cast<Real>(sum);
    }
  });
}

// A head's logits, a part of the rows at a time.
class HeadLoss {
 public:
  HeadLoss(const Tensor& hidden, const Tensor& weight, const Tensor& bias, RowLosses losses, double cap)
      : cap_(static_cast<Real>(cap)),
        hidden_(hidden.as_matrix()),
        weight_(weight),
        bias_(bias),
        losses_(std::move(losses)),
        rows_(hidden_.shape()[0]),
        part_(std::clamp<Index>(most_logits / std::max<Index>(1, weight.shape()[0]), 1, std::max<Index>(1, rows_))) {}

  // The loss. Logits that are all one part are kept for the backward pass; more of them are computed again there.
  Tensor forward(bool keep) {
    for (Index first = 0; first < rows_; first += part_) {
      const Tensor logits = logits_of(first);
      losses_.add(first, logits);
      if (keep && part_ == rows_) kept_ = logits;
    }
    return losses_.total();
  }

  void backward(Real seed, const std::shared_ptr<Gradient>& dhidden, const std::shared_ptr<Gradient>& dweight,
                const std::shared_ptr<Gradient>& dbias) {
    const GradientTarget to_hidden = dhidden ? dhidden->target() : GradientTarget{};
    for (Index first = 0; first < rows_; first += part_) {
      const Tensor logits = kept_.empty() ? logits_of(first) : std::exchange(kept_, Tensor());
      const Tensor gradients = activation_dtype() == DType::real ? logits : Tensor(logits.shape(), DType::bfloat16);
      losses_.write_gradient(first, logits, gradients, seed);
      if (dweight) {
        const GradientTarget to = dweight->target();
        matmul(transpose(gradients), matrix(hidden_of(first)), target(to.tensor), 1, to.beta());
      }
      if (dbias) {
        const GradientTarget to = dbias->target();
        gradients.with_data([&](const auto* dy) { add_rows(dy, gradients.shape()[0], to); });
      }
      if (dhidden) {
        const Tensor part = to_hidden.tensor.as_matrix().narrowed(0, first, logits.shape()[0]);
        matmul(matrix(gradients), matrix(weight_), target(part), 1, to_hidden.beta());
      }
    }
  }

 private:
  static constexpr Index most_logits = Index{64} << 20;  // numbers at a time

  Tensor hidden_of(Index first) const { return hidden_.narrowed(0, first, std::min(part_, rows_ - first)); }

  Tensor logits_of(Index first) const {
    const Tensor logits = uncapped(first);
    const Index classes = logits.shape()[1];
    if (cap_ > 0) {
      parallel_for(logits.shape()[0], [&](Index row) { cap_row(cap_, logits.data() + row * classes, classes); });
    }
    return logits;
  }

  Tensor uncapped(Index first) const {
    const Tensor hidden = hidden_of(first), logits({hidden.shape()[0], weight_.shape()[0]});
    if (bias_.empty()) {
      matmul(matrix(hidden), transpose(weight_), target(logits));
      return logits;
    }
    parallel_for(logits.shape()[0],
                 [&](Index row) { std::copy_n(bias_.data(), bias_.size(), logits.data() + row * bias_.size()); });
    matmul(matrix(hidden), transpose(weight_), target(logits), 1, 1);
    return logits;
  }

  Real cap_;
  Tensor hidden_, weight_, bias_;
  RowLosses losses_;
  Index rows_, part_;
  Tensor kept_;
};

}  // namespace

Variable cross_entropy(const Variable& logits, const std::vector<TokenId>& targets, const CrossEntropy& options) {
  const Section section("cross-entropy");
  const Tensor& values = logits.value();
  check<ShapeError>(values.is_contiguous(), "cross_entropy needs contiguous logits");
  check_targets(values.shape(), targets);
  RowLosses losses(targets, values.shape()[-1], options);
  losses.add(0, values);
  const Tensor total = losses.total();
  return record(total, {logits}, [losses = std::move(losses), values, gradient = logits.gradient()](const Tensor& dy) {
    const Tensor gradients = values.is_shared() ? Tensor(values.shape()) : values;
    losses.write_gradient(0, values, gradients, dy[0]);
    gradient->contribute(gradients);
  });
}

Variable linear_cross_entropy(const Variable& hidden, const Variable& weight, const Variable& bias,
                              const std::vector<TokenId>& targets, const CrossEntropy& options) {
  about_to_use({weight, bias});
  const Section section("head and cross-entropy");
  check<ShapeError>(
      weight.shape().rank() == 2 && hidden.shape()[-1] == weight.shape()[1] && hidden.value().is_contiguous(),
      "linear_cross_entropy: hidden states of shape ", hidden.shape(), " and weights of shape ", weight.shape());
  const Index classes = weight.shape()[0];
  check<ShapeError>(bias.empty() || bias.shape() == Shape{classes}, "linear_cross_entropy: bias of shape ",
                    bias.shape(), " for ", classes, " classes");
  check_targets(hidden.shape().without_last().with_last(classes), targets);
  const auto loss = std::make_shared<HeadLoss>(hidden.value(), weight.value(), bias.value(),
                                               RowLosses(targets, classes, options), options.cap);
  const Tensor total = loss->forward(Recording::current() != nullptr);
  return record(total, {hidden, weight, bias},
                [loss, dhidden = hidden.gradient(), dweight = weight.gradient(),
                 dbias = bias.gradient()](const Tensor& dy) { loss->backward(dy[0], dhidden, dweight, dbias); });
}

std::vector<double> negative_log_likelihoods(const Tensor& logits, const std::vector<TokenId>& targets) {
  check_targets(logits.shape(), targets);
  const Index classes = logits.shape()[-1];
  std::vector<double> losses(targets.size(), 0.0);
  parallel_ranges(static_cast<Index>(targets.size()), rows_per_task, [&](Index begin, Index end) {
    for (Index r = begin; r < end; ++r) {
      const TokenId target = targets[static_cast<std::size_t>(r)];
      const Real* row = logits.data() + r * classes;
      if (target >= 0) losses[static_cast<std::size_t>(r)] = log_sum_exp(row, classes) - row[target];
    }
  });
  return losses;
}

}  // namespace heddle::ops
