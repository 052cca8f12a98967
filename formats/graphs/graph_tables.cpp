#include "formats/graphs/graph_tables.hpp"

#include <algorithm>
#include <cmath>
#include <map>
#include <optional>
#include <unordered_map>

#include "formats/graphs/edge_list.hpp"
#include "formats/graphs/label_values.hpp"
#include "formats/labelled/named_table.hpp"
#include "libcore/base/error.hpp"
#include "libcore/base/strings.hpp"

namespace heddle::formats {

namespace {

// A table's rows, in memory.
class Rows {
 public:
  explicit Rows(const GraphTable& table) : table_(table.file, table.content) {
    BadRecords bad(table.file);
    table_.for_each_row(bad, [&](const std::vector<std::string>& fields, Index line) {
      rows_.push_back(fields);
      lines_.push_back(line);
    });
    bad.check();
  }

  const NamedTable& table() const { return table_; }
  std::size_t size() const { return rows_.size(); }
  Index line(std::size_t row) const { return lines_[row]; }
  Place place(std::size_t row) const { return {table_.file(), lines_[row]}; }
  const std::string& at(std::size_t row, Index column) const { return rows_[row][static_cast<std::size_t>(column)]; }
  // "" without the column.
  std::string at(std::size_t row, std::optional<Index> column) const { return column ? at(row, *column) : ""; }
  Index needed(const char* name) const {
    const std::optional<Index> found = table_.find(name);
    check<DataError>(found.has_value(), table_.file(), ":1: has no column '", name, "'; its columns are ",
                     join_first(table_.columns(), 20));
    return *found;
  }

 private:
  NamedTable table_;
  std::vector<std::vector<std::string>> rows_;
  std::vector<Index> lines_;
};

// The labels of the rows of a table.
class TableLabels {
 public:
  TableLabels(const Rows& rows, const std::vector<std::string>& names) : rows_(rows) {
    for (const std::string& name : names) {
      const std::optional<Index> column = rows.table().find(name);
      if (!column) continue;
      columns_.push_back(*column);
      values_.emplace_back(name);
      for (std::size_t row = 0; row < rows.size(); ++row) values_.back().see(rows.at(row, *column));
    }
  }
  bool any() const { return !columns_.empty(); }
  bool has(Index column) const { return std::ranges::count(columns_, column) > 0; }
  data::GraphTargets targets(data::GraphLevel level) {
    data::GraphTargets targets{level, {}};
    for (LabelValues& values : values_) targets.columns.push_back(values.settle(rows_.table().file()));
    return targets;
  }
  void append(std::size_t row, std::vector<double>& to) const {
    for (std::size_t i = 0; i < columns_.size(); ++i) to.push_back(values_[i].value(rows_.at(row, columns_[i])));
  }

 private:
  const Rows& rows_;
  std::vector<Index> columns_;
  std::vector<LabelValues> values_;
};

// The features of the rows of a table: all columns but those with a meaning of their own.
class TableFeatures {
 public:
  TableFeatures(const Rows& rows, const std::vector<std::string>& own, const TableLabels& labels,
                const std::vector<std::string>& categories, data::FeatureColumns& columns)
      : rows_(rows) {
    const std::vector<std::string>& names = rows.table().columns();
    for (Index i = 0; i < static_cast<Index>(names.size()); ++i) {
      const std::string& name = names[static_cast<std::size_t>(i)];
      if (std::ranges::count(own, name) > 0 || labels.has(i)) continue;
      if (std::ranges::count(categories, name) > 0 || !are_numbers(i)) {
        add_category(name, i, columns);
      } else {
        numbers_.push_back(i);
        columns.numbers.push_back({name});
      }
    }
  }

  void append(std::size_t row, std::vector<std::int32_t>& categories, std::vector<float>& numbers) const {
    for (const Category& category : categories_) {
      const std::string& value = rows_.at(row, category.column);
      categories.push_back(value.empty() ? 0 : category.kinds.at(value));
    }
    for (const Index column : numbers_) {
      const std::string& value = rows_.at(row, column);
      check<DataError>(!value.empty(), rows_.place(row), ": the number '",
                       rows_.table().columns()[static_cast<std::size_t>(column)], "' is missing");
      numbers.push_back(static_cast<float>(*number_in(value)));
    }
  }

