#include "libcore/nn/multi_head_attention.hpp"
#include "libcore/nn/parts.hpp"

#include <algorithm>
#include <cmath>

#include "libcore/base/kind.hpp"
#include "libcore/ops/add_scaled.hpp"
#include "libcore/ops/arithmetic.hpp"
#include "libcore/ops/concatenate.hpp"
#include "libcore/ops/gather.hpp"
#include "libcore/ops/rank_sums.hpp"
#include "libcore/tensor/threads.hpp"

namespace heddle::nn {

namespace {

const HeadShape& checked(const HeadShape& shape) {
  check<UsageError>(shape.kv_heads > 0 && shape.heads % shape.kv_heads == 0, "`heads` = ", shape.heads,
                    " is not a multiple of `kv_heads` = ", shape.kv_heads);
  return shape;
}

// Checks an output without a matrix, which is added to the residual stream as it is.
void check_output(const AttentionOptions& options) {
  const Index width = options.shape.heads * options.shape.value_width;
  check<UsageError>(width == options.width, "without an output projection, ", options.shape.heads, " heads of width ",
                    options.shape.value_width, " must be the whole width ", options.width);
}

AttentionSupport all_needed(const AttentionOptions& options, const AttentionPositions* positions) {
  AttentionSupport needed = options.needed;
  needed.grouped = options.shape.heads != options.shape.kv_heads;
  needed.segments = options.relative_segments;
  if (positions == nullptr) return needed;
  const PositionNeeds asked = positions->needs();
  needed.bias = asked.bias;
  needed.relative = asked.relative;
  needed.offset_values = asked.offset_values;
  check<UsageError>(!asked.key_for_each_head || !needed.grouped, "these positions need a key head for each head");
  check<UsageError>(asked.whole.empty() || !needed.cached,
                    "these positions need all keys at once, and cannot continue texts step by step; ", asked.whole,
                    " can");
  return needed;
}

// The ranks that share the heads; null: there is one. Throws UsageError for attention that they cannot divide.
const ModelRanks* sharing_ranks(const Scope& scope, const AttentionOptions& options,
                                const AttentionPositions* positions) {
  const ModelRanks* const ranks = ModelRanks::of(scope);
  if (ranks == nullptr) return nullptr;
  const auto refuse = [](bool wrong, const std::string& feature, const char* instead) {
    check<UsageError>(!wrong, "`tensor_parallel`: ranks do not divide heads with ", feature, "; ", instead);
  };
  refuse(KindText::parse(options.variant).name != "dot", "`attention` = " + options.variant,
         "`attention` = dot can be divided");
  refuse(options.projections != Projections::standard, "`projections` = " + std::string(to_text(options.projections)),
         "`projections` = standard can be divided");
  refuse(!options.output, "`attention_output` = false", "leave it out");
  const PositionNeeds asked = positions == nullptr ? PositionNeeds() : positions->needs();
  refuse(asked.relative || asked.offset_values || options.relative_segments,
         "vectors of distances or segments, by which each head scores or mixes",
         "`positions` = rope, learned, sinusoidal, alibi, linear, relative-scalar and none can be divided");
  return ranks;
}

// The rows of this rank's heads of a bias of scores [all heads or 1, offsets].
Variable own_bias(const Variable& bias, Index heads, const parallel::Group& group) {
  const Variable all = ops::read_by_ranks(bias, group);
  if (bias.shape()[0] == 1) return all;
  return view(all, [=, first = group.rank() * heads](const Tensor& t) { return t.narrowed(0, first, heads); });
}

// Throws UsageError unless the variant supports what is needed.
std::unique_ptr<const HeadProjections> inputs_of(const Scope& scope, const AttentionOptions& options,
                                                 const Attention& variant, const AttentionPositions* positions,
                                                 bool same_source) {
  check_support(options.variant, variant.support(), all_needed(options, positions));
  return make_head_projections(scope, {.kind = variant.has_projections() ? options.projections : Projections::none,
                                       .width = options.width,
                                       .memory_width = options.memory_width,
                                       .same_source = same_source,
                                       .shape = options.shape,
                                       .bias = options.bias,
                                       .stddev = options.stddev});
}

}  // namespace

MultiHeadAttention::MultiHeadAttention(const Scope& scope, const Scope& stack, const AttentionOptions& options,
                                       Source source)
    : shape_(own_heads(scope, checked(options.shape))),
      attention_(make_attention(options.variant, {scope, stack}, shape_)),
      positions_(options.positions == nullptr ? nullptr : options.positions->for_layer(scope / "positions")),
      ranks_(sharing_ranks(scope, options, positions_.get())),
      inputs_(inputs_of(scope, options, *attention_, positions_.get(), source == Source::same)) {
  if (options.head_norm) {
    const NormOptions norm{NormKind::rms, options.norm_epsilon};
    query_norm_.emplace(scope / "query_norm", shape_.key_width, norm, Norm::Of::heads);
    key_norm_.emplace(scope / "key_norm", shape_.key_width, norm, Norm::Of::heads);
  }
  if (options.head_gates) {
    gate_.emplace(scope / "gate", options.width, options.shape.heads, Bias::no, options.stddev, Initializer::zeros(),
                  Divided::outputs);
  }
  if (!attention_->has_projections() || !options.output) {
    check_output(options);
  } else {
    output_.emplace(scope / "output", options.shape.heads * options.shape.value_width, options.width, options.bias,
                    options.output_stddev, Initializer::zeros(), Divided::inputs);
  }
}

Variable MultiHeadAttention::read(const Variable& x) const {
  return ranks_ == nullptr || x.empty() ? x : ops::read_by_ranks(x, ranks_->group());
}

Heads MultiHeadAttention::normed(Heads heads) const {
  if (!query_norm_) return heads;
  if (!heads.query.empty()) heads.query = (*query_norm_)(heads.query, Norm::Result::activation);
  if (!heads.key.empty()) heads.key = (*key_norm_)(heads.key, Norm::Result::activation);
  return heads;
}

Heads MultiHeadAttention::add_values(Heads heads, const AddedValues& values) const {
  if (values.vectors.empty()) return heads;
  const Variable parts =
      view(values.vectors, [count = shape_.kv_heads](const Tensor& t) { return t.split(-1, count).swapped(1, 2); });
  heads.value = ops::add_scaled(heads.value, parts, values.scale);
  return heads;
}

AttentionCall MultiHeadAttention::call(const Heads& heads, const Mask& mask, const std::vector<Index>& key_starts,
                                       Index key_time, const Pass& pass) const {
  AttentionCall call{.query = heads.query, .key = heads.key, .value = heads.value, .mask = mask, .pass = pass};
  if (positions_ == nullptr) return call;
  const Index within = mask.window > 0 ? std::min(key_time, mask.window + 1) : key_time;
  const Part part(parts::positions);
  const PositionedHeads at = positions_->apply(heads.query, heads.key, {mask.query_offsets, key_starts, within});
  call.query = at.query;
  call.key = at.key;
  call.offsets = at.offsets;
  if (ranks_ != nullptr && !at.offsets.bias.empty()) {
    call.offsets.bias = own_bias(at.offsets.bias, shape_.heads, ranks_->group());
  }
  return call;
}

PairWeights MultiHeadAttention::pair_weights(const AttentionCall& call) const {
  PairWeights pairs = attention_->weights(call);
  const bool values_alone =
      output_ && !gate_ && ranks_ == nullptr && call.offsets.value.empty() && call.key_rows.empty();
  if (values_alone) pairs.value_lengths = [this, values = call.value.value()] { return value_lengths(values); };
  return pairs;
}

// |v W|^2 = v W W' v', where W are the rows of the output matrix that are the head's.
Tensor MultiHeadAttention::value_lengths(const Tensor& values) const {
  const Index heads = shape_.heads, width = shape_.value_width, rows = heads * width;
  Tensor units({1, rows + 1, rows}, Real(0));  // the last one gives the bias
  for (Index i = 0; i < rows; ++i) units[i * rows + i] = 1;
  const Tensor added = (*output_)(Variable(units)).value().as(DType::real);
  const Index out = added.shape()[2], batch = values.shape()[0], keys = values.shape()[2];
  const Tensor all = values.as(DType::real).copy();
  Tensor lengths({batch, heads, keys});
  parallel_for(heads, [&](Index head) {
    const auto adds = [&](Index a, Index k) {
      return static_cast<double>(added[(head * width + a) * out + k]) - static_cast<double>(added[rows * out + k]);
    };
    std::vector<double> products(static_cast<std::size_t>(width * width));
    for (Index a = 0; a < width; ++a) {
      for (Index b = 0; b < width; ++b) {
        for (Index k = 0; k < out; ++k) products[static_cast<std::size_t>(a * width + b)] += adds(a, k) * adds(b, k);
      }
    }
    const Index shared = head / (heads / shape_.kv_heads);
    for (Index row = 0; row < batch * keys; ++row) {
      const Real* const v = all.data() + ((row / keys * shape_.kv_heads + shared) * keys + row % keys) * width;
      double square = 0;
      for (Index a = 0; a < width; ++a) {
        for (Index b = 0; b < width; ++b)
          square +=
              static_cast<double>(v[a]) * static_cast<double>(v[b]) * products[static_cast<std::size_t>(a * width + b)];
      }
      lengths[(row / keys * heads + head) * keys + row % keys] = static_cast<Real>(std::sqrt(std::max(0.0, square)));
    }
  });
  return lengths;
}

Variable MultiHeadAttention::mix(const AttentionCall& call) const {
  const Part part(parts::mixing);
  return attention_->mix(call);
}

Variable MultiHeadAttention::merge(const Variable& mixed, const Variable& x, const Variable& residual,
                                   const Pass& pass) const {
  const Part part(parts::projections);
  const Variable gated =
      gate_ ? ops::scale_rows(mixed, (*gate_)(x, {.activation = Activation::sigmoid, .output = DType::real}, pass))
            : mixed;
  const Variable merged = view(gated, [](const Tensor& t) {
    return t.reshaped({t.shape()[0], t.shape()[1], t.shape()[2] * t.shape()[3]});
  });
  if (output_) return (*output_)(merged, {.residual = residual}, pass);
  return residual.empty() ? merged : ops::add(residual, merged);
}

SelfAttention::SelfAttention(const Scope& scope, const Scope& stack, const AttentionOptions& options)
    : MultiHeadAttention(scope, stack, options, Source::same) {
  if (!options.relative_segments) return;
  segments_.emplace(scope / "segments", options.shape.heads, options.shape.key_width, options.stddev);
}

namespace {

// The segments of these positions alone, one for each sequence.
std::shared_ptr<const TokenIds> picked(const std::shared_ptr<const TokenIds>& segments,
                                       const std::vector<Index>& positions) {
  if (positions.empty()) return segments;
  TokenIds some(Shape{segments->shape[0], 1});
  for (std::size_t b = 0; b < positions.size(); ++b) {
    some.ids[b] =
        segments->ids[b * static_cast<std::size_t>(segments->shape[1]) + static_cast<std::size_t>(positions[b])];
  }
  return std::make_shared<const TokenIds>(std::move(some));
}

}  // namespace

AttentionCall SelfAttention::seen_call(const Variable& x, const Mask& mask, const Pass& pass,
                                       const std::vector<Index>& positions, const Surroundings& around) const {
  const Part part(parts::projections);
  Heads heads;
  if (around.content.empty()) {
    heads = inputs().all(x, pass, positions);
  } else {
    heads = inputs().memory(read(around.content), pass);
    heads.query = inputs().query(x, pass);
  }
  heads = add_values(normed(std::move(heads)), around.values);
  const Variable query = heads.query;
  Mask seen = mask;
  if (!positions.empty()) seen.query_offsets = positions;
  Index key_time = x.shape()[1];
  if (!around.earlier.empty()) {
    check<ShapeError>(mask.key_lengths.empty() && mask.query_offsets.empty() && positions.empty() && !mask.pairs,
                      "only whole sequences, all of one length, continue earlier positions");
    const Heads before = normed(inputs().memory(read(around.earlier), {}));
    heads.key = ops::concatenate({before.key, heads.key}, 2);
    heads.value = ops::concatenate({before.value, heads.value}, 2);
    const Index earlier_time = around.earlier.shape()[1];
    seen.query_offsets.assign(static_cast<std::size_t>(x.shape()[0]), earlier_time);
    key_time += earlier_time;
  }
  AttentionCall result = call(heads, seen, {}, key_time, pass);
  if (segments_ && around.segments) {
    const Part of_segments(parts::segments);
    result.segments = (*segments_)(query, picked(around.segments, positions), around.segments);
  }
  return result;
}

Variable SelfAttention::operator()(const Variable& x, const Mask& mask, const Variable& residual, const Pass& pass,
                                   const std::vector<Index>& positions, const Surroundings& around) const {
  const Variable own = read(x), mixed = mix(seen_call(own, mask, pass, positions, around));
  return merge(mixed, positions.empty() ? own : ops::gather_positions(own, positions), residual, pass);
}

PairWeights SelfAttention::weights(const Variable& x, const Mask& mask, const Surroundings& around) const {
  return pair_weights(seen_call(x, mask, {}, {}, around));
}

std::unique_ptr<AttentionState> SelfAttention::start(Index batch, Index capacity, DType cache) const {
  return variant().start(batch, capacity, cache);
}

Variable SelfAttention::step(const Variable& x, const StepRows& rows, Index window, AttentionState& state,
                             const Variable& residual, const AddedValues& values) const {
  const Mask mask{.causal = true, .window = window, .query_offsets = rows.seen};
  Index key_time = 0;
  for (std::size_t b = 0; b < rows.seen.size(); ++b) key_time = std::max(key_time, rows.seen[b] + rows.added[b]);
  const auto heads = [&] {
    const Part part(parts::projections);
    return add_values(normed(inputs().all(x, {}, {})), values);
  }();
  const AttentionCall next = call(heads, mask, rows.seen, steady_length(key_time));
  const auto mixed = [&] {
    const Part part(parts::mixing);
    return variant().step(next, rows, state);
  }();
  return merge(Variable(mixed), x, residual, {});
}

CrossAttention::Memory CrossAttention::remember(const Variable& states, const std::vector<Index>& lengths,
                                                const Pass& pass) const {
  const Part part(parts::projections);
  const Heads heads = normed(inputs().memory(read(states), pass));
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
  const Part part(parts::projections);
  const Variable own = read(x);
  const AttentionCall call{.query = normed({inputs().query(own, pass), {}, {}}).query,
                           .key = memory.key,
                           .value = memory.value,
                           .mask = memory.mask(),
                           .key_rows = memory.rows,
                           .pass = pass};
  return merge(mix(call), own, residual, pass);
}

PairWeights CrossAttention::weights(const Variable& x, const Memory& memory) const {
  return pair_weights({.query = normed({inputs().query(x, {}), {}, {}}).query,
                       .key = memory.key,
                       .value = memory.value,
                       .mask = memory.mask(),
                       .key_rows = memory.rows});
}

}  // namespace heddle::nn
