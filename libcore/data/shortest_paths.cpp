#include "libcore/data/shortest_paths.hpp"

#include <algorithm>

namespace heddle::data {

namespace {

std::size_t place_of(Index number) {
  return static_cast<std::size_t>(number);
}

// The search from one node along edges, by breadth, within the nodes of its graph.
class Search {
 public:
  Search(const EdgeRows& edges, Index first, Index last)
      : edges_(edges), first_(first), distances_(place_of(last - first)), counts_(place_of(last - first)) {}

  void run(Index from) {
    std::fill(distances_.begin(), distances_.end(), ShortestPaths::unreachable);
    std::fill(counts_.begin(), counts_.end(), 0.0);
    queue_.assign(1, from);
    distances_[place_of(from - first_)] = 0;
    counts_[place_of(from - first_)] = 1;
    for (std::size_t next = 0; next < queue_.size(); ++next) visit_targets_of(queue_[next]);
  }

  std::int32_t distance(Index node) const { return distances_[place_of(node - first_)]; }

  // Appends the edges on the shortest paths to a node, from the last ones to the first.
  void append_paths_to(Index node, ShortestPaths& to) {
    const std::int32_t length = distance(node);
    if (length <= 0) return;
    reached_.assign(1, {node, 1.0 / length});
    for (std::size_t next = 0; next < reached_.size(); ++next) {
      const Reached here = reached_[next];
      if (distance(here.node) == 0) break;
      const double share_of_a_path = here.share / count(here.node);
      for (Index e = edges_.rows[place_of(here.node)]; e < edges_.rows[place_of(here.node) + 1]; ++e) {
        const Index source = edges_.sources[place_of(e)];
        if (distance(source) == ShortestPaths::unreachable || distance(source) + 1 != distance(here.node)) continue;
        to.edges.push_back(e);
        to.shares.push_back(share_of_a_path * count(source));
        add_share(source, share_of_a_path * count(source));
      }
    }
  }

 private:
  struct Reached {
    Index node;
    double share;  // fractions of the paths, by length
  };

  double count(Index node) const { return counts_[place_of(node - first_)]; }

  void visit_targets_of(Index node) {
    const std::int32_t next = distance(node) + 1;
    for (Index place = edges_.source_rows[place_of(node)]; place < edges_.source_rows[place_of(node) + 1]; ++place) {
      const Index target = edges_.targets[place_of(edges_.by_source[place_of(place)])];
      std::int32_t& known = distances_[place_of(target - first_)];
      if (known == ShortestPaths::unreachable) {
        known = next;
        queue_.push_back(target);
      }
      if (known == next) counts_[place_of(target - first_)] += count(node);
    }
  }

  // Nodes come by falling distance, so that one is complete before its own sources are looked for.
  void add_share(Index node, double share) {
    for (auto here = reached_.rbegin(); here != reached_.rend() && distance(here->node) == distance(node); ++here) {
      if (here->node != node) continue;
      here->share += share;
      return;
    }
    reached_.push_back({node, share});
  }

  const EdgeRows& edges_;
  Index first_;
  std::vector<std::int32_t> distances_;
  std::vector<double> counts_;  // numbers of shortest paths
  std::vector<Index> queue_;
  std::vector<Reached> reached_;
};

}  // namespace

ShortestPaths shortest_paths(const EdgeRows& edges, const std::vector<Index>& starts, PathEdges path_edges) {
  ShortestPaths result;
  for (std::size_t graph = 0; graph + 1 < starts.size(); ++graph) {
    const Index first = starts[graph], last = starts[graph + 1], nodes = last - first;
    const std::size_t begin = result.distances.size();
    result.distances.resize(begin + place_of(nodes * nodes));
    Search search(edges, first, last);
    std::vector<ShortestPaths> from(path_edges == PathEdges::yes ? place_of(nodes) : 0);
    for (Index source = first; source < last; ++source) {
      search.run(source);
      for (Index target = first; target < last; ++target) {
        result.distances[begin + place_of((target - first) * nodes + source - first)] = search.distance(target);
        if (path_edges == PathEdges::no) continue;
        ShortestPaths& paths = from[place_of(source - first)];
        search.append_paths_to(target, paths);
        paths.starts.push_back(static_cast<Index>(paths.edges.size()));
      }
    }
    if (path_edges == PathEdges::no) continue;
    // In the order of pairs: by targets.
    for (Index target = 0; target < nodes; ++target) {
      for (const ShortestPaths& paths : from) {
        const auto left = paths.starts[place_of(target)], right = paths.starts[place_of(target) + 1];
        result.edges.insert(result.edges.end(), paths.edges.begin() + left, paths.edges.begin() + right);
        result.shares.insert(result.shares.end(), paths.shares.begin() + left, paths.shares.begin() + right);
        result.starts.push_back(static_cast<Index>(result.edges.size()));
      }
    }
  }
  return result;
}

}  // namespace heddle::data
