// Attention in several heads: A = [head_1 .. head_h] W_O, head_i = mix(X W_Q^i, X W_K^i, X W_V^i).
// Source: Vaswani et al. 2017, 3.2.2.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "heddle/attention/attention.hpp"
#include "heddle/nn/linear.hpp"

namespace heddle::nn {

struct AttentionOptions {
  std::string variant = "dot";
  Index width, heads;
  Bias bias = Bias::yes;
  double deviation = 0.02, output_deviation = 0.02;
};

// Positions that rows of a batch have seen before a decoding step, and how many of the new ones are theirs.
struct StepRows {
  std::vector<Index> seen, added;
};

// Parameters: query, key, value and output, each weight [width, width] and bias [width].
class MultiHeadAttention {
 public:
  MultiHeadAttention(const Scope& scope, const AttentionOptions& options);

  // x [batch, time, width] -> the same, plus a residual where one is given. With positions, one for each sequence, only
  // they ask: -> [batch, 1, width].
  Variable operator()(const Variable& x, const Mask& mask, const Variable& residual = {}, const Pass& pass = {},
                      const std::vector<Index>& positions = {}) const;

  std::unique_ptr<AttentionState> start(Index batch, Index capacity, Element cache) const;
  Variable step(const Variable& x, const StepRows& rows, Index window, AttentionState& state,
                const Variable& residual) const;

 private:
  // Query, key and value, one product: [batch, time, 3 width], and one of them as heads: [batch, heads, time,
  // head_width].
  Variable stacked_parts(const Variable& x, const Pass& pass) const;
  Variable heads_of(const Variable& stacked, Index part) const;
  Variable merge(const Variable& mixed) const;

  HeadShape shape_;
  std::shared_ptr<const Attention> attention_;
  Variable weight_, bias_;  // query, key and value stacked: [3 width, width], [3 width]
  std::optional<LowRank> adapters_;  // of the same
  Linear output_;
};

}  // namespace heddle::nn
