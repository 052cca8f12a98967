// Graphs of tables and of collections in folders, and what columns of labels are.
#include "formats/graphs/graph_tables.hpp"

#include <cmath>

#include "files.hpp"
#include "formats/graphs/edge_list.hpp"
#include "formats/graphs/label_values.hpp"
#include "formats/graphs/tu_folder.hpp"
#include "libcore/base/random.hpp"

using namespace heddle;
using namespace heddle::formats;
using namespace heddle::tests;

namespace {

data::TargetColumn settled(const std::vector<std::string>& values) {
  LabelValues labels("y");
  for (const std::string& value : values) labels.see(value);
  return labels.settle("a.csv");
}

std::vector<std::string> in_turn(const std::vector<std::string>& kinds, int rounds) {
  std::vector<std::string> values;
  for (int i = 0; i < rounds; ++i) values.insert(values.end(), kinds.begin(), kinds.end());
  return values;
}

// n.csv, e.csv and, unless it is empty, g.csv.
data::GraphsInMemory tables_of(const std::string& nodes, const std::string& edges, const std::string& graphs = "",
                               const std::vector<std::string>& labels = {}, bool is_directed = false) {
  GraphTables tables{.nodes = {"n.csv", nodes}, .edges = {"e.csv", edges}, .label_columns = labels, .categories = {}};
  if (!graphs.empty()) tables.graphs = {"g.csv", graphs};
  tables.is_directed = is_directed;
  return read_graph_tables(tables);
}

}  // namespace

TEST_CASE("labels: few whole numbers that are frequent, zeros and ones and words are classes, others numbers") {
  using Classes = std::vector<std::string>;
  CHECK(settled({"b", "", "a"}).classes == Classes{"a", "b"});
  CHECK(settled({"1", "x"}).classes == Classes{"1", "x"});
  CHECK(settled({"1", "0", "1"}).classes == Classes{"0", "1"});
  CHECK(settled({"1", "0", "2"}).classes.empty());
  CHECK(settled({"1", "0.5"}).classes.empty());
  CHECK(settled(in_turn({"3", "1", "2"}, 20)).classes == Classes{"1", "2", "3"});
  CHECK(settled(in_turn({"3", "1", "2"}, 19)).classes.empty());
  CHECK(settled(in_turn({"3", "1", "2.5"}, 20)).classes.empty());
  const Classes ten{"0", "1", "2", "3", "4", "5", "6", "7", "8", "9"};
  CHECK(settled(in_turn(ten, 20)).classes == ten);
  Classes eleven = ten;
  eleven.push_back("-1");
  CHECK(settled(in_turn(eleven, 30)).classes.empty());
  LabelValues numbers("y");
  for (const char* const value : {"+1.5", "", "-2e1"}) numbers.see(value);
  CHECK(numbers.settle("a.csv").name == "y");
  CHECK(numbers.value("+1.5") == 1.5);
  CHECK(numbers.value("-2e1") == -20);
  CHECK(std::isnan(numbers.value("")));
  LabelValues classes("y");
  for (const char* const value : {"b", "a", "c"}) classes.see(value);
  classes.settle("a.csv");
  CHECK(classes.value("b") == 1);
  CHECK(classes.value("c") == 2);
  for (const char* const other : {"", "1x", "inf", "nan", " 1", "1,5", "+"}) CHECK_FALSE(number_in(other).has_value());
  CHECK(settled({"inf", "1"}).classes.size() == 2);
}

TEST_CASE("tables of graphs: edges that are listed both ways are not doubled, unless their features differ") {
  const std::string nodes = "id\na\nb\nc\n";
  const auto edges = [&](const std::string& table, bool is_directed = false) {
    const data::GraphsInMemory graphs = tables_of(nodes, table, "", {}, is_directed);
    CHECK(graphs.schema().is_directed == is_directed);
    return graphs.record(0).graph;
  };
  const std::string one_way = "source,target,w\na,b,1\nb,c,2\n", back = "b,a,1\nc,b,2\n";
  CHECK(edges(one_way).sources == std::vector<Index>{1, 0, 2, 1});
  CHECK(edges(one_way + back).sources == std::vector<Index>{1, 0, 2, 1});
  CHECK(edges(one_way + back).edge_features.numbers == std::vector<float>{1, 1, 2, 2});
  CHECK(edges(one_way + "b,a,5\n").edges() == 6);
  CHECK(edges(one_way, true).edges() == 2);
  CHECK(edges(one_way, true).rows == std::vector<Index>{0, 0, 1, 2});
  const data::Graph loop = edges(one_way + "c,c,3\n");
  CHECK(loop.edges() == 5);
  CHECK(loops(loop) == 1);
  CHECK(repeated_edges(loop) == 0);
  CHECK(repeated_edges(edges(one_way + "a,b,4\na,b,4\n")) == 4);
  // Labels of edges go with them, and with their reverses.
  const data::GraphsInMemory labelled =
      tables_of(nodes, "source,target,kind,strength\nc,a,x,1.5\na,b,y,\nb,c,x,-2\n", "", {"strength", "kind"});
  CHECK(labelled.targets().level == data::GraphLevel::edge);
  CHECK(labelled.targets().columns[1].classes == std::vector<std::string>{"x", "y"});
  const data::GraphRecord record = labelled.record(0);
  CHECK(record.graph.sources == std::vector<Index>{2, 1, 0, 2, 1, 0});
  REQUIRE(record.targets.size() == 12);
  // Into a from c and b, into b from a and c, into c from b and a.
  const double strengths[] = {1.5, NAN, NAN, -2, -2, 1.5}, kinds[] = {0, 1, 1, 0, 0, 0};
  for (std::size_t e = 0; e < 6; ++e) {
    CHECK((record.targets[2 * e] == strengths[e] || (std::isnan(strengths[e]) && std::isnan(record.targets[2 * e]))));
    CHECK(record.targets[2 * e + 1] == kinds[e]);
  }
}

