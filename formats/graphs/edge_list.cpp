#include "formats/graphs/edge_list.hpp"

#include <algorithm>
#include <set>
#include <tuple>
#include <vector>

namespace heddle::formats {

bool goes_both_ways(std::span<const data::ListedEdge> edges) {
  using Key = std::tuple<Index, Index, std::vector<std::int32_t>, std::vector<float>>;
  std::vector<Key> forward, backward;
  for (const data::ListedEdge& edge : edges) {
    if (edge.source == edge.target) continue;
    forward.emplace_back(edge.source, edge.target, edge.categories, edge.numbers);
    backward.emplace_back(edge.target, edge.source, edge.categories, edge.numbers);
  }
  std::ranges::sort(forward);
  std::ranges::sort(backward);
  return forward == backward;
}

Index repeated_edges(const data::Graph& graph) {
  Index repeated = 0;
  for (Index i = 0; i < graph.nodes; ++i) {
    const auto first = graph.sources.begin() + graph.rows[static_cast<std::size_t>(i)],
               last = graph.sources.begin() + graph.rows[static_cast<std::size_t>(i) + 1];
    repeated += (last - first) - static_cast<Index>(std::set<Index>(first, last).size());
  }
  return repeated;
}

Index loops(const data::Graph& graph) {
  Index count = 0;
  for (Index i = 0; i < graph.nodes; ++i) {
    for (Index e = graph.rows[static_cast<std::size_t>(i)]; e < graph.rows[static_cast<std::size_t>(i) + 1]; ++e) {
      count += graph.sources[static_cast<std::size_t>(e)] == i ? 1 : 0;
    }
  }
  return count;
}

}  // namespace heddle::formats
