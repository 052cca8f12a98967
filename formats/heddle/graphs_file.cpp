#include "formats/heddle/graphs_file.hpp"

#include <algorithm>
#include <cmath>

#include "formats/heddle/content.hpp"
#include "formats/heddle/graph_columns.hpp"
#include "formats/heddle/problems.hpp"
#include "libcore/base/strings.hpp"

namespace heddle::formats {

namespace {

// The offsets of graphs in a list of all nodes or edges, whose number is the last of them.
hdf5::Dataset open_bounds(const hdf5::Group& root, const char* name) {
  hdf5::Dataset bounds = root.group("graphs").dataset(name);
  check<DataError>(bounds.dtype() == hdf5::DType::uint64 && bounds.extents().size() == 1 && bounds.size() >= 2,
                   bounds.where(), ": is not a list of offsets. The file is damaged or not heddle's");
  return bounds;
}

Index last_bound(const hdf5::Dataset& bounds) {
  std::uint64_t last[1];
  bounds.read<std::uint64_t>(bounds.size() - 1, 1, last);
  check<DataError>(last[0] < static_cast<std::uint64_t>(std::numeric_limits<Index>::max()), bounds.where(),
                   ": impossible offsets. The file is damaged");
  return static_cast<Index>(last[0]);
}

std::optional<hdf5::Dataset> open_some(const hdf5::Group& root, const char* group, const std::string& name,
                                       hdf5::DType dtype, Index rows, Index width = 0) {
  if (!root.has(group) || !root.group(group).has(name)) return std::nullopt;
  return expect_dataset(root.group(group), name, dtype, rows, width);
}

template <class T>
std::optional<Lists<T>> open_lists(const hdf5::Group& group, const char* name, Index lists) {
  return group.has(name) ? std::optional<Lists<T>>(std::in_place, group, name, lists) : std::nullopt;
}

// A part that is missing is that of no elements.
template <class T>
std::vector<T> rows_or_none(const std::optional<hdf5::Dataset>& dataset, Index first, Index count) {
  return dataset ? read_some<T>(*dataset, first, count) : std::vector<T>();
}

std::optional<hdf5::Dataset> open_list(const hdf5::Group& root, const char* name, hdf5::DType dtype, Index rows) {
  return root.has(name) ? std::optional(expect_dataset(root, name, dtype, rows)) : std::nullopt;
}

}  // namespace

// Not in the namespace without a name, so that Columns may have members of it where sources are compiled in groups.
namespace graph_parts {

class FeatureReader {
 public:
  FeatureReader(const hdf5::Group& root, const char* group, const data::FeatureColumns& columns, Index rows)
      : numbers_(
            open_some(root, group, "numbers", hdf5::DType::float32, rows, static_cast<Index>(columns.numbers.size()))) {
    if (!root.has(group) || !root.group(group).has("categories")) return;
    const hdf5::DType dtype = root.group(group).dataset("categories").dtype();
    const bool is_known = dtype == hdf5::DType::int8 || dtype == hdf5::DType::uint16 || dtype == hdf5::DType::uint32;
    categories_ = open_some(root, group, "categories", is_known ? dtype : hdf5::DType::int8, rows,
                            static_cast<Index>(columns.categories.size()));
  }

  data::Features read(Index first, Index count) const {
    data::Features features{{}, rows_or_none<float>(numbers_, first, count)};
    if (!categories_) return features;
    if (categories_->dtype() == hdf5::DType::int8) read_kinds<std::int8_t>(first, count, features);
    if (categories_->dtype() == hdf5::DType::uint16) read_kinds<std::uint16_t>(first, count, features);
    if (categories_->dtype() == hdf5::DType::uint32) read_kinds<std::uint32_t>(first, count, features);
    return features;
  }

 private:
  template <class Kind>
  void read_kinds(Index first, Index count, data::Features& features) const {
    const std::vector<Kind> kinds = read_some<Kind>(*categories_, first, count);
    features.categories.resize(kinds.size());
    for (std::size_t i = 0; i < kinds.size(); ++i) features.categories[i] = static_cast<std::int32_t>(kinds[i]);
  }

