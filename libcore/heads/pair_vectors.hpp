// Vectors of pairs of nodes, for heads that say something of each, such as whether an edge joins them.
#pragma once

#include <optional>
#include <vector>

#include "libcore/heads/edge_vectors.hpp"
#include "libcore/nn/linear.hpp"

namespace heddle::heads {

// v = relu(A h_target + B h_source + C (h_target * h_source) + b), where * is element by element, as predictors of
// links have it (Hu et al. 2020, Open Graph Benchmark); A = B where ends are alike.
// Parameters: ends/weight and ends/bias, or target/... and source/weight apart; product/weight.
class PairVectors {
 public:
  PairVectors(const Scope& scope, Index width, EdgeEnds ends);
  // Vectors of pairs by the rows of their nodes, two lists of one length: nodes [nodes, width] -> [pairs, width], Real.
  Variable operator()(const Variable& nodes, const std::vector<Index>& targets,
                      const std::vector<Index>& sources) const;

 private:
  nn::Linear target_, product_;
  std::optional<nn::Linear> source_;
};

}  // namespace heddle::heads
