// Graphs files from outside: convert makes and splits them, inspect shows, verifies and compares them.
#include <algorithm>
#include <cmath>
#include <filesystem>
#include <set>

#include "formats/files.hpp"
#include "formats/heddle/graphs_file.hpp"
#include "support/json.hpp"
#include "tools/small_corpus.hpp"

using namespace heddle;
using namespace heddle::testing;

namespace graphs_tests {

namespace {

using tests::shared_path;

// A square and a triangle with an isolated node, as TU Dortmund publishes collections; nodes of the graphs take turns.
void write_collection(const SmallCorpus& corpus, const std::string& folder) {
  std::filesystem::create_directories(corpus.path(folder));
  const auto write = [&](const char* name, const std::string& text) {
    write_file(corpus.path(folder + "/T_" + name + ".txt"), text);
  };
  write("graph_indicator", "1\n2\n1\n2\n1\n2\n1\n2\n");
  write("A", "1, 3\n3, 1\n3, 5\n5, 3\n5, 7\n7, 5\n7, 1\n1, 7\n2, 4\n4, 2\n4, 6\n6, 4\n6, 2\n2, 6\n");
  write("edge_labels", "0\n0\n1\n1\n0\n0\n1\n1\n2\n2\n2\n2\n2\n2\n");
  write("node_labels", "10\n2\n10\n2\n10\n2\n10\n3\n");
  write("node_attributes", "1, 0.5\n2,1\n3,0\n4,0\n5,0\n6,0\n7,0\n8,0\n");
  write("graph_labels", "1\n-1\n");
}

// A table of nodes in two graphs, whose ids are out of order, and their edges.
void write_tables(const SmallCorpus& corpus) {
  write_file(corpus.path("nodes.csv"),
             "id,graph,colour,size,label\n7,a,red,1.5,x\n3,a,blue,2,y\n1,b,red,3,x\n7,b,,4,y\n9,b,red,5,\n");
  write_file(corpus.path("edges.tsv"), "source\ttarget\tgraph\tweight\n7\t3\ta\t2\n1\t7\tb\t3\n7\t7\tb\t1\n");
}

nlohmann::json shown(const SmallCorpus& corpus, const std::string& file) {
  return parse_json(corpus.must("inspect " + file + " --json").out);
}

using Names = std::vector<std::string>;

// The names of what the last command for a file has read, without their folders.
Names read_by(const SmallCorpus& corpus, const std::string& file) {
  Names names;
  const nlohmann::json steps = parse_json(corpus.must("inspect " + file + " --provenance --json").out)["provenance"];
  for (const nlohmann::json& input : steps.back()["inputs"]) {
    names.push_back(std::filesystem::path(input["name"].get<std::string>()).filename().string());
  }
  return names;
}

bool has_rdkit(const SmallCorpus& corpus) {
  write_file(corpus.path("one.csv"), "s\nCCO\n");
  const Outcome outcome = corpus.run("convert -q one.csv --smiles s -o one.h5");
  if (outcome.status == 0) return true;
  CHECK(contains(outcome.err, "this build has no RDKit, which reads SMILES; install librdkit-dev and build again"));
  skipped("no RDKit in this build");
  return false;
}

// A table of molecules: rings of six of several scaffolds, and chains.
std::string molecules() {
  std::string rows = "name,smiles,active,logp\n";
  const char* scaffolds[] = {"c1ccccc1", "c1ccncc1", "C1CCCCC1", "c1ccoc1", "c1ccsc1"};
  for (int i = 0; i < 60; ++i) {
    const int scaffold = i % 10 < 5 ? 0 : i % 10 - 5;
    rows += "m" + std::to_string(i) + "," + std::string(static_cast<std::size_t>(1 + i / 10), 'C') + "N" +
            scaffolds[scaffold] + "," + (i % 3 == 0 ? "1" : "0") + "," + std::to_string(i * 0.25) + "\n";
  }
  return rows;
}

}  // namespace

TEST_CASE("graphs: collections of TU Dortmund become graphs files, in whichever order their nodes are") {
  const SmallCorpus corpus;
  write_collection(corpus, "tu");
  const std::string said = corpus.must("convert -v tu -o t.h5").err;
  for (const char* const oddity : {"repeat another", "with itself", "no coordinates"})
    CHECK_FALSE(contains(said, oddity));
  CHECK(contains(corpus.must("convert tu -o t.h5").err, "t.h5: 2 graphs, 8 nodes, 14 edges: label -1 1, 1 1"));
  const formats::GraphsFile file(corpus.path("t.h5"));
  const data::GraphRecord square = file.record(0), triangle = file.record(1);
  CHECK(square.graph.sources == std::vector<Index>{1, 3, 0, 2, 1, 3, 2, 0});
  CHECK(square.graph.rows == std::vector<Index>{0, 2, 4, 6, 8});
  CHECK(square.graph.node_features.categories == std::vector<std::int32_t>{3, 3, 3, 3});
  CHECK(square.graph.edge_features.categories == std::vector<std::int32_t>{1, 2, 1, 2, 2, 1, 1, 2});
  CHECK(square.targets == std::vector<double>{1});
  CHECK(triangle.graph.rows == std::vector<Index>{0, 2, 4, 6, 6});
  CHECK(triangle.graph.node_features.numbers == std::vector<float>{2, 1, 4, 0, 6, 0, 8, 0});
  CHECK(triangle.targets == std::vector<double>{0});
  const nlohmann::json json = shown(corpus, "t.h5");
  CHECK(json["kind"] == "graphs");
  CHECK(json["directed"] == false);
  CHECK(json["isolated"] == 1);
  CHECK(json["degrees"] == parse_json(R"({"least": 0, "mean": 1.75, "largest": 2})"));
  CHECK(json["node_features"][0] == parse_json(R"({"name": "label", "kinds": ["2", "3", "10"]})"));
  CHECK(json["node_features"][1]["mean"] == 4.5);
  CHECK(json["targets"][0]["counts"] == parse_json("[1, 1]"));
  corpus.must("inspect verify t.h5 && inspect diff t.h5 t.h5 && h5dump -n t.h5");

  write_file(corpus.path("tu/T_A.txt"), "1,3\n");
  write_file(corpus.path("tu/T_edge_labels.txt"), "1\n");
  corpus.must("convert -q tu -o d.h5");
  CHECK(shown(corpus, "d.h5")["directed"] == true);
  CHECK(shown(corpus, "d.h5")["isolated"] == 6);  // an edge leaves one of the others
  CHECK(read_by(corpus, "d.h5") == Names{"T_A.txt", "T_graph_indicator.txt", "T_graph_labels.txt", "T_node_labels.txt",
                                         "T_node_attributes.txt", "T_edge_labels.txt"});
  CHECK(corpus.run("inspect diff t.h5 d.h5").status == 1);
  CHECK(parse_json(corpus.run("inspect diff t.h5 d.h5 --json").out)["first_graph"] == 0);
}

TEST_CASE("graphs: bad collections are refused by file and line") {
  const SmallCorpus corpus;
  const auto refused = [&](const char* file, const std::string& text, const std::string& says) {
    write_collection(corpus, "bad");
    write_file(corpus.path(std::string("bad/T_") + file + ".txt"), text);
    CHECK(lines_of(corpus.refused("convert bad -o bad.h5", 1, says).err).size() == 1);
    CHECK_FALSE(std::filesystem::exists(corpus.path("bad.h5")));
    std::filesystem::remove_all(corpus.path("bad"));
  };
  refused("A", "1,3\n1,9\n", "T_edge_labels.txt: has 14 lines");
  write_collection(corpus, "bare");
  std::filesystem::remove(corpus.path("bare/T_edge_labels.txt"));
  write_file(corpus.path("bare/T_A.txt"), "1,3\n1,9\n");
  corpus.refused("convert bare -o bad.h5", 1, "T_A.txt:2: the edge is dangling: there is no node 9, only 1 to 8");
  write_file(corpus.path("bare/T_A.txt"), "1,3\n1,2\n");
  corpus.refused("convert bare -o bad.h5", 1, "T_A.txt:2: the edge joins graph 1 with graph 2");
  refused("graph_indicator", "1\n3\n1\n3\n1\n3\n1\n3\n", "T_graph_indicator.txt: graph 2 has no nodes");
  refused("graph_indicator", "1\nx\n", "T_graph_indicator.txt:2: 'x' is not a whole number");
  refused("node_attributes", "1,2\n1\n1,2\n1,2\n1,2\n1,2\n1,2\n1,2\n", "T_node_attributes.txt:2: has 1 attributes");
  refused("node_attributes", "1\n", "T_node_attributes.txt: has 1 lines, but there are nodes: 8");
  refused("node_attributes", "1\nnan\n1\n1\n1\n1\n1\n1\n", "T_node_attributes.txt:2: 'nan' is not a finite number");
  refused("graph_labels", "1\n", "T_graph_labels.txt: has 1 lines, but the number of graphs is 2");
  refused("B_A", "", "has 2 files that end in _A.txt");
  write_collection(corpus, "loops");
  std::filesystem::remove(corpus.path("loops/T_edge_labels.txt"));
  write_file(corpus.path("loops/T_A.txt"), "1,1\n1,3\n1,3\n");
  const Outcome kept = corpus.must("convert -v loops -o loops.h5");
  CHECK(contains(kept.err, "1 edge repeats another; all are kept"));
  CHECK(contains(kept.err, "1 edge joins a node with itself"));
  CHECK(shown(corpus, "loops.h5")["edges"] == 3);
}

TEST_CASE("graphs: tables of nodes and edges") {
  const SmallCorpus corpus;
  write_tables(corpus);
  corpus.must("convert --nodes nodes.csv --edges edges.tsv -o g.h5");
  const formats::GraphsFile file(corpus.path("g.h5"));
  REQUIRE(file.size() == 2);
  const data::GraphRecord b = file.record(1);
  CHECK(b.id == "b");
  CHECK(b.node_names == std::vector<std::string>{"1", "7", "9"});
  CHECK(b.graph.rows == std::vector<Index>{0, 1, 3, 3});
  CHECK(b.graph.sources == std::vector<Index>{1, 0, 1});
  CHECK(b.graph.edge_features.numbers == std::vector<float>{3, 3, 1});
  CHECK(b.graph.node_features.categories == std::vector<std::int32_t>{2, 0, 2});
  CHECK(b.graph.node_features.numbers == std::vector<float>{3, 4, 5});
  CHECK(b.targets[1] == 1);
  CHECK(std::isnan(b.targets[2]));
  CHECK(file.targets().level == data::GraphLevel::node);
  CHECK(file.targets().columns[0].classes == std::vector<std::string>{"x", "y"});
  const nlohmann::json labels = shown(corpus, "g.h5")["targets"][0];
  CHECK(shown(corpus, "g.h5")["parts"] == parse_json(R"(["ids", "lines", "names of nodes"])"));
  CHECK(labels["known"] == 4);
  CHECK(labels["unknown"] == 1);
  CHECK(labels["counts"] == parse_json("[2, 2]"));
  CHECK(contains(corpus.must("inspect g.h5").out, "label  class  x 2, y 2; 1 unknown\n"));
  CHECK(read_by(corpus, "g.h5") == Names{"nodes.csv", "edges.tsv"});

  corpus.must("tr '\\n' '\\r' < nodes.csv > mac.csv && convert -q --nodes mac.csv --edges edges.tsv -o mac.h5");
  corpus.must("inspect diff g.h5 mac.h5");
  corpus.must("convert -q --nodes nodes.csv --edges edges.tsv --directed --categories size -o d.h5");
  const formats::GraphsFile directed(corpus.path("d.h5"));
  CHECK(directed.edges() == 3);
  CHECK(directed.schema().is_directed);
  CHECK(directed.schema().nodes.categories.size() == 2);

  write_file(corpus.path("graphs.csv"), "graph,y,split\nb,0.5,test\na,2,train\n");
  corpus.must("convert -q --nodes nodes.csv --edges edges.tsv --graphs graphs.csv --label-column y -o y.h5");
  const formats::GraphsFile whole(corpus.path("y.h5"));
  CHECK(whole.targets().level == data::GraphLevel::graph);
  CHECK(whole.record(1).targets == std::vector<double>{0.5});
  CHECK(whole.record(1).sides == std::vector{data::SplitSide::test});
  CHECK(shown(corpus, "y.h5")["split"]["train"] == 1);
  CHECK(contains(corpus.must("inspect y.h5").out, "split       none 0, train 1, valid 0, test 1\n"));
  CHECK(contains(corpus.must("inspect y.h5").out, "y  number  1.250 ± 0.750\n"));
  CHECK(read_by(corpus, "y.h5") == Names{"nodes.csv", "edges.tsv", "graphs.csv"});
}

TEST_CASE("graphs: an edge that is listed both ways has the label of either row") {
  const SmallCorpus corpus;
  write_file(corpus.path("nodes.csv"), "id,kind\n1,a\n2,a\n3,b\n");
  write_file(corpus.path("edges.csv"), "source,target,label\n1,2,\n2,1,strong\n3,2,weak\n2,3,\n");
  corpus.must("convert -q --nodes nodes.csv --edges edges.csv -o g.h5");
  const formats::GraphsFile file(corpus.path("g.h5"));
  CHECK(file.record(0).graph.sources == std::vector<Index>{1, 0, 2, 1});
  CHECK(file.record(0).targets == std::vector<double>{0, 0, 1, 1});
  write_file(corpus.path("edges.csv"), "source,target,label\n1,2,weak\n2,1,strong\n3,2,weak\n2,3,weak\n");
  corpus.refused(
      "convert --nodes nodes.csv --edges edges.csv -o no.h5", 1,
      "edges.csv:2: the edge has the label 'label', which differs from that of the other direction in line 3");
  corpus.must("convert -q --nodes nodes.csv --edges edges.csv --directed -o d.h5");
}

TEST_CASE("graphs: bad tables are refused by file and line, and options of other modes by name") {
  const SmallCorpus corpus;
  write_tables(corpus);
  write_collection(corpus, "tu");
  write_file(corpus.path("dangling.csv"), "source,target,graph,weight\n7,3,a,1\n7,4,a,1\n");
  write_file(corpus.path("missing.csv"), "source,target,graph,weight\n7,3,a,1\n7,3,a,\n");
  write_file(corpus.path("strange.csv"), "source,target,graph\n7,3,c\n");
  write_file(corpus.path("none.csv"), "from,to\n7,3\n");
  write_file(corpus.path("short.csv"), "source,target,graph\n7,3\n");
  write_file(corpus.path("twice.csv"), "id\n1\n1\n");
  write_file(corpus.path("sides.csv"), "id,label,split\n7,x,train\n3,y,dev\n");
  write_file(corpus.path("pair.csv"), "source,target\n7,3\n");
  const std::string nodes = "convert --nodes nodes.csv -o no.h5 --edges ";
  for (const Refusal& refusal : std::vector<Refusal>{
           {nodes + "dangling.csv", "dangling.csv:3: the edge is dangling: there is no node '4' of that graph", 1},
           {nodes + "missing.csv", "missing.csv:3: the number 'weight' is missing", 1},
           {nodes + "strange.csv", "strange.csv:2: the edge is dangling: there is no graph 'c'", 1},
           {nodes + "none.csv", "none.csv:1: has no column 'source'; its columns are from, to", 1},
           {nodes + "short.csv", "short.csv:2: the number of columns is 2, not 3", 1},
           {nodes + "edges.tsv --label-column nothing", "no table has a column 'nothing'", 1},
           {"convert --nodes twice.csv --edges pair.csv -o no.h5", "twice.csv:3: the id '1' is there twice", 1},
           {"convert --nodes sides.csv --edges pair.csv -o no.h5", "sides.csv:3: 'dev' is not a part of a split", 1},
           {"convert --nodes nodes.csv -o no.h5", "--edges", 2},
           {nodes + "edges.tsv tu", "there is nothing to read in tu", 2},
           {nodes + "edges.tsv --dtype bf16", "--dtype: is for models", 2},
           {"convert tu -o no.h5 --average", "--average: is for models", 2},
           {"convert tu -o no/", "graphs go into one file", 2},
           {"convert tu -o no.h5 --features all", "--features", 2},
           {"convert -o no.h5", "MODEL is missing", 2}}) {
    corpus.refused(refusal);
    CHECK_FALSE(std::filesystem::exists(corpus.path("no.h5")));
  }
}

TEST_CASE("graphs: molecules of a table, and splits of them") {
  const SmallCorpus corpus;
  if (!has_rdkit(corpus)) return;
  write_file(corpus.path("m.csv"), molecules());
  corpus.must("convert m.csv --smiles smiles --label-column logp,active --id-column name -o m.h5");
  const formats::GraphsFile file(corpus.path("m.h5"));
  REQUIRE(file.size() == 60);
  const data::GraphRecord first = file.record(0);
  CHECK(first.id == "m0");
  CHECK(first.line == 2);
  CHECK(first.group == "c1ccccc1");
  CHECK(first.node_names == std::vector<std::string>{"C", "N", "C", "C", "C", "C", "C", "C"});
  CHECK(first.positions.size() == 16);
  CHECK(first.fragments.size() > 5);
  CHECK(file.targets().columns[0].classes.empty());
  CHECK(file.targets().columns[1].classes == std::vector<std::string>{"0", "1"});
  CHECK(first.targets == std::vector<double>{0, 1});
  CHECK(file.record(4).targets == std::vector<double>{1, 0});
  CHECK(read_by(corpus, "m.h5") == Names{"m.csv"});
  corpus.must("inspect verify m.h5");

  corpus.must("convert m.csv --smiles smiles --label-column active --features element,order -o few.h5");
  const formats::GraphsFile few(corpus.path("few.h5"));
  CHECK(few.schema().nodes.categories.size() == 1);
  CHECK(few.schema().edges.categories.size() == 1);
  CHECK(few.record(0).id == "CNc1ccccc1");

  for (const char* command : {"convert few.h5 --split scaffold:60,20,20 -o s",
                              "convert m.csv --smiles smiles --label-column active --split random -o r",
                              "convert few.h5 --split 80,10,10 -o c"}) {
    CAPTURE(command);
    corpus.must(command);
    const std::string folder(1, std::string(command).back());
    std::set<Index> seen;
    std::set<std::string> groups;
    Index all = 0;
    for (const char* part : {"train", "valid", "test"}) {
      const formats::GraphsFile of(corpus.path(folder + "/" + part + ".h5"));
      std::set<std::string> own;
      for (Index i = 0; i < of.size(); ++i) {
        CHECK(seen.insert(of.record(i).line).second);
        own.insert(of.group(i));
      }
      all += of.size();
      for (const std::string& group : own) CHECK((groups.insert(group).second || folder != "s"));
    }
    CHECK(all == 60);
    CHECK(std::distance(std::filesystem::directory_iterator(corpus.path(folder)), {}) == 3);
  }
  CHECK(read_by(corpus, "s/train.h5") == Names{"few.h5"});
  CHECK(read_by(corpus, "r/train.h5") == Names{"m.csv"});
  // Two parts; the scaffolds that do not fit into the first are in the other.
  corpus.must("convert few.h5 --split scaffold:60,40,0 -o two && convert few.h5 --split 75,0,25 -o ends");
  CHECK(formats::GraphsFile(corpus.path("two/train.h5")).size() == 36);
  CHECK(formats::GraphsFile(corpus.path("two/valid.h5")).size() == 24);
  CHECK(formats::GraphsFile(corpus.path("ends/train.h5")).size() == 45);
  CHECK(formats::GraphsFile(corpus.path("ends/test.h5")).size() == 15);
  for (const char* const folder : {"two", "ends"})
    CHECK(std::distance(std::filesystem::directory_iterator(corpus.path(folder)), {}) == 2);
  const formats::GraphsFile train(corpus.path("s/train.h5"));
  CHECK(train.size() == 36);  // 30 with benzene and 6 with another scaffold
  CHECK(train.group(0) == "c1ccccc1");
}

TEST_CASE("graphs: atoms and bonds have the features that chemists expect") {
  const SmallCorpus corpus;
  if (!has_rdkit(corpus)) return;
  write_file(corpus.path("f.csv"), "s\nC[C@H](N)C(=O)[O-]\nF/C=C/F\nc1ccncc1\nC=CC#N\n");
  corpus.must("convert f.csv --smiles s -o f.h5");
  const formats::GraphsFile file(corpus.path("f.h5"));
  const auto texts = [&](Index graph, bool of_edges) {
    const data::Graph read = file.graph(graph);
    const data::FeatureColumns& columns = of_edges ? file.schema().edges : file.schema().nodes;
    const std::vector<std::int32_t>& kinds = (of_edges ? read.edge_features : read.node_features).categories;
    std::vector<std::string> lines;
    for (std::size_t i = 0; i < kinds.size(); ++i) {
      const std::string kind =
          columns.categories[i % columns.categories.size()].kinds[static_cast<std::size_t>(kinds[i]) - 1];
      if (i % columns.categories.size() == 0) lines.emplace_back();
      lines.back() += (lines.back().empty() ? "" : " ") + kind;
    }
    return lines;
  };
  // element, charge, degree, hydrogens, hybridisation, aromatic, ring, chirality
  const std::vector<std::string> alanine{"C 0 1 3 sp3 no no none", "C 0 3 1 sp3 no no S",    "N 0 1 2 sp3 no no none",
                                         "C 0 3 0 sp2 no no none", "O 0 1 0 sp2 no no none", "O -1 1 0 sp2 no no none"};
  CHECK(texts(0, false) == alanine);
  // order, ring, conjugated, stereo: into F, C, C, F
  const std::vector<std::string> fluorines{"single no no none", "single no no none", "double no no E",
                                           "double no no E",    "single no no none", "single no no none"};
  CHECK(texts(1, true) == fluorines);
  CHECK(texts(2, false)[3] == "N 0 2 0 sp2 yes yes none");
  CHECK(texts(2, true)[0] == "aromatic yes yes none");
  CHECK(texts(3, true)[5] == "triple no yes none");
}

TEST_CASE("graphs: a split of one graph divides the labels of its nodes or edges") {
  const SmallCorpus corpus;
  std::string nodes = "id,label\n", edges = "source,target,kind\n";
  for (int i = 0; i < 100; ++i) {
    nodes += std::to_string(i) + "," + (i % 10 == 9 ? "" : i % 4 == 0 ? "x" : "y") + "\n";
    edges += std::to_string(i) + "," + std::to_string((i + 1) % 100) + "," + (i % 2 == 0 ? "p" : "q") + "\n";
  }
  write_file(corpus.path("n.csv"), nodes);
  write_file(corpus.path("e.csv"), edges);
  for (const std::string column : {"label", "kind"}) {
    const bool is_node = column == "label";
    corpus.must("convert --nodes n.csv --edges e.csv --label-column " + column + " --split 60,20,20 -o " + column);
    std::vector<int> seen(is_node ? 100 : 200);
    for (const char* part : {"train", "valid", "test"}) {
      const formats::GraphsFile file(corpus.path(column + "/" + part + ".h5"));
      REQUIRE(file.size() == 1);
      const data::GraphRecord record = file.record(0);
      REQUIRE(record.targets.size() == seen.size());
      int known = 0;
      for (std::size_t i = 0; i < seen.size(); ++i) {
        seen[i] += std::isnan(record.targets[i]) ? 0 : 1;
        known += std::isnan(record.targets[i]) ? 0 : 1;
      }
      CHECK(known > (is_node ? 15 : 35));
    }
    CHECK(std::count(seen.begin(), seen.end(), 1) == (is_node ? 90 : 200));
    CHECK(*std::max_element(seen.begin(), seen.end()) == 1);
  }
  write_file(corpus.path("bare.csv"), "source,target\n1,2\n");
  write_file(corpus.path("ids.csv"), "id\n1\n2\n");
  corpus.refused("convert --nodes ids.csv --edges bare.csv --split 80,10,10 -o no", 1, "there is nothing to split");
  corpus.refused("convert --nodes n.csv --edges e.csv --label-column kind --split scaffold -o no", 1, "no scaffolds");
}

TEST_CASE("graphs: a split refuses classes that are rarer than parts, unless told, and parts without a graph") {
  const SmallCorpus corpus;
  // Graphs that differ in their size: of "a" and "b" nine each, of "c" two, and of one the class is not known.
  const auto write_graphs = [&](const std::string& name, Index count, bool are_alike, Index turn = 0) {
    data::GraphSchema schema;
    schema.nodes.categories = {{"kind", {"k"}}};
    formats::GraphsFileWriter writer(corpus.path(name), schema,
                                     {data::GraphLevel::graph, {{"class", {"a", "b", "c"}}}});
    for (Index g = 0; g < count; ++g) {
      data::GraphRecord record;
      record.graph.nodes = are_alike ? 2 : g + 1;
      record.graph.node_features.categories.assign(static_cast<std::size_t>(record.graph.nodes), 1);
      data::set_edges(record.graph, {});
      const Index place = (g + turn) % 21;
      record.targets = {place == 20 ? data::unknown_target : place < 18 ? static_cast<double>(place % 2) : 2};
      writer.append(record);
    }
    writer.commit(formats::start_provenance("a test"));
  };
  write_graphs("g.h5", 21, false);
  corpus.refused("convert g.h5 --split class:60,20,20 -o p", 1,
                 "g.h5: 1 class has fewer different graphs than the 3 parts: 'c' (2)");
  corpus.refused("convert g.h5 --split 60,20,20 -o p", 1, "'c' (2)");
  for (const std::string how : {"60,20,20 --rare train", "random:60,20,20", "60,0,40"}) {
    CAPTURE(how);
    corpus.must("rm -rf p && convert g.h5 -o p --split " + how);
    Index all = 0;
    for (const auto& entry : std::filesystem::directory_iterator(corpus.path("p"))) {
      all += formats::GraphsFile(entry.path().string()).size();
    }
    CHECK(all == 21);
  }
  // At random, whatever the classes are.
  const auto in_train = [&](const std::string& folder) {
    std::set<Index> sizes;
    const formats::GraphsFile file(corpus.path(folder + "/train.h5"));
    for (Index i = 0; i < file.size(); ++i) sizes.insert(file.graph(i).nodes);
    return sizes;
  };
  std::set<std::set<Index>> different;
  for (Index turn = 0; turn < 3; ++turn) {
    write_graphs("turned.h5", 21, false, 4 * turn);
    corpus.must("rm -rf t && convert turned.h5 --split random:60,20,20 -o t");
    different.insert(in_train("t"));
  }
  CHECK(different.size() == 1);
  write_graphs("one.h5", 1, false);
  corpus.refused("convert one.h5 --split 80,10,10 -o f", 1,
                 "one.h5: is one graph without labels of nodes, edges or pairs");
  write_graphs("few.h5", 2, false);
  corpus.refused("convert few.h5 --split random:80,10,10 -o f", 1,
                 "few.h5: 2 graphs are too few, or too many are alike");
  write_graphs("alike.h5", 12, true);
  corpus.refused("convert alike.h5 --split random:80,10,10 -o f", 1, "12 graphs are too few, or too many are alike");
  // The same of nodes: of "x" there are many, of "y" two.
  std::string nodes = "id,label\n", edges = "source,target\n1,2\n";
  for (int i = 1; i <= 30; ++i) nodes += std::to_string(i) + (i > 28 ? ",y\n" : ",x\n");
  write_file(corpus.path("n.csv"), nodes);
  write_file(corpus.path("e.csv"), edges);
  const std::string split = "convert --nodes n.csv --edges e.csv --split ";
  corpus.refused(split + "60,20,20 -o q", 1, "n.csv: 1 class has fewer different nodes than the 3 parts: 'y' (2)");
  corpus.must(split + "random:60,20,20 -o q && " + split + "60,0,40 -o q2");
  CHECK(std::distance(std::filesystem::directory_iterator(corpus.path("q2")), {}) == 2);
}

TEST_CASE("graphs: a split of nodes with several labels divides those that have one, and keeps all of them") {
  const SmallCorpus corpus;
  std::string nodes = "id,p,q\n";
  const auto p_of = [](int i) { return i % 3 == 0 ? std::string() : std::string(i % 2 == 0 ? "u" : "v"); };
  const auto q_of = [](int i) { return i % 5 == 0 ? std::string() : std::string(i % 4 < 2 ? "s" : "t"); };
  for (int i = 0; i < 60; ++i) nodes += std::to_string(i) + "," + p_of(i) + "," + q_of(i) + "\n";
  write_file(corpus.path("n.csv"), nodes);
  write_file(corpus.path("e.csv"), "source,target\n0,1\n");
  const std::string said =
      corpus.must("convert --nodes n.csv --edges e.csv --label-column p,q --split 60,20,20 -o parts").err;
  CHECK(contains(said, "parts/train.h5: the labels of 34 nodes"));
  CHECK(contains(said, "parts/valid.h5: the labels of 11 nodes"));
  CHECK(contains(said, "parts/test.h5: the labels of 11 nodes"));
  corpus.refused("convert --nodes n.csv --edges e.csv --label-column p,q --split class:60,20,20 -o no", 1,
                 "the labels are no single class; --split random does not need one");
  std::vector<int> seen(60);
  for (const char* const part : {"train", "valid", "test"}) {
    const data::GraphRecord record = formats::GraphsFile(corpus.path(std::string("parts/") + part + ".h5")).record(0);
    REQUIRE(record.targets.size() == 120);
    int here = 0;
    for (int i = 0; i < 60; ++i) {
      const double p = record.targets[2 * static_cast<std::size_t>(i)],
                   q = record.targets[2 * static_cast<std::size_t>(i) + 1];
      if (std::isnan(p) && std::isnan(q)) continue;
      ++here;
      ++seen[static_cast<std::size_t>(i)];
      CHECK(std::isnan(p) == p_of(i).empty());
      CHECK(std::isnan(q) == q_of(i).empty());
      if (!std::isnan(q)) CHECK(q == (q_of(i) == "s" ? 0 : 1));
    }
    CHECK(here > 9);
  }
  for (int i = 0; i < 60; ++i) CHECK(seen[static_cast<std::size_t>(i)] == (i % 15 == 0 ? 0 : 1));
}

TEST_CASE("graphs: rows that RDKit refuses are listed by line, and left out when asked") {
  const SmallCorpus corpus;
  if (!has_rdkit(corpus)) return;
  write_file(corpus.path("bad.csv"), "smiles,label\nCCO,1\nC1CC,0\n[Xx],1\n,0\nC(C)(C)(C)(C)C,1\n[Na+].[Cl-],0\n" +
                                         std::string(1200, 'C') + ",1\n");
  const Outcome listed = corpus.refused("convert bad.csv --smiles smiles -o no.h5", 1, "bad.csv:3: ");
  CHECK(lines_of(listed.err).size() == 1);
  CHECK_FALSE(contains(listed.err, "Parse Error"));
  for (const char* part : {"unclosed ring", "line 4: ", "line 5: the SMILES is empty",
                           "line 6: ", "Explicit valence for atom # 0 C, 5, is greater than permitted",
                           "4 of 7 records cannot be used; --bad-records skip leaves them out"}) {
    CHECK(contains(listed.err, part));
  }
  CHECK_FALSE(std::filesystem::exists(corpus.path("no.h5")));
  const Outcome skipping = corpus.must("convert -v bad.csv --smiles smiles --bad-records skip -o ok.h5");
  CHECK(contains(skipping.err, "left out 4 of 7 records"));
  CHECK(contains(skipping.err, "1 molecule of more than 999 atoms: no coordinates"));
  const formats::GraphsFile file(corpus.path("ok.h5"));
  REQUIRE(file.size() == 3);
  CHECK(file.record(1).line == 7);
  CHECK(file.record(1).graph.edges() == 0);
  CHECK(file.record(2).graph.nodes == 1200);
  corpus.refused("convert bad.csv --smiles nothing -o no.h5", 1, "has no column 'nothing' for --smiles");
  corpus.refused("convert bad.csv --smiles smiles --features size -o no.h5", 2, "'size' is not one of element");
}

TEST_CASE("graphs: published collections have their published sizes") {
  const SmallCorpus corpus;
  const std::string mutag = shared_path("graphs/MUTAG"), ptc = shared_path("graphs/PTC_MR");
  if (mutag.empty() || ptc.empty()) return;
  corpus.must("convert -q '" + mutag + "' -o mutag.h5 && convert -q '" + ptc + "' -o ptc.h5");
  const auto sizes = [&](const char* file) {
    const nlohmann::json json = shown(corpus, file);
    CHECK(json["directed"] == false);
    return std::vector<int>{json["graphs"], json["nodes"], json["edges"], json["targets"][0]["counts"][0],
                            json["targets"][0]["counts"][1]};
  };
  CHECK(sizes("mutag.h5") == std::vector{188, 3371, 7442, 63, 125});
  CHECK(sizes("ptc.h5") == std::vector{344, 4915, 10108, 192, 152});
  corpus.must("inspect verify mutag.h5 ptc.h5");
  corpus.must("convert -q mutag.h5 --split 80,10,10 -o parts");
  CHECK(formats::GraphsFile(corpus.path("parts/train.h5")).size() > 140);
}

TEST_CASE("graphs: published molecules") {
  const SmallCorpus corpus;
  const std::string bbbp = shared_path("molecules/BBBP.csv"), esol = shared_path("molecules/delaney-processed.csv");
  if (bbbp.empty() || esol.empty() || !has_rdkit(corpus)) return;
  corpus.must("convert -q '" + esol +
              "' --smiles smiles --label-column 'measured log solubility in mols per litre' -o esol.h5");
  const nlohmann::json json = shown(corpus, "esol.h5");
  CHECK(json["graphs"] == 1128);
  CHECK(json["targets"][0]["mean"].get<double>() == doctest::Approx(-3.050).epsilon(0.001));
  const std::string command = "convert '" + bbbp + "' --smiles smiles --label-column BBBP ";
  corpus.refused(command + "-o no.h5", 1, "BBBP.csv:61: RDKit does not read the SMILES O=N([O-])C1=C");
  corpus.refused(command + "-o no.h5", 1, "11 of 2,050 records cannot be used; --bad-records skip leaves them out");
  corpus.must(command + "--bad-records skip --split scaffold -o bbbp/");
  CHECK(formats::GraphsFile(corpus.path("bbbp/train.h5")).size() == 1631);
  CHECK(formats::GraphsFile(corpus.path("bbbp/valid.h5")).size() == 204);
  CHECK(formats::GraphsFile(corpus.path("bbbp/test.h5")).size() == 204);
}

}  // namespace graphs_tests
