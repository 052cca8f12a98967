#include <algorithm>
#include <cmath>
#include <variant>

#include "formats/hdf5/column.hpp"
#include "formats/heddle/graph_columns.hpp"
#include "formats/heddle/graphs_file.hpp"
#include "libcore/base/strings.hpp"

namespace heddle::formats {

namespace {

constexpr Index graphs_version = 6;

// Texts of a graph's nodes as one, a line each.
std::string node_lines(const std::vector<std::string>& names, const std::string& place) {
  for (const std::string& name : names) {
    check<DataError>(name.find('\n') == name.npos, place, ": the name of a node has a line break");
  }
  return join(names, "\n");
}

}  // namespace

// Not in the namespace without a name, so that Columns may have members of it where sources are compiled in groups.
namespace graph_parts {

// A column that is made for the first rows that have values; rows without are filled.
template <class T>
class FilledColumn {
 public:
  FilledColumn(hdf5::OutputGroup root, std::string group, std::string name, Index width, T filler)
      : root_(std::move(root)), group_(std::move(group)), name_(std::move(name)), width_(width), filler_(filler) {}

  void append(std::span<const T> values, Index rows) {
    if (!column_ && values.empty()) {
      skipped_ += rows;
      return;
    }
    if (!column_) {
      column_.emplace(group_.empty() ? root_ : root_.group(group_), name_, ColumnOptions{.width = width_});
      fill(skipped_);
    }
    if (values.empty()) return fill(rows);
    column_->append(values);
  }
  // Null where no row had values.
  hdf5::OutputDataset* finish() { return column_ ? &column_->finish() : nullptr; }

 private:
  void fill(Index rows) {
    for (Index i = 0; i < rows * std::max<Index>(1, width_); ++i) column_->append(filler_);
  }

  hdf5::OutputGroup root_;
  std::string group_, name_;
  Index width_;
  T filler_;
  std::optional<ColumnWriter<T>> column_;
  Index skipped_ = 0;
};

// The mean and the standard deviation of what is added (Welford).
struct Moments {
  double count = 0, mean = 0, squares = 0;

  void add(double value) {
    count += 1;
    const double difference = value - mean;
    mean += difference / count;
    squares += difference * (value - mean);
  }
  double stddev() const {
    const double deviation = count > 0 ? std::sqrt(squares / count) : 0;
    return deviation > 0 && std::isfinite(deviation) ? deviation : 1;
  }
};

// The features of nodes or edges.
class FeatureWriter {
 public:
  FeatureWriter(const hdf5::OutputGroup& root, const std::string& group, const data::FeatureColumns& columns)
      : moments_(columns.numbers.size()),
        categories_(make_categories(root, group, columns)),
        numbers_(root, group, "numbers", static_cast<Index>(columns.numbers.size()), 0) {}

  void append(const data::Features& features) {
    std::visit(
        [&]<class Kind>(FilledColumn<Kind>& column) {
          column.append(std::vector<Kind>(features.categories.begin(), features.categories.end()), 0);
        },
        categories_);
    numbers_.append(features.numbers, 0);
    for (std::size_t i = 0; i < features.numbers.size(); ++i) moments_[i % moments_.size()].add(features.numbers[i]);
  }
  // Sets the means and standard deviations.
  void finish(data::FeatureColumns& columns) {
    std::visit([](auto& column) { column.finish(); }, categories_);
    numbers_.finish();
    for (std::size_t i = 0; i < moments_.size(); ++i) {
      columns.numbers[i].mean = moments_[i].mean;
      columns.numbers[i].stddev = moments_[i].stddev();
    }
  }

 private:
  using Categories = std::variant<FilledColumn<std::int8_t>, FilledColumn<std::uint16_t>, FilledColumn<std::uint32_t>>;

  // Uses the smallest dtype for all kinds.
  static Categories make_categories(const hdf5::OutputGroup& root, const std::string& group,
                                    const data::FeatureColumns& columns) {
    std::size_t most = 0;
    for (const data::CategoryColumn& column : columns.categories) most = std::max(most, column.kinds.size());
    const auto width = static_cast<Index>(columns.categories.size());
    const char* const name = "categories";
    if (most <= std::numeric_limits<std::int8_t>::max()) {
      return FilledColumn<std::int8_t>(root, group, name, width, 0);
    }
    if (most <= std::numeric_limits<std::uint16_t>::max()) {
      return FilledColumn<std::uint16_t>(root, group, name, width, 0);
    }
    return FilledColumn<std::uint32_t>(root, group, name, width, 0);
  }

