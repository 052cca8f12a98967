#include "heddle/nn/multi_head_attention.hpp"

#include "heddle/ops/gather.hpp"
#include "heddle/ops/linear.hpp"

namespace heddle::nn {

namespace {

HeadShape head_shape(const AttentionOptions& options) {
  check<UsageError>(options.heads > 0 && options.width % options.heads == 0, "width = ", options.width,
                    " is not divisible by heads = ", options.heads);
  return {options.heads, options.width / options.heads};
}

}  // namespace

MultiHeadAttention::MultiHeadAttention(const Scope& scope, const AttentionOptions& options)
    : shape_(head_shape(options)),
      attention_(make_attention(options.variant, shape_)),
      weight_(scope.stacked({"query/weight", "key/weight", "value/weight"}, {options.width, options.width},
                            Initializer::normal(options.deviation), Decay::yes)),
      bias_(options.bias == Bias::yes ? scope.stacked({"query/bias", "key/bias", "value/bias"}, {options.width},
                                                      Initializer::zeros(), Decay::no)
                                      : Variable()),
      adapters_(LowRank::of(scope, {"query", "key", "value"}, options.width, options.width)),
      output_(scope / "output", options.width, options.width, options.bias, options.output_deviation) {}

Variable MultiHeadAttention::stacked_parts(const Variable& x, const Pass& pass) const {
  return ops::linear(x, weight_, bias_, {.low_rank = correction(adapters_, x, pass)});
}

Variable MultiHeadAttention::heads_of(const Variable& stacked, Index part) const {
  return view(stacked, [part, shape = shape_](const Tensor& t) {
    const Index width = shape.heads * shape.width;
    return t.narrowed(-1, part * width, width).split(-1, shape.heads).swapped(1, 2);
  });
}

Variable MultiHeadAttention::merge(const Variable& mixed) const {
  return view(mixed, [](const Tensor& t) { return t.reshaped({t.shape()[0], t.shape()[1], t.shape()[2] * t.shape()[3]}); });
}

Variable MultiHeadAttention::operator()(const Variable& x, const Mask& mask, const Variable& residual, const Pass& pass,
                                        const std::vector<Index>& positions) const {
  const Variable stacked = stacked_parts(x, pass);
  const Variable asking = positions.empty() ? stacked : ops::gather_positions(stacked, positions);
  Mask seen = mask;
  if (!positions.empty()) seen.query_offsets = positions;
  const Variable mixed = attention_->mix(heads_of(asking, 0), heads_of(stacked, 1), heads_of(stacked, 2), seen);
  return output_(merge(mixed), {.residual = residual}, pass);
}

std::unique_ptr<AttentionState> MultiHeadAttention::start(Index batch, Index capacity, Element cache) const {
  return attention_->start(batch, capacity, shape_, cache);
}

Variable MultiHeadAttention::step(const Variable& x, const StepRows& rows, Index window, AttentionState& state,
                                  const Variable& residual) const {
  const Variable stacked = stacked_parts(x, {});
  const auto part = [&](Index i) { return heads_of(stacked, i).value(); };
  const Tensor mixed = attention_->step(part(0), part(1), part(2), rows.seen, rows.added, window, state);
  return output_(merge(Variable(mixed)), {.residual = residual});
}

}  // namespace heddle::nn