 private:
  struct Category {
    Index column;
    std::map<std::string, std::int32_t> kinds;
  };

  bool are_numbers(Index column) const {
    bool has_value = false;
    for (std::size_t row = 0; row < rows_.size(); ++row) {
      const std::string& value = rows_.at(row, column);
      if (value.empty()) continue;
      has_value = true;
      if (!number_in(value)) return false;
    }
    return has_value;
  }
  void add_category(const std::string& name, Index column, data::FeatureColumns& columns) {
    Category category{column, {}};
    for (std::size_t row = 0; row < rows_.size(); ++row) {
      if (!rows_.at(row, column).empty()) category.kinds.emplace(rows_.at(row, column), 0);
    }
    data::CategoryColumn kinds{name, {}};
    for (auto& [kind, number] : category.kinds) {
      kinds.kinds.push_back(kind);
      number = static_cast<std::int32_t>(kinds.kinds.size());
    }
    columns.categories.push_back(std::move(kinds));
    categories_.push_back(std::move(category));
  }

  const Rows& rows_;
  std::vector<Category> categories_;
  std::vector<Index> numbers_;
};

data::SplitSide side_in(const std::string& text, const Place& place) {
  if (text.empty()) return data::SplitSide::none;
  for (const auto& [side, name] : Names<data::SplitSide>::list) {
    if (name == text) return side;
  }
  throw DataError(concatenate(place, ": '", text, "' is not a part of a split: train, valid or test"));
}

class TablesReader {
 public:
  TablesReader(const GraphTables& tables, const std::function<void(const std::string&)>& note)
      : tables_(tables), note_(note), nodes_(tables.nodes), edges_(tables.edges) {
    if (!tables.graphs.file.empty()) graphs_.emplace(tables.graphs);
    if (!tables.pairs.file.empty()) pairs_.emplace(tables.pairs);
  }

  data::GraphsInMemory read() {
    check<DataError>(nodes_.size() > 0, tables_.nodes.file, ": has no rows below the names of its columns");
    const std::vector<std::string> names =
        tables_.label_columns.empty() ? std::vector<std::string>{"label"} : tables_.label_columns;
    TableLabels of_nodes(nodes_, names), of_edges(edges_, names);
    std::optional<TableLabels> of_graphs, of_pairs;
    if (graphs_) of_graphs.emplace(*graphs_, names);
    if (pairs_) of_pairs.emplace(*pairs_, names);
    settle_level({{data::GraphLevel::node, &of_nodes},
                  {data::GraphLevel::edge, &of_edges},
                  {data::GraphLevel::graph, of_graphs ? &*of_graphs : nullptr},
                  {data::GraphLevel::pair, of_pairs ? &*of_pairs : nullptr}});
    read_nodes(of_nodes);
    read_edges(of_edges);
    if (pairs_) read_pairs(*of_pairs);
    if (graphs_) read_graphs(*of_graphs);
    return {schema_, targets_, std::move(records_), tables_.nodes.file};
  }

 private:
  // Labels are in one table.
  void settle_level(std::vector<std::pair<data::GraphLevel, TableLabels*>> labels) {
    std::erase_if(labels, [](const auto& of) { return of.second == nullptr || !of.second->any(); });
    const std::size_t tables = labels.size();
    check<DataError>(tables <= 1, tables_.nodes.file, ": labels must be in one of the tables, and ", tables,
                     " have a column of labels; rename the others, or name the one to use");
    check<DataError>(tables == 1 || tables_.label_columns.empty(), tables_.nodes.file, ": no table has a column '",
                     tables_.label_columns.empty() ? "" : tables_.label_columns.front(), "'");
    for (const auto& [level, of] : labels) targets_ = of->targets(level);
    for (const std::string& name : tables_.label_columns) {
      check<DataError>(std::ranges::count(targets_.columns, name, &data::TargetColumn::name) > 0, tables_.nodes.file,
                       ": no table has a column '", name, "' beside the other labels");
    }
  }

