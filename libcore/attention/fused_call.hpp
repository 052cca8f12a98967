// Variants whose weights are a softmax of products: how fused attention computes a call of them.
#pragma once

#include "libcore/attention/attention.hpp"

namespace heddle {

// Support of the functions below: everything.
AttentionSupport fused_support();

// The mask and the terms by offset and by segment of a call whose scores are scale q_i . k_j. The terms of queries,
// keys and segments, which belong to the products, are scaled alike.
ops::FusedAttention fused_options(const AttentionCall& call, Real scale);

// mix() and weights() of such a variant, with these queries and keys in place of the call's. Where positions are added
// to values, the weights of all pairs exist, so that memory is quadratic in time; else it is linear, but for terms of
// keys and of segments. Throws UsageError for positions of values with grouped heads.
Variable fused_mix(const AttentionCall& call, const Variable& query, const Variable& key, Real scale);
PairWeights fused_weights(const AttentionCall& call, const Variable& query, const Variable& key, Real scale);

}  // namespace heddle
