// Graphs files in finetune and classify.
#include <cmath>
#include <map>
#include <set>

#include "formats/heddle/graphs_file.hpp"
#include "libcore/base/random.hpp"
#include "support/json.hpp"
#include "tools/labelled_corpus.hpp"

using namespace heddle;
using namespace heddle::testing;

namespace graph_tasks_tests {

namespace {

const std::string gat = "finetune -q --arch gat:layers=2,width=16,heads=2 ";

// Random graphs of 4 to 8 nodes in a ring with chords, whose edges have one of two kinds.
data::Graph random_graph(const RandomStream& random) {
  std::uint64_t drawn = 0;
  data::Graph graph;
  graph.nodes = 4 + random.below(drawn++, 5);
  for (Index i = 0; i < graph.nodes; ++i) graph.node_features.categories.push_back(1);
  std::vector<data::ListedEdge> edges;
  const auto kind = static_cast<std::int32_t>(1 + random.below(drawn++, 2));
  const auto join = [&](Index a, Index b) {
    edges.push_back({a, b, {kind}});
    edges.push_back({b, a, {kind}});
  };
  for (Index i = 0; i < graph.nodes; ++i) join(i, (i + 1) % graph.nodes);
  if (random.below(drawn++, 2) == 1) join(0, 2);
  data::set_edges(graph, edges);
  return graph;
}

// Writes graphs whose class is the kind of their edges, whose number is that of their edges, whose nodes have the class
// of those with more than two neighbours, or whose edges that of those between two such nodes.
enum class Learns { kind, count, degree, bridge };
void write_graphs(const std::string& path, Learns learns, Index count, std::uint64_t seed, bool has_edge_kinds = true) {
  data::GraphSchema schema;
  schema.nodes.categories = {{"element", {"C"}}};
  if (has_edge_kinds) schema.edges.categories = {{"order", {"single", "double"}}};
  data::GraphTargets targets{.level = data::GraphLevel::graph, .columns = {{"active", {"no", "yes"}}}};
  if (learns == Learns::count) targets.columns = {{"size", {}}};
  if (learns == Learns::degree) targets = {data::GraphLevel::node, {{"hub", {"no", "yes"}}}};
  if (learns == Learns::bridge) targets = {data::GraphLevel::edge, {{"bridge", {"no", "yes"}}}};
  formats::GraphsFileWriter writer(path, schema, targets);
  for (Index g = 0; g < count; ++g) {
    const RandomStream random(seed, random_site("graph tasks"), static_cast<std::uint64_t>(g));
    data::GraphRecord record;
    record.graph = random_graph(random);
    data::Graph& graph = record.graph;
    if (learns == Learns::kind) record.targets = {graph.edge_features.categories.front() == 2 ? 1.0 : 0.0};
    if (learns == Learns::count) record.targets = {static_cast<double>(graph.edges())};
    const auto is_hub = [&](Index node) {
      const auto at = static_cast<std::size_t>(node);
      return graph.rows[at + 1] - graph.rows[at] > 2;
    };
    for (Index i = 0; i < graph.nodes; ++i) {
      if (learns == Learns::degree) record.targets.push_back(is_hub(i) ? 1 : 0);
      const auto at = static_cast<std::size_t>(i);
      for (Index e = graph.rows[at]; learns == Learns::bridge && e < graph.rows[at + 1]; ++e) {
        record.targets.push_back(is_hub(i) && is_hub(graph.sources[static_cast<std::size_t>(e)]) ? 1 : 0);
      }
    }
    if (!has_edge_kinds) graph.edge_features = {};
    record.id = "g" + std::to_string(g + 1);
    writer.append(record);
  }
  writer.commit(formats::start_provenance("a test"));
}

}  // namespace

TEST_CASE("graphs: a class that the kinds of edges decide is learned with them, and not without") {
  const Labelled corpus;
  for (const bool has_kinds : {true, false}) {
    CAPTURE(has_kinds);
    write_graphs(corpus.path("train.h5"), Learns::kind, 120, 1, has_kinds);
    write_graphs(corpus.path("test.h5"), Learns::kind, 100, 2, has_kinds);
    corpus.must(gat + "--train train.h5 --epochs 20 -o m.h5 --restart");
    const json result = corpus.evaluated("classify m.h5 test.h5");
    const double accuracy = result["accuracy"].get<double>();
    if (has_kinds) {
      CHECK(accuracy >= 0.95);
    } else {
      CHECK(accuracy <= 0.6);
    }
    corpus.must("rm m.h5");
  }
  CHECK(corpus.leftovers() == 0);
}

TEST_CASE("graphs: classes of graphs have answers in order, with their names") {
  const Labelled corpus;
  write_graphs(corpus.path("train.h5"), Learns::kind, 60, 1);
  corpus.must(gat + "--train train.h5 --valid 20% --epochs 3 -o m.h5 --metric roc_auc");
  const std::pair<const char*, const char*> epochs[] = {
      {"gat", "100"}, {"message-passing", "50"}, {"graph-transformer", "50"}};
  for (const auto& [arch, count] : epochs) {
    CAPTURE(arch);
    const std::string settings =
        corpus.must(concatenate("finetune --arch ", arch, " --train train.h5 -o x.h5 --print-config")).out;
    for (const std::string& line :
         {concatenate("# epochs = ", count), std::string("# batch-size = 32"), std::string("# learning-rate = 0.001")})
      CHECK_MESSAGE(contains(settings, line + "\n"), settings);
  }
  CHECK(lines_in(corpus.must("classify m.h5 train.h5").out) == 60);
  const std::vector<std::string> objects = lines_of(corpus.must("classify m.h5 train.h5 --jsonl").out);
  REQUIRE(objects.size() == 60);
  CHECK(parse_json(objects[6])["id"] == "g7");
  const Outcome report = corpus.run("classify m.h5 train.h5 --evaluate --metric roc_auc -o p.tsv");
  CHECK(contains(report.out, "\nroc_auc"));
  CHECK(contains(report.out, "\npr_auc"));
  CHECK(contains(report.err, "was trained on this file"));
  CHECK(lines_of(read_file(corpus.path("p.tsv"))).front() == "id\tgold\tpredicted\tprobability");
  CHECK(contains(corpus.must("inspect m.h5").out, "gat"));
  CHECK(contains(corpus.must("inspect verify m.h5").out, "no problem"));
}

TEST_CASE("graphs: numbers of graphs and classes of nodes are learned by what the file has labels for") {
  const Labelled corpus;
  write_graphs(corpus.path("sizes.h5"), Learns::count, 120, 1);
  corpus.must(
      "finetune -q --arch message-passing:layers=2,width=16,readout=sum --train sizes.h5 --valid 20% --epochs 200 "
      "--learning-rate 0.01 --schedule constant -o sizes-model.h5 --metric rmse");
  CHECK(corpus.evaluated("classify sizes-model.h5 sizes.h5")["r2"].get<double>() > 0.9);
  write_graphs(corpus.path("hubs.h5"), Learns::degree, 100, 1);
  corpus.must(
      "finetune -q --arch message-passing:layers=2,width=16 --train hubs.h5 --epochs 40 --learning-rate 0.01 -o "
      "hubs-model.h5");
  CHECK(corpus.evaluated("classify hubs-model.h5 hubs.h5")["accuracy"].get<double>() > 0.95);
  const std::vector<std::string> nodes = lines_of(corpus.must("classify hubs-model.h5 hubs.h5").out);
  CHECK(nodes.front().starts_with("1\t1\t"));
}

TEST_CASE("graphs: classes of edges are learned, and an edge without a direction is answered once, by its ends") {
  const Labelled corpus;
  write_graphs(corpus.path("train.h5"), Learns::bridge, 100, 1);
  write_graphs(corpus.path("test.h5"), Learns::bridge, 50, 2);
  const std::string learn =
      "finetune --arch message-passing:layers=2,width=16 --train train.h5 --epochs 40 --learning-rate 0.01 -o m.h5";
  const Outcome run = corpus.run(learn + " --valid test.h5");
  CHECK(run.status == 0);
  CHECK_FALSE(contains(run.err, "running numbers"));
  const json result = corpus.evaluated("classify m.h5 test.h5");
  CHECK(result["macro_f1"].get<double>() > 0.95);
  CHECK(result["roc_auc"].get<double>() > 0.95);
  const json first = parse_json(lines_of(corpus.must("classify m.h5 test.h5 --jsonl").out).front());
  const formats::GraphsFile file(corpus.path("test.h5"));
  CHECK(static_cast<Index>(first["edges"].size()) == file.record(0).graph.edges() / 2);
  CHECK(first["edges"][0] == "1-2");
  CHECK(first["labels"].size() == first["edges"].size());
  write_graphs(corpus.path("hubs.h5"), Learns::degree, 20, 1);
  const Outcome other = corpus.run("classify m.h5 hubs.h5 --evaluate");
  CHECK(other.status == 2);
  CHECK(contains(other.err, "hubs.h5: has labels of nodes, not of edges"));
}

// Graphs with two labels, of which one in three is not known: the kind of their edges, and whether there is a chord.
void write_two_labels(const std::string& path, Index count, std::uint64_t seed) {
  data::GraphSchema schema;
  schema.nodes.categories = {{"element", {"C"}}};
  schema.edges.categories = {{"order", {"single", "double"}}};
  formats::GraphsFileWriter writer(path, schema,
                                   {data::GraphLevel::graph, {{"double", {"no", "yes"}}, {"chord", {"no", "yes"}}}});
  for (Index g = 0; g < count; ++g) {
    data::GraphRecord record;
    record.graph = random_graph(RandomStream(seed, random_site("graph tasks"), static_cast<std::uint64_t>(g)));
    record.targets = {record.graph.edge_features.categories.front() == 2 ? 1.0 : 0.0,
                      record.graph.edges() > 2 * record.graph.nodes ? 1.0 : 0.0};
    if (g % 3 < 2) record.targets[static_cast<std::size_t>(g % 3)] = data::unknown_target;
    writer.append(record);
  }
  writer.commit(formats::start_provenance("a test"));
}

// Tables of 40 nodes of two kinds, of which an edge joins all that are alike.
void write_two_circles(const Labelled& corpus) {
  std::string nodes = "id,kind\n", edges = "source,target\n";
  for (Index i = 0; i < 40; ++i) {
    nodes += "n" + std::to_string(i) + (i % 2 == 0 ? ",even\n" : ",odd\n");
    for (Index j = i % 2; j < i; j += 2) edges += "n" + std::to_string(i) + ",n" + std::to_string(j) + "\n";
  }
  write_file(corpus.path("nodes.csv"), nodes);
  write_file(corpus.path("edges.csv"), edges);
}

TEST_CASE("graphs: whether an edge joins two nodes is learned from hidden edges, and answered for other pairs") {
  const Labelled corpus;
  write_two_circles(corpus);
  const std::string tables = "convert -q --nodes nodes.csv --edges edges.csv ";
  corpus.must(tables + "--hide-edges 30 --split 60,20,20 -o links");
  const nlohmann::json shown = parse_json(corpus.must("inspect links/train.h5 --json").out);
  CHECK(shown["level"] == "pair");
  CHECK(shown["pairs"] == 228);  // 114 of 380 edges, and as many pairs without one
  CHECK(shown["edges"] == 2 * (380 - 114));
  const Outcome run = corpus.run(
      "finetune --arch gat:layers=1,width=16,heads=2 --train links/train.h5 --valid "
      "links/valid.h5 --epochs 60 --learning-rate 0.02 -o m.h5");
  REQUIRE(run.status == 0);
  CHECK(contains(run.err, " pairs of 2 classes in 1 graph"));
  const nlohmann::json report = corpus.evaluated("classify m.h5 links/test.h5");
  CHECK(report["accuracy"].get<double>() > 0.95);
  CHECK(report["interval"]["method"] == "exact");  // pairs are drawn, not graphs
  CHECK(report["interval"]["low"].get<double>() > 0.85);
  CHECK(corpus.evaluated("classify m.h5 links/train.h5 --folds 3 --fold 2")["roc_auc"].get<double>() > 0.95);

  write_file(corpus.path("asked.csv"), "source,target,why\nn39,n1,alike\nn4,n7,apart\nn7,n4,again\n");
  corpus.must(tables + "--node-pairs asked.csv -o asked.h5");
  std::vector<std::string> answers = lines_of(corpus.must("classify m.h5 asked.h5").out);
  REQUIRE(answers.size() >= 3);
  for (std::string& answer : answers) answer.resize(answer.rfind('\t') == answer.npos ? 0 : answer.rfind('\t'));
  CHECK(answers[0] == "1\tn39-n1\tyes");
  CHECK(answers[1] == "1\tn4-n7\tno");
  CHECK(answers[2] == "1\tn7-n4\tno");

  CHECK(contains(corpus.must("inspect m.h5").out, "level = pair"));
  corpus.refused("classify m.h5 asked.h5 --format csv", 2, "--format: is for texts, and the model reads graphs");

  // A part of the pairs of a single graph is held out.
  corpus.must(
      "finetune -q --arch gat:layers=1,width=16,heads=2 --train links/train.h5 --valid 20% --epochs 60 "
      "--learning-rate 0.02 -o held.h5");
  CHECK(corpus.evaluated("classify held.h5 links/test.h5")["accuracy"].get<double>() > 0.9);
  corpus.must(tables + "-o plain.h5");
  corpus.refused("classify m.h5 plain.h5", 1, "plain.h5: has no pairs of nodes, which the model answers");
  corpus.must(tables + "--node-pairs asked.csv --directed -o directed.h5");
  corpus.refused("classify m.h5 directed.h5", 1, "its edges are directed, and those of the model's graphs are not");
}

TEST_CASE("graphs: pairs with labels and sides come from a table") {
  const Labelled corpus;
  write_two_circles(corpus);
  std::string pairs = "source,target,alike,split\n";
  for (Index i = 0; i < 39; ++i) {
    for (const Index step : {1, 2}) {
      if (i + step > 39) continue;
      pairs += "n" + std::to_string(i) + ",n" + std::to_string(i + step) + (step == 2 ? ",yes," : ",no,") +
               (i % 3 == 0   ? "test"
                : i % 3 == 1 ? "valid"
                             : "train") +
               "\n";
    }
  }
  write_file(corpus.path("pairs.csv"), pairs);
  write_file(corpus.path("none.csv"), "source,target\n");
  const std::string tables = "convert -q --nodes nodes.csv --edges none.csv --label-column alike --node-pairs ";
  corpus.must(tables + "pairs.csv -o p.h5");
  corpus.must(
      "finetune -q --arch gat:layers=1,width=16,heads=2 --train p.h5 --valid p.h5 --epochs 60 "
      "--learning-rate 0.02 -o m.h5");
  const Outcome test = corpus.run("classify m.h5 p.h5 --evaluate --json");
  CHECK(parse_json(test.out)["accuracy"].get<double>() > 0.95);
  CHECK(parse_json(test.out)["examples"] == 26);  // 13 pairs of each step begin at a multiple of three

  // A pair that is listed twice, either way round, is on one side, and both sides have both classes.
  std::string twice = "source,target,alike\n";
  for (Index i = 0; i + 2 < 40; ++i) {
    for (const Index step : {1, 2}) {
      const std::string a = "n" + std::to_string(i), b = "n" + std::to_string(i + step),
                        label = step == 2 ? ",yes\n" : ",no\n";
      twice += a + "," + b + label + b + "," + a + label;
    }
  }
  write_file(corpus.path("twice.csv"), twice);
  corpus.must(tables + "twice.csv -o twice.h5");
  const Outcome held = corpus.must(
      "finetune --arch gat:layers=1,width=8,heads=2 --train twice.h5 --valid 30% --epochs "
      "1 -o held.h5");
  const std::size_t count = held.err.find(" pairs of 2 classes in 1 graph");
  REQUIRE(count != held.err.npos);
  const std::size_t before = held.err.rfind(' ', count - 1);
  CHECK(std::stol(held.err.substr(before + 1)) % 2 == 0);

  write_file(corpus.path("dangling.csv"), "source,target,alike\nn1,n40,yes\n");
  corpus.refused(tables + "dangling.csv -o no.h5", 1, "dangling.csv:2: the pair is dangling: there is no node 'n40'");
  write_file(corpus.path("sides.csv"), "source,target,split\nn1,n2,test\n");
  corpus.refused("convert --nodes nodes.csv --edges none.csv --node-pairs sides.csv -o no.h5", 1,
                 "sides.csv:1: has a column 'split', but the labels are not those of pairs");
  corpus.refused(tables + "pairs.csv --hide-edges 10 -o no.h5", 2, "--hide-edges");
  corpus.refused("convert --nodes nodes.csv --edges edges.csv --node-pairs none.csv -o no.h5", 1,
                 "none.csv: has no rows below the names of its columns");
  corpus.refused("convert --nodes nodes.csv --edges none.csv --hide-edges 10 -o no.h5", 1,
                 "too few edges to hide 10 % of them");
  corpus.refused("convert --nodes nodes.csv --edges none.csv --hide-edges 101 -o no.h5", 2, "--hide-edges");
  CHECK_FALSE(std::filesystem::exists(corpus.path("no.h5")));
}

TEST_CASE("graphs: tables of pairs that contradict themselves, or hold what nothing reads, are reported") {
  const Labelled corpus;
  write_file(corpus.path("nodes.csv"), "id,x\na,1\nb,2\nc,3\n");
  write_file(corpus.path("edges.csv"), "source,target\na,b\n");
  const std::string tables = "convert --nodes nodes.csv --edges edges.csv --label-column alike --node-pairs ";
  write_file(corpus.path("same.csv"), "source,target,alike\na,b,yes\nb,c,no\na,b,no\n");
  corpus.refused(tables + "same.csv -o no.h5", 1,
                 "same.csv:4: the pair has the label 'alike', which differs from that of the pair in line 2; leave one "
                 "of them out");
  write_file(corpus.path("turned.csv"), "source,target,alike\na,b,yes\nb,c,no\nb,a,no\n");
  corpus.refused(tables + "turned.csv -o no.h5", 1,
                 "turned.csv:4: the pair has the label 'alike', which differs from that of the pair in line 2; if each "
                 "direction has its own label, give --directed");
  CHECK_FALSE(std::filesystem::exists(corpus.path("no.h5")));
  corpus.must(tables + "turned.csv --directed -o turned.h5");
  write_file(corpus.path("open.csv"), "source,target,alike\na,b,yes\nb,c,no\nb,a,\na,b,yes\n");
  corpus.must(tables + "open.csv -o open.h5");

  write_file(corpus.path("more.csv"), "source,target,weight,alike,year\na,b,3,yes,2001\nb,c,4,no,2002\n");
  const Outcome noted = corpus.must(tables + "more.csv --directed -o more.h5");
  CHECK(contains(noted.err, "more.csv: the column 'weight' is not read; nodes and edges have features"));
  CHECK(contains(noted.err, "more.csv: the column 'year' is not read"));
  CHECK(contains(noted.err, "more.h5: 1 graph, 3 nodes, 1 edge: alike"));
  CHECK(corpus.must("sh -c '" + tables + "more.csv -q -o again.h5'").err.empty());

  // Files whose labels have other names are not joined.
  write_file(corpus.path("other.csv"), "source,target,near\na,b,yes\nb,c,no\n");
  corpus.must(
      "convert --nodes nodes.csv --edges edges.csv --label-column near --node-pairs other.csv --directed -o other.h5");
  const std::string learns = "finetune --arch gat:layers=1,width=8,heads=2 --epochs 1 -o no.h5 ";
  for (const std::string files : {"--train more.h5,other.h5", "--train more.h5 --valid other.h5"}) {
    corpus.refused(learns + files, 1,
                   "other.h5: has the labels near, and more.h5 has alike; give files with labels of");
  }
}

TEST_CASE("graphs: several labels are learned at once, those that are known") {
  const Labelled corpus;
  write_two_labels(corpus.path("train.h5"), 200, 1);
  write_two_labels(corpus.path("test.h5"), 90, 2);
  corpus.must(
      "finetune -q --arch message-passing:layers=2,width=16 --train train.h5 --valid test.h5 --epochs 60 "
      "--learning-rate 0.01 --metric accuracy -o m.h5");
  const json result = corpus.evaluated("classify m.h5 test.h5");
  CHECK(result["interval"]["metric"] == "roc_auc");
  CHECK(result["accuracy"].get<double>() > 0.95);
  // Half of the test graphs have each value; two thirds of 90 have each label known.
  CHECK(result["baseline"]["value"] == 0.5);
  const std::vector<std::string> lines = lines_of(corpus.must("classify m.h5 test.h5").out);
  REQUIRE(lines.size() == 180);  // known or not
  CHECK(lines[0].starts_with("1\tdouble\t"));
  CHECK(lines[1].starts_with("1\tchord\t"));
  const Outcome report = corpus.run("classify m.h5 test.h5 --evaluate -o p.tsv");
  CHECK(contains(report.out, "\nroc_auc"));
  CHECK(lines_in(read_file(corpus.path("p.tsv"))) == 1 + 2 * 30 + 60);
  CHECK(lines_of(read_file(corpus.path("p.tsv"))).front() == "graph\tword\tgold\tpredicted\tprobability");
  // In another order they are other labels, and a file in which one has a single value is evaluated like others.
  corpus.must(gat + "--train train.h5 --label-column chord,double --epochs 1 -o turned.h5");
  const Outcome mixed = corpus.run("classify m.h5,turned.h5 test.h5");
  CHECK(mixed.status == 1);
  CHECK(contains(mixed.err, "turned.h5: answers for the labels chord, double, and m.h5 for the labels double, chord"));
  CHECK(contains(corpus.run(gat + "--train train.h5 --label-column chord,chord -o x.h5").err, "is named twice"));
  corpus.refused("classify m.h5 test.h5 --evaluate --label-column chord", 2, "the model has answers for ");
  // One of them alone is a class as ever, and so is each of an ensemble's.
  corpus.must(gat + "--train train.h5 --label-column chord --epochs 1 -o one.h5");
  CHECK(contains(corpus.must("inspect one.h5").out, "classify"));
  corpus.must(gat + "--train train.h5 --epochs 1 -o other.h5");
  corpus.must("finetune -q --ensemble m.h5,other.h5 --valid test.h5 -o both.h5");
  CHECK(corpus.evaluated("classify both.h5 test.h5")["interval"]["low"].get<double>() > 0.9);
  const Outcome bag = corpus.run("finetune --arch bag --train train.h5 -o bag.h5");
  CHECK(bag.status != 0);
  CHECK(contains(bag.err, "--label-column"));
  CHECK(lines_in(bag.err) == 1);
}

TEST_CASE("graphs: of several labels of nodes or edges one is learned, and answers have the nodes' names") {
  const Labelled corpus;
  const auto write_two = [&](const std::string& name, data::GraphLevel level, std::uint64_t seed, bool is_directed) {
    data::GraphSchema schema;
    schema.nodes.categories = {{"element", {"C", "N"}}};
    schema.is_directed = is_directed;
    formats::GraphsFileWriter writer(corpus.path(name), schema,
                                     {level, {{"constant", {"no", "yes"}}, {"nitrogen", {"no", "yes"}}}});
    for (Index g = 0; g < 60; ++g) {
      data::GraphRecord record;
      data::Graph& graph = record.graph;
      graph = random_graph(RandomStream(seed, random_site("two labels"), static_cast<std::uint64_t>(g)));
      graph.edge_features = {};
      for (Index i = 0; i < graph.nodes; ++i) {
        graph.node_features.categories[static_cast<std::size_t>(i)] =
            static_cast<std::int32_t>(1 + (i * i + g) % 3 % 2);
        record.node_names.push_back("n" + std::to_string(10 * i));
      }
      const auto element = [&](Index node) {
        return graph.node_features.categories[static_cast<std::size_t>(node)] - 1;
      };
      for (Index target = 0; target < graph.nodes; ++target) {
        const Index first = graph.rows[static_cast<std::size_t>(target)],
                    last = graph.rows[static_cast<std::size_t>(target) + 1];
        for (Index e = first; e < (level == data::GraphLevel::edge ? last : first + 1); ++e) {
          const Index source = graph.sources[static_cast<std::size_t>(e)];
          const bool is_nitrogen = level == data::GraphLevel::edge && !is_directed
                                       ? element(source) + element(target) > 0
                                       : element(target) > 0;
          record.targets.push_back(0);
          record.targets.push_back(is_nitrogen ? 1 : 0);
        }
      }
      writer.append(record);
    }
    writer.commit(formats::start_provenance("a test"));
  };
  struct Kind {
    data::GraphLevel level;
    bool is_directed;
    std::string sign;  // between the names of an edge's nodes
  };
  for (const Kind& kind : {Kind{data::GraphLevel::node, false, ""}, Kind{data::GraphLevel::edge, false, "-"},
                           Kind{data::GraphLevel::edge, true, ">"}}) {
    CAPTURE(kind.sign);
    write_two("train.h5", kind.level, 1, kind.is_directed);
    write_two("more.h5", kind.level, 2, kind.is_directed);
    const std::string learn =
        "finetune -q --restart --arch message-passing:layers=1,width=16 --train train.h5,more.h5 --epochs 20 "
        "--learning-rate 0.01 -o m.h5";
    CHECK(
        contains(corpus.refused(learn, 2, "choose one with --label-column").err, "has the labels constant, nitrogen"));
    corpus.must(learn + " --label-column nitrogen --valid 20%");
    const std::string said = corpus
                                 .must(
                                     "finetune --arch gat:layers=1,width=4,heads=1 --train train.h5,more.h5 --epochs 1 "
                                     "--label-column nitrogen --valid 20% -o short.h5 --restart")
                                 .err;
    CHECK(contains(said, "the baseline, "));
    CHECK_FALSE(contains(said, "bag of words"));  // nodes and edges are no texts
    CHECK(corpus.evaluated("classify m.h5 more.h5 --label-column nitrogen")["accuracy"].get<double>() > 0.95);
    const std::vector<json> answers = json_lines(corpus.must("classify m.h5 more.h5 --jsonl").out);
    const data::GraphRecord first = formats::GraphsFile(corpus.path("more.h5")).record(0);
    const json names = answers[0][kind.sign.empty() ? "nodes" : "edges"];
    if (kind.sign.empty()) {
      CHECK(std::ssize(names) == first.graph.nodes);
      CHECK(names[1] == "n10");
    } else {
      const Index both_ways = first.graph.edges();
      CHECK(std::ssize(names) == (kind.is_directed ? both_ways : both_ways / 2));
      // The first answered edge into node 0.
      const Index source = first.graph.sources[static_cast<std::size_t>(kind.is_directed ? 0 : first.graph.rows[1])];
      CHECK(names[0] == concatenate("n", 10 * source, kind.sign, kind.is_directed ? "n0" : "n10"));
    }
    // Graphs without labels are answered, and not evaluated.
    formats::GraphsFileWriter writer(corpus.path("bare.h5"), formats::GraphsFile(corpus.path("more.h5")).schema(), {});
    data::GraphRecord bare = first;
    bare.targets.clear();
    writer.append(bare);
    writer.commit(formats::start_provenance("a test"));
    CHECK(json_lines(corpus.must("classify m.h5 bare.h5 --jsonl").out).front() == answers[0]);
    corpus.refused("classify m.h5 bare.h5 --evaluate", 1, "bare.h5: has no labels");
  }
}

TEST_CASE("graphs: labels of which some are numbers are learned one by one, and unknown kinds are words, too") {
  const Labelled corpus;
  data::GraphSchema schema;
  schema.nodes.categories = {{"element", {"C", "N"}}};
  schema.nodes.numbers = {{"mass", 0, 1}};
  schema.edges.numbers = {{"length", 0, 1}, {"same", 0, 1}};
  formats::GraphsFileWriter writer(corpus.path("mixed.h5"), schema,
                                   {data::GraphLevel::graph, {{"active", {"no", "yes"}}, {"size", {}}}});
  for (Index g = 0; g < 40; ++g) {
    data::GraphRecord record;
    record.graph.nodes = 2;
    record.graph.node_features.categories = {static_cast<std::int32_t>(g % 3), 0};
    const auto length = static_cast<float>(g % 4);
    record.graph.node_features.numbers = {10 * length, 10 * length};
    data::set_edges(record.graph,
                    std::vector<data::ListedEdge>{{0, 1, {}, {length, 7.1F}}, {1, 0, {}, {length, 7.1F}}});
    record.targets = {g % 3 == 2 ? 1.0 : 0.0, static_cast<double>(g)};
    record.sides = {g % 4 < 2 ? data::SplitSide::train : data::SplitSide::test};  // lengths of 0 and 1, of 2 and 3
    writer.append(record);
  }
  writer.commit(formats::start_provenance("a test"));
  corpus.refused(gat + "--train mixed.h5 -o x.h5", 2,
                 "mixed.h5: has the labels active, size; choose one with --label-column");
  corpus.must("finetune -q --arch bag --train mixed.h5 --label-column active -o bag.h5");
  CHECK(corpus.evaluated("classify bag.h5 mixed.h5 --label-column active")["accuracy"] == 1.0);
  corpus.must(gat + "--train mixed.h5 --label-column size --epochs 1 -o m.h5");
  const json about = parse_json(corpus.must("inspect m.h5 --json").out);
  CHECK(about["task"]["task"] == "regress");
  const auto features = data::GraphSchema::from_text(about["config"]["features"].get<std::string>());
  REQUIRE(features.nodes.numbers.size() == 1);
  CHECK(features.nodes.numbers[0].mean == doctest::Approx(5));
  const std::vector<data::NumberColumn>& lengths = features.edges.numbers;
  REQUIRE(lengths.size() == 2);
  CHECK(lengths[0].mean == doctest::Approx(0.5));  // over the training part
  CHECK(lengths[0].stddev == doctest::Approx(0.5));
  CHECK(lengths[1].mean == doctest::Approx(7.1));
  CHECK(lengths[1].stddev == 1);
}

TEST_CASE("graphs: a split of edges has both ways of an edge in one part, and every edge for itself") {
  // The complete graph of 16 nodes, whose edges have classes in turn.
  constexpr Index nodes = 16, pairs = nodes * (nodes - 1) / 2;
  const Labelled corpus;
  data::GraphSchema schema;
  schema.nodes.categories = {{"element", {"C"}}};
  {
    formats::GraphsFileWriter writer(corpus.path("one.h5"), schema,
                                     {data::GraphLevel::edge, {{"strong", {"no", "yes"}}}});
    data::GraphRecord record;
    record.graph.nodes = nodes;
    record.graph.node_features.categories.assign(nodes, 1);
    std::vector<data::ListedEdge> edges;
    for (Index target = 0; target < nodes; ++target) {
      for (Index source = 0; source < nodes; ++source) {
        if (source == target) continue;
        edges.push_back({source, target});
        record.targets.push_back((source + target) % 3 == 0 ? 1 : 0);
      }
    }
    data::set_edges(record.graph, edges);
    writer.append(record);
    writer.commit(formats::start_provenance("a test"));
  }
  corpus.must("convert -q one.h5 --split 60,20,20 -o parts");
  std::map<std::string, Index> sizes;
  for (const std::string part : {"train", "valid", "test"}) {
    const data::GraphRecord record = formats::GraphsFile(corpus.path("parts/" + part + ".h5")).record(0);
    std::set<std::pair<Index, Index>> known;
    for (Index target = 0; target < nodes; ++target) {
      for (Index e = (nodes - 1) * target; e < (nodes - 1) * (target + 1); ++e) {
        if (std::isnan(record.targets[static_cast<std::size_t>(e)])) continue;
        known.emplace(record.graph.sources[static_cast<std::size_t>(e)], target);
      }
    }
    for (const auto& [source, target] : known) CHECK(known.contains({target, source}));
    sizes[part] = std::ssize(known);
  }
  CHECK(sizes["train"] + sizes["valid"] + sizes["test"] == 2 * pairs);
  CHECK(std::abs(sizes["train"] - 2 * pairs * 6 / 10) <= 4);  // two classes, each in proportion
  CHECK(std::abs(sizes["valid"] - 2 * pairs * 2 / 10) <= 4);
}

TEST_CASE("graphs: texts beside graphs are refused, and numbers of other files are found by their names") {
  const Labelled corpus;
  write_graphs(corpus.path("train.h5"), Learns::kind, 40, 1);
  for (const std::string files :
       {"--train train.h5,texts.tsv", "--train texts.tsv,train.h5", "--train train.h5 --valid texts.tsv"}) {
    CAPTURE(files);
    const Outcome run = corpus.run("finetune --arch bag --task classify " + files + " -o x.h5");
    CHECK(run.status == 1);
    CHECK(contains(run.err, "holds"));
    CHECK(lines_in(run.err) == 1);
  }
  const auto write_numbers = [&](const std::string& name, const std::vector<std::string>& columns) {
    data::GraphSchema schema;
    for (const std::string& column : columns) schema.nodes.numbers.push_back({column, 0, 1});
    formats::GraphsFileWriter writer(corpus.path(name), schema, {data::GraphLevel::graph, {{"active", {"no", "yes"}}}});
    for (Index g = 0; g < 20; ++g) {
      data::GraphRecord record;
      record.graph.nodes = 1;
      record.graph.rows = {0, 0};
      for (const std::string& column : columns) {
        record.graph.node_features.numbers.push_back(column == "mass"     ? static_cast<float>(1000 + g)
                                                     : column == "charge" ? static_cast<float>(g % 2)
                                                                          : 0.1F);
      }
      record.targets = {static_cast<double>(g % 2)};
      writer.append(record);
    }
    writer.commit(formats::start_provenance("a test"));
  };
  write_numbers("one.h5", {"mass", "charge"});
  write_numbers("two.h5", {"charge", "mass"});
  corpus.must(gat + "--train one.h5 --epochs 1 -o one-model.h5");
  corpus.must(gat + "--train one.h5,two.h5 --epochs 1 -o both-model.h5");
  const auto features = [&](const std::string& model) {
    return parse_json(corpus.must("inspect " + model + " --json").out)["config"]["features"];
  };
  CHECK(features("one-model.h5") == features("both-model.h5"));
  // 0 to 19 have the variance (20² - 1) / 12; a number that is always the same tells nothing, and is left as large.
  write_numbers("three.h5", {"mass", "same", "charge"});
  corpus.must(gat + "--train three.h5 --epochs 1 -o three-model.h5");
  const auto columns = data::GraphSchema::from_text(features("three-model.h5").get<std::string>()).nodes.numbers;
  REQUIRE(columns.size() == 3);
  CHECK(columns[0].mean == doctest::Approx(1009.5));
  CHECK(columns[0].stddev == doctest::Approx(std::sqrt(399.0 / 12)));
  CHECK(columns[1].mean == doctest::Approx(0.1));
  CHECK(columns[1].stddev == 1);
  CHECK(columns[2].stddev == doctest::Approx(0.5));
}

TEST_CASE("graphs: classes that are numbers are learned as numbers where that is asked for") {
  const Labelled corpus;
  const formats::GraphsFile named([&] {
    write_graphs(corpus.path("kinds.h5"), Learns::kind, 60, 1);
    return corpus.path("kinds.h5");
  }());
  formats::GraphsFileWriter writer(corpus.path("counts.h5"), named.schema(),
                                   {data::GraphLevel::graph, {{"count", {"1", "3"}}}});
  for (Index g = 0; g < named.size(); ++g) writer.append(named.record(g));
  writer.commit(formats::start_provenance("a test"));
  corpus.must(gat + "--train counts.h5 --task regress --epochs 60 -o m.h5");
  CHECK(corpus.evaluated("classify m.h5 counts.h5")["rmse"].get<double>() < 0.3);
  for (const std::string& line : lines_of(corpus.must("classify m.h5 counts.h5").out)) {
    CHECK(std::abs(std::stod(line) - 2) < 2);
  }
}

TEST_CASE("graphs: where a file splits its nodes, training, validation and evaluation read a side each") {
  const Labelled corpus;
  write_graphs(corpus.path("whole.h5"), Learns::degree, 100, 1);
  const formats::GraphsFile whole(corpus.path("whole.h5"));
  {
    formats::GraphsFileWriter writer(corpus.path("split.h5"), whole.schema(), whole.targets());
    for (Index g = 0; g < whole.size(); ++g) {
      data::GraphRecord record = whole.record(g);
      for (std::size_t node = 0; node < record.targets.size(); ++node) {
        const std::size_t side = (node + static_cast<std::size_t>(g)) % 3;
        record.sides.push_back(static_cast<data::SplitSide>(1 + side));
        if (side == 2) record.targets[node] = 1 - record.targets[node];  // on the test side all labels are wrong
      }
      writer.append(record);
    }
    writer.commit(formats::start_provenance("a test"));
  }
  const Outcome run = corpus.run(
      "finetune --arch message-passing:layers=2,width=16 --train split.h5 --valid split.h5 --epochs 40 "
      "--learning-rate 0.01 -o m.h5");
  REQUIRE(run.status == 0);
  CHECK(corpus.evaluated("classify m.h5 whole.h5")["accuracy"].get<double>() > 0.95);
  const Outcome test = corpus.run("classify m.h5 split.h5 --evaluate --json");
  CHECK(parse_json(test.out)["accuracy"].get<double>() < 0.05);
  CHECK(contains(test.err, "split.h5: the test side of its split is evaluated"));
  CHECK_FALSE(contains(test.err, "was trained on this file"));
}

TEST_CASE("graphs: their parts are words for a bag, which stands beside other models") {
  const Labelled corpus;
  write_graphs(corpus.path("train.h5"), Learns::kind, 60, 1);
  corpus.must("finetune -q --arch bag --train train.h5 -o bag.h5");
  CHECK(corpus.must("classify bag.h5 train.h5 --evaluate").status == 0);
  const Outcome run =
      corpus.run("finetune --arch gat:layers=1,width=8,heads=1 --train train.h5 --valid 20% --epochs 1 -o m.h5");
  CHECK(contains(run.err, "a bag of words and n-grams has a validation accuracy"));
  corpus.must("finetune -q --ensemble m.h5,bag.h5 --valid train.h5 -o both.h5");
  CHECK(corpus.must("classify both.h5 train.h5 --evaluate").status == 0);
}

TEST_CASE("graphs: models and files of the wrong kind are refused in one line") {
  const Labelled corpus;
  write_graphs(corpus.path("train.h5"), Learns::kind, 40, 1);
  corpus.must(gat + "--train train.h5 --epochs 1 -o m.h5");
  const auto refuses = [&](const std::string& command, const std::string& reason) {
    const Outcome run = corpus.run(command);
    CAPTURE(command);
    CAPTURE(run.err);
    CHECK(run.status != 0);
    CHECK(lines_in(run.err) == 1);
    CHECK(contains(run.err, reason));
  };
  refuses(gat + "--train texts.tsv -o x.h5", "texts.tsv: holds texts, and --arch gat reads graphs");
  refuses("classify m.h5 texts.tsv", "texts.tsv: holds texts, and m.h5 reads graphs");
  corpus.must("finetune -q --arch bag --task classify --train texts.tsv -o words.h5");
  refuses("classify words.h5 train.h5", "train.h5: holds graphs, and words.h5 was trained on texts");
  corpus.must("finetune -q --arch bag --train train.h5 -o parts.h5");
  refuses("classify parts.h5 texts.txt", "texts.txt: holds texts, and parts.h5 was trained on graphs");
  refuses("generate m.h5 -p hello", "reads graphs, not texts");
  refuses("convert m.h5 --dtype bf16 -o x.h5", "m.h5: is of the architecture gat, which reads graphs");
  refuses("convert m.h5 m.h5 --average -o x.h5", "m.h5: is of the architecture gat, which reads graphs");
  refuses("inspect cost m.h5", "m.h5: reads graphs");
  refuses("inspect embed m.h5 texts.tsv", "reads graphs, not texts");
  refuses("pretrain --arch gat --train texts.tsv -o x.h5", "reads graphs");
  refuses(gat + "--train train.h5 --pooling mean -o x.h5", "--pooling");
  refuses(gat + "--train train.h5 --task regress -o x.h5", "has labels for --task classify");
  refuses(gat + "--train train.h5 --label-column none -o x.h5", "has the labels active");
  CHECK_FALSE(std::filesystem::exists(corpus.path("x.h5")));
}

}  // namespace graph_tasks_tests
