#include "heddle/nn/multi_head_attention.hpp"

#include <algorithm>

#include "heddle/ops/linear.hpp"
#include "heddle/tensor/precision.hpp"

namespace heddle::nn {

namespace {

HeadShape head_shape(const AttentionOptions& options) {
  check<UsageError>(options.heads > 0 && options.width % options.heads == 0, "width = ", options.width,
                    " is not divisible by heads = ", options.heads);
  return {options.heads, options.width / options.heads};
}

}  // namespace

MultiHeadAttention::MultiHeadAttention(const Scope& scope, const AttentionOptions& options)
    : shape_(head_shape(options)), attention_(make_attention(options.variant, shape_)),
      weight_(scope.stacked({"query/weight", "key/weight", "value/weight"}, {options.width, options.width},
                            Initializer::normal(options.deviation), Decay::yes)),
      bias_(options.bias == Bias::yes ? scope.stacked({"query/bias", "key/bias", "value/bias"}, {options.width},
                                                      Initializer::zeros(), Decay::no)
                                      : Variable()),
      adapters_{LowRank::of(scope / "query", options.width, options.width),
                LowRank::of(scope / "key", options.width, options.width),
                LowRank::of(scope / "value", options.width, options.width)},
      output_(scope / "output", options.width, options.width, options.bias, options.output_deviation) {}

// One of query, key and value as a product of its own, with its adapter if it has one: [batch, time, width].
Variable MultiHeadAttention::adapted_part(const Variable& x, Index part, const Pass& pass) const {
  const auto rows_of = [part, width = shape_.heads * shape_.width](const Variable& stacked) {
    return stacked.empty() ? stacked : view(stacked, [part, width](const Tensor& t) {
      return t.narrowed(0, part * width, width);
    });
  };
  const auto& adapter = adapters_.at(static_cast<std::size_t>(part));
  const Variable correction = adapter ? (*adapter)(x, {}, pass) : Variable();
  return ops::linear(x, rows_of(weight_), rows_of(bias_), {.residual = correction, .output = activation_element()});
}

MultiHeadAttention::Heads MultiHeadAttention::heads_of(const Variable& x, const Pass& pass) const {
  if (std::any_of(adapters_.begin(), adapters_.end(), [](const auto& adapter) { return adapter.has_value(); })) {
    const auto part = [&](Index i) {
      return view(adapted_part(x, i, pass), [heads = shape_.heads](const Tensor& t) {
        return t.split(-1, heads).swapped(1, 2);
      });
    };
    return {part(0), part(1), part(2)};
  }
  const Variable stacked = ops::linear(x, weight_, bias_);  // [batch, time, 3 width]
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
