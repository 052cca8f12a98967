#include "heddle/nn/block.hpp"

#include "heddle/ops/arithmetic.hpp"
#include "heddle/ops/gather.hpp"

namespace heddle::nn {

Block::Block(const Scope& scope, const BlockOptions& options)
    : norm_position_(options.norm_position),
      attention_norm_(scope / "attention_norm", options.attention.width, options.norm),
      attention_(scope / "attention", options.attention),
      feed_forward_norm_(scope / "feed_forward_norm", options.attention.width, options.norm),
      feed_forward_(scope / "feed_forward", options.feed_forward),
      attention_site_(random_site(scope.path() + "/attention/dropout")),
      feed_forward_site_(random_site(scope.path() + "/feed_forward/dropout")) {}

// What the sublayer makes of x is added to `rest`, in the cache, unless dropout comes between.
template <class Sublayer>
Variable Block::residual(const Variable& x, const Variable& rest, const Norm& norm, std::uint64_t site,
                         const Pass& pass, const Sublayer& sublayer) const {
  const bool pre = norm_position_ == NormPosition::pre;
  const Variable input = pre ? norm(x, Norm::Result::activation) : x;
  const Variable sum =
      pass.dropout == 0 ? sublayer(input, rest) : ops::add(rest, pass.drop(sublayer(input, Variable()), site));
  return pre ? sum : norm(sum, Norm::Result::residual);
}

Variable Block::feed(const Variable& x, const Pass& pass) const {
  return residual(x, x, feed_forward_norm_, feed_forward_site_, pass,
                  [&](const Variable& n, const Variable& rest) { return feed_forward_(n, rest, pass); });
}

Variable Block::operator()(const Variable& x, const Mask& mask, const Pass& pass) const {
  const auto attend = [&](const Variable& n, const Variable& rest) { return attention_(n, mask, rest, pass); };
  return feed(residual(x, x, attention_norm_, attention_site_, pass, attend), pass);
}

Variable Block::at(const std::vector<Index>& positions, const Variable& x, const Mask& mask, const Pass& pass) const {
  const auto attend = [&](const Variable& n, const Variable& rest) {
    return attention_(n, mask, rest, pass, positions);
  };
  const Variable rest = ops::gather_positions(x, positions);
  return feed(residual(x, rest, attention_norm_, attention_site_, pass, attend), pass);
}

Tensor Block::step(const Tensor& x, const StepRows& rows, Index window, AttentionState& state) const {
  const Variable input(x);
  const auto attend = [&](const Variable& n, const Variable& rest) {
    return attention_.step(n, rows, window, state, rest);
  };
  return feed(residual(input, input, attention_norm_, attention_site_, {}, attend), {}).value();
}

}  // namespace heddle::nn
