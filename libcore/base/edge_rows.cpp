#include "libcore/base/edge_rows.hpp"

#include <algorithm>
#include <utility>

#include "libcore/base/error.hpp"

namespace heddle {

namespace {

// Sets targets, source_rows and by_source by rows and sources: a counting sort, which keeps the order of edges.
void complete(EdgeRows& edges) {
  const Index nodes = edges.nodes();
  edges.targets.resize(edges.sources.size());
  edges.source_rows.assign(edges.rows.size(), 0);
  for (Index i = 0; i < nodes; ++i) {
    const auto at = static_cast<std::size_t>(i);
    for (Index e = edges.rows[at]; e < edges.rows[at + 1]; ++e) edges.targets[static_cast<std::size_t>(e)] = i;
  }
  for (const Index source : edges.sources) ++edges.source_rows[static_cast<std::size_t>(source) + 1];
  for (std::size_t j = 1; j < edges.source_rows.size(); ++j) edges.source_rows[j] += edges.source_rows[j - 1];
  edges.by_source.resize(edges.sources.size());
  std::vector<Index> next = edges.source_rows;
  for (std::size_t e = 0; e < edges.sources.size(); ++e) {
    Index& place = next[static_cast<std::size_t>(edges.sources[e])];
    edges.by_source[static_cast<std::size_t>(place++)] = static_cast<Index>(e);
  }
}

}  // namespace

EdgeRows edge_rows(std::vector<Index> rows, std::vector<Index> sources) {
  check<ShapeError>(!rows.empty() && rows.front() == 0 && std::ranges::is_sorted(rows) &&
                        rows.back() == static_cast<Index>(sources.size()),
                    "rows of edges must begin at 0, never fall, and end at the number of edges, ", sources.size());
  EdgeRows edges;
  edges.rows = std::move(rows);
  edges.sources = std::move(sources);
  const Index nodes = edges.nodes();
  for (const Index source : edges.sources) {
    check<ShapeError>(source >= 0 && source < nodes, "an edge from node ", source, " of ", nodes);
  }
  complete(edges);
  return edges;
}

EdgeRows all_pairs(const std::vector<Index>& starts) {
  EdgeRows edges;
  for (std::size_t part = 0; part + 1 < starts.size(); ++part) {
    for (Index i = starts[part]; i < starts[part + 1]; ++i) {
      for (Index j = starts[part]; j < starts[part + 1]; ++j) edges.sources.push_back(j);
      edges.rows.push_back(edges.edges());
    }
  }
  complete(edges);
  return edges;
}

EdgeRows with_loops(const EdgeRows& edges, std::vector<Index>* origins) {
  EdgeRows result;
  if (origins != nullptr) origins->clear();
  const auto add = [&](Index source, Index origin) {
    result.sources.push_back(source);
    if (origins != nullptr) origins->push_back(origin);
  };
  for (Index i = 0; i < edges.nodes(); ++i) {
    const Index begin = edges.rows[static_cast<std::size_t>(i)], end = edges.rows[static_cast<std::size_t>(i) + 1];
    const auto first = edges.sources.begin();
    if (std::find(first + begin, first + end, i) == first + end) add(i, -1);
    for (Index e = begin; e < end; ++e) add(edges.sources[static_cast<std::size_t>(e)], e);
    result.rows.push_back(result.edges());
  }
  complete(result);
  return result;
}

}  // namespace heddle
