// Attention by triple loops over doubles: the oracle of everything that mixes values faster.
#pragma once

#include <cmath>
#include <cstddef>
#include <vector>

#include "heddle/ops/attention.hpp"

namespace heddle::testing {

struct AttentionSizes {
  Index batch, heads, query_time, key_time, head_width;
  Shape query_shape() const { return {batch, heads, query_time, head_width}; }
  Shape key_shape() const { return {batch, heads, key_time, head_width}; }
};

// Whether query i of batch b may attend key j, pair by pair.
inline bool may_attend(const Mask& mask, Index b, Index i, Index j) {
  const auto at = static_cast<std::size_t>(b);
  const Index position = i + (mask.query_offsets.empty() ? 0 : mask.query_offsets[at]);
  if (!mask.key_lengths.empty() && j >= mask.key_lengths[at]) return false;
  if (mask.causal && j > position) return false;
  return mask.window == 0 || std::abs(position - j) <= mask.window;
}

// w_j = e^(scale q_i . k_j) / sum over allowed j; zeros where nothing is allowed.  Rows: q, k of the head's elements.
inline std::vector<double> naive_weights(const double* query, const double* keys, const AttentionSizes& sizes,
                                         const Mask& mask, double scale, Index b, Index i) {
  std::vector<double> weights(static_cast<std::size_t>(sizes.key_time), 0.0);
  double maximum = -HUGE_VAL, sum = 0;
  for (int pass = 0; pass < 2; ++pass) {
    for (Index j = 0; j < sizes.key_time; ++j) {
      if (!may_attend(mask, b, i, j)) continue;
      double score = 0;
      for (Index c = 0; c < sizes.head_width; ++c) score += scale * query[c] * keys[j * sizes.head_width + c];
      if (pass == 0) {
        maximum = std::max(maximum, score);
      } else {
        sum += weights[static_cast<std::size_t>(j)] = std::exp(score - maximum);
      }
    }
  }
  for (double& weight : weights) weight = sum > 0 ? weight / sum : 0;
  return weights;
}

// Shapes: query [batch, heads, query_time, head_width], key and value [batch, heads, key_time, head_width]
// -> [batch, query_time, heads, head_width], all row-major.
inline std::vector<double> naive_attention(const std::vector<double>& query, const std::vector<double>& key,
                                           const std::vector<double>& value, const AttentionSizes& sizes,
                                           const Mask& mask, double scale) {
  const Index width = sizes.head_width;
  std::vector<double> y(query.size(), 0.0);
  for (Index b = 0; b < sizes.batch; ++b) {
    for (Index h = 0; h < sizes.heads; ++h) {
      const Index keys_at = (b * sizes.heads + h) * sizes.key_time * width;
      for (Index i = 0; i < sizes.query_time; ++i) {
        const Index query_at = ((b * sizes.heads + h) * sizes.query_time + i) * width;
        const auto weights = naive_weights(query.data() + query_at, key.data() + keys_at, sizes, mask, scale, b, i);
        double* to = y.data() + ((b * sizes.query_time + i) * sizes.heads + h) * width;
        for (Index j = 0; j < sizes.key_time; ++j) {
          const double* row = value.data() + keys_at + j * width;
          for (Index c = 0; c < width; ++c) to[c] += weights[static_cast<std::size_t>(j)] * row[c];
        }
      }
    }
  }
  return y;
}

}  // namespace heddle::testing
