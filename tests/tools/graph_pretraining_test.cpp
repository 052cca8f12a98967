// Graphs files in pretrain, and what the other tools do with what it leaves.
#include "formats/heddle/graphs_file.hpp"
#include "support/json.hpp"
#include "tools/background.hpp"
#include "tools/labelled_corpus.hpp"

using namespace heddle;
using namespace heddle::testing;

namespace graph_pretraining_tests {

namespace {

const std::string small = " --arch message-passing:layers=2,width=16 ";

// Rings of 6 to 12 nodes, with one more node at one of them. The kinds of a ring's nodes alternate, so that those of
// its neighbours say what a node is; the class of a ring is whether the node beside it is of the kind "c".
struct Rings : Labelled {
  Rings() {
    begin_with("rings", [&] {
      write("rings.h5", 150, 1, false);
      write("others.h5", 60, 2, false);
      write("labelled.h5", 60, 3, true);
    });
  }

  void write(const std::string& name, Index count, std::uint64_t seed, bool is_labelled,
             const std::vector<std::string>& kinds = {"a", "b", "c"}) const {
    data::GraphSchema schema;
    schema.nodes.categories = {{"kind", kinds}};
    data::GraphTargets targets;
    if (is_labelled) targets.columns = {{"has_c", {"no", "yes"}}};
    formats::GraphsFileWriter writer(path(name), schema, targets);
    for (Index g = 0; g < count; ++g) {
      const RandomStream random(seed, random_site("rings"), static_cast<std::uint64_t>(g));
      writer.append(ring(random, is_labelled));
    }
    writer.commit(formats::start_provenance("a test"));
  }

  // Status, and one line that says why.
  void refuses(const std::string& command, int status, const std::string& reason) const {
    const Outcome run = refused(command, status, reason);
    CAPTURE(run.err);
    CHECK(lines_in(run.err) == 1);
  }

