// Attention whose scores exist as a tensor, for variants that fused attention cannot compute: softmax of scores under a
// mask, and the mixing of values by weights. Memory is quadratic in time.
#pragma once

#include <vector>

#include "libcore/autograd/tape.hpp"
#include "libcore/ops/mask.hpp"

namespace heddle::ops {

// w_ij = softmax_j(s_ij + b_(j - position of i)) over the keys j that the mask allows; 0 for others. A query without
// allowed keys has zeros.
// Shapes: scores [batch, heads, query_time, key_time], contiguous Reals; offset_bias [heads or 1, 2 reach + 1], as of
// FusedAttention, empty for none -> the same as scores.  Backward: ds_ij = w_ij (dw_ij - sum_j w_ij dw_ij), db is the
// sum of ds over its pairs.  Throws ShapeError.
Variable masked_softmax(const Variable& scores, const Mask& mask, const Variable& offset_bias = {});

struct MixValues {
  std::vector<Index> key_rows{};  // the row of values that each batch has; empty: its own. Never recorded
  DType output = DType::real;     // dtype of the result
};

// y_i = sum_j w_ij v_j. Head h reads the values of head h / (heads / kv_heads).
// Shapes: weights [batch, heads, query_time, key_time], contiguous Reals, value [batch, kv_heads, key_time,
// value_width], Reals or bfloat16, any strides with neighbouring elements of a head together -> [batch, query_time,
// heads, value_width], contiguous.  Backward: dw_ij = dy_i . v_j, dv_j = sum_i w_ij dy_i.  Throws ShapeError.
Variable mix_values(const Variable& weights, const Variable& value, const MixValues& options = {});

}  // namespace heddle::ops
