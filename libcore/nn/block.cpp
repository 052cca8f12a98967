#include "heddle/nn/block.hpp"

#include "heddle/ops/arithmetic.hpp"

namespace heddle::nn {

Block::Block(const Scope& scope, const BlockOptions& options)
    : norm_position_(options.norm_position),
      attention_norm_(scope / "attention_norm", options.attention.width, options.norm),
      attention_(scope / "attention", options.attention),
      feed_forward_norm_(scope / "feed_forward_norm", options.attention.width, options.norm),
      feed_forward_(scope / "feed_forward", options.feed_forward),
      attention_site_(random_site(scope.path() + "/attention/dropout")),
      feed_forward_site_(random_site(scope.path() + "/feed_forward/dropout")) {}

template <class Sublayer>
Variable Block::residual(const Variable& x, const Norm& norm, const Sublayer& sublayer) const {
  if (norm_position_ == NormPosition::pre) return ops::add(x, sublayer(norm(x)));
  return norm(ops::add(x, sublayer(x)));
}

Variable Block::operator()(const Variable& x, const Mask& mask, const Pass& pass) const {
  const Variable attended = residual(
      x, attention_norm_, [&](const Variable& n) { return pass.drop(attention_(n, mask), attention_site_); });
  return residual(attended, feed_forward_norm_,
                  [&](const Variable& n) { return pass.drop(feed_forward_(n), feed_forward_site_); });
}

Tensor Block::step(const Tensor& x, const StepRows& rows, Index window, AttentionState& state) const {
  const Variable attended = residual(Variable(x), attention_norm_, [&](const Variable& n) {
    return Variable(attention_.step(n.value(), rows, window, state));
  });
  return residual(attended, feed_forward_norm_, [&](const Variable& n) { return feed_forward_(n); }).value();
}

}  // namespace heddle::nn
