// Graphs with features of their nodes and edges, and what is known of them.
#pragma once

#include <cstdint>
#include <limits>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "libcore/base/edge_rows.hpp"
#include "libcore/base/real.hpp"
#include "libcore/base/visit.hpp"
#include "libcore/data/graph_schema.hpp"

namespace heddle::data {

// The features of `count` nodes or edges.
struct Features {
  std::vector<std::int32_t> categories;  // [count, columns of categories]
  std::vector<float> numbers;            // [count, columns of numbers]

  bool operator==(const Features&) const = default;
};

// Two nodes of which something is asked or known, whether an edge joins them or not.
struct NodePair {
  Index source, target;

  bool operator==(const NodePair&) const = default;
};

// One graph. The edges into node i, e from rows[i] to rows[i + 1], come from sources[e]. Pairs are not edges: models
// answer them from the vectors of their nodes.
struct Graph {
  Index nodes = 0;
  std::vector<Index> rows{0};  // [nodes + 1]
  std::vector<Index> sources;  // [edges]
  Features node_features, edge_features;
  std::vector<NodePair> pairs{};

  Index edges() const { return static_cast<Index>(sources.size()); }
  bool operator==(const Graph&) const = default;
};

// An edge of a list, in any order.
struct ListedEdge {
  Index source, target;
  std::vector<std::int32_t> categories{};
  std::vector<float> numbers{};
};
// Sets rows, sources and features of the edges; those into one node stay in the order of the list. Precondition: the
// nodes are there.
void set_edges(Graph& graph, std::span<const ListedEdge> edges);
// The edges in their order.
std::vector<ListedEdge> listed_edges(const Graph& graph);

// Throws DataError, "PLACE: …", for a graph that does not fit itself or the schema: rows, sources, pairs, the
// number of features, kinds without a name, numbers that are not finite.
void check_graph(const Graph& graph, const GraphSchema& schema, const std::string& place);

// Level at which graphs have targets.
enum class GraphLevel { graph, node, edge, pair };

// Side of a split to which a graph, a node or a pair belongs.
enum class SplitSide : std::uint8_t { none, train, valid, test };

}  // namespace heddle::data

template <>
struct heddle::Names<heddle::data::GraphLevel> {
  static constexpr std::pair<data::GraphLevel, std::string_view> list[] = {{data::GraphLevel::graph, "graph"},
                                                                           {data::GraphLevel::node, "node"},
                                                                           {data::GraphLevel::edge, "edge"},
                                                                           {data::GraphLevel::pair, "pair"}};
};
template <>
struct heddle::Names<heddle::data::SplitSide> {
  static constexpr std::pair<data::SplitSide, std::string_view> list[] = {{data::SplitSide::none, "none"},
                                                                          {data::SplitSide::train, "train"},
                                                                          {data::SplitSide::valid, "valid"},
                                                                          {data::SplitSide::test, "test"}};
};

namespace heddle::data {

struct TargetColumn {
  std::string name;
  std::vector<std::string> classes;  // class names, by class number from 0; empty: a value is a number itself

  bool operator==(const TargetColumn&) const = default;
};
struct GraphTargets {
  GraphLevel level = GraphLevel::graph;
  std::vector<TargetColumn> columns;

