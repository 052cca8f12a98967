// Graphs for tests.
#pragma once

#include <memory>
#include <vector>

#include "libcore/base/edge_rows.hpp"
#include "libcore/base/random.hpp"

namespace heddle::testing {

// A graph of so many nodes with up to `most` edges into each, from nodes anywhere: loops, edges that are there twice
// and nodes without edges among them.
inline std::shared_ptr<const EdgeRows> random_edges(Index nodes, Index most, std::uint64_t seed = 1) {
  const RandomStream stream(seed, random_site("edges"));
  std::vector<Index> rows{0}, sources;
  std::uint64_t drawn = 0;
  for (Index i = 0; i < nodes; ++i) {
    const auto degree = static_cast<Index>(stream.below(drawn++, static_cast<std::uint64_t>(most + 1)));
    for (Index e = 0; e < degree; ++e) {
      sources.push_back(static_cast<Index>(stream.below(drawn++, static_cast<std::uint64_t>(nodes))));
    }
    rows.push_back(static_cast<Index>(sources.size()));
  }
  return std::make_shared<const EdgeRows>(edge_rows(std::move(rows), std::move(sources)));
}

inline std::shared_ptr<const EdgeRows> no_edges(Index nodes) {
  return std::make_shared<const EdgeRows>(edge_rows(std::vector<Index>(static_cast<std::size_t>(nodes) + 1, 0), {}));
}

}  // namespace heddle::testing
