// Problems that the attention tests walk through: every kind of mask, alone and combined.
#pragma once

#include <vector>

#include "support/gradient_check.hpp"
#include "support/naive_attention.hpp"

namespace heddle::testing {

struct AttentionCase {
  const char* name;
  AttentionSizes sizes;
  Mask mask{};
  std::vector<Tensor> inputs() const {
    return {normal_tensor(sizes.query_shape(), 1), normal_tensor(sizes.key_shape(), 2),
            normal_tensor(sizes.value_shape(), 3)};
  }
};

// A graph without rule, which leaves query 1 without keys and of the others some far, some near ones.
inline std::shared_ptr<const AllowedPairs> some_pairs(Index batch, Index query_time, Index key_time) {
  std::vector<std::uint8_t> allowed;
  for (Index i = 0; i < batch * query_time * key_time; ++i) {
    const bool isolated = i / key_time % query_time == 1;
    allowed.push_back(!isolated && i * 7919 % 11 < 4 ? 1 : 0);
  }
  return std::make_shared<const AllowedPairs>(batch, query_time, key_time, std::move(allowed));
}

inline const std::vector<AttentionCase>& attention_cases() {
  static const std::vector<AttentionCase> cases{
      {"one element", {1, 1, 1, 1, 1}},
      {"head width 1", {1, 3, 6, 6, 1}},
      {"plain", {2, 2, 5, 5, 3}},
      {"causal", {2, 2, 9, 9, 3}, {.causal = true}},
      {"window", {1, 2, 11, 11, 3}, {.window = 2}},
      {"causal window", {2, 1, 11, 11, 3}, {.causal = true, .window = 3}},
      {"lengths", {3, 2, 7, 7, 3}, {.key_lengths = {7, 4, 1}}},
      {"lengths with an empty batch", {2, 2, 5, 5, 3}, {.key_lengths = {0, 3}}},
      {"causal with lengths", {2, 2, 9, 9, 3}, {.causal = true, .key_lengths = {9, 4}}},
      {"cross, more keys", {2, 2, 4, 9, 5}},
      {"cross, fewer keys", {2, 2, 9, 4, 5}, {.key_lengths = {4, 2}}},
      {"one query", {2, 3, 1, 8, 4}, {.causal = true, .query_offsets = {7, 3}}},
      {"causal after a cache", {2, 2, 4, 9, 3}, {.causal = true, .query_offsets = {5, 2}}},
      {"everything", {2, 2, 4, 9, 3}, {.causal = true, .window = 2, .key_lengths = {9, 5}, .query_offsets = {5, 3}}},
      {"grouped heads", {2, 4, 6, 7, 3, 2}, {.causal = true}},
      {"heads that share one key head", {2, 3, 5, 5, 3, 1}},
      {"wider values", {2, 2, 6, 5, 3, 2, 5}, {.causal = true}},
      {"values of width 1, grouped heads", {1, 4, 6, 6, 4, 2, 1}, {.window = 2}},
      {"listed pairs", {2, 2, 7, 9, 3}, {.pairs = some_pairs(2, 7, 9)}},
      {"listed pairs of all batches, and every rule",
       {2, 2, 9, 9, 3},
       {.causal = true, .window = 5, .key_lengths = {9, 6}, .pairs = some_pairs(1, 9, 9)}},
      {"window beyond the keys", {2, 1, 3, 4, 3}, {.window = 1, .query_offsets = {3, 20}}},
  };
  return cases;
}

inline Operation attention_operation(const ops::FusedAttention& options) {
  return [options](const auto& in) { return ops::fused_attention(in[0], in[1], in[2], options); };
}

inline Tensor attention(const std::vector<Tensor>& inputs, const ops::FusedAttention& options) {
  return ops::fused_attention(Variable(inputs[0]), Variable(inputs[1]), Variable(inputs[2]), options).value();
}

}  // namespace heddle::testing
