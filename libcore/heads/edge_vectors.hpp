// Vectors of edges, for heads that say something of each.
#pragma once

#include <memory>
#include <optional>
#include <vector>

#include "libcore/base/edge_rows.hpp"
#include "libcore/nn/linear.hpp"

namespace heddle::heads {

// Whether an edge, or a pair, is the same from either end, or leads from one to the other.
enum class EdgeEnds { alike, apart };

// v_e = relu(A h_target + B h_source + C f_e + b); A = B where ends are alike.
// Parameters: ends/weight and ends/bias, or target/… and source/weight apart; feature/weight where edges have features.
class EdgeVectors {
 public:
  EdgeVectors(const Scope& scope, Index width, Index edge_width, EdgeEnds ends);
  // Vectors of these edges: nodes [nodes, width], features [all edges, edge_width] or empty -> [count, width], Real.
  Variable operator()(const Variable& nodes, const Variable& features, const std::shared_ptr<const EdgeRows>& edges,
                      const std::vector<Index>& chosen) const;

 private:
  nn::Linear target_;
  std::optional<nn::Linear> source_, feature_;
};

}  // namespace heddle::heads
