// Scores of additive attention.
#pragma once

#include <vector>

#include "heddle/autograd/tape.hpp"

namespace heddle::ops {

// e_ij = sum_k v_k tanh(q_ik + k_jk), without storing the tanh, which the backward pass computes again. Of batch b only
// the first lengths[b] keys are scored, where lengths are given; the scores of the others are 0.
// Source: Bahdanau et al. 2015, A.1.2 (SPEC A8).
// Shapes: query [batch, query_time, width], key [batch, key_time, width], contiguous Reals, v [1, width], of any dtype
// -> [batch, query_time, key_time]. Backward, with t = tanh(q_ik + k_jk): dq_ik = sum_j de_ij v_k (1 - t^2), dk_jk =
// sum_i of the same, dv_k = sum_ij de_ij t.  Throws ShapeError.
Variable additive_scores(const Variable& query, const Variable& key, const Variable& v,
                         const std::vector<Index>& lengths = {});

}  // namespace heddle::ops
