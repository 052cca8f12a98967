// Softmax attention in tiles of queries: the scores of only one tile exist at a time, so memory is linear in time.
#pragma once

#include <vector>

#include "heddle/autograd/tape.hpp"

namespace heddle {

// Which keys a query may attend. The one convention everywhere. Every query's keys are a range:
//   causal:   key position <= query position
//   window:   distance at most `window` (in both directions, or backwards only when causal); 0 means no window
//   lengths:  key position < key_lengths[batch]; empty means all
// Query i of batch b stands at position query_offsets[b] + i among the keys (empty: i): the number of keys that a cache
// held before it.
struct Mask {
  bool causal = false;
  Index window = 0;
  std::vector<Index> key_lengths{};
  std::vector<Index> query_offsets{};

  struct Range {
    Index begin, end;
    bool operator==(const Range&) const = default;
  };
  Index position_of(Index batch, Index query) const {
    return query + (query_offsets.empty() ? 0 : query_offsets[static_cast<std::size_t>(batch)]);
  }
  Range keys_of(Index batch, Index query, Index key_time) const;
};

namespace ops {

struct FusedAttention {
  Real scale = 1;
  Mask mask{};
  Index query_tile = 64;  // results do not depend on it but for rounding
  std::vector<Index> key_rows{};  // the row of key and value that each batch has; empty: its own. Never recorded
};

// y_i = sum over allowed j of softmax_j(scale q_i . k_j) v_j; a query without allowed keys gives zeros.
// The backward pass computes the scores anew from each query's log-sum, as Dao et al. 2022, "FlashAttention"
// (SPEC 1.11). Shapes: query [batch, heads, query_time, head_width], key and value [batch, heads, key_time,
// head_width], any strides with neighbouring elements of a head together, of which key_rows may pick others -> [batch,
// query_time, heads, head_width], contiguous, so that merging the heads is a reshape; stored as the query is. Keys and
// values may be stored otherwise, a cache's for example. Throws ShapeError.  Cost: time in the allowed pairs, memory
// linear in time.
Variable fused_attention(const Variable& query, const Variable& key, const Variable& value,
                         const FusedAttention& options);

}  // namespace ops
}  // namespace heddle
