#include "tools/inspect/files/graph_statistics.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "libcore/base/strings.hpp"
#include "libcore/base/values.hpp"
#include "tools/cli/text_table.hpp"

namespace heddle {

namespace {

using formats::Json;

void extend(CountRange& range, Index value, bool is_first) {
  range.least = is_first ? value : std::min(range.least, value);
  range.largest = std::max(range.largest, value);
}

double mean_of(Index sum, Index count) {
  return count > 0 ? static_cast<double>(sum) / static_cast<double>(count) : 0;
}

void add_degrees(const data::Graph& graph, bool is_first, GraphStatistics& statistics) {
  std::vector<bool> has_edge(static_cast<std::size_t>(graph.nodes));
  for (const Index source : graph.sources) has_edge[static_cast<std::size_t>(source)] = true;
  for (std::size_t i = 0; i < has_edge.size(); ++i) {
    const Index degree = graph.rows[i + 1] - graph.rows[i];
    extend(statistics.degrees, degree, is_first && i == 0);
    if (degree == 0 && !has_edge[i]) ++statistics.isolated;
  }
}

void add_targets(const std::vector<double>& values, GraphStatistics& statistics) {
  for (std::size_t i = 0; i < values.size(); ++i) {
    const std::size_t column = i % statistics.known.size();
    TargetStatistics& known = statistics.known[column];
    if (std::isnan(values[i])) {
      ++known.unknown;
      continue;
    }
    ++known.known;
    const data::TargetColumn& target = statistics.targets.columns[column];
    if (!target.classes.empty()) {
      check<DataError>(values[i] >= 0 && values[i] < static_cast<double>(target.classes.size()), "the label '",
                       target.name, "' is ", values[i], ". The file is damaged");
      ++known.counts[static_cast<std::size_t>(values[i])];
      continue;
    }
    const double difference = values[i] - known.mean;
    known.mean += difference / static_cast<double>(known.known);
    known.stddev += difference * (values[i] - known.mean);  // the sum of squares, until all were seen
  }
}

std::string range_text(const CountRange& range) {
  return concatenate(grouped(range.least), " to ", grouped(range.largest), ", mean ", format_fixed(range.mean, 2));
}

std::string features_text(const data::FeatureColumns& columns) {
  constexpr std::size_t most_kinds = 12;
  std::vector<std::vector<std::string>> rows;
  for (const data::CategoryColumn& column : columns.categories) {
    rows.push_back({column.name, concatenate(grouped(static_cast<Index>(column.kinds.size())), " kinds"),
                    join_first(column.kinds, most_kinds)});
  }
  for (const data::NumberColumn& column : columns.numbers) {
    rows.push_back(
        {column.name, "number", concatenate(format_fixed(column.mean, 3), " ± ", format_fixed(column.stddev, 3))});
  }
  return text_table(rows, "lll");
}

std::string target_text(const data::TargetColumn& column, const TargetStatistics& known) {
  constexpr std::size_t most_classes = 20;
  std::string text;
  if (column.classes.empty()) {
    text = concatenate(format_fixed(known.mean, 3), " ± ", format_fixed(known.stddev, 3));
  } else {
    std::vector<std::string> classes;
    for (std::size_t i = 0; i < column.classes.size(); ++i) {
      classes.push_back(column.classes[i] + " " + grouped(known.counts[i]));
    }
    text = join_first(classes, most_classes);
  }
  return known.unknown > 0 ? concatenate(text, "; ", grouped(known.unknown), " unknown") : text;
}

std::string targets_text(const GraphStatistics& graphs) {
  std::vector<std::vector<std::string>> rows;
  for (std::size_t i = 0; i < graphs.known.size(); ++i) {
    const data::TargetColumn& column = graphs.targets.columns[i];
    rows.push_back({column.name, column.classes.empty() ? "number" : "class", target_text(column, graphs.known[i])});
  }
  return text_table(rows, "lll");
}

Json features_json(const data::FeatureColumns& columns) {
  Json list = Json::array();
  for (const data::CategoryColumn& column : columns.categories) {
    list.push_back({{"name", column.name}, {"kinds", column.kinds}});
  }
  for (const data::NumberColumn& column : columns.numbers) {
    list.push_back({{"name", column.name}, {"mean", column.mean}, {"stddev", column.stddev}});
  }
  return list;
}

Json target_json(const data::TargetColumn& column, const TargetStatistics& known) {
  Json json{{"name", column.name}, {"known", known.known}, {"unknown", known.unknown}};
  if (column.classes.empty()) {
    json["mean"] = known.mean;
    json["stddev"] = known.stddev;
    return json;
  }
  json["classes"] = column.classes;
  json["counts"] = known.counts;
  return json;
}

Json range_json(const CountRange& range) {
  return {{"least", range.least}, {"mean", range.mean}, {"largest", range.largest}};
}

}  // namespace

GraphStatistics graph_statistics(const formats::GraphsFile& file) {
  GraphStatistics statistics;
  statistics.graphs = file.size();
  statistics.nodes = file.nodes();
  statistics.edges = file.edges();
  statistics.pairs = file.pairs();
  statistics.schema = file.schema();
  statistics.targets = file.targets();
  statistics.has_sides = file.has_sides();
  statistics.parts = file.parts();
  for (const data::TargetColumn& column : statistics.targets.columns) {
    statistics.known.emplace_back().counts.resize(column.classes.size());
  }
  for (Index i = 0; i < file.size(); ++i) {
    const data::Graph graph = file.structure(i);
    extend(statistics.sizes, graph.nodes, i == 0);
    add_degrees(graph, i == 0, statistics);
    add_targets(file.values(i), statistics);
    for (const data::SplitSide side : file.sides(i)) ++statistics.sides.at(static_cast<std::size_t>(side));
  }
  statistics.sizes.mean = mean_of(statistics.nodes, statistics.graphs);
  statistics.degrees.mean = mean_of(statistics.edges, statistics.nodes);
  for (TargetStatistics& known : statistics.known) {
    known.stddev = known.known > 0 ? std::sqrt(known.stddev / static_cast<double>(known.known)) : 0;
  }
  return statistics;
}

std::string as_text(const GraphStatistics& graphs) {
  std::string text = concatenate(
      "graphs      ", grouped(graphs.graphs), "\nnodes       ", grouped(graphs.nodes), graphs.graphs > 1 ? ", " : "",
      graphs.graphs > 1 ? range_text(graphs.sizes) + " per graph" : "", "\nedges       ", grouped(graphs.edges),
      graphs.schema.is_directed ? ", directed" : ", each way counted", "\ndegrees     ", range_text(graphs.degrees),
      "\nisolated    ", grouped(graphs.isolated), graphs.isolated == 1 ? " node\n" : " nodes\n");
  if (graphs.pairs > 0) text += "pairs       " + grouped(graphs.pairs) + " of nodes, that are no edges\n";
  if (!graphs.parts.empty()) text += "also has    " + join(graphs.parts) + "\n";
  if (graphs.has_sides) {
    std::vector<std::string> sides;
    for (const auto& [side, name] : Names<data::SplitSide>::list) {
      sides.push_back(concatenate(name, " ", grouped(graphs.sides.at(static_cast<std::size_t>(side)))));
    }
    text += "split       " + join(sides) + "\n";
  }
  if (!graphs.schema.nodes.empty()) text += "\nfeatures of nodes\n" + features_text(graphs.schema.nodes);
  if (!graphs.schema.edges.empty()) text += "\nfeatures of edges\n" + features_text(graphs.schema.edges);
  if (!graphs.known.empty()) text += "\nlabels of " + to_text(graphs.targets.level) + "s\n" + targets_text(graphs);
  return text;
}

void add_members(Json& json, const GraphStatistics& graphs) {
  json["graphs"] = graphs.graphs;
  json["nodes"] = graphs.nodes;
  json["edges"] = graphs.edges;
  json["directed"] = graphs.schema.is_directed;
  json["sizes"] = range_json(graphs.sizes);
  json["degrees"] = range_json(graphs.degrees);
  json["isolated"] = graphs.isolated;
  if (graphs.pairs > 0) json["pairs"] = graphs.pairs;
  json["parts"] = graphs.parts;
  json["node_features"] = features_json(graphs.schema.nodes);
  json["edge_features"] = features_json(graphs.schema.edges);
  json["level"] = to_text(graphs.targets.level);
  json["targets"] = Json::array();
  for (std::size_t i = 0; i < graphs.known.size(); ++i) {
    json["targets"].push_back(target_json(graphs.targets.columns[i], graphs.known[i]));
  }
  if (!graphs.has_sides) return;
  for (const auto& [side, name] : Names<data::SplitSide>::list) {
    json["split"][std::string(name)] = graphs.sides.at(static_cast<std::size_t>(side));
  }
}

}  // namespace heddle
