// Attention by whether two tokens are of one segment.
#pragma once

#include "libcore/autograd/parameters.hpp"
#include "libcore/ops/segment_bias.hpp"

namespace heddle::nn {

// score_ij += scale (q_i + b_h) . s_h, where s_h is one of two learned vectors of a head: for tokens of the same
// segment and for those of different ones. Any number of segments; models need not know it. Source: Yang et al. 2019,
// "XLNet", section 2.5, and its published code, where b is of each layer. Parameters: weight [2, heads * head_width],
// bias [heads, head_width].
class RelativeSegments {
 public:
  RelativeSegments(const Scope& scope, Index heads, Index head_width, double stddev);

  // Shapes: query [batch, heads, query_time, head_width]; segments [batch, time] of all tokens, and those of the
  // queries.
  ops::SegmentTerm operator()(const Variable& query, std::shared_ptr<const TokenIds> queries,
                              std::shared_ptr<const TokenIds> keys) const;

 private:
  Variable vectors_, bias_;
};

}  // namespace heddle::nn
