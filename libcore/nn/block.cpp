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

// The sublayer adds x itself, in the cache, unless dropout comes between.
template <class Sublayer>
Variable Block::residual(const Variable& x, const Norm& norm, std::uint64_t site, const Pass& pass,
                         const Sublayer& sublayer) const {
  const bool pre = norm_position_ == NormPosition::pre;
  const Variable input = pre ? norm(x, Norm::Result::activation) : x;
  const Variable sum =
      pass.dropout == 0 ? sublayer(input, x) : ops::add(x, pass.drop(sublayer(input, Variable()), site));
  return pre ? sum : norm(sum, Norm::Result::residual);
}

Variable Block::operator()(const Variable& x, const Mask& mask, const Pass& pass) const {
  const Variable attended =
      residual(x, attention_norm_, attention_site_, pass,
               [&](const Variable& n, const Variable& rest) { return attention_(n, mask, rest, pass); });
  return residual(attended, feed_forward_norm_, feed_forward_site_, pass,
                  [&](const Variable& n, const Variable& rest) { return feed_forward_(n, rest, pass); });
}

Tensor Block::step(const Tensor& x, const StepRows& rows, Index window, AttentionState& state) const {
  const Pass pass;
  const Variable attended = residual(
      Variable(x), attention_norm_, attention_site_, pass,
      [&](const Variable& n, const Variable& rest) { return attention_.step(n, rows, window, state, rest); });
  return residual(attended, feed_forward_norm_, feed_forward_site_, pass,
                  [&](const Variable& n, const Variable& rest) { return feed_forward_(n, rest); })
      .value();
}

}  // namespace heddle::nn
