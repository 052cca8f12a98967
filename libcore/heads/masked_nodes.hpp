// The head that predicts what masked nodes of graphs are.
#pragma once

#include <vector>

#include "libcore/nn/linear.hpp"

namespace heddle::heads {

// logits_c = W_c h + b_c for each column c of categories that nodes have, and a vector m that stands for the features
// of a node that is masked.
// Source: Hu et al. 2020, "Strategies for pre-training graph neural networks", section 3.1.2.
// Parameters: mask [width, 1]; of column c, from 0, kinds/c/weight [kinds, width] and kinds/c/bias [kinds].
class MaskedNodes {
 public:
  // The number of kinds of each column.
  MaskedNodes(const Scope& scope, const std::vector<Index>& kinds, Index width, double mask_stddev);

  // m in the place of some of the rows: [nodes, width] -> the same, Real.
  Variable hide(const Variable& features, const std::vector<Index>& rows) const;
  // Logits of rows of nodes: [rows, width] -> [rows, kinds of the column], Real.
  Variable logits(const Variable& nodes, std::size_t column) const;

 private:
  Variable mask_;
  std::vector<nn::Linear> kinds_;
};

}  // namespace heddle::heads
