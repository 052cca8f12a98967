#include "heddle/nn/multi_head_attention.hpp"

#include <algorithm>

#include "heddle/ops/arithmetic.hpp"
#include "heddle/ops/gather.hpp"

namespace heddle::nn {

namespace {

const HeadShape& checked(const HeadShape& shape) {
  check<UsageError>(shape.kv_heads > 0 && shape.heads % shape.kv_heads == 0, "heads = ", shape.heads,
                    " is not a multiple of kv_heads = ", shape.kv_heads);
  return shape;
}

// Without projections, heads are the states cut into parts.
void check_parts(const AttentionOptions& options) {
  const HeadShape& shape = options.shape;
  check<UsageError>(shape.heads * shape.key_width == options.width && shape.value_width == shape.key_width &&
                        options.memory_width == options.width,
                    options.variant, " has no projections, so its ", shape.heads, " heads of width ", shape.key_width,
                    " must be the whole width ", options.width);
}

std::vector<StackedLinear> projections(const Scope& scope, const AttentionOptions& options, bool same_source) {
  const HeadShape& shape = options.shape;
  const Index query = shape.heads * shape.key_width, key = shape.kv_heads * shape.key_width,
              value = shape.kv_heads * shape.value_width;
  std::vector<StackedLinear> layers;
  const auto add = [&](const std::vector<std::string>& names, Index in, Index out) {
    layers.emplace_back(scope, names, in, out, options.bias, options.stddev);
  };
  if (same_source && query == key && key == value) {
    add({"query", "key", "value"}, options.width, query);
    return layers;
  }
  add({"query"}, options.width, query);
  if (key == value) {
    add({"key", "value"}, options.memory_width, key);
  } else {
    add({"key"}, options.memory_width, key);
    add({"value"}, options.memory_width, value);
  }
  return layers;
}

AttentionSupport all_needed(const AttentionOptions& options, const AttentionPositions* positions) {
  AttentionSupport needed = options.needed;
  needed.grouped = options.shape.heads != options.shape.kv_heads;
  if (positions == nullptr) return needed;
  const PositionNeeds asked = positions->needs();
  needed.bias = asked.bias;
  needed.relative = asked.relative;
  needed.offset_values = asked.offset_values;
  check<UsageError>(!asked.whole || !needed.cached,
                    "these positions need all keys at once, and cannot continue texts step by step");
  return needed;
}

}  // namespace

MultiHeadAttention::MultiHeadAttention(const Scope& scope, const Scope& stack, const AttentionOptions& options,
                                       Source source)
    : shape_(checked(options.shape)),
      attention_(make_attention(options.variant, {scope, stack}, shape_)),
      positions_(options.positions == nullptr ? nullptr : options.positions->for_layer(scope / "positions")),
      inputs_(attention_->has_projections() ? projections(scope, options, source == Source::same)
                                            : std::vector<StackedLinear>()) {
  check_support(options.variant, attention_->support(), all_needed(options, positions_.get()));
  if (attention_->has_projections()) {
    output_.emplace(scope / "output", shape_.heads * shape_.value_width, options.width, options.bias,
                    options.output_stddev);
  } else {
    check_parts(options);
  }
}

// Columns [first, first + heads * width) of a product as heads: [batch, heads, time, width].
Variable MultiHeadAttention::heads_of(const Variable& projected, Index first, Index heads, Index width) const {
  return view(projected,
              [=](const Tensor& t) { return t.narrowed(-1, first, heads * width).split(-1, heads).swapped(1, 2); });
}

MultiHeadAttention::Heads MultiHeadAttention::project(const Variable& x, const Pass& pass,
                                                      const std::vector<Index>& positions) const {
  const auto asking = [&](const Variable& all) {
    return positions.empty() ? all : ops::gather_positions(all, positions);
  };
  if (inputs_.size() != 1) {
    Heads heads = memory(x, pass);
    heads.query = queries(asking(x), pass);
    return heads;
  }
  const Variable all = inputs_[0](x, pass);
  const Index part = shape_.heads * shape_.key_width;
  return {heads_of(asking(all), 0, shape_.heads, shape_.key_width), heads_of(all, part, shape_.heads, shape_.key_width),
          heads_of(all, 2 * part, shape_.heads, shape_.value_width)};
}

Variable MultiHeadAttention::queries(const Variable& x, const Pass& pass) const {
  return heads_of(inputs_.empty() ? x : inputs_[0](x, pass), 0, shape_.heads, shape_.key_width);
}

MultiHeadAttention::Heads MultiHeadAttention::memory(const Variable& states, const Pass& pass) const {
  if (inputs_.empty()) {
    const Variable parts = heads_of(states, 0, shape_.heads, shape_.key_width);
    return {{}, parts, parts};
  }
  const Variable key = inputs_[1](states, pass);
  const bool together = inputs_[1].parts() == 2;
  const Variable value = together ? key : inputs_[2](states, pass);
  return {{},
          heads_of(key, 0, shape_.kv_heads, shape_.key_width),
          heads_of(value, together ? shape_.kv_heads * shape_.key_width : 0, shape_.kv_heads, shape_.value_width)};
}

AttentionCall MultiHeadAttention::call(const Heads& heads, const Mask& mask, const std::vector<Index>& key_starts,
                                       Index key_time, const Pass& pass) const {
  AttentionCall call{.query = heads.query, .key = heads.key, .value = heads.value, .mask = mask, .pass = pass};
  if (positions_ == nullptr) return call;
  const PositionedHeads at = positions_->apply(heads.query, heads.key, {mask.query_offsets, key_starts, key_time});
  call.query = at.query;
  call.key = at.key;
  call.offsets = at.offsets;
  return call;
}

Variable MultiHeadAttention::merge(const Variable& mixed, const Variable& residual, const Pass& pass) const {
  const Variable merged = view(mixed, [](const Tensor& t) {
    return t.reshaped({t.shape()[0], t.shape()[1], t.shape()[2] * t.shape()[3]});
  });
  if (output_) return (*output_)(merged, {.residual = residual}, pass);
  return residual.empty() ? merged : ops::add(residual, merged);
}

Variable SelfAttention::operator()(const Variable& x, const Mask& mask, const Variable& residual, const Pass& pass,
                                   const std::vector<Index>& positions) const {
  Mask seen = mask;
  if (!positions.empty()) seen.query_offsets = positions;
  return merge(variant().mix(call(project(x, pass, positions), seen, {}, x.shape()[1], pass)), residual, pass);
}

Tensor SelfAttention::weights(const Variable& x, const Mask& mask) const {
  return variant().weights(call(project(x, {}), mask, {}, x.shape()[1]));
}

std::unique_ptr<AttentionState> SelfAttention::start(Index batch, Index capacity, DType cache) const {
  return variant().start(batch, capacity, cache);
}

Variable SelfAttention::step(const Variable& x, const StepRows& rows, Index window, AttentionState& state,
                             const Variable& residual) const {
  const Mask mask{.causal = true, .window = window, .query_offsets = rows.seen};
  Index key_time = 0;
  for (std::size_t b = 0; b < rows.seen.size(); ++b) key_time = std::max(key_time, rows.seen[b] + rows.added[b]);
  const Tensor mixed = variant().step(call(project(x, {}), mask, rows.seen, key_time), rows, state);
  return merge(Variable(mixed), residual, {});
}

CrossAttention::Memory CrossAttention::remember(const Variable& states, const std::vector<Index>& lengths,
                                                const Pass& pass) const {
  const Heads heads = memory(states, pass);
  return {heads.key, heads.value, lengths};
}

Mask CrossAttention::Memory::mask() const {
  Mask mask{.key_lengths = lengths};
  if (rows.empty() || lengths.empty()) return mask;
  mask.key_lengths.clear();
  for (const Index row : rows) mask.key_lengths.push_back(lengths.at(static_cast<std::size_t>(row)));
  return mask;
}

Variable CrossAttention::operator()(const Variable& x, const Memory& memory, const Variable& residual,
                                    const Pass& pass) const {
  const AttentionCall call{.query = queries(x, pass),
                           .key = memory.key,
                           .value = memory.value,
                           .mask = memory.mask(),
                           .key_rows = memory.rows,
                           .pass = pass};
  return merge(variant().mix(call), residual, pass);
}

Tensor CrossAttention::weights(const Variable& x, const Memory& memory) const {
  return variant().weights({.query = queries(x, {}),
                            .key = memory.key,
                            .value = memory.value,
                            .mask = memory.mask(),
                            .key_rows = memory.rows});
}

}  // namespace heddle::nn
