#include "libcore/data/graph_parts.hpp"

#include <algorithm>

#include "libcore/base/error.hpp"
#include "libcore/base/strings.hpp"
#include "libcore/data/held_out.hpp"

namespace heddle::data {

GraphsForModel::GraphsForModel(std::vector<std::shared_ptr<const GraphSource>> sources, const GraphSchema& features)
    : sources_(std::move(sources)), features_(features) {
  Index end = 0;
  for (const auto& source : sources_) {
    maps_.emplace_back(source->schema(), features_, source->name());
    ends_.push_back(end += source->size());
  }
}

std::string GraphsForModel::name() const {
  std::vector<std::string> names;
  for (const auto& source : sources_) names.push_back(source->name());
  return join(names);
}

GraphsForModel::Place GraphsForModel::at(Index number) const {
  check<DataError>(number >= 0 && number < size(), name(), ": has no graph ", number + 1, ", only ", size());
  const auto source = static_cast<std::size_t>(std::ranges::upper_bound(ends_, number) - ends_.begin());
  return {source, number - (ends_[source] - sources_[source]->size())};
}

GraphRecord GraphsForModel::record(Index number) const {
  const Place place = at(number);
  GraphRecord record = sources_[place.source]->record(place.number);
  maps_[place.source].apply(record.graph);
  return record;
}

Graph GraphsForModel::graph(Index number) const {
  const Place place = at(number);
  Graph graph = sources_[place.source]->graph(place.number);
  maps_[place.source].apply(graph);
  return graph;
}

Index GraphsForModel::nodes(Index number) const {
  const Place place = at(number);
  return sources_[place.source]->nodes(place.number);
}

std::string GraphsForModel::name_of(Index number) const {
  return sources_[at(number).source]->name();
}

GraphsOf::GraphsOf(const GraphSource& source, std::vector<Index> graphs) : source_(source), graphs_(std::move(graphs)) {
  for (const Index graph : graphs_) {
    check<DataError>(graph >= 0 && graph < source.size(), source.name(), ": has no graph ", graph + 1, ", only ",
                     source.size());
  }
}

std::vector<NodePair> ends_of_items(const Graph& graph, GraphLevel level) {
  if (level == GraphLevel::pair) return graph.pairs;
  std::vector<NodePair> ends;
  if (level != GraphLevel::edge) return ends;
  for (const ListedEdge& edge : listed_edges(graph)) ends.push_back({edge.source, edge.target});
  return ends;
}

std::uint64_t key_of_ends(const NodePair& ends, bool is_directed) {
  const bool swaps = !is_directed && ends.source > ends.target;
  const Index low = swaps ? ends.target : ends.source, high = swaps ? ends.source : ends.target;
  return ContentKey().add(static_cast<std::uint64_t>(low)).add(static_cast<std::uint64_t>(high)).value();
}

Index nodes_in(const GraphSource& graphs) {
  Index nodes = 0;
  for (Index i = 0; i < graphs.size(); ++i) nodes += graphs.nodes(i);
  return nodes;
}

}  // namespace heddle::data