  std::size_t graph_of(const std::string& name) {
    const auto [found, is_new] = numbers_.emplace(name, records_.size());
    if (is_new) {
      records_.emplace_back();
      records_.back().id = name;
      ids_.emplace_back();
    }
    return found->second;
  }

  void read_nodes(const TableLabels& labels) {
    const Index id = nodes_.needed("id");
    graph_column_ = nodes_.table().find("graph");
    const std::optional<Index> split = nodes_.table().find("split");
    const bool has_sides = split && targets_.level == data::GraphLevel::node;
    check<DataError>(!split || has_sides, nodes_.table().file(),
                     ":1: has a column 'split', but the labels are not those of nodes");
    const TableFeatures features(nodes_, {"id", "graph", "split"}, labels, tables_.categories, schema_.nodes);
    for (std::size_t row = 0; row < nodes_.size(); ++row) {
      const std::size_t graph = graph_of(nodes_.at(row, graph_column_));
      data::GraphRecord& record = records_[graph];
      const std::string& name = nodes_.at(row, id);
      check<DataError>(!name.empty(), nodes_.place(row), ": the id is empty");
      check<DataError>(ids_[graph].emplace(name, record.graph.nodes).second, nodes_.place(row), ": the id '", name,
                       "' is there twice");
      if (record.line == 0) record.line = nodes_.line(row);
      ++record.graph.nodes;
      record.node_names.push_back(name);
      features.append(row, record.graph.node_features.categories, record.graph.node_features.numbers);
      labels.append(row, record.targets);
      if (has_sides) record.sides.push_back(side_in(nodes_.at(row, *split), nodes_.place(row)));
    }
  }

  // The columns of a table of edges or pairs that say where these are.
  struct EndColumns {
    const Rows& rows;
    const char* item;
    Index source, target;
    std::optional<Index> graph;
  };
  EndColumns ends_in(const Rows& rows, const char* item) const {
    return {rows, item, rows.needed("source"), rows.needed("target"),
            graph_column_ ? std::optional(rows.needed("graph")) : std::nullopt};
  }

  // The graph of a row: that of the column, or the only one.
  std::size_t graph_of(const EndColumns& table, std::size_t row) const {
    if (!graph_column_) return 0;
    const std::string name = table.rows.at(row, table.graph);
    const auto found = numbers_.find(name);
    check<DataError>(found != numbers_.end(), table.rows.place(row), ": the ", table.item,
                     " is dangling: there is no graph '", name, "' in ", nodes_.table().file());
    return found->second;
  }

  Index node_of(const EndColumns& table, std::size_t graph, Index column, std::size_t row) const {
    const std::string& name = table.rows.at(row, column);
    const auto found = ids_[graph].find(name);
    check<DataError>(found != ids_[graph].end(), table.rows.place(row), ": the ", table.item,
                     " is dangling: there is no node '", name, "'", graph_column_ ? " of that graph" : "", " in ",
                     nodes_.table().file());
    return found->second;
  }
  data::NodePair ends_of(const EndColumns& table, std::size_t graph, std::size_t row) const {
    return {node_of(table, graph, table.source, row), node_of(table, graph, table.target, row)};
  }

  void read_edges(const TableLabels& labels) {
    const EndColumns table = ends_in(edges_, "edge");
    check<DataError>(
        !edges_.table().find("split"), edges_.table().file(),
        ":1: has a column 'split', which tables of nodes, graphs and pairs may have; convert --split divides edges");
    const TableFeatures features(edges_, {"source", "target", "graph"}, labels, tables_.categories, schema_.edges);
    std::vector<std::vector<data::ListedEdge>> lists(records_.size());
    std::vector<std::vector<std::size_t>> rows(records_.size());
    for (std::size_t row = 0; row < edges_.size(); ++row) {
      const std::size_t number = graph_of(table, row);
      const data::NodePair ends = ends_of(table, number, row);
      data::ListedEdge edge{ends.source, ends.target};
      features.append(row, edge.categories, edge.numbers);
      lists[number].push_back(std::move(edge));
      rows[number].push_back(row);
    }
    schema_.is_directed = tables_.is_directed;
    const auto both_ways = [](const auto& list) { return goes_both_ways(list); };
    if (!tables_.is_directed && !std::ranges::all_of(lists, both_ways)) add_reverses(lists, rows);
    for (std::size_t i = 0; i < records_.size(); ++i) set_edges(records_[i], lists[i], rows[i], labels);
  }