TEST_CASE("tables of graphs: an edge that is listed both ways has the label of either row") {
  const std::string nodes = "id\na\nb\nc\n";
  for (const std::string edges : {"a,b,1.5\nb,a,\nb,c,\nc,b,-2\n", "b,a,1.5\nc,b,\nb,c,-2\na,b,\n"}) {
    const data::GraphRecord record = tables_of(nodes, "source,target,label\n" + edges).record(0);
    REQUIRE(record.graph.edges() == 4);
    for (std::size_t node = 0; node < 3; ++node) {
      for (auto e = static_cast<std::size_t>(record.graph.rows[node]);
           e < static_cast<std::size_t>(record.graph.rows[node + 1]); ++e) {
        CHECK(record.targets[e] == (node == 2 || record.graph.sources[e] == 2 ? -2 : 1.5));
      }
    }
  }
  CHECK(contains(message_of([&] { tables_of(nodes, "source,target,label\na,b,1\nb,a,2\n"); }),
                 "the edge has the label 'label', which differs from that of the other direction in line"));
}

TEST_CASE("tables of graphs: labels and features follow their edges, whatever the order of the table") {
  // An odd number of labelled edges, with loops and repetitions, of few nodes and colours.
  constexpr int nodes = 9, edges = 131;
  const RandomStream stream(5, random_site("edges"));
  const auto drawn = [&](int e, int what, int below) {
    return static_cast<int>(stream.below(static_cast<std::uint64_t>(3 * e + what), static_cast<std::uint64_t>(below)));
  };
  const std::string colours[] = {"red", "blue", "", "green"};
  std::string node_table = "id\n", edge_table = "label,target,colour,source\n";
  for (int i = 0; i < nodes; ++i) node_table += "n" + std::to_string((i * 5) % nodes) + "\n";
  std::vector<std::vector<std::string>> expected(nodes);  // edges into each node, in the order of the table
  for (int e = 0; e < edges; ++e) {
    const int source = drawn(e, 0, nodes), target = drawn(e, 1, nodes), label = drawn(e, 2, 1000);
    const std::string& colour = colours[label % 4];
    edge_table += std::to_string(label) + ".5,n" + std::to_string((target * 5) % nodes) + "," + colour + ",n" +
                  std::to_string((source * 5) % nodes) + "\n";
    expected[static_cast<std::size_t>(target)].push_back(
        concatenate(source, " ", colour, " ", static_cast<double>(label) + 0.5));
  }
  const data::GraphsInMemory graphs = tables_of(node_table, edge_table, "", {}, true);
  REQUIRE(graphs.schema().edges.categories == std::vector<data::CategoryColumn>{{"colour", {"blue", "green", "red"}}});
  const std::string kinds[] = {"", "blue", "green", "red"};
  const data::GraphRecord record = graphs.record(0);
  REQUIRE(record.targets.size() == edges);
  for (std::size_t node = 0; node < nodes; ++node) {
    std::vector<std::string> found;
    for (auto e = static_cast<std::size_t>(record.graph.rows[node]);
         e < static_cast<std::size_t>(record.graph.rows[node + 1]); ++e) {
      const auto kind = static_cast<std::size_t>(record.graph.edge_features.categories[e]);
      found.push_back(concatenate(record.graph.sources[e], " ", kinds[kind], " ", record.targets[e]));
    }
    CHECK(found == expected[node]);
  }
}