  std::vector<Moments> moments_;
  Categories categories_;
  FilledColumn<float> numbers_;
};

}  // namespace graph_parts

using graph_parts::FeatureWriter, graph_parts::FilledColumn;

struct GraphsFileWriter::Columns {
  Columns(const hdf5::OutputGroup& root, const data::GraphSchema& schema, const data::GraphTargets& targets)
      : node_bounds(hdf5::OutputGroup(root).group("graphs"), "nodes"),
        edge_bounds(hdf5::OutputGroup(root).group("graphs"), "edges"),
        rows(hdf5::OutputGroup(root).group("edges"), "rows"),
        sources(root, "edges", "sources", 0, 0),
        pairs(root, "pairs"),
        nodes(root, "nodes", schema.nodes),
        edges(root, "edges", schema.edges),
        names(hdf5::OutputGroup(root).group("nodes"), "names"),
        positions(root, "nodes", "positions", 2, std::numeric_limits<float>::quiet_NaN()),
        values(root, targets_group, "values", static_cast<Index>(targets.columns.size()), 0),
        ids(root, "ids"),
        groups(root, "groups"),
        fragments(root, "fragments"),
        lines(root, "", "lines", 0, 0),
        sides(root, "", "sides", 0, 0) {
    for (auto* column : {&node_bounds, &edge_bounds, &rows}) column->append(0);
  }

  ColumnWriter<std::uint64_t> node_bounds, edge_bounds, rows;
  FilledColumn<std::uint32_t> sources;
  ListsWriter<std::uint32_t> pairs;  // source, target, source, target, ...
  FeatureWriter nodes, edges;
  ListsWriter<std::int8_t> names;
  FilledColumn<float> positions;
  FilledColumn<double> values;
  ListsWriter<std::int8_t> ids, groups;
  ListsWriter<std::uint32_t> fragments;
  FilledColumn<std::int64_t> lines;
  FilledColumn<std::int8_t> sides;
};

GraphsFileWriter::GraphsFileWriter(const std::string& path, data::GraphSchema schema, data::GraphTargets targets)
    : file_(path, FileKind::graphs),
      path_(path),
      schema_(std::move(schema)),
      targets_(std::move(targets)),
      columns_(std::make_unique<Columns>(file_.root(), schema_, targets_)) {
  file_.needs_version(graphs_version);
}

GraphsFileWriter::~GraphsFileWriter() = default;

void GraphsFileWriter::append(const data::GraphRecord& record) {
  const std::string place =
      record.id.empty() ? concatenate(path_, ": graph ", graphs_ + 1) : concatenate(path_, ": ", record.id);
  data::check_record(record, schema_, targets_, place);
  const data::Graph& graph = record.graph;
  check<DataError>(graph.nodes <= std::numeric_limits<std::uint32_t>::max(), place, ": has too many nodes");
  for (const std::string* text : {&record.id, &record.group}) {
    check<DataError>(hdf5::is_text(*text), path_, ": graph ", graphs_ + 1, ": its name or group is not UTF-8 text");
  }
  const std::string names = node_lines(record.node_names, place);
  check<DataError>(hdf5::is_text(names), place, ": a name of its nodes is not UTF-8 text");
  Columns& to = *columns_;
  const auto first_edge = static_cast<std::uint64_t>(edges_);
  for (std::size_t i = 1; i < graph.rows.size(); ++i) {
    to.rows.append(first_edge + static_cast<std::uint64_t>(graph.rows[i]));
  }
  to.sources.append(std::vector<std::uint32_t>(graph.sources.begin(), graph.sources.end()), 0);
  std::vector<std::uint32_t> ends;
  for (const data::NodePair& pair : graph.pairs) {
    for (const Index node : {pair.source, pair.target}) ends.push_back(static_cast<std::uint32_t>(node));
  }
  to.pairs.append(ends);
  to.nodes.append(graph.node_features);
  to.edges.append(graph.edge_features);
  append_text(to.names, names);
  to.positions.append(record.positions, graph.nodes);
  to.values.append(record.targets, 0);
  append_text(to.ids, record.id);
  append_text(to.groups, record.group);
  to.fragments.append(record.fragments);
  const std::int64_t line = record.line;
  to.lines.append(std::span(&line, line != 0 ? 1 : 0), 1);
  std::vector<std::int8_t> sides;
  for (const data::SplitSide side : record.sides) sides.push_back(static_cast<std::int8_t>(side));
  to.sides.append(sides, data::has_sides_of_items(targets_.level) ? data::items_of(graph, targets_.level) : 1);
  ++graphs_;
  nodes_ += graph.nodes;
  edges_ += graph.edges();
  to.node_bounds.append(static_cast<std::uint64_t>(nodes_));
  to.edge_bounds.append(static_cast<std::uint64_t>(edges_));
  file_.check_written();
}

void GraphsFileWriter::commit(const Provenance& provenance) {
  check<DataError>(graphs_ > 0, path_, ": would have no graphs");
  Columns& to = *columns_;
  for (auto* column : {&to.node_bounds, &to.edge_bounds, &to.rows}) column->finish();
  to.sources.finish();
  to.pairs.finish();
  to.nodes.finish(schema_.nodes);
  to.edges.finish(schema_.edges);
  for (auto* texts : {&to.names, &to.ids, &to.groups}) texts->finish();
  to.fragments.finish();
  to.positions.finish();
  to.values.finish();
  to.lines.finish();
  if (hdf5::OutputDataset* const sides = to.sides.finish()) {
    sides->set_attribute<std::string>("codes", join(names_of<data::SplitSide>()));
  }
  columns_.reset();
  write_schema(file_.root(), schema_);
  write_target_columns(file_.root(), targets_);
  file_.commit(provenance);
}

}  // namespace heddle::formats
