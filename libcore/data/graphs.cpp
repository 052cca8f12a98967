#include "libcore/data/graphs.hpp"

#include <algorithm>
#include <cmath>
#include <utility>

#include "libcore/base/error.hpp"
#include "libcore/base/strings.hpp"

namespace heddle::data {

namespace {

std::size_t count_of(Index count) {
  return static_cast<std::size_t>(count);
}

void check_features(const Features& features, const FeatureColumns& columns, Index count, const std::string& place,
                    const char* parts) {
  const std::size_t kinds = columns.categories.size(), numbers = columns.numbers.size();
  check<DataError>(
      features.categories.size() == kinds * count_of(count) && features.numbers.size() == numbers * count_of(count),
      place, ": features of ", parts, " do not fit its ", count, " ", parts, ", of ", kinds + numbers, " columns");
  for (std::size_t i = 0; i < features.categories.size(); ++i) {
    const CategoryColumn& column = columns.categories[i % kinds];
    const std::int32_t kind = features.categories[i];
    check<DataError>(kind >= 0 && static_cast<std::size_t>(kind) <= column.kinds.size(), place, ": kind ", kind,
                     " of the feature '", column.name, "' of ", parts, ", which has ", column.kinds.size());
  }
  for (std::size_t i = 0; i < features.numbers.size(); ++i) {
    check<DataError>(std::isfinite(features.numbers[i]), place, ": the feature '", columns.numbers[i % numbers].name,
                     "' of ", parts, " is ", features.numbers[i], ", not a finite number");
  }
}

void check_targets(const GraphRecord& record, const GraphTargets& targets, const std::string& place) {
  const std::size_t columns = targets.columns.size();
  check<DataError>(record.targets.size() == columns * count_of(items_of(record.graph, targets.level)), place, ": has ",
                   record.targets.size(), " labels for ", items_of(record.graph, targets.level), " items of ", columns,
                   " columns");
  for (std::size_t i = 0; i < record.targets.size(); ++i) {
    const TargetColumn& column = targets.columns[i % columns];
    const double value = record.targets[i];
    if (std::isnan(value)) continue;
    const bool fits = column.classes.empty() ? std::isfinite(value)
                                             : value >= 0 && value < static_cast<double>(column.classes.size()) &&
                                                   value == std::floor(value);
    check<DataError>(fits, place, ": the label '", column.name, "' is ", value);
  }
}

template <class T>
void append(std::vector<T>& all, const std::vector<T>& more) {
  all.insert(all.end(), more.begin(), more.end());
}

void append(Features& all, const Features& more) {
  append(all.categories, more.categories);
  append(all.numbers, more.numbers);
}

}  // namespace

void set_edges(Graph& graph, std::span<const ListedEdge> edges) {
  graph.rows.assign(count_of(graph.nodes) + 1, 0);
  for (const ListedEdge& edge : edges) ++graph.rows[count_of(edge.target) + 1];
  for (std::size_t i = 1; i < graph.rows.size(); ++i) graph.rows[i] += graph.rows[i - 1];
  std::vector<Index> next = graph.rows;
  std::vector<std::size_t> order(edges.size());
  for (std::size_t e = 0; e < edges.size(); ++e) order[count_of(next[count_of(edges[e].target)]++)] = e;
  graph.sources.clear();
  graph.edge_features = {};
  for (const std::size_t e : order) {
    graph.sources.push_back(edges[e].source);
    append(graph.edge_features.categories, edges[e].categories);
    append(graph.edge_features.numbers, edges[e].numbers);
  }
}

std::vector<ListedEdge> listed_edges(const Graph& graph) {
  std::vector<ListedEdge> edges;
  const Features& features = graph.edge_features;
  const auto row = [&](const auto& rows) {
    const auto width = static_cast<std::ptrdiff_t>(rows.size() / graph.sources.size());
    const auto first = rows.begin() + static_cast<std::ptrdiff_t>(edges.size()) * width;
    return std::vector(first, first + width);
  };
  for (Index target = 0; target < graph.nodes; ++target) {
    for (Index e = graph.rows[count_of(target)]; e < graph.rows[count_of(target) + 1]; ++e) {
      edges.push_back({graph.sources[count_of(e)], target, row(features.categories), row(features.numbers)});
    }
  }
  return edges;
}

void check_graph(const Graph& graph, const GraphSchema& schema, const std::string& place) {
  check<DataError>(graph.nodes > 0, place, ": has no nodes");
  check<DataError>(graph.rows.size() == count_of(graph.nodes) + 1 && graph.rows.front() == 0 &&
                       std::ranges::is_sorted(graph.rows) && graph.rows.back() == graph.edges(),
                   place, ": its edges are not in rows, one for each of its ", graph.nodes, " nodes");
  for (const Index source : graph.sources) {
    check<DataError>(source >= 0 && source < graph.nodes, place, ": an edge from node ", source, " of ", graph.nodes);
  }
  for (const NodePair& pair : graph.pairs) {
    for (const Index node : {pair.source, pair.target}) {
      check<DataError>(node >= 0 && node < graph.nodes, place, ": a pair with node ", node, " of ", graph.nodes);
    }
  }
  check_features(graph.node_features, schema.nodes, graph.nodes, place, "nodes");
  check_features(graph.edge_features, schema.edges, graph.edges(), place, "edges");
}

bool same_record(const GraphRecord& a, const GraphRecord& b) {
  const auto same = [](double x, double y) { return x == y || (std::isnan(x) && std::isnan(y)); };
  return a.graph == b.graph && a.id == b.id && a.line == b.line && a.node_names == b.node_names &&
         a.positions == b.positions && a.group == b.group && a.fragments == b.fragments && a.sides == b.sides &&
         std::ranges::equal(a.targets, b.targets, same);
}

Index items_of(const Graph& graph, GraphLevel level) {
  switch (level) {
    case GraphLevel::graph:
      return 1;
    case GraphLevel::node:
      return graph.nodes;
    case GraphLevel::edge:
      return graph.edges();
    case GraphLevel::pair:
      return static_cast<Index>(graph.pairs.size());
  }
  return 0;
}

void check_record(const GraphRecord& record, const GraphSchema& schema, const GraphTargets& targets,
                  const std::string& place) {
  check_graph(record.graph, schema, place);
  check_targets(record, targets, place);
  const std::size_t nodes = count_of(record.graph.nodes);
  const auto has = [&](std::size_t size, std::size_t expected, const char* parts) {
    check<DataError>(size == 0 || size == expected, place, ": has ", size, " ", parts, ", not ", expected);
  };
  has(record.node_names.size(), nodes, "names of nodes");
  has(record.positions.size(), 2 * nodes, "coordinates of nodes");
  has(record.sides.size(), has_sides_of_items(targets.level) ? count_of(items_of(record.graph, targets.level)) : 1,
      "sides of a split");
  check<DataError>(std::ranges::all_of(record.positions, [](float at) { return std::isfinite(at); }), place,
                   ": a position is not finite");
  check<DataError>(std::ranges::is_sorted(record.fragments), place, ": its fragments are not in ascending order");
}

GraphsInMemory::GraphsInMemory(GraphSchema schema, GraphTargets targets, std::vector<GraphRecord> records,
                               std::string name)
    : schema_(std::move(schema)), targets_(std::move(targets)), records_(std::move(records)), name_(std::move(name)) {
  for (std::size_t i = 0; i < records_.size(); ++i) {
    check_record(records_[i], schema_, targets_, concatenate(name_, ": graph ", i + 1));
  }
}

GraphBatch joined(std::span<const Graph* const> graphs) {
  GraphBatch batch;
  std::vector<Index> rows{0}, sources;
  for (const Graph* graph : graphs) {
    const Index first_node = batch.nodes(), first_edge = rows.back();
    for (std::size_t i = 1; i < graph->rows.size(); ++i) rows.push_back(first_edge + graph->rows[i]);
    for (const Index source : graph->sources) sources.push_back(first_node + source);
    append(batch.node_features, graph->node_features);
    append(batch.edge_features, graph->edge_features);
    for (const NodePair& pair : graph->pairs) {
      batch.pairs.push_back({first_node + pair.source, first_node + pair.target});
    }
    batch.starts.push_back(first_node + graph->nodes);
    batch.pair_starts.push_back(static_cast<Index>(batch.pairs.size()));
  }
  batch.edges = std::make_shared<const EdgeRows>(edge_rows(std::move(rows), std::move(sources)));
  return batch;
}

SchemaMap::SchemaMap(const GraphSchema& from, const GraphSchema& to, const std::string& place)
    : nodes_(map_columns(from.nodes, to.nodes, place + ": nodes")),
      edges_(map_columns(from.edges, to.edges, place + ": edges")) {
  const auto same = [](const FeatureColumns& a, const FeatureColumns& b) {
    const auto names_are_same = [](const NumberColumn& x, const NumberColumn& y) { return x.name == y.name; };
    return a.categories == b.categories && std::ranges::equal(a.numbers, b.numbers, names_are_same);
  };
  check<DataError>(from.is_directed == to.is_directed, place, ": its edges are ", from.is_directed ? "" : "not ",
                   "directed, and those of the model's graphs are", to.is_directed ? "" : " not",
                   "; convert makes the file ", to.is_directed ? "with" : "without", " `directed`");
  is_identity_ = same(from.nodes, to.nodes) && same(from.edges, to.edges);
}

SchemaMap::Columns SchemaMap::map_columns(const FeatureColumns& from, const FeatureColumns& to,
                                          const std::string& parts) {
  Columns map;
  map.from_categories = from.categories.size();
  map.from_numbers = from.numbers.size();
  const auto find = [&](const auto& columns, const std::string& name) {
    const auto found = std::ranges::find_if(columns, [&](const auto& column) { return column.name == name; });
    check<DataError>(found != columns.end(), parts, " lack the feature '", name, "', which the model needs");
    return static_cast<std::size_t>(found - columns.begin());
  };
  for (const NumberColumn& column : to.numbers) map.numbers.push_back(find(from.numbers, column.name));
  for (const CategoryColumn& column : to.categories) {
    map.categories.push_back(find(from.categories, column.name));
    std::vector<std::int32_t> kinds{0};
    for (const std::string& kind : from.categories[map.categories.back()].kinds) {
      const auto found = std::ranges::find(column.kinds, kind);
      kinds.push_back(found == column.kinds.end() ? 0 : static_cast<std::int32_t>(found - column.kinds.begin() + 1));
    }
    map.kinds.push_back(std::move(kinds));
  }
  return map;
}

void SchemaMap::apply(const Columns& columns, Features& features) {
  Features mapped;
  for (std::size_t at = 0; at < features.categories.size(); at += columns.from_categories) {
    for (std::size_t c = 0; c < columns.categories.size(); ++c) {
      const auto kind = static_cast<std::size_t>(features.categories[at + columns.categories[c]]);
      mapped.categories.push_back(columns.kinds[c][kind]);
    }
  }
  for (std::size_t at = 0; at < features.numbers.size(); at += columns.from_numbers) {
    for (const std::size_t column : columns.numbers) mapped.numbers.push_back(features.numbers[at + column]);
  }
  features = std::move(mapped);
}

void SchemaMap::apply(Graph& graph) const {
  if (is_identity_) return;
  apply(nodes_, graph.node_features);
  apply(edges_, graph.edge_features);
}

}  // namespace heddle::data
