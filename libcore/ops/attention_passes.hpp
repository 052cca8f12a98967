// The two passes of fused attention. Tasks are cut by the shapes alone. Inside ops/attention_*.cpp and
// ops/fused_attention.cpp only.
#pragma once

#include <algorithm>

#include "libcore/ops/attention_tiles.hpp"

namespace heddle::ops {

// Split of one head of one batch into tasks: one task if its queries and keys fit a tile of keys, else groups of about
// 512 queries and, backward, chunks of about 512 keys.
struct TaskCut {
  Index queries, keys;   // maximum per task
  Index groups, chunks;  // tasks along queries and along keys

  explicit TaskCut(const AttentionProblem& problem) {
    const AttentionSizes& s = problem.sizes;
    const Index tile = problem.options.key_tile, rows = problem.options.query_tile;
    const bool whole = std::max(s.query_time, s.key_time) <= tile;
    keys = whole ? std::max(s.key_time, Index{1}) : std::min(tile, Index{512});
    queries = whole ? std::max(s.query_time, Index{1}) : (keys + rows - 1) / rows * rows;
    groups = (s.query_time + queries - 1) / queries;
    chunks = (s.key_time + keys - 1) / keys;
  }
  Mask::Range queries_of(Index group, const AttentionSizes& sizes) const {
    return {group * queries, std::min((group + 1) * queries, sizes.query_time)};
  }
  Mask::Range keys_of(Index chunk, const AttentionSizes& sizes) const {
    return {chunk * keys, std::min((chunk + 1) * keys, sizes.key_time)};
  }
};

// Sets y [batch, query_time, heads, value_width] and problem.log_sums.
void attention_forward(const AttentionProblem& problem, const Tensor& y);

// Destinations of the gradients; null if not needed.
struct AttentionGradients {
  std::shared_ptr<Gradient> query, key, value, bias, offset_bias, query_bias;
};
// Adds to them. dy is stored as the query is.
void attention_backward(const AttentionProblem& problem, const Tensor& dy, const AttentionGradients& gradients);

}  // namespace heddle::ops
