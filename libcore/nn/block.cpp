#include "libcore/nn/block.hpp"
#include "libcore/nn/parts.hpp"

#include "libcore/ops/arithmetic.hpp"
#include "libcore/ops/gather.hpp"

namespace heddle::nn {

namespace {

std::optional<Norm> norm_if(bool wanted, const Scope& scope, const BlockOptions& options) {
  if (!wanted) return std::nullopt;
  return Norm(scope, options.attention.width, options.norm);
}

std::optional<CrossAttention> crossing_of(const Scope& scope, const Scope& stack, const BlockOptions& options) {
  if (!options.cross_attention) return std::nullopt;
  return CrossAttention(scope, stack, *options.cross_attention);
}

std::uint64_t site(const Scope& scope, const char* sublayer) {
  return random_site(scope.path() + "/" + sublayer + "/dropout");
}

}  // namespace

Block::Block(const Scope& scope, const Scope& stack, const BlockOptions& options)
    : order_(options.order),
      attention_norm_(scope / "attention_norm", options.attention.width, options.norm),
      attention_(scope / "attention", stack / "attention", options.attention),
      cross_norm_(
          norm_if(options.cross_attention && order_ != BlockOrder::parallel, scope / "cross_attention_norm", options)),
      cross_(crossing_of(scope / "cross_attention", stack / "cross_attention", options)),
      feed_forward_norm_(norm_if(order_ != BlockOrder::parallel, scope / "feed_forward_norm", options)),
      feed_forward_(scope / "feed_forward", options.feed_forward),
      attention_site_(site(scope, "attention")),
      cross_site_(site(scope, "cross_attention")),
      feed_forward_site_(site(scope, "feed_forward")) {}

Variable Block::add(const Variable& rest, const Sublayer& f, const Variable& input, std::uint64_t site,
                    const Pass& pass) const {
  if (pass.dropout == 0 && pass.sample_dropout == 0) return f(input, rest);
  const Part part(parts::residuals);
  return ops::add(rest, pass.drop_samples(pass.drop(f(input, Variable()), site), site + 1));
}

// The orders: x becomes what the block makes of it.
Variable Block::run(const Variable& x, const Sublayers& f, const Pass& pass) const {
  const auto activation = Norm::Result::activation, residual = Norm::Result::residual;
  const Sublayer feed = [&](const Variable& n, const Variable& rest) { return feed_forward_(n, rest, pass); };
  Variable h = f.rest;
  switch (order_) {
    case BlockOrder::pre:
      h = add(h, f.attend, attention_norm_(x, activation), attention_site_, pass);
      if (f.cross) h = add(h, f.cross, (*cross_norm_)(h, activation), cross_site_, pass);
      return add(h, feed, (*feed_forward_norm_)(h, activation), feed_forward_site_, pass);
    case BlockOrder::post:
      h = attention_norm_(add(h, f.attend, x, attention_site_, pass), residual);
      if (f.cross) h = (*cross_norm_)(add(h, f.cross, h, cross_site_, pass), residual);
      return (*feed_forward_norm_)(add(h, feed, h, feed_forward_site_, pass), residual);
    case BlockOrder::parallel:
      break;
  }
  const Variable n = attention_norm_(x, activation);
  const Variable asking = h.shape() == x.shape() ? n : attention_norm_(h, activation);
  h = add(h, f.attend, n, attention_site_, pass);
  if (f.cross) h = add(h, f.cross, asking, cross_site_, pass);
  return add(h, feed, asking, feed_forward_site_, pass);
}

Block::Sublayer Block::crossing(const CrossAttention::Memory* memory, const Pass& pass, PairWeights* weights) const {
  if (!cross_) return {};
  check<Error>(memory != nullptr, "a block with cross-attention has nothing to attend to");
  return [=, this, &pass](const Variable& n, const Variable& rest) {
    if (weights != nullptr) *weights = cross_->weights(n, *memory);
    return (*cross_)(n, *memory, rest, pass);
  };
}

Variable Block::read_of(const Variable& x) const {
  return x.empty() || order_ == BlockOrder::post ? x : attention_norm_(x, Norm::Result::activation);
}

Surroundings Block::read_of(const Surroundings& around) const {
  return {read_of(around.earlier), read_of(around.content), around.segments, around.values};
}

Variable Block::operator()(const Variable& x, const Mask& mask, const Pass& pass, const BlockContext& context,
                           PairWeights* cross_weights) const {
  const Surroundings around = read_of(context.around);
  const Sublayer attend = [&](const Variable& n, const Variable& rest) {
    return attention_(n, mask, rest, pass, {}, around);
  };
  return run(x, {attend, crossing(context.memory, pass, cross_weights), x}, pass);
}

Variable Block::at(const std::vector<Index>& positions, const Variable& x, const Mask& mask, const Pass& pass,
                   const Surroundings& around) const {
  const Sublayer attend = [&](const Variable& n, const Variable& rest) {
    return attention_(n, mask, rest, pass, positions, read_of(around));
  };
  return run(x, {attend, {}, ops::gather_positions(x, positions)}, pass);
}

Tensor Block::step(const Tensor& x, const StepRows& rows, Index window, AttentionState& state,
                   const BlockContext& context, PairWeights* cross_weights) const {
  const Variable input(x);
  const Pass pass;
  const Sublayer attend = [&](const Variable& n, const Variable& rest) {
    return attention_.step(n, rows, window, state, rest, context.around.values);
  };
  return run(input, {attend, crossing(context.memory, pass, cross_weights), input}, pass).value();
}

PairWeights Block::weights(const Variable& x, const Mask& mask, const Surroundings& around) const {
  return attention_.weights(read_of(x), mask, read_of(around));
}

}  // namespace heddle::nn
