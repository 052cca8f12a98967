// Distances between nodes, and the edges on shortest paths, against all paths listed one by one.
#include "libcore/data/shortest_paths.hpp"

#include <doctest/doctest.h>

#include <functional>
#include <map>

#include "support/small_graphs.hpp"

using namespace heddle;
using namespace heddle::testing;

namespace shortest_paths_tests {

namespace {

std::size_t at(Index i) {
  return static_cast<std::size_t>(i);
}

// Distances by Floyd and Warshall: entry target * nodes + source.
std::vector<Index> all_distances(const EdgeRows& edges) {
  const Index nodes = edges.nodes(), far = 1000;
  std::vector<Index> d(at(nodes * nodes), far);
  for (Index i = 0; i < nodes; ++i) d[at(i * nodes + i)] = 0;
  for (Index e = 0; e < edges.edges(); ++e) {
    Index& here = d[at(edges.targets[at(e)] * nodes + edges.sources[at(e)])];
    here = std::min<Index>(here, 1);
  }
  for (Index k = 0; k < nodes; ++k) {
    for (Index p = 0; p < nodes * nodes; ++p) {
      d[at(p)] = std::min(d[at(p)], d[at(p / nodes * nodes + k)] + d[at(k * nodes + p % nodes)]);
    }
  }
  for (Index& x : d) x = x >= far ? -1 : x;
  return d;
}

// Number of paths of `length` edges from source to target that contain each edge, with their number and length.
std::map<Index, double> shares_of(const EdgeRows& edges, Index source, Index target, Index length) {
  std::map<Index, double> counts;
  double paths = 0;
  std::vector<Index> path;
  const std::function<void(Index)> extend = [&](Index node) {
    if (static_cast<Index>(path.size()) == length) {
      if (node != target) return;
      ++paths;
      for (const Index e : path) ++counts[e];
      return;
    }
    for (Index e = 0; e < edges.edges(); ++e) {
      if (edges.sources[at(e)] != node) continue;
      path.push_back(e);
      extend(edges.targets[at(e)]);
      path.pop_back();
    }
  };
  if (length > 0) extend(source);
  for (auto& [edge, count] : counts) count /= paths * static_cast<double>(length);
  return counts;
}

}  // namespace

TEST_CASE("shortest_paths: distances are Floyd's and Warshall's, edges those of all shortest paths together") {
  for (const std::uint64_t seed : {1, 2, 3, 4}) {
    CAPTURE(seed);
    const auto edges = random_edges(8, 3, seed);
    const data::ShortestPaths found = data::shortest_paths(*edges, {0, 8}, data::PathEdges::yes);
    const std::vector<Index> distances = all_distances(*edges);
    REQUIRE(found.distances.size() == 64);
    REQUIRE(found.starts.size() == 65);
    for (Index p = 0; p < 64; ++p) {
      CAPTURE(p);
      CHECK(found.distances[at(p)] == distances[at(p)]);
      std::map<Index, double> shares;
      for (Index place = found.starts[at(p)]; place < found.starts[at(p) + 1]; ++place) {
        shares[found.edges[at(place)]] += found.shares[at(place)];
      }
      const auto expected = shares_of(*edges, p % 8, p / 8, distances[at(p)]);
      REQUIRE(shares.size() == expected.size());
      CHECK(std::ssize(expected) == found.starts[at(p) + 1] - found.starts[at(p)]);  // each edge is listed once
      for (const auto& [edge, share] : expected) CHECK(shares.at(edge) == doctest::Approx(share));
    }
    CHECK(data::shortest_paths(*edges, {0, 8}, data::PathEdges::no).distances == found.distances);
  }
}

TEST_CASE("shortest_paths: of several graphs side by side, pairs are those of each") {
  // A path of three nodes, both ways, and a node alone.
  const EdgeRows edges = edge_rows({0, 1, 3, 4, 4}, {1, 0, 2, 1});
  const data::ShortestPaths found = data::shortest_paths(edges, {0, 3, 4}, data::PathEdges::yes);
  CHECK(found.distances == std::vector<std::int32_t>{0, 1, 2, 1, 0, 1, 2, 1, 0, 0});
  CHECK(found.starts.size() == 11);
  // From node 2 to node 0: its edge to node 1, and that from there.
  CHECK(found.starts[3] - found.starts[2] == 2);
  CHECK(found.shares[at(found.starts[2])] == 0.5);
}

}  // namespace shortest_paths_tests
