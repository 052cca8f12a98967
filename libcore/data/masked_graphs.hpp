// Batches of graphs for predicting masked nodes.
// Source: Hu et al. 2020, "Strategies for pre-training graph neural networks", section 3.1.2 (attribute masking).
#pragma once

#include <cstdint>
#include <vector>

#include "libcore/data/graphs.hpp"
#include "libcore/data/masking.hpp"

namespace heddle::data {

struct MaskedGraphBatch {
  GraphBatch graphs{};                        // `masked` lists the nodes to predict
  std::vector<std::vector<TokenId>> kinds{};  // for each column of categories: the kinds of these nodes
};

struct NodeMasking {
  double probability = 0.15;  // fraction of a graph's nodes that are masked; at least one is
  MaskingKind masking = MaskingKind::dynamic;
  std::uint64_t seed = 0;
};

// An epoch reads every graph once, in a random order. The masks of sample g are a function of (seed, g) and the number
// of its nodes, static masks of (seed, graph).
class MaskedGraphs {
 public:
  // Graphs with the columns that a model reads. The source must stay. Throws DataError for a source that lacks one, and
  // for features without a category, of which there is nothing to predict.
  MaskedGraphs(const GraphSource& source, const GraphSchema& features, const NodeMasking& options);

  Index graphs_per_epoch() const { return source_.size(); }
  // Samples [first, first + count).
  MaskedGraphBatch batch(Index first, Index count) const;
  // The number of a sample's graph in the source.
  Index graph_of(Index sample) const;
  // Graphs [first, first + count) with static masks, for evaluation.
  MaskedGraphBatch in_order(Index first, Index count) const;
  const GraphSource& source() const { return source_; }

 private:
  struct Place {
    Index graph;
    std::uint64_t draw;  // number of its masks
  };
  MaskedGraphBatch batch_of(const std::vector<Place>& places) const;

  const GraphSource& source_;
  SchemaMap map_;
  std::size_t columns_;  // number of category columns
  NodeMasking options_;
};

}  // namespace heddle::data