  bool operator==(const GraphTargets&) const = default;
};
// A value that is not known.
inline constexpr double unknown_target = std::numeric_limits<double>::quiet_NaN();

// A graph with what files know of it besides. Empty: not known.
struct GraphRecord {
  Graph graph;
  std::string id;                        // its name, SMILES or number, for people
  Index line = 0;                        // line of the record it was made from, from 1
  std::vector<double> targets;           // [items of the level, columns], unknown_target where not known
  std::vector<std::string> node_names;   // [nodes]
  std::vector<float> positions;          // [nodes, 2], for drawing
  std::string group;                     // key of graphs that a split keeps together: a scaffold
  std::vector<std::uint32_t> fragments;  // numbers of its parts, such as those of circular fingerprints, ascending
  std::vector<SplitSide> sides;          // [items] where has_sides_of_items(), else one for the graph
};

// Whether both say the same, targets that are not known included.
bool same_record(const GraphRecord& a, const GraphRecord& b);

// Items of a level that a graph has.
Index items_of(const Graph& graph, GraphLevel level);
// Whether each item of a graph has a side of a split of its own.
constexpr bool has_sides_of_items(GraphLevel level) {
  return level == GraphLevel::node || level == GraphLevel::pair;
}

// The same as check_graph() of a record: what is known of it fits the targets and the graph.
void check_record(const GraphRecord& record, const GraphSchema& schema, const GraphTargets& targets,
                  const std::string& place);

class GraphSource {
 public:
  virtual ~GraphSource() = default;
  virtual std::string name() const = 0;  // for messages: its file
  virtual Index size() const = 0;        // graphs
  virtual const GraphSchema& schema() const = 0;
  virtual const GraphTargets& targets() const = 0;
  // Throws DataError for what does not fit the schema.
  virtual GraphRecord record(Index number) const = 0;
  virtual Graph graph(Index number) const { return record(number).graph; }
  virtual Index nodes(Index number) const { return graph(number).nodes; }  // number of nodes of a graph
  // For messages: the file of a graph among several, and its number there, from 0.
  virtual std::string name_of(Index) const { return name(); }
  virtual Index number_in_file(Index number) const { return number; }
};

class GraphsInMemory : public GraphSource {
 public:
  // Throws DataError for records that do not fit the schema or the targets.
  GraphsInMemory(GraphSchema schema, GraphTargets targets, std::vector<GraphRecord> records,
                 std::string name = "graphs in memory");

  std::string name() const override { return name_; }
  Index size() const override { return static_cast<Index>(records_.size()); }
  const GraphSchema& schema() const override { return schema_; }
  const GraphTargets& targets() const override { return targets_; }
  GraphRecord record(Index number) const override { return at(number); }
  Graph graph(Index number) const override { return at(number).graph; }
  Index nodes(Index number) const override { return at(number).graph.nodes; }

 private:
  const GraphRecord& at(Index number) const { return records_.at(static_cast<std::size_t>(number)); }

  GraphSchema schema_;
  GraphTargets targets_;
  std::vector<GraphRecord> records_;
  std::string name_;
};

// Several graphs side by side, without padding: nodes starts[g] to starts[g + 1] are those of graph g, and so with
// pairs, whose nodes are counted through the batch.
struct GraphBatch {
  std::vector<Index> starts{0};  // [graphs + 1]
  std::shared_ptr<const EdgeRows> edges;
  Features node_features, edge_features;
  std::vector<NodePair> pairs{};
  std::vector<Index> pair_starts{0};  // [graphs + 1]
  std::vector<Index> masked{};        // nodes whose features a model must not see, in rising order

  Index graphs() const { return static_cast<Index>(starts.size()) - 1; }
  Index nodes() const { return starts.back(); }
};
GraphBatch joined(std::span<const Graph* const> graphs);

// For each kind and number of the first schema its place in the second, so that graphs of one file can be read by a
// model that was trained on another: kinds by their names, 0 where the second lacks them; columns by their names.
class SchemaMap {
 public:
  // Throws DataError, "PLACE: …", where `from` lacks a column of `to`. Columns that `to` lacks are left out.
  SchemaMap(const GraphSchema& from, const GraphSchema& to, const std::string& place);
  bool is_identity() const { return is_identity_; }
  void apply(Graph& graph) const;

 private:
  struct Columns {
    std::vector<std::size_t> categories, numbers;  // for each column of `to` the one of `from`
    std::vector<std::vector<std::int32_t>> kinds;  // [columns of to][kinds of from + 1]
    std::size_t from_categories = 0, from_numbers = 0;
  };
  static Columns map_columns(const FeatureColumns& from, const FeatureColumns& to, const std::string& parts);
  static void apply(const Columns& columns, Features& features);

  Columns nodes_, edges_;
  bool is_identity_ = false;
};

}  // namespace heddle::data
