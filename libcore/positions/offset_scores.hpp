// Scores of queries, or keys, with projected vectors of offsets.
#pragma once

#include "libcore/ops/attention_offsets.hpp"

namespace heddle {

// The numbers that the elements of weights stand for, which may be stored in fewer bits.
inline Variable as_reals(const Variable& weights) {
  return view(weights, [](const Tensor& t) { return t.as(DType::real); });
}

// y[b, h, t, c] = x[b, h, t] . (W_h vectors[c]).
// Shapes: x [batch, heads, time, head_width], vectors [offsets, width], weight [heads * head_width, width], contiguous
// -> [batch, heads, time, offsets].  Cost: that of projecting all vectors, but for one position that is not recorded
// (a step of decoding), which is projected instead: (W_h^T x) . vectors[c].
Variable offset_scores(const Variable& x, const Variable& vectors, const Variable& weight);

}  // namespace heddle