TEST_CASE("tables of graphs: what is of several graphs is joined by their names, in the order of the nodes") {
  const std::string nodes = "split,id,graph,label\ntrain,1,q,x\n,2,q,y\ntest,1,p,\nvalid,7,q,x\n",
                    edges = "graph,source,target\np,1,1\nq,7,1\n";
  const data::GraphsInMemory of_nodes = tables_of(nodes, edges);
  REQUIRE(of_nodes.size() == 2);
  const data::GraphRecord q = of_nodes.record(0), p = of_nodes.record(1);
  CHECK(q.id == "q");
  CHECK(q.line == 2);
  CHECK(p.line == 4);
  CHECK(q.node_names == std::vector<std::string>{"1", "2", "7"});
  CHECK(q.graph.rows == std::vector<Index>{0, 1, 1, 2});
  CHECK(p.graph.sources == std::vector<Index>{0});
  using data::SplitSide;
  CHECK(q.sides == std::vector{SplitSide::train, SplitSide::none, SplitSide::valid});
  CHECK(p.sides == std::vector{SplitSide::test});
  CHECK(std::isnan(p.targets[0]));
  const data::GraphsInMemory of_graphs = tables_of("id,graph\n1,q\n2,q\n1,p\n", edges.substr(0, 20),
                                                   "y,graph,split,z\n1.5,p,test,a\n2.5,q,,b\n", {"z", "y"});
  CHECK(of_graphs.targets().level == data::GraphLevel::graph);
  CHECK(of_graphs.record(0).targets == std::vector<double>{1, 2.5});
  CHECK(of_graphs.record(0).line == 3);
  CHECK(of_graphs.record(0).sides == std::vector{SplitSide::none});
  CHECK(of_graphs.record(1).targets == std::vector<double>{0, 1.5});
  CHECK(of_graphs.record(1).sides == std::vector{SplitSide::test});
}

TEST_CASE("tables of graphs: what does not go together is refused, by file and line") {
  struct Wrong {
    std::string nodes, edges, graphs, says;
    std::vector<std::string> labels{};
  };
  const std::string nodes = "id,graph\n1,p\n2,p\n1,q\n", edges = "source,target,graph\n1,2,p\n",
                    graphs = "graph,y\np,1\nq,2\n";
  for (const Wrong& wrong : std::vector<Wrong>{
           {"id,graph\n", edges, "", "n.csv: has no rows below the names of its columns"},
           {"id,graph,label\n1,p,x\n", "source,target,graph,label\n", "", "2 have a column of labels"},
           {"id,graph\n1,p\n", edges, "graph,label\np,1\n",
            "e.csv:2: the edge is dangling: there is no node '2' of that graph in n.csv"},
           {"id,graph\n1,p\n,p\n", edges, "", "n.csv:3: the id is empty"},
           {"id,graph,split\n1,p,train\n", edges, "",
            "n.csv:1: has a column 'split', but the labels are not those of nodes"},
           {"id\n1\n2\n", "source,target,split\n1,2,train\n", "", "e.csv:1: has a column 'split'"},
           {"id\n1\n2\n", "source,target\n1,2\n", graphs,
            "n.csv:1: has no column 'graph', which joins its rows with those of g.csv"},
           {nodes, edges, "graph,y\np,1\nr,2\n", "g.csv:3: graph 'r' has no nodes in n.csv"},
           {nodes, edges, "graph,y\np,1\nq,2\np,3\n", "g.csv:4: graph 'p' is there twice"},
           {nodes, edges, "graph,y\nq,1\n", "g.csv: lacks graph 'p', which has nodes in n.csv"},
           {nodes, edges, "graph,y\np,1\n", "g.csv: lacks graph 'q', which has nodes in n.csv"},
           {nodes, edges, graphs, "no table has a column 'z' beside the other labels", {"y", "z"}},
           {nodes, "source,target\n1,2\n", "", "e.csv:1: has no column 'graph'; its columns are source, target"}}) {
    CAPTURE(wrong.says);
    const std::string said = message_of([&] { tables_of(wrong.nodes, wrong.edges, wrong.graphs, wrong.labels); });
    CHECK_MESSAGE(contains(said, wrong.says), said);
  }
  CHECK(tables_of(nodes, edges, graphs, {"y"}).size() == 2);
}

