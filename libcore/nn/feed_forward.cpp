#include "heddle/nn/feed_forward.hpp"

namespace heddle::nn {

FeedForward::FeedForward(const Scope& scope, const FeedForwardOptions& options)
    : activation_(options.activation),
      up_(scope / "up", options.width, options.inner_width, options.bias, options.deviation),
      down_(scope / "down", options.inner_width, options.width, options.bias, options.output_deviation) {}

Variable FeedForward::operator()(const Variable& x, const Variable& residual, const Pass& pass) const {
  return down_(up_(x, {.activation = activation_}, pass), {.residual = residual}, pass);
}

}  // namespace heddle::nn
