#include "libcore/analysis/graph_layout.hpp"

#include <algorithm>
#include <cmath>
#include <numbers>

#include "libcore/analysis/principal_components.hpp"
#include "libcore/data/shortest_paths.hpp"

namespace heddle::analysis {

namespace {

// Distances of all pairs, [nodes, nodes]; parts that are not connected are a little further apart than any two nodes of
// one part.
std::vector<double> distances_of(const data::Graph& graph) {
  data::Graph both_ways;
  both_ways.nodes = graph.nodes;
  std::vector<data::ListedEdge> edges;
  for (Index target = 0; target < graph.nodes; ++target) {
    const auto at = static_cast<std::size_t>(target);
    for (Index e = graph.rows[at]; e < graph.rows[at + 1]; ++e) {
      const Index source = graph.sources[static_cast<std::size_t>(e)];
      edges.push_back({source, target});
      edges.push_back({target, source});
    }
  }
  data::set_edges(both_ways, edges);
  const std::vector<std::int32_t> found =
      data::shortest_paths(edge_rows(both_ways.rows, both_ways.sources), {0, graph.nodes}, data::PathEdges::no)
          .distances;
  const std::int32_t apart = std::max(1, found.empty() ? 0 : *std::ranges::max_element(found)) + 1;
  std::vector<double> distances;
  for (const std::int32_t edges_between : found) {
    distances.push_back(edges_between == data::ShortestPaths::unreachable ? apart : edges_between);
  }
  return distances;
}

// The places from which the majorisation starts. Nodes with the same distances to all others are moved apart.
std::vector<NodePlace> first_places(const std::vector<double>& distances, Index nodes) {
  Tensor rows({nodes, nodes});
  for (Index i = 0; i < nodes * nodes; ++i) rows[i] = static_cast<Real>(distances[static_cast<std::size_t>(i)]);
  const PrincipalComponents found = principal_components(rows, 2);
  const double scale = 1 / std::sqrt(static_cast<double>(nodes));
  std::vector<NodePlace> places;
  for (Index i = 0; i < nodes; ++i) {
    const std::vector<double>& at = found.coordinates[static_cast<std::size_t>(i)];
    const double angle = 2 * std::numbers::pi * static_cast<double>(i) / static_cast<double>(nodes);
    places.push_back({(at.empty() ? 0 : at[0]) * scale + 0.1 * std::cos(angle),
                      (at.size() < 2 ? 0 : at[1]) * scale + 0.1 * std::sin(angle)});
  }
  return places;
}

// Place of node i that minimises a bound of the stress, sum over pairs of (|x_i - x_j| - d_ij)^2 / d_ij^2.
NodePlace better_place(std::size_t i, const std::vector<NodePlace>& places, const double* distances) {
  double x = 0, y = 0, sum = 0;
  for (std::size_t j = 0; j < places.size(); ++j) {
    if (j == i) continue;
    const double dx = places[i].x - places[j].x, dy = places[i].y - places[j].y, wanted = distances[j];
    const double length = std::max(std::sqrt(dx * dx + dy * dy), 1e-9), weight = 1 / (wanted * wanted);
    x += weight * (places[j].x + wanted * dx / length);
    y += weight * (places[j].y + wanted * dy / length);
    sum += weight;
  }
  return {x / sum, y / sum};
}

}  // namespace

std::vector<NodePlace> graph_layout(const data::Graph& graph) {
  constexpr int most_rounds = 200;
  constexpr double still = 1e-4;  // fraction of an edge's length
  if (graph.nodes < 2) return std::vector<NodePlace>(static_cast<std::size_t>(graph.nodes), NodePlace{0, 0});
  const std::vector<double> distances = distances_of(graph);
  std::vector<NodePlace> places = first_places(distances, graph.nodes);
  double moved = 1;
  for (int round = 0; round < most_rounds && moved > still; ++round) {
    moved = 0;
    for (std::size_t i = 0; i < places.size(); ++i) {
      const NodePlace next = better_place(i, places, distances.data() + i * places.size());
      moved = std::max(moved, std::hypot(next.x - places[i].x, next.y - places[i].y));
      places[i] = next;
    }
  }
  return places;
}

}  // namespace heddle::analysis