 private:
  static data::GraphRecord ring(const RandomStream& random, bool is_labelled) {
    data::GraphRecord record;
    data::Graph& graph = record.graph;
    const auto size = static_cast<Index>(6 + 2 * random.below(0, 4));
    const auto first = static_cast<Index>(random.below(1, 2));
    const bool has_c = random.below(2, 2) == 1;
    graph.nodes = size + 1;
    std::vector<data::ListedEdge> edges;
    const auto join = [&](Index a, Index b) {
      edges.push_back({a, b});
      edges.push_back({b, a});
    };
    for (Index i = 0; i < size; ++i) {
      graph.node_features.categories.push_back(static_cast<std::int32_t>(1 + (first + i) % 2));
      join(i, (i + 1) % size);
    }
    graph.node_features.categories.push_back(has_c ? 3 : 1);
    join(size, 0);
    data::set_edges(graph, edges);
    if (is_labelled) record.targets = {has_c ? 1.0 : 0.0};
    return record;
  }
};

}  // namespace

TEST_CASE("pretrain: a model of graphs learns what neighbours say of masked nodes; inspect shows and evaluates it") {
  const Rings corpus;
  const std::string run =
      "pretrain --train rings.h5 --valid others.h5" + small + "--batch-size 16 --log log.jsonl -o m.h5 ";
  const Outcome outcome = corpus.must(run + "--steps 200 --eval-every 50 --learning-rate 0.01");
  CHECK(contains(outcome.err, " parameters, 150 training graphs of "));
  CHECK(contains(outcome.err, " nodes, 200 steps"));
  CHECK(contains(outcome.err, " nodes/s"));
  CHECK_FALSE(contains(outcome.err, "token"));
  const std::vector<json> log = json_lines(read_file(corpus.path("log.jsonl")));
  CHECK(log.front().contains("nodes"));
  CHECK(log.front().contains("nodes_per_second"));
  CHECK_FALSE(log.front().contains("tokens"));
  const json last = log.back();
  const json answer = parse_json(corpus.must("inspect evaluate m.h5 others.h5 --json").out);
  for (const char* key : {"nodes", "nats_per_node", "perplexity", "accuracy"}) CHECK(answer.contains(key));
  CHECK(answer["nats_per_node"].get<double>() == doctest::Approx(last["valid_loss"].get<double>()).epsilon(1e-5));
  CHECK(answer["accuracy"].get<double>() == doctest::Approx(last["valid_accuracy"].get<double>()).epsilon(1e-5));
  // One of the nodes of a ring in ten is beside it, and of one of two kinds.
  CHECK(answer["accuracy"].get<double>() > 0.85);
  CHECK(contains(corpus.must("inspect evaluate m.h5 others.h5").out, "\nnats per node "));
  const json summary = parse_json(corpus.must("inspect m.h5 --json").out);
  CHECK(summary["config"]["masked_head"] == true);
  CHECK(summary["head_parameters"] == 16 + 4 * 16 + 4);
  CHECK(summary["history"].contains("nodes"));
  const Outcome shown = corpus.must("inspect m.h5");
  CHECK(contains(shown.out, "head/kinds/0/weight"));
  CHECK(contains(shown.out, "loss in nats per node: . training, o validation"));
  CHECK(corpus.must("inspect verify m.h5").status == 0);
  CHECK(corpus.leftovers() == 0);
}

TEST_CASE("pretrain: every architecture of graphs, with and without the objective's name, dry and not") {
  const Rings corpus;
  for (const std::string arch : {"gat", "message-passing", "graph-transformer"}) {
    CAPTURE(arch);
    const std::string run = "pretrain -q --train rings.h5,labelled.h5 --valid 20% --layers 1 --width 8 --arch " + arch;
    corpus.must(run + " --steps 4 -o a.h5");
    CHECK(parse_json(corpus.must("inspect a.h5 --json").out)["history"].contains("valid_loss"));
    corpus.must(run + " --objective masked --steps 4 -o b.h5");
    CHECK(corpus.weights("a.h5") == corpus.weights("b.h5"));
    corpus.must(run + " --objective masked:probability=0.5,masking=static --steps 4 -o c.h5");
    CHECK(corpus.weights("a.h5") != corpus.weights("c.h5"));
    const json dry = parse_json(corpus.must(run + " --steps 4 --dry-run --json").out);
    CHECK(dry["parameters"] == parse_json(corpus.must("inspect a.h5 --json").out)["parameters"].get<long>() +
                                   parse_json(corpus.must("inspect a.h5 --json").out)["head_parameters"].get<long>());
    if (arch != "message-passing") {
      const json maps = parse_json(corpus.must("inspect attention a.h5 rings.h5 --graph 2 --json").out);
      CHECK(maps["graph"]["number"] == 2);
    }
    corpus.must("rm a.h5 b.h5 c.h5");
  }
}

TEST_CASE("pretrain: a model of graphs stopped and resumed ends with the weights of the uninterrupted run") {
  const Rings corpus;
  const std::string command =
      "pretrain -q --train rings.h5 --valid others.h5 --eval-every 10 --dropout 0.1 --batch-size 8" + small;
  const long steps = stopped_and_resumed(corpus, command, "part", 3);
  corpus.must(command + endless_schedule + "-o whole.h5 --steps " + std::to_string(steps));
  CHECK(corpus.weights("part.h5") == corpus.weights("whole.h5"));
}

TEST_CASE("finetune: a pre-trained model of graphs learns a task; its head stays as it was") {
  const Rings corpus;
  corpus.must("pretrain -q --train rings.h5 --batch-size 16 --steps 100 --learning-rate 0.01 -o base.h5" + small);
  const Outcome tuned = corpus.must("finetune --from base.h5 --train labelled.h5 --epochs 30 -o tuned.h5");
  CHECK(contains(tuned.err, " parameters are trained"));
  CHECK(corpus.evaluated("classify tuned.h5 labelled.h5")["accuracy"].get<double>() > 0.9);
  const auto before = corpus.weights("base.h5"), after = corpus.weights("tuned.h5");
  for (const auto& [name, values] : before) {
    CAPTURE(name);
    REQUIRE(after.contains(name));
    CHECK((after.at(name) == values) == name.starts_with("head/"));
  }
  CHECK(corpus.must("inspect evaluate tuned.h5 others.h5").status == 0);
  const std::string log = "finetune -q --from base.h5 --train labelled.h5 --epochs 1 --log log.jsonl -o logged.h5";
  corpus.must(log);
  CHECK(json_lines(read_file(corpus.path("log.jsonl"))).front().contains("nodes_per_second"));
}

TEST_CASE("pretrain: graphs where texts are wanted, the reverse, and other bad input are refused in one line") {
  const Rings corpus;
  const std::string run = "pretrain -q --steps 1 -o m.h5 --train ";
  corpus.refuses(run + "train.h5" + small, 2, "--arch message-passing: reads graphs, and train.h5 holds texts");
  corpus.refuses(run + "train.txt" + small, 2, "--arch message-passing: reads graphs, and train.txt holds texts");
  corpus.refuses(run + "none.h5" + small, 1, "none.h5: cannot open");
  corpus.refuses(run + "rings.h5", 2, "rings.h5: holds graphs, and --arch decoder reads texts; give --arch gat or ");
  corpus.refuses(run + "rings.h5 --arch encoder", 2, "rings.h5: holds graphs, and --arch encoder reads texts");
  corpus.refuses(run + "rings.h5,train.h5" + small, 1, "train.h5: is not a graphs file like rings.h5");
  corpus.refuses(run + "rings.h5:2" + small, 2, "weights are for token files and text");
  corpus.refuses(run + "rings.h5 --valid train.h5" + small, 1, "train.h5: is not a graphs file like rings.h5");
  corpus.refuses(run + "rings.h5 --objective causal" + small, 2, "--objective causal needs a model that predicts next");
  corpus.refuses(run + "rings.h5 --objective masked:whole-words=true" + small, 2, "whole-words is for texts");
  corpus.refuses(run + "rings.h5 -t train.h5" + small, 2, "--tokenizer is for text, and --train is a graphs file");
  corpus.refuses("pretrain --dry-run" + small, 2, "--arch message-passing: reads graphs");
  corpus.write("one.h5", 1, 1, false);
  corpus.refuses(run + "one.h5 --valid 10%" + small, 1, "too few to hold out 10% for validation");
  {
    data::GraphSchema schema;
    schema.nodes.numbers = {{"mass"}};
    formats::GraphsFileWriter writer(corpus.path("numbers.h5"), schema, {});
    data::GraphRecord record;
    record.graph.nodes = 1;
    record.graph.rows = {0, 0};
    record.graph.node_features.numbers = {1};
    writer.append(record);
    writer.commit(formats::start_provenance("a test"));
  }
  corpus.refuses(run + "numbers.h5" + small, 1, "numbers.h5: its nodes have no feature that is a category");
  corpus.must("finetune -q --train labelled.h5 --epochs 1 -o scratch.h5" + small);
  corpus.refuses("inspect evaluate scratch.h5 others.h5", 1, "scratch.h5: has no head that predicts masked nodes");
  corpus.refuses("inspect evaluate model.h5 others.h5", 1, "model.h5: reads texts, and others.h5 holds graphs");
  corpus.refuses("inspect evaluate scratch.h5 train.h5", 1, "which reads graphs, not texts");
  corpus.refuses("finetune --from scratch.h5 --task lm --train rings.h5 -o n.h5", 2,
                 "--task lm: is for texts, and scratch.h5 ");
  corpus.must(run + "rings.h5" + small);
  corpus.refuses("inspect evaluate m.h5 numbers.h5", 1, "nodes lack the feature 'kind'");
  corpus.refuses("inspect evaluate m.h5 others.h5 --memory 3", 2, "--memory: is for texts");
  CHECK(corpus.leftovers() == 0);
}

}  // namespace graph_pretraining_tests
