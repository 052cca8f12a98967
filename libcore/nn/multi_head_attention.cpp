#include "heddle/nn/multi_head_attention.hpp"

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

MultiHeadAttention::Heads MultiHeadAttention::heads_of(const Variable& x, const Pass& pass) const {
  // [batch, time, 3 width]
  const Variable stacked = ops::linear(x, weight_, bias_, {.low_rank = correction(adapters_, x, pass)});
  const auto part = [&](Index i) {
    return view(stacked, [i, shape = shape_](const Tensor& t) {
      const Index width = shape.heads * shape.width;
      return t.narrowed(-1, i * width, width).split(-1, shape.heads).swapped(1, 2);
    });
  };
  return {part(0), part(1), part(2)};
}

Variable MultiHeadAttention::merge(const Variable& mixed) const {
  return view(mixed, [](const Tensor& t) { return t.reshaped({t.shape()[0], t.shape()[1], t.shape()[2] * t.shape()[3]}); });
}

Variable MultiHeadAttention::operator()(const Variable& x, const Mask& mask, const Variable& residual,
                                        const Pass& pass) const {
  const Heads heads = heads_of(x, pass);
  return output_(merge(attention_->mix(heads.query, heads.key, heads.value, mask)), {.residual = residual}, pass);
}

std::unique_ptr<AttentionState> MultiHeadAttention::start(Index batch, Index capacity, Element cache) const {
  return attention_->start(batch, capacity, shape_, cache);
}

Variable MultiHeadAttention::step(const Variable& x, const StepRows& rows, Index window, AttentionState& state,
                                  const Variable& residual) const {
  const Heads heads = heads_of(x, {});
  const Tensor mixed = attention_->step(heads.query.value(), heads.key.value(), heads.value.value(), rows.seen,
                                        rows.added, window, state);
  return output_(merge(Variable(mixed)), {.residual = residual});
}

}  // namespace heddle::nn
