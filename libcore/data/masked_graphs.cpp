#include "libcore/data/masked_graphs.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>

#include "libcore/base/error.hpp"
#include "libcore/base/random.hpp"
#include "libcore/data/permutation.hpp"

namespace heddle::data {

namespace {

// Some of so many nodes, in rising order.
std::vector<Index> chosen_nodes(Index nodes, double probability, const RandomStream& stream) {
  std::vector<Index> all(static_cast<std::size_t>(nodes));
  std::iota(all.begin(), all.end(), 0);
  const auto wanted =
      static_cast<std::size_t>(std::max<Index>(1, std::llround(probability * static_cast<double>(nodes))));
  for (std::size_t i = 0; i < wanted; ++i) {
    std::swap(all[i], all[i + static_cast<std::size_t>(stream.below(i, all.size() - i))]);
  }
  all.resize(wanted);
  std::ranges::sort(all);
  return all;
}

}  // namespace

MaskedGraphs::MaskedGraphs(const GraphSource& source, const GraphSchema& features, const NodeMasking& options)
    : source_(source),
      map_(source.schema(), features, source.name()),
      columns_(features.nodes.categories.size()),
      options_(options) {
  check<DataError>(columns_ > 0, source.name(),
                   ": its nodes have no feature that is a category, so there is nothing to predict of masked nodes");
}

Index MaskedGraphs::graph_of(Index sample) const {
  const Index n = graphs_per_epoch();
  return Permutation(n, options_.seed, static_cast<std::uint64_t>(sample / n))(sample % n);
}

MaskedGraphBatch MaskedGraphs::batch(Index first, Index count) const {
  std::vector<Place> places;
  for (Index sample = first; sample < first + count; ++sample) {
    const Index graph = graph_of(sample);
    const bool is_dynamic = options_.masking == MaskingKind::dynamic;
    places.push_back({graph, static_cast<std::uint64_t>(is_dynamic ? sample : graph)});
  }
  return batch_of(places);
}

MaskedGraphBatch MaskedGraphs::in_order(Index first, Index count) const {
  std::vector<Place> places;
  for (Index graph = first; graph < first + count; ++graph) {
    places.push_back({graph, static_cast<std::uint64_t>(graph)});
  }
  return batch_of(places);
}

MaskedGraphBatch MaskedGraphs::batch_of(const std::vector<Place>& places) const {
  std::vector<Graph> graphs;
  std::vector<const Graph*> pointers;
  graphs.reserve(places.size());
  for (const Place& place : places) {
    map_.apply(graphs.emplace_back(source_.graph(place.graph)));
    pointers.push_back(&graphs.back());
  }
  MaskedGraphBatch batch{joined(pointers), std::vector<std::vector<TokenId>>(columns_)};
  for (std::size_t g = 0; g < places.size(); ++g) {
    const RandomStream stream(options_.seed, random_site("masked nodes"), places[g].draw);
    for (const Index node : chosen_nodes(graphs[g].nodes, options_.probability, stream)) {
      batch.graphs.masked.push_back(batch.graphs.starts[g] + node);
      for (std::size_t column = 0; column < columns_; ++column) {
        const std::size_t at = static_cast<std::size_t>(node) * columns_ + column;
        batch.kinds[column].push_back(graphs[g].node_features.categories[at]);
      }
    }
  }
  return batch;
}

}  // namespace heddle::data
