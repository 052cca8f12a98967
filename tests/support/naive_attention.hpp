// Attention by triple loops over doubles: the oracle of everything that mixes values faster.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <vector>

#include "libcore/ops/fused_attention.hpp"

namespace heddle::testing {

struct AttentionSizes {
  Index batch, heads, query_time, key_time, head_width;
  Index kv_heads = heads, value_width = head_width;
  Shape query_shape() const { return {batch, heads, query_time, head_width}; }
  Shape key_shape() const { return {batch, kv_heads, key_time, head_width}; }
  Shape value_shape() const { return {batch, kv_heads, key_time, value_width}; }
};

// Whether query i of batch b may attend key j, pair by pair.
inline bool may_attend(const Mask& mask, Index b, Index i, Index j) {
  const auto at = static_cast<std::size_t>(b);
  const Index position = i + (mask.query_offsets.empty() ? 0 : mask.query_offsets[at]);
  if (mask.pairs && mask.pairs->row(b, i)[j] == 0) return false;
  if (!mask.key_lengths.empty() && j >= mask.key_lengths[at]) return false;
  if (mask.causal && j > position) return false;
  return mask.window == 0 || std::abs(position - j) <= mask.window;
}

// Bias added to the scaled scores; row-major, empty for none.
struct NaiveBias {
  Index batch = 0, heads = 0;  // shape of `full`: [batch, heads, query_time, key_time], 1 in shared dimensions
  std::vector<double> full{};
  Index table_heads = 0, reach = 0;  // shape of `table`: [table_heads, 2 reach + 1]
  std::vector<double> table{};

  double at(const AttentionSizes& sizes, const Mask& mask, Index b, Index h, Index i, Index j) const {
    double sum = 0;
    if (!full.empty()) {
      const Index row = ((batch == 1 ? 0 : b) * heads + (heads == 1 ? 0 : h)) * sizes.query_time + i;
      sum += full[static_cast<std::size_t>(row * sizes.key_time + j)];
    }
    if (!table.empty()) {
      const Index entry = std::clamp(j - mask.position_of(b, i), -reach, reach) + reach;
      sum += table[static_cast<std::size_t>((table_heads == 1 ? 0 : h) * (2 * reach + 1) + entry)];
    }
    return sum;
  }
};

// w_j = e^(scale q_i . k_j + bias_ij) / sum over allowed j; zeros where nothing is allowed.
// Shapes: query and key of the whole problem, row-major.
inline std::vector<double> naive_weights(const std::vector<double>& query, const std::vector<double>& key,
                                         const AttentionSizes& sizes, const Mask& mask, double scale,
                                         const NaiveBias& bias, Index b, Index h, Index i) {
  const Index kv_head = h / (sizes.heads / sizes.kv_heads), width = sizes.head_width;
  const double* q = query.data() + ((b * sizes.heads + h) * sizes.query_time + i) * width;
  const double* keys = key.data() + (b * sizes.kv_heads + kv_head) * sizes.key_time * width;
  std::vector<double> weights(static_cast<std::size_t>(sizes.key_time), 0.0);
  double maximum = -HUGE_VAL, sum = 0;
  for (int pass = 0; pass < 2; ++pass) {
    for (Index j = 0; j < sizes.key_time; ++j) {
      if (!may_attend(mask, b, i, j)) continue;
      double score = bias.at(sizes, mask, b, h, i, j);
      for (Index c = 0; c < width; ++c) score += scale * q[c] * keys[j * width + c];
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

// Shapes: query [batch, heads, query_time, head_width], key [batch, kv_heads, key_time, head_width], value [batch,
// kv_heads, key_time, value_width] -> [batch, query_time, heads, value_width], all row-major.
inline std::vector<double> naive_attention(const std::vector<double>& query, const std::vector<double>& key,
                                           const std::vector<double>& value, const AttentionSizes& sizes,
                                           const Mask& mask, double scale, const NaiveBias& bias = {}) {
  const Index width = sizes.value_width;
  std::vector<double> y(static_cast<std::size_t>(sizes.batch * sizes.query_time * sizes.heads * width), 0.0);
  for (Index b = 0; b < sizes.batch; ++b) {
    for (Index h = 0; h < sizes.heads; ++h) {
      const Index kv_head = h / (sizes.heads / sizes.kv_heads);
      const double* values = value.data() + (b * sizes.kv_heads + kv_head) * sizes.key_time * width;
      for (Index i = 0; i < sizes.query_time; ++i) {
        const auto weights = naive_weights(query, key, sizes, mask, scale, bias, b, h, i);
        double* to = y.data() + ((b * sizes.query_time + i) * sizes.heads + h) * width;
        for (Index j = 0; j < sizes.key_time; ++j) {
          const double* row = values + j * width;
          for (Index c = 0; c < width; ++c) to[c] += weights[static_cast<std::size_t>(j)] * row[c];
        }
      }
    }
  }
  return y;
}

}  // namespace heddle::testing
