// Scores of additive attention.
#pragma once

#include <vector>

#include "libcore/autograd/tape.hpp"
#include "libcore/ops/activation.hpp"
#include "libcore/ops/mask.hpp"

namespace heddle::ops {

struct AdditiveScores {
  Mask mask{};
  std::vector<Index> key_rows{};             // the row of keys that each batch has; empty: its own. Never recorded
  Activation activation = Activation::tanh;  // or leaky_relu
};

// e_ij = sum_k v_hk f(q_ik + k_jk) for head h, with f = tanh or leaky ReLU, without storing f, which the backward pass
// computes again. Only the pairs that the mask allows are scored; the scores of others are 0. Head h reads the keys of
// head h / (heads / kv_heads). Source: Bahdanau et al. 2015, A.1.2 (SPEC A8). Shapes: query [batch, heads, query_time,
// width], key [batch, kv_heads, key_time, width], any strides with neighbouring elements of a head together, v [heads,
// width], of any dtype -> [batch, heads, query_time, key_time], Reals. Backward, dq_ik = sum_j de_ij v_k f'(q_ik +
// k_jk), dk_jk = sum_i of the same, dv_k = sum_ij de_ij f(q_ik + k_jk). Throws ShapeError, for other activations too.
// Cost: time in the allowed pairs times width; memory in all pairs.
Variable additive_scores(const Variable& query, const Variable& key, const Variable& v,
                         const AdditiveScores& options = {});

}  // namespace heddle::ops
