// A term of attention scores for pairs of tokens of the same segment, and another for those of different ones
// (SPEC 4.6).
#pragma once

#include <memory>

#include "libcore/autograd/tape.hpp"

namespace heddle::ops {

// Added to the products q_i . k_j before they are scaled. Empty for none.
struct SegmentTerm {
  Variable values{};  // [batch, heads, query_time, 2]: of keys of the query's own segment, and of those of others
  std::shared_ptr<const TokenIds> queries{}, keys{};  // the segments of each, [batch, time]

  bool empty() const { return values.empty(); }
};

// y[b, h, i, j] = values[b, h, i, queries[b, i] == keys[b, j] ? 0 : 1].
// Shapes: values [batch, heads, query_time, 2], contiguous -> [batch, heads, query_time, key_time], Real.
// Backward: sums over the keys of each kind.  Throws ShapeError.
Variable segment_bias(const SegmentTerm& term);

}  // namespace heddle::ops
