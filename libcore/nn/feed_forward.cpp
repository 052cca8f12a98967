#include "libcore/nn/feed_forward.hpp"
#include "libcore/nn/parts.hpp"

#include "libcore/ops/gate.hpp"
#include "libcore/ops/rank_sums.hpp"

namespace heddle::nn {

namespace {

std::optional<Linear> plain(const Scope& scope, const FeedForwardOptions& o) {
  if (o.gated) return std::nullopt;
  return Linear(scope / "up", o.width, o.inner_width, o.bias, o.stddev, Initializer::zeros(), Divided::outputs);
}

std::optional<StackedLinear> gated(const Scope& scope, const FeedForwardOptions& o) {
  if (!o.gated) return std::nullopt;
  return StackedLinear(scope, {"gate", "up"}, o.width, o.inner_width, o.bias, o.stddev, Divided::outputs);
}

const ModelRanks* dividing_ranks(const Scope& scope, const FeedForwardOptions& options) {
  const ModelRanks* const ranks = ModelRanks::of(scope);
  if (ranks != nullptr) (void)ranks->part("ffn_width", options.inner_width);
  return ranks;
}

}  // namespace

FeedForward::FeedForward(const Scope& scope, const FeedForwardOptions& options)
    : activation_(options.activation),
      ranks_(dividing_ranks(scope, options)),
      up_(plain(scope, options)),
      gate_and_up_(gated(scope, options)),
      down_(scope / "down", options.inner_width, options.width, options.bias, options.output_stddev,
            Initializer::zeros(), Divided::inputs) {}

Variable FeedForward::inner(const Variable& x, const Pass& pass) const {
  if (up_) return (*up_)(x, {.activation = activation_}, pass);
  const Variable both = (*gate_and_up_)(x, pass);
  const auto half = [&](Index i) {
    return view(both, [i](const Tensor& t) { return t.narrowed(-1, i * t.shape()[-1] / 2, t.shape()[-1] / 2); });
  };
  return ops::gate(half(0), half(1), activation_);
}

Variable FeedForward::operator()(const Variable& x, const Variable& residual, const Pass& pass) const {
  const Part part(parts::feed_forward);
  const Variable read = ranks_ == nullptr ? x : ops::read_by_ranks(x, ranks_->group());
  return down_(inner(read, pass), {.residual = residual}, pass);
}

}  // namespace heddle::nn
