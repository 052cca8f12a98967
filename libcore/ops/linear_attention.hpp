// Attention by features of queries and keys, linear in time: no pair of positions is looked at.
#pragma once

#include <cstdint>
#include <vector>

#include "libcore/autograd/tape.hpp"
#include "libcore/ops/mask.hpp"
#include "libcore/ops/random_features.hpp"

namespace heddle::ops {

struct LinearAttention {
  FeatureOptions features{};
  Mask mask{};                    // causal, lengths and offsets; neither window nor pairs
  std::vector<Index> key_rows{};  // the row of key and value that each batch has; empty: its own. Never recorded
};

// y_i = sum_j w_ij v_j, w_ij = phi(q_i) . phi(k_j) / sum over allowed j of the same. A query without allowed keys gives
// zeros. Head h reads the keys and values of head h / (heads / kv_heads).
//
// Keys and values enter sums S = sum_j phi(k_j) v_j^T and z = sum_j phi(k_j), and y_i = phi(q_i) S / phi(q_i) . z.
// Under a causal mask these are prefix sums, taken by blocks: the queries of a block see the sums before it, and its
// own keys by matrix products. Features are scaled by powers of two so that none overflows: for each query by its own,
// and for S and z by that of the largest feature so far, to which they are rescaled when a larger one comes. Powers of
// two cancel without a rounding error, so that keys of later blocks change nothing of earlier results, not a single
// bit. (Published code subtracts the maximum over all keys, and adds a constant that does not cancel.) In single
// precision a query gets zeros where phi(q_i) . z is less than 1e-30 of the largest features: if all keys that it sees
// are so far from it, or so much farther from the origin than later ones of the same block.
//
// Source: Choromanski et al. 2021, "Rethinking attention with Performers", section 2.5 and appendix B.1; Katharopoulos
// et al. 2020 for prefix sums (SPEC 1.9, A2).
// Shapes: query [batch, heads, query_time, width], key [batch, kv_heads, key_time, width], value [batch, kv_heads,
// key_time, value_width], Reals or bfloat16, any strides with neighbouring elements of a head together; vectors [m,
// width], Reals -> [batch, query_time, heads, value_width], contiguous, stored as the query is. Gradients of queries,
// keys and values.
// Throws ShapeError.  Cost: time (width + value_width) features; memory of a training step as that of its inputs, since
// the backward pass computes features and prefix sums again, and for each thread value_width features numbers for every
// 64 keys of one head.
Variable linear_attention(const Variable& query, const Variable& key, const Variable& value, const Tensor& vectors,
                          const LinearAttention& options);

// The w_ij themselves: [batch, heads, query_time, key_time], Reals, never recorded.
Tensor linear_attention_weights(const Tensor& query, const Tensor& key, const Tensor& vectors,
                                const LinearAttention& options);

// S and z of the keys so far, for decoding: of one size, whatever their number.
struct LinearState {
  LinearState(Index batch, Index kv_heads, Index features, Index value_width);
  void reorder(const std::vector<Index>& rows);

  Tensor sums;                          // [batch, kv_heads, features, value_width], times 2^-exponent
  Tensor norms;                         // [batch, kv_heads, features], likewise
  std::vector<std::int32_t> exponents;  // [batch * kv_heads]
};

// Adds the first added[b] keys of each row to the state and computes the attention of the queries beside them, causal.
// Shapes: as above, with query_time = key_time. Never recorded.
Tensor linear_attention_step(const Variable& query, const Variable& key, const Variable& value, const Tensor& vectors,
                             const FeatureOptions& features, const std::vector<Index>& added, LinearState& state);

// The same without an order: adds all keys to the state, and the attention of queries to those that were added. Sums
// are those of linear_attention() to the last bit where keys come in its blocks, a multiple of 64 each time but the
// last. Never recorded.
void add_keys(const Tensor& key, const Tensor& value, const Tensor& vectors, const FeatureOptions& features,
              LinearState& state);
Tensor attention_to(const LinearState& state, const Tensor& query, const Tensor& vectors,
                    const FeatureOptions& features);

}  // namespace heddle::ops
