// One call of linear attention, and its parts for one head of keys. Inside ops/linear_attention*.cpp only.
#pragma once

#include <algorithm>
#include <limits>

#include "libcore/ops/attention_problem.hpp"
#include "libcore/ops/linear_attention.hpp"

namespace heddle::ops {

struct LinearProblem {
  AttentionSizes sizes;
  LinearAttention options;
  Tensor query, key, value;
  Tensor vectors;  // [m, width], scaled
  Index features;

  static constexpr Index block = 64;  // queries, and keys, of a block

  Index key_row(Index batch) const {
    return options.key_rows.empty() ? batch : options.key_rows[static_cast<std::size_t>(batch)];
  }
  // Query i may attend the first so many keys.
  Index visible(Index batch, Index i) const {
    return std::max<Index>(0, options.mask.keys_of(batch, i, sizes.key_time).end);
  }
  Index blocks() const { return (sizes.query_time + block - 1) / block; }
  // Keys in the sums that the queries of block b see; the others of block b's keys are the next segment.
  Index summed(Index batch, Index b) const {
    if (sizes.query_time == 0) return 0;
    return b < blocks() ? visible(batch, b * block) : visible(batch, sizes.query_time - 1);
  }
  Mask::Range segment(Index batch, Index b) const { return {b == 0 ? 0 : summed(batch, b - 1), summed(batch, b)}; }
};

// Throws ShapeError. The value may be empty if only the weights are computed.
LinearProblem checked_linear_problem(const Tensor& query, const Tensor& key, const Tensor& value, const Tensor& vectors,
                                     const LinearAttention& options);

// The exponent of empty sums.
constexpr std::int32_t no_exponent = std::numeric_limits<std::int32_t>::min();

// 1 / total, and 0 where the weights are so small that derivatives by them overflow.
inline Real inverse_of(Real total) {
  constexpr Real least = std::numeric_limits<Real>::min() * Real(1e8);
  return total < least && total > -least ? Real(0) : 1 / total;
}

// x *= factor
void scale_values(Real* x, Real factor, Index count);
// y += factor x
void add_scaled(const Real* x, Real factor, Real* y, Index count);
// |x|^2
Real squares_of(const Real* x, Index count);
Real squares_of(const BFloat16* x, Index count);

// One head of keys of one batch, with all heads of queries that share it. Sets their part of y; the sums of an earlier
// state, if there is one, come before the keys, and the state then has those of all.
void linear_forward(const LinearProblem& problem, Index batch, Index kv_head, const Tensor& y, LinearState* state);

struct LinearGradients {
  Tensor query, key, value;  // added to
};
void linear_backward(const LinearProblem& problem, Index batch, Index kv_head, const Tensor& dy,
                     const LinearGradients& to);

// linear_forward() of a single position, which is a key unless it is padding: the state changes in place, and nothing
// is packed.
void linear_step(const LinearProblem& problem, Index batch, Index kv_head, bool is_key, const Tensor& y,
                 LinearState& state);

}  // namespace heddle::ops