  static void add_reverses(std::vector<std::vector<data::ListedEdge>>& lists,
                           std::vector<std::vector<std::size_t>>& rows) {
    for (std::size_t i = 0; i < lists.size(); ++i) {
      for (std::size_t e = 0, count = lists[i].size(); e < count; ++e) {
        data::ListedEdge reverse = lists[i][e];
        if (reverse.source == reverse.target) continue;
        std::swap(reverse.source, reverse.target);
        lists[i].push_back(std::move(reverse));
        rows[i].push_back(rows[i][e]);
      }
    }
  }

  // Labels of edges follow them into the order of the graph, that of their targets.
  void set_edges(data::GraphRecord& record, std::vector<data::ListedEdge>& list, std::vector<std::size_t>& rows,
                 const TableLabels& labels) {
    std::vector<std::size_t> order(labels.any() ? list.size() : 0);
    if (labels.any()) {
      for (std::size_t e = 0; e < order.size(); ++e) order[e] = e;
      std::ranges::stable_sort(order, {}, [&](std::size_t e) { return list[e].target; });
      for (const std::size_t e : order) labels.append(rows[e], record.targets);
    }
    data::set_edges(record.graph, list);
    if (labels.any() && !tables_.is_directed) share_labels(record, order, rows);
  }

  // An edge that is listed both ways has one label, which either row may give.
  void share_labels(data::GraphRecord& record, const std::vector<std::size_t>& order,
                    const std::vector<std::size_t>& rows) const {
    std::map<std::pair<Index, Index>, std::vector<std::size_t>> places;
    const std::vector<data::ListedEdge> edges = data::listed_edges(record.graph);
    for (std::size_t e = 0; e < edges.size(); ++e) places[{edges[e].source, edges[e].target}].push_back(e);
    const std::size_t columns = targets_.columns.size();
    for (const auto& [ends, here] : places) {
      const auto there = places.find({ends.second, ends.first});
      for (std::size_t i = 0; there != places.end() && i < here.size() * columns; ++i) {
        const std::size_t e = here[i / columns], reverse = there->second.at(i / columns), column = i % columns;
        const double value = record.targets[reverse * columns + column];
        double& own = record.targets[e * columns + column];
        if (std::isnan(own)) own = value;
        check<DataError>(std::isnan(value) || own == value, edges_.place(rows[order[e]]), ": the edge has the label '",
                         targets_.columns[column].name, "', which differs from that of the other direction in line ",
                         edges_.line(rows[order[reverse]]), "; if each direction has its own label, give --directed");
      }
    }
  }

  // Notes the other columns of a table without features.
  void note_others(const Rows& rows, const std::vector<std::string>& own, const TableLabels& labels) const {
    const std::vector<std::string>& names = rows.table().columns();
    for (Index i = 0; i < static_cast<Index>(names.size()); ++i) {
      const std::string& name = names[static_cast<std::size_t>(i)];
      if (std::ranges::count(own, name) > 0 || labels.has(i)) continue;
      note_(concatenate(rows.table().file(), ": the column '", name, "' is not read; nodes and edges have features"));
    }
  }