TEST_CASE("collections of graphs: several labels and attributes of nodes, edges and graphs") {
  const TemporaryFolder folder;
  const auto write = [&](const char* name, const std::string& text) {
    write_bytes(folder.file(concatenate("T_", name, ".txt")), text);
  };
  write("graph_indicator", "2\n 1 \n2\n\n \n");
  write("A", "1, 3\r\n3,1\r\n");
  write("node_labels", "b, 7\na,10\nb,-2\n");
  write("node_attributes", "+1.5\n2\n-3\n");
  write("edge_labels", "9\n9\n");
  write("edge_attributes", "1,2\n1,2\n");
  write("graph_labels", "1,u\n-1,u\n");
  write("graph_attributes", "0.5, 1\n+2,-3\n");
  CHECK(is_tu_folder(folder.path().string()));
  CHECK(tu_files(folder.path().string()).size() == 8);
  const data::GraphsInMemory graphs = read_tu_folder(folder.path().string());
  REQUIRE(graphs.size() == 2);
  const data::GraphSchema& schema = graphs.schema();
  CHECK_FALSE(schema.is_directed);
  CHECK(schema.nodes.categories ==
        std::vector<data::CategoryColumn>{{"label_1", {"a", "b"}}, {"label_2", {"-2", "7", "10"}}});
  CHECK(schema.edges.categories == std::vector<data::CategoryColumn>{{"label", {"9"}}});
  CHECK(schema.nodes.numbers == std::vector<data::NumberColumn>{{"attribute_1"}});
  CHECK(schema.edges.numbers == std::vector<data::NumberColumn>{{"attribute_1"}, {"attribute_2"}});
  const data::GraphTargets targets{data::GraphLevel::graph,
                                   {{"label_1", {"-1", "1"}}, {"label_2", {"u"}}, {"value_1", {}}, {"value_2", {}}}};
  CHECK(graphs.targets() == targets);
  const data::GraphRecord first = graphs.record(0), second = graphs.record(1);
  CHECK(first.id == "1");
  CHECK(second.id == "2");
  CHECK(first.graph.nodes == 1);
  CHECK(first.graph.node_features.categories == std::vector<std::int32_t>{1, 3});
  CHECK(second.graph.node_features.categories == std::vector<std::int32_t>{2, 2, 2, 1});
  CHECK(second.graph.node_features.numbers == std::vector<float>{1.5F, -3});
  CHECK(second.graph.sources == std::vector<Index>{1, 0});
  CHECK(second.graph.edge_features.numbers == std::vector<float>{1, 2, 1, 2});
  CHECK(first.targets == std::vector<double>{1, 0, 0.5, 1});
  CHECK(second.targets == std::vector<double>{0, 0, 2, -3});

  const auto says = [&](const char* name, const std::string& text) {
    const std::string file = concatenate("T_", name, ".txt"), before = read_bytes(folder.file(file));
    write(name, text);
    const std::string said = message_of([&] { read_tu_folder(folder.path().string()); });
    write(name, before);
    return said.substr(std::min(said.find("T_"), said.size()));
  };
  CHECK(says("graph_labels", "1,u\n\n1,u\n").starts_with("T_graph_labels.txt: has 3 lines"));
  CHECK(says("graph_labels", "1,u\n1\n") ==
        "T_graph_labels.txt:2: has 1 labels, but " + folder.file("T_graph_labels.txt") + ":1 has 2");
  CHECK(says("graph_labels", "1,u\n,u\n") == "T_graph_labels.txt:2: the label is empty");
  CHECK(says("graph_attributes", "1,2\n3,x\n") == "T_graph_attributes.txt:2: 'x' is not a finite number");
  CHECK(says("graph_attributes", "1,2\n3\n").starts_with("T_graph_attributes.txt:2: has 1 attributes"));
  CHECK(says("graph_attributes", "1\n") == "T_graph_attributes.txt: has 1 lines, but the number of graphs is 2");
  CHECK(says("node_labels", "b,7\na\nb,7\n").starts_with("T_node_labels.txt:2: has 1 labels"));
  CHECK(says("edge_labels", "9\n") == "T_edge_labels.txt: has 1 lines, but there are edges: 2");
  CHECK(says("edge_attributes", "1,2\n1\n").starts_with("T_edge_attributes.txt:2: has 1 attributes"));
  CHECK(says("A", "1,3\n3\n") == "T_A.txt:2: is not two nodes, ROW, COLUMN");
  CHECK(contains(says("A", "0,3\n3,1\n"), "there is no node 0, only 1 to 3"));
  CHECK(contains(says("A", "1,4\n3,1\n"), "there is no node 4, only 1 to 3"));
  CHECK(contains(says("graph_indicator", "0\n1\n1\n"), "T_graph_indicator.txt:1: graph 0 is not one of 1 to"));
  CHECK(contains(says("graph_indicator", "4\n1\n1\n"), "T_graph_indicator.txt:1: graph 4 is not one of 1 to"));
  CHECK(contains(says("graph_indicator", ""), "T_graph_indicator.txt: is empty"));
  CHECK(says("graph_indicator", "3\n1\n3\n") == "T_graph_indicator.txt: graph 2 has no nodes, but there is a graph 3");
  write("edge_attributes", "1,2\n1,3\n");
  CHECK(read_tu_folder(folder.path().string()).schema().is_directed);
  write_bytes(folder.file("S_A.txt"), "1,3\n");
  CHECK(contains(message_of([&] { read_tu_folder(folder.path().string()); }), ": has 2 files that end in _A.txt"));
}
