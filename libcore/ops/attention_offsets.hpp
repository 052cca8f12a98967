// Terms of attention that depend on the offset of a key from its query: relative positions (SPEC 2.3, 2.6, 2.7).
//
// A table by offset has a column for each offset j - position of i from -zero on; offsets before the first column or
// after the last one have that column.
#pragma once

#include <vector>

#include "libcore/autograd/tape.hpp"

namespace heddle::ops {

struct OffsetTable {
  Variable values{};  // [..., offsets]
  Index zero = 0;     // the column of offset 0

  bool empty() const { return values.empty(); }
};

// Terms that a position scheme adds in one call of attention; each may be empty.
struct OffsetTerms {
  Variable bias{};      // [heads or 1, 2 reach + 1], as FusedAttention::offset_bias, added to scaled scores
  OffsetTable query{};  // [batch, heads, query_time, offsets], added to the products q_i . k_j before they are scaled
  OffsetTable key{};    // [batch, heads, key_time, offsets], likewise
  OffsetTable value{};  // [offsets, value_width], added to the value of a key at that offset
};

// y[b, h, t, c] = x[b, g, t] . table[h, c], where g is h / (heads / x_heads): products of queries, or keys, with the
// vectors of offsets. Shapes: x [batch, x_heads, time, width], table [heads or 1, offsets, width], any strides with
// neighbouring elements of the last dimension together; with one, all of x_heads share it -> [batch, heads, time,
// offsets], Real. Backward: dx = dy table, dtable = dy^T x, summed over what shares it.  Throws ShapeError.
Variable offset_products(const Variable& x, const Variable& table);

// The table of each key, or each query, as a bias of scores: y[b, h, i, j] = keys[b, h, j, column of j - position of
// i], or queries[b, h, i, the same]. Shapes: keys [batch, heads, key_time, offsets], queries [batch, heads, query_time,
// offsets], contiguous; query_offsets as a Mask has them -> [batch, heads, query_time, key_time], Real.  Backward: sums
// over the pairs of a column.  Throws ShapeError.
Variable key_bias(const OffsetTable& keys, Index query_time, const std::vector<Index>& query_offsets);
Variable query_bias(const OffsetTable& queries, Index key_time, const std::vector<Index>& query_offsets);

// y[b, h, i, c] = sum of weights[b, h, i, j] over the keys j whose column is c: what an offset's vector is weighted by.
// Shapes: weights [batch, heads, query_time, key_time], contiguous Reals -> [batch, heads, query_time, offsets].
// Backward: each weight gets its column's derivative.  Throws ShapeError.
struct OffsetColumns {
  Index count, zero;
};
Variable sum_by_offset(const Variable& weights, const OffsetColumns& columns, const std::vector<Index>& query_offsets);

}  // namespace heddle::ops