  std::optional<hdf5::Dataset> categories_, numbers_;
};

}  // namespace graph_parts

using graph_parts::FeatureReader;

struct GraphsFile::Columns {
  Columns(const hdf5::Group& root, const data::GraphSchema& schema, const data::GraphTargets& targets, Index graphs,
          Index all_nodes, Index all_edges)
      : pairs(open_lists<std::uint32_t>(root, "pairs", graphs)),
        node_bounds(open_bounds(root, "nodes")),
        edge_bounds(open_bounds(root, "edges")),
        rows(expect_dataset(root.group("edges"), "rows", hdf5::DType::uint64, all_nodes + 1)),
        sources(open_some(root, "edges", "sources", hdf5::DType::uint32, all_edges)),
        nodes(root, "nodes", schema.nodes, all_nodes),
        edges(root, "edges", schema.edges, all_edges),
        positions(open_some(root, "nodes", "positions", hdf5::DType::float32, all_nodes, 2)),
        values(open_some(root, targets_group, "values", hdf5::DType::float64,
                         items(targets.level, graphs, all_nodes, all_edges),
                         static_cast<Index>(targets.columns.size()))),
        lines(open_list(root, "lines", hdf5::DType::int64, graphs)),
        sides(
            open_list(root, "sides", hdf5::DType::int8,
                      has_sides_of_items(targets.level) ? items(targets.level, graphs, all_nodes, all_edges) : graphs)),
        names(root.has("nodes") ? open_lists<std::int8_t>(root.group("nodes"), "names", graphs) : std::nullopt),
        ids(open_lists<std::int8_t>(root, "ids", graphs)),
        groups(open_lists<std::int8_t>(root, "groups", graphs)),
        fragments(open_lists<std::uint32_t>(root, "fragments", graphs)) {
    check<DataError>(sources || all_edges == 0, root.where(), ": lacks the sources of its edges. The file is damaged");
  }

  // The number of items of all graphs.
  Index items(data::GraphLevel level, Index graphs, Index all_nodes, Index all_edges) const {
    switch (level) {
      case data::GraphLevel::graph:
        return graphs;
      case data::GraphLevel::node:
        return all_nodes;
      case data::GraphLevel::edge:
        return all_edges;
      case data::GraphLevel::pair:
        return pairs ? pairs->values().size() / 2 : 0;
    }
    return 0;
  }