  // A pair has one label, however often it is listed, and either way where edges have no direction.
  void check_labels_of_pairs(const std::vector<std::size_t>& rows, const data::GraphRecord& record) const {
    const std::size_t columns = targets_.columns.size();
    std::map<std::pair<Index, Index>, std::vector<std::size_t>> places;
    for (std::size_t i = 0; i < rows.size(); ++i) {
      const auto [source, target] = record.graph.pairs[i];
      const bool turns = !tables_.is_directed && target < source;
      std::vector<std::size_t>& same = places[turns ? std::pair(target, source) : std::pair(source, target)];
      for (std::size_t column = 0; column < columns; ++column) {
        const double own = record.targets[i * columns + column];
        for (const std::size_t other : same) {
          const double value = record.targets[other * columns + column];
          check<DataError>(std::isnan(own) || std::isnan(value) || own == value, pairs_->place(rows[i]),
                           ": the pair has the label '", targets_.columns[column].name,
                           "', which differs from that of the pair in line ", pairs_->line(rows[other]), "; ",
                           record.graph.pairs[other].source == source
                               ? "leave one of them out"
                               : "if each direction has its own label, give --directed");
        }
      }
      same.push_back(i);
    }
  }

  void read_pairs(const TableLabels& labels) {
    check<DataError>(pairs_->size() > 0, pairs_->table().file(), ": has no rows below the names of its columns");
    const EndColumns table = ends_in(*pairs_, "pair");
    const std::optional<Index> split = pairs_->table().find("split");
    const bool has_sides = split && targets_.level == data::GraphLevel::pair;
    check<DataError>(!split || has_sides, pairs_->table().file(),
                     ":1: has a column 'split', but the labels are not those of pairs");
    note_others(*pairs_, {"source", "target", "graph", "split"}, labels);
    std::vector<std::vector<std::size_t>> rows(records_.size());
    for (std::size_t row = 0; row < pairs_->size(); ++row) {
      const std::size_t number = graph_of(table, row);
      data::GraphRecord& record = records_[number];
      record.graph.pairs.push_back(ends_of(table, number, row));
      rows[number].push_back(row);
      labels.append(row, record.targets);
      if (has_sides) record.sides.push_back(side_in(pairs_->at(row, *split), pairs_->place(row)));
    }
    for (std::size_t i = 0; i < records_.size() && labels.any(); ++i) check_labels_of_pairs(rows[i], records_[i]);
  }

  void read_graphs(const TableLabels& labels) {
    const Index name = graphs_->needed("graph");
    const std::optional<Index> split = graphs_->table().find("split");
    check<DataError>(graph_column_.has_value(), nodes_.table().file(),
                     ":1: has no column 'graph', which joins its rows with those of ", graphs_->table().file());
    note_others(*graphs_, {"graph", "split"}, labels);
    std::vector<bool> is_there(records_.size());
    for (std::size_t row = 0; row < graphs_->size(); ++row) {
      const auto found = numbers_.find(graphs_->at(row, name));
      check<DataError>(found != numbers_.end(), graphs_->place(row), ": graph '", graphs_->at(row, name),
                       "' has no nodes in ", nodes_.table().file());
      check<DataError>(!is_there[found->second], graphs_->place(row), ": graph '", found->first, "' is there twice");
      is_there[found->second] = true;
      data::GraphRecord& record = records_[found->second];
      record.line = graphs_->line(row);
      labels.append(row, record.targets);
      if (split && !has_sides_of_items(targets_.level)) {
        record.sides = {side_in(graphs_->at(row, *split), graphs_->place(row))};
      }
    }
    const auto missing = std::ranges::find(is_there, false);
    check<DataError>(missing == is_there.end(), graphs_->table().file(), ": lacks graph '",
                     missing == is_there.end() ? "" : records_[static_cast<std::size_t>(missing - is_there.begin())].id,
                     "', which has nodes in ", nodes_.table().file());
  }

  const GraphTables& tables_;
  const std::function<void(const std::string&)>& note_;
  Rows nodes_, edges_;
  std::optional<Rows> graphs_, pairs_;
  std::optional<Index> graph_column_;
  data::GraphSchema schema_;
  data::GraphTargets targets_;
  std::vector<data::GraphRecord> records_;
  std::unordered_map<std::string, std::size_t> numbers_;     // graph numbers, by name
  std::vector<std::unordered_map<std::string, Index>> ids_;  // ids of the nodes of each graph
};

}  // namespace

data::GraphsInMemory read_graph_tables(const GraphTables& tables, const std::function<void(const std::string&)>& note) {
  return TablesReader(tables, note).read();
}

}  // namespace heddle::formats
