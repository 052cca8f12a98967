// One call of fused attention: its tensors, sizes and options, checked. Inside operations of attention only.
#pragma once

#include "libcore/ops/fused_attention.hpp"
#include "libcore/tensor/matrix.hpp"

namespace heddle::ops {

struct AttentionSizes {
  Index batch, heads, kv_heads, query_time, key_time, key_width, value_width;

  Index group() const { return heads / kv_heads; }  // heads that share keys and values
  Index kv_head(Index head) const { return head / group(); }
};

struct AttentionProblem {
  Tensor query, key, value;
  FusedAttention options;
  AttentionSizes sizes;
  // Reals, empty for none.
  Tensor bias, offset_bias, query_bias;
  // Values saved by the forward pass for the backward pass.
  Tensor log_sums{};  // [batch, heads, query_time]: log sum_j e^score
  Tensor y{};         // the result, where a query's keys do not fit one tile

  Index key_row(Index batch) const {
    return options.key_rows.empty() ? batch : options.key_rows[static_cast<std::size_t>(batch)];
  }
  Index reach() const { return offset_bias.shape()[1] / 2; }
  Real* log_sums_of(Index batch, Index head) const {
    return log_sums.data() + (batch * sizes.heads + head) * sizes.query_time;
  }
};

// Throws ShapeError. The value may be empty if only the weights are computed.
AttentionProblem checked_problem(const Tensor& query, const Tensor& key, const Tensor& value,
                                 const FusedAttention& options);

// Throw ShapeError for picked rows of keys and for a mask that do not fit.
void check_key_rows(const std::vector<Index>& rows, Index batch, Index keys);
void check_mask(const Mask& mask, const AttentionSizes& sizes);

// One head of one batch of a [batch, heads, time, width] tensor: [time, width].
MatrixView head_of(const Tensor& t, Index batch, Index head);
// The same of a result [batch, time, heads, width].
inline MatrixView head_of_result(const Tensor& t, Index batch, Index head) {
  return head_of(t.swapped(1, 2), batch, head);
}

// Calls f with a typed pointer to row `row` of a matrix.
template <class F>
decltype(auto) with_row(const MatrixView& x, Index row, F&& f) {
  return x.dtype == DType::bfloat16 ? f(x.as<BFloat16>() + row * x.stride) : f(x.as<Real>() + row * x.stride);
}
template <class F>
void with_row_to_write(const MatrixView& x, Index row, F&& f) {
  with_row(x, row, [&]<class T>(const T* from) { f(const_cast<T*>(from)); });
}

}  // namespace heddle::ops