  std::optional<Lists<std::uint32_t>> pairs;  // source, target, source, target, ...
  hdf5::Dataset node_bounds, edge_bounds, rows;
  std::optional<hdf5::Dataset> sources;
  FeatureReader nodes, edges;
  std::optional<hdf5::Dataset> positions, values, lines, sides;
  std::optional<Lists<std::int8_t>> names, ids, groups;
  std::optional<Lists<std::uint32_t>> fragments;
};

GraphsFile::GraphsFile(const std::string& path)
    : file_(path),
      schema_(read_schema(file_.expect(FileKind::graphs).root())),
      targets_(read_target_columns(file_.root())) {
  const hdf5::Dataset nodes = open_bounds(file_.root(), "nodes"), edges = open_bounds(file_.root(), "edges");
  check<DataError>(nodes.size() == edges.size(), path, ": has the nodes of ", nodes.size() - 1,
                   " graphs, but the edges of ", edges.size() - 1, ". The file is damaged");
  size_ = nodes.size() - 1;
  nodes_ = last_bound(nodes);
  edges_ = last_bound(edges);
  columns_ = std::make_unique<const Columns>(file_.root(), schema_, targets_, size_, nodes_, edges_);
}

GraphsFile::~GraphsFile() = default;

std::string GraphsFile::place(Index number) const {
  return concatenate(name(), ": graph ", number + 1);
}

GraphsFile::Range GraphsFile::nodes_of(Index number) const {
  check<DataError>(number >= 0 && number < size_, name(), ": has no graph ", number + 1, ", only ", size_);
  const auto [first, last] = bounds_of(columns_->node_bounds, number, nodes_);
  return {first, last};
}

GraphsFile::Range GraphsFile::edges_of(Index number) const {
  const auto [first, last] = bounds_of(columns_->edge_bounds, number, edges_);
  return {first, last};
}

// The first and last row must be those of the graph's own edges, which check_graph() sees.
data::Graph GraphsFile::structure(Range nodes, Range edges) const {
  data::Graph graph;
  graph.nodes = nodes.count();
  graph.rows.clear();
  for (const std::uint64_t row : read_some<std::uint64_t>(columns_->rows, nodes.first, nodes.count() + 1)) {
    const bool is_inside =
        row >= static_cast<std::uint64_t>(edges.first) && row <= static_cast<std::uint64_t>(edges.last);
    graph.rows.push_back(is_inside ? static_cast<Index>(row) - edges.first : -1);
  }
  for (const std::uint32_t source : rows_or_none<std::uint32_t>(columns_->sources, edges.first, edges.count())) {
    graph.sources.push_back(source);
  }
  return graph;
}

data::Graph GraphsFile::graph(Range nodes, Range edges, Index number) const {
  data::Graph graph = structure(nodes, edges);
  graph.node_features = columns_->nodes.read(nodes.first, nodes.count());
  graph.edge_features = columns_->edges.read(edges.first, edges.count());
  graph.pairs = pairs(number);
  return graph;
}

data::Graph GraphsFile::structure(Index number) const {
  data::Graph graph = structure(nodes_of(number), edges_of(number));
  data::check_graph(graph, {}, place(number));
  return graph;
}

Index GraphsFile::nodes(Index number) const {
  return nodes_of(number).count();
}

data::Graph GraphsFile::graph(Index number) const {
  data::Graph graph = this->graph(nodes_of(number), edges_of(number), number);
  data::check_graph(graph, schema_, place(number));
  return graph;
}

// The pairs of a graph, counted through the file.
GraphsFile::Range GraphsFile::pairs_of(Index number) const {
  if (!columns_->pairs) return {0, 0};
  const auto [first, last] = columns_->pairs->bounds(number);
  check<DataError>(first % 2 == 0 && last % 2 == 0, place(number), ": a pair has one node. The file is damaged");
  return {first / 2, last / 2};
}

std::vector<data::NodePair> GraphsFile::pairs(Index number) const {
  std::vector<data::NodePair> pairs;
  if (pairs_of(number).count() == 0) return pairs;
  const std::vector<std::uint32_t> ends = columns_->pairs->list(number);
  for (std::size_t i = 0; i < ends.size(); i += 2) pairs.push_back({ends[i], ends[i + 1]});
  return pairs;
}

GraphsFile::Range GraphsFile::items_of(Index number) const {
  switch (targets_.level) {
    case data::GraphLevel::graph:
      return {number, number + 1};
    case data::GraphLevel::node:
      return nodes_of(number);
    case data::GraphLevel::edge:
      return edges_of(number);
    case data::GraphLevel::pair:
      return pairs_of(number);
  }
  return {0, 0};
}

std::vector<double> GraphsFile::values(Index number) const {
  const Range items = items_of(number);
  return rows_or_none<double>(columns_->values, items.first, items.count());
}

std::vector<data::SplitSide> GraphsFile::sides(Index number) const {
  const Range items = has_sides_of_items(targets_.level) ? items_of(number) : Range{number, number + 1};
  std::vector<data::SplitSide> sides;
  for (const std::int8_t code : rows_or_none<std::int8_t>(columns_->sides, items.first, items.count())) {
    check<DataError>(code >= 0 && code <= static_cast<std::int8_t>(data::SplitSide::test), place(number),
                     ": has the side ", static_cast<int>(code), " of a split. The file is damaged");
    sides.push_back(static_cast<data::SplitSide>(code));
  }
  return sides;
}

std::string GraphsFile::group(Index number) const {
  return columns_->groups ? text_at(*columns_->groups, number) : "";
}

std::string GraphsFile::id(Index number) const {
  return columns_->ids ? text_at(*columns_->ids, number) : "";
}

data::GraphRecord GraphsFile::record(Index number) const {
  const Range nodes = nodes_of(number), edges = edges_of(number);
  data::GraphRecord record;
  record.graph = graph(nodes, edges, number);
  record.id = id(number);
  if (const auto line = rows_or_none<std::int64_t>(columns_->lines, number, 1); !line.empty()) record.line = line[0];
  record.targets = values(number);
  if (columns_->names) {
    const std::string lines = text_at(*columns_->names, number);
    if (!lines.empty()) record.node_names = split(lines, '\n');
  }
  record.positions = rows_or_none<float>(columns_->positions, nodes.first, nodes.count());
  if (!record.positions.empty() && std::isnan(record.positions.front())) record.positions.clear();
  record.group = group(number);
  if (columns_->fragments) record.fragments = columns_->fragments->list(number);
  record.sides = sides(number);
  data::check_record(record, schema_, targets_, place(number));
  return record;
}

Index GraphsFile::pairs() const {
  return columns_->pairs ? columns_->pairs->values().size() / 2 : 0;
}

bool GraphsFile::has_sides() const {
  return columns_->sides.has_value();
}

bool GraphsFile::has_groups() const {
  return columns_->groups.has_value();
}

std::vector<std::string> GraphsFile::parts() const {
  std::vector<std::string> parts;
  const auto add = [&](bool is_there, const char* name) {
    if (is_there) parts.emplace_back(name);
  };
  add(columns_->ids.has_value(), "ids");
  add(columns_->lines.has_value(), "lines");
  add(columns_->groups.has_value(), "groups");
  add(columns_->fragments.has_value(), "fragments");
  add(columns_->names.has_value(), "names of nodes");
  add(columns_->positions.has_value(), "positions");
  add(has_sides(), "sides of a split");
  return parts;
}

std::vector<std::string> GraphsFile::verify() const {
  constexpr std::size_t most = 20;
  Problems problems;
  problems.watch([&] { check_elements(file_); });
  Index next_node = 0, next_edge = 0;
  for (Index i = 0; i < size_ && problems.list().size() < most; ++i) {
    problems.watch([&] {
      const Range nodes = nodes_of(i), edges = edges_of(i);
      check<DataError>(nodes.first == next_node && edges.first == next_edge, place(i),
                       ": does not begin where the one before ends. The file is damaged");
      next_node = nodes.last;
      next_edge = edges.last;
      record(i);
    });
  }
  problems.watch([&] { file_.provenance(); });
  return problems.list();
}

}  // namespace heddle::formats
