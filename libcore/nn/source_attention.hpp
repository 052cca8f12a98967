// Single-head attention of a recurrent decoder to the annotations of its source.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "libcore/nn/linear.hpp"

namespace heddle::nn {

// c_i = sum_j w_ij h_j with w_i = softmax_j(e_ij), of a state s and annotations h, where the score e(s, h) is
//   additive:  v tanh(W s + U h)   Bahdanau et al. 2015 (SPEC A8)
//   bilinear:  s W h               Luong et al. 2015, "general"
//   dot:       s h                 Luong et al. 2015
// Parameters: of additive query/weight [width, width], key/weight [width, annotation width] and score/weight [1,
// width]; of bilinear query/weight [annotation width, width]. All start normal with standard deviation 1 / sqrt(3 in).
class SourceAttention {
 public:
  // Throws UsageError for other scores and for a dot product of vectors of different widths.
  SourceAttention(const Scope& scope, const std::string& score, Index width, Index annotation_width);
  static std::vector<std::string> scores() { return {"additive", "bilinear", "dot"}; }

  struct Memory {
    Variable annotations;          // [sources, source_time, annotation width]
    Variable keys;                 // keys for the scores, [sources, source_time, ...]
    std::vector<Index> lengths;    // length of each source; empty: all are full
    std::vector<Index> rows = {};  // the source of each row of states; empty: the same. Never recorded
  };
  Memory remember(const Variable& annotations, const std::vector<Index>& lengths) const;

  struct Mixed {
    Variable context;  // [batch, time, annotation width]
    Variable weights;  // [batch, time, source_time]
  };
  // states [batch, time, width]
  Mixed operator()(const Variable& states, const Memory& memory) const;

 private:
  Mixed mix(const Variable& queries, const Memory& memory) const;

  std::optional<Linear> query_, key_;
  Variable score_;
};

}  // namespace heddle::nn
