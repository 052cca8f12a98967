// Softmax attention in tiles of queries and keys: the scores of only one tile exist at a time, so memory is linear in
// time, and the data of a tile stays in the caches for sequences of any length.
#pragma once

#include <vector>

#include "libcore/autograd/tape.hpp"
#include "libcore/ops/attention_offsets.hpp"
#include "libcore/ops/mask.hpp"

namespace heddle::ops {

struct FusedAttention {
  Real scale = 1;
  Mask mask{};
  Index query_tile = 64;  // at most 64; results depend on the tiles only in rounding
  Index key_tile = 1024;
  std::vector<Index> key_rows{};  // the row of key and value that each batch has; empty: its own. Never recorded
  // Added to the scaled scores, Reals or bfloat16; empty means none. All may be given.
  Variable bias{};           // [batch or 1, heads or 1, query_time, key_time]
  Variable offset_bias{};    // [heads or 1, 2 reach + 1]: entry clip(j - position of i, -reach, reach) + reach
  OffsetTable query_bias{};  // [batch, heads, query_time, offsets]
};

// y_i = sum over allowed j of w_ij v_j,  w_ij = softmax_j(scale q_i . k_j + bias_ij); a query without allowed keys
// gives zeros. Head h reads the keys and values of head h / (heads / kv_heads).
// Source: Dao et al. 2022, "FlashAttention", algorithms 1 and 4 (SPEC 1.11): a running maximum over tiles of keys; the
// backward pass recomputes the weights from each query's log-sum. Tiles that the mask empties are skipped.
// Shapes: query [batch, heads, query_time, key_width], key [batch, kv_heads, key_time, key_width], value [batch,
// kv_heads, key_time, value_width], any strides with neighbouring elements of a head together; key_rows may pick
// batches of key and value -> [batch, query_time, heads, value_width], contiguous, so that merging the heads is a
// reshape; stored as the query is. Keys and values may have another dtype, such as that of a cache.
// Throws ShapeError.  Cost: time in the allowed pairs, memory linear in time (but for a `bias` and its gradient).
Variable fused_attention(const Variable& query, const Variable& key, const Variable& value,
                         const FusedAttention& options);

// The weights w_ij themselves, for inspection; never recorded; rows without allowed keys are zeros.
// Shapes: query and key as above -> [batch, heads, query_time, key_time], Reals.  Throws ShapeError.
Tensor attention_weights(const Tensor& query, const Tensor& key, const FusedAttention& options);

}  // namespace heddle::ops
