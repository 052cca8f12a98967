#include "libcore/data/hidden_edges.hpp"

#include <algorithm>
#include <map>
#include <set>

#include "libcore/data/permutation.hpp"

namespace heddle::data {

namespace {

using Ends = std::pair<Index, Index>;  // source and target; the lesser first where edges have no direction

Ends ends_of(const ListedEdge& edge, bool is_directed) {
  if (is_directed || edge.source < edge.target) return {edge.source, edge.target};
  return {edge.target, edge.source};
}

// Pairs of different nodes that are not in the list, in a random order, at most so many.
std::vector<Ends> apart(const std::set<Ends>& joined, Index nodes, std::size_t most, bool is_directed,
                        const Permutation& order) {
  std::vector<Ends> found;
  for (Index i = 0; i < nodes * nodes && found.size() < most; ++i) {
    const Index cell = order(i);
    const Ends ends{cell / nodes, cell % nodes};
    const bool is_pair = is_directed ? ends.first != ends.second : ends.first < ends.second;
    if (is_pair && !joined.contains(ends)) found.push_back(ends);
  }
  return found;
}

}  // namespace

GraphTargets hidden_edge_targets() {
  return {GraphLevel::pair, {{"edge", {"no", "yes"}}}};
}

void hide_edges(GraphRecord& record, bool is_directed, Index percent, std::uint64_t seed, Index number) {
  Graph& graph = record.graph;
  std::vector<ListedEdge> edges = listed_edges(graph);
  std::set<Ends> joined;
  for (const ListedEdge& edge : edges) {
    if (edge.source != edge.target) joined.insert(ends_of(edge, is_directed));
  }
  const std::vector<Ends> all(joined.begin(), joined.end());
  const auto count = static_cast<Index>(all.size()), hidden = (count * percent + 50) / 100;
  const auto epoch = static_cast<std::uint64_t>(2 * number);
  const Permutation order(count, seed, epoch), cells(graph.nodes * graph.nodes, seed, epoch + 1);
  std::map<Ends, double> answers;  // sorted, so that the order of the pairs says nothing
  for (Index i = 0; i < hidden; ++i) answers[all[static_cast<std::size_t>(order(i))]] = 1;
  for (const Ends& ends : apart(joined, graph.nodes, answers.size(), is_directed, cells)) answers[ends] = 0;
  std::erase_if(edges, [&](const ListedEdge& edge) {
    const auto found = answers.find(ends_of(edge, is_directed));
    return found != answers.end() && found->second == 1;
  });
  set_edges(graph, edges);
  graph.pairs.clear();
  record.targets.clear();
  record.sides.clear();
  for (const auto& [ends, answer] : answers) {
    graph.pairs.push_back({ends.first, ends.second});
    record.targets.push_back(answer);
  }
}

}  // namespace heddle::data
