#include "libcore/attention/fused_call.hpp"

#include "libcore/attention/edge_call.hpp"
#include "libcore/ops/arithmetic.hpp"
#include "libcore/ops/batched_matmul.hpp"
#include "libcore/ops/concatenate.hpp"
#include "libcore/ops/edge_products.hpp"
#include "libcore/ops/mixing.hpp"

namespace heddle {

namespace {

Variable scaled(const Variable& x, Real scale) {
  return scale == 1 ? x : ops::scale(x, scale);
}

// The weights of all pairs, recorded.
Variable weights_of_pairs(const AttentionCall& call, const Variable& query, const Variable& key, Real scale) {
  check<UsageError>(query.shape()[1] == key.shape()[1],
                    "positions of values need a key head for each head, so leave out `kv_heads`");
  const ops::OffsetTerms& offsets = call.offsets;
  Variable scores = ops::batched_matmul(query, key, {.transpose_b = true, .scale = scale});
  if (const ops::OffsetTable& table = offsets.query; !table.empty()) {
    const Variable bias = ops::query_bias(table, key.shape()[2], call.mask.query_offsets);
    scores = ops::add(scores, scaled(bias, scale));
  }
  if (const ops::OffsetTable& table = offsets.key; !table.empty()) {
    scores = ops::add(scores, scaled(ops::key_bias(table, query.shape()[2], call.mask.query_offsets), scale));
  }
  if (!call.segments.empty()) scores = ops::add(scores, scaled(ops::segment_bias(call.segments), scale));
  return ops::masked_softmax(scores, call.mask, offsets.bias);
}

// sum_j w_ij r_(offset of j from i): [batch, query_time, heads, value_width], contiguous.
Variable mix_offset_values(const Variable& weights, const ops::OffsetTable& table,
                           const std::vector<Index>& query_offsets) {
  const Shape w = weights.shape();
  const Index offsets = table.values.shape()[0], width = table.values.shape()[1];
  const Variable sums = ops::sum_by_offset(weights, {offsets, table.zero}, query_offsets);
  const Variable rows = view(sums, [=](const Tensor& t) { return t.reshaped({1, w[0] * w[1] * w[2], offsets}); });
  const Variable values = view(table.values, [=](const Tensor& t) { return t.reshaped({1, offsets, width}); });
  const Variable mixed = view(ops::batched_matmul(rows, values), [=](const Tensor& t) {
    return t.reshaped({w[0], w[1], w[2], width}).swapped(1, 2);
  });
  return ops::concatenate({mixed}, -1);
}

// Keys and values of the rows that the call picks; never recorded.
Variable picked(const Variable& x, const std::vector<Index>& rows) {
  if (rows.empty()) return x;
  std::vector<Variable> parts;
  for (const Index row : rows) parts.emplace_back(x.value().narrowed(0, row, 1));
  return ops::concatenate(parts, 0);
}

// Scores along the edges of a graph.
Variable product_scores(const AttentionCall& call, const Variable& query, const Variable& key, Real scale) {
  const Variable scores = ops::edge_products(heads_of_nodes(query), heads_of_nodes(key), call.edges, scale);
  return call.edge_terms.empty() ? scores : ops::add(scores, call.edge_terms);
}

}  // namespace

AttentionSupport fused_support() {
  return {.causal = true,
          .cross = true,
          .cached = true,
          .window = true,
          .pairs = true,
          .grouped = true,
          .bias = true,
          .relative = true,
          .offset_values = true,
          .segments = true,
          .weights = true,
          .rotation = true,
          .edges = true};
}

ops::FusedAttention fused_options(const AttentionCall& call, Real scale) {
  ops::FusedAttention options{
      .scale = scale, .mask = call.mask, .key_rows = call.key_rows, .offset_bias = call.offsets.bias};
  if (const ops::OffsetTable& query = call.offsets.query; !query.empty()) {
    options.query_bias = {scaled(query.values, scale), query.zero};
  }
  Variable bias;
  if (const ops::OffsetTable& key = call.offsets.key; !key.empty()) {
    bias = ops::key_bias(key, call.query.shape()[2], call.mask.query_offsets);
  }
  if (!call.segments.empty()) {
    const Variable segments = ops::segment_bias(call.segments);
    bias = bias.empty() ? segments : ops::add(bias, segments);
  }
  if (!bias.empty()) options.bias = scaled(bias, scale);
  return options;
}

Variable fused_mix(const AttentionCall& call, const Variable& query, const Variable& key, Real scale) {
  if (call.edges) return mix_along_edges(call, edge_weights(call, product_scores(call, query, key, scale)));
  const ops::OffsetTable& table = call.offsets.value;
  if (table.empty()) return ops::fused_attention(query, key, call.value, fused_options(call, scale));
  const Variable weights = weights_of_pairs(call, query, picked(key, call.key_rows), scale);
  return ops::add(ops::mix_values(weights, call.value, {.key_rows = call.key_rows}),
                  mix_offset_values(weights, table, call.mask.query_offsets));
}

PairWeights fused_weights(const AttentionCall& call, const Variable& query, const Variable& key, Real scale) {
  if (call.edges) {
    const Variable weights = edge_weights(call, product_scores(call, query, key, scale));
    return {weights.value(), query.value(), key.value(), scale};
  }
  return {ops::attention_weights(query.value(), key.value(), fused_options(call, scale)), query.value(), key.value(),
          scale};
}

}  // namespace heddle
