// inspect attention of graphs: the model's own weights in every form, widths of lines in pictures, and what an answer
// rests on.
#include <cmath>
#include <cstring>
#include <limits>
#include <map>
#include <regex>

#include "formats/heddle/graphs_file.hpp"
#include "formats/heddle/task_file.hpp"
#include "support/json.hpp"
#include "tools/labelled_corpus.hpp"

using namespace heddle;
using namespace heddle::testing;

namespace inspect_graphs_tests {

namespace {

const data::GraphSchema schema{.nodes = {.categories = {{"element", {"C", "N", "O"}},
                                                        {"charge", {"-1", "0", "1"}},
                                                        {"hydrogens", {"0", "1", "2", "3"}}},
                                         .numbers = {}},
                               .edges = {.categories = {{"order", {"single", "double", "aromatic"}}}, .numbers = {}}};

// A chain of atoms, every third of them oxygen or nitrogen, in a zigzag of bonds; with `without`, less that atom.
data::GraphRecord chain(Index length, bool has_oxygen, bool has_positions, Index without = -1) {
  data::GraphRecord record;
  data::Graph& graph = record.graph;
  std::vector<Index> place;  // position of each atom, -1 for the one that is omitted
  for (Index i = 0; i < length; ++i) {
    place.push_back(i == without ? -1 : graph.nodes);
    if (i == without) continue;
    ++graph.nodes;
    const std::int32_t element = i % 3 != 2 ? 1 : has_oxygen ? 3 : 2;
    for (const std::int32_t kind : {element, 2, element == 1 ? 3 : 2}) graph.node_features.categories.push_back(kind);
    record.node_names.push_back(schema.nodes.categories[0].kinds[static_cast<std::size_t>(element) - 1]);
    if (!has_positions) continue;
    record.positions.push_back(static_cast<float>(1.3 * static_cast<double>(i)));
    record.positions.push_back(i % 2 == 0 ? 0.0F : 0.75F);
  }
  std::vector<data::ListedEdge> edges;
  for (Index i = 0; i + 1 < length; ++i) {
    const Index a = place[static_cast<std::size_t>(i)], b = place[static_cast<std::size_t>(i) + 1];
    if (a < 0 || b < 0) continue;
    const auto order = static_cast<std::int32_t>(i % 3 + 1);
    edges.push_back({a, b, {order}});
    edges.push_back({b, a, {order}});
  }
  data::set_edges(graph, edges);
  return record;
}

class Graphs : public Labelled {
 public:
  Graphs() {
    begin_with("graphs", [&] {
      write("train.h5", true);
      write("plain.h5", false);
      must("finetune -q --arch gat:layers=2,width=8,heads=2 --train train.h5 --epochs 8 -o gat.h5");
      must("finetune -q --arch graph-transformer:layers=2,width=8,heads=2 --train train.h5 --epochs 8 -o all.h5");
      must("finetune -q --arch message-passing:layers=2,width=8 --train train.h5 --epochs 8 -o messages.h5");
    });
  }

  json attention(const std::string& words) const {
    return parse_json(must("inspect attention " + words + " --json").out);
  }

  // Oxygen says yes.
  void write(const std::string& name, bool has_positions, const std::vector<data::GraphRecord>& instead = {},
             const data::GraphSchema& columns = schema) const {
    std::vector<data::GraphRecord> records = instead;
    for (Index i = 0; instead.empty() && i < 40; ++i) records.push_back(chain(4 + i % 5, i % 2 == 1, has_positions));
    formats::GraphsFileWriter writer(path(name), columns, {data::GraphLevel::graph, {{"active", {"no", "yes"}}}});
    Index number = 0;
    for (data::GraphRecord& record : records) {
      record.targets = {static_cast<double>(number % 2)};
      record.id = "chain " + std::to_string(++number);
      writer.append(record);
    }
    writer.commit(formats::start_provenance("a test"));
  }
};

// The widths of the lines in a picture that have this colour.
struct Drawn {
  double width;
  bool is_dashed;
};
std::vector<Drawn> drawn(const std::string& svg, const std::string& colour) {
  static const std::regex path("<path ([^>]*)>"), width("stroke-width:([0-9.]+)");
  std::vector<Drawn> found;
  for (std::sregex_iterator at(svg.begin(), svg.end(), path), end; at != end; ++at) {
    const std::string attributes = (*at)[1];
    std::smatch of;
    if (!contains(attributes, "stroke:rgb(" + colour) || !std::regex_search(attributes, of, width)) continue;
    found.push_back({std::stod(of[1]), contains(attributes, "stroke-dasharray")});
  }
  return found;
}
const std::string blue = "0%,44.7", green = "0%,62%", orange = "83.5%";

double weight_of(const json& attention, std::size_t query, std::size_t key) {
  return attention["attention"][0]["layers"][0]["weights"][0][query][key].get<double>();
}

}  // namespace

TEST_CASE("inspect attention: of a graph, the weights are the model's own") {
  const Graphs corpus;
  for (const std::string name : {"gat.h5", "all.h5"}) {
    CAPTURE(name);
    const json found = corpus.attention(name + " train.h5 --graph 3");
    const auto loaded = formats::load_task(corpus.path(name));
    const data::Graph graph = chain(6, false, true).graph;
    const data::Graph* const only = &graph;
    const auto maps =
        loaded.model->body().as<models::EdgeAttentionMaps>()->edge_attention_maps(data::joined({&only, 1}));
    const json& layers = found["attention"][0]["layers"];
    REQUIRE(layers.size() == maps.size());
    for (std::size_t layer = 0; layer < maps.size(); ++layer) {
      CHECK(layers[layer]["name"] == maps[layer].name);
      std::map<std::pair<Index, Index>, Index> edge_of;
      for (Index e = 0; e < maps[layer].edges->edges(); ++e) {
        const auto edge = static_cast<std::size_t>(e);
        edge_of[{maps[layer].edges->targets[edge], maps[layer].edges->sources[edge]}] = e;
      }
      for (Index head = 0; head < 2; ++head) {
        for (Index i = 0; i < 6; ++i) {
          double sum = 0;
          for (Index j = 0; j < 6; ++j) {
            const double weight = layers[layer]["weights"][head][i][j].get<double>();
            sum += weight;
            const auto edge = edge_of.find({i, j});
            const double own =
                edge == edge_of.end() ? 0.0 : static_cast<double>(maps[layer].weights[edge->second * 2 + head]);
            CHECK(std::abs(weight - own) < 1e-6);
          }
          CHECK(std::abs(sum - 1) < 1e-5);
        }
      }
    }
    CHECK(found["texts"][0]["pieces"] == json({"C", "C", "N", "C", "C", "N"}));
    CHECK(found["texts"][0]["ids"] == json({1, 2, 3, 4, 5, 6}));
    CHECK(found["graph"] == json({{"file", "train.h5"}, {"number", 3}, {"id", "chain 3"}}));
  }
  CHECK(corpus.attention("gat.h5 train.h5 --graph 'chain 3'") == corpus.attention("gat.h5 train.h5 --graph 3"));
  CHECK(corpus.attention("gat.h5 train.h5") == corpus.attention("gat.h5 train.h5 --graph 1"));
  CHECK(corpus.attention("gat.h5 train.h5 --graph 'chain 40'")["graph"]["number"] == 40);
  // Columns and kinds of the file are those of the model by their names, in whichever order.
  const auto turned = [](const data::GraphRecord& record) {
    data::GraphRecord other = record;
    std::vector<std::int32_t>& kinds = other.graph.node_features.categories;
    for (std::size_t i = 0; i < kinds.size(); i += 3) {
      const std::int32_t element = kinds[i];
      kinds[i] = kinds[i + 2];
      kinds[i + 2] = 4 - element;
    }
    return other;
  };
  const data::GraphSchema other{
      .nodes = {.categories = {schema.nodes.categories[2], schema.nodes.categories[1], {"element", {"O", "N", "C"}}},
                .numbers = {}},
      .edges = schema.edges};
  corpus.write("turned.h5", true, {turned(chain(4, false, true)), turned(chain(5, true, true))}, other);
  CHECK(corpus.attention("gat.h5 turned.h5 --graph 2")["attention"] ==
        corpus.attention("gat.h5 train.h5 --graph 2")["attention"]);
  // An adapter that has not learned leaves the weights of its base, which it is read beside.
  for (const std::string rate : {"1e-12", "0.1"}) {
    corpus.must(
        "finetune -q --restart --from gat.h5 --lora-rank 2 --train train.h5 --epochs 2 -o adapter.h5 --learning-rate " +
        rate);
    CHECK((corpus.attention("adapter.h5 train.h5")["attention"] == corpus.attention("gat.h5 train.h5")["attention"]) ==
          (rate == "1e-12"));
  }
}

TEST_CASE("inspect attention: of a graph, the files hold the same weights") {
  const Graphs corpus;
  const json found = corpus.attention("all.h5 train.h5 --layer 2 --head 1");
  corpus.must("inspect attention all.h5 train.h5 --layer 2 --head 1 -o w.tsv");
  const std::vector<std::string> lines = lines_of(read_file(corpus.path("w.tsv")));
  REQUIRE(lines.size() == 1 + 4 * 4);
  CHECK(lines[0] == "of\tlayer\thead\tquery\tkey\tquery_piece\tkey_piece\tweight");
  CHECK(lines[3].starts_with("self\t2\t1\t1\t3\tC\tN\t"));
  CHECK(std::abs(std::stod(lines[3].substr(lines[3].rfind('\t'))) - weight_of(found, 0, 2)) < 1e-7);
  corpus.must("inspect attention all.h5 train.h5 -o w.h5");
  CHECK(contains(corpus.must("inspect verify w.h5").out, "no problem"));
  corpus.must("inspect attention all.h5 train.h5 -o w.html");
  CHECK(contains(read_file(corpus.path("w.html")), "\"pairs\":[[0,1,true,2]"));
  const std::string text = corpus.must("inspect attention all.h5 train.h5 --top 2").out;
  CHECK(contains(text, "layer  head  itself  neighbours  others  bits\n"));
  CHECK(lines_in(text.substr(0, text.find("\nstrongest links"))) == 2 + 4);
  const std::vector<std::string> links = lines_of(corpus.must("inspect attention all.h5 train.h5 --top 9").out);
  REQUIRE(links.size() == 2 + 4 + 3 + 9);  // a title, a blank line and names of columns
  for (std::size_t i = 10; i < links.size(); ++i) CHECK(std::stod(links[i]) <= std::stod(links[i - 1]));
  double strongest = 0;
  const json whole = corpus.attention("all.h5 train.h5");
  for (const json& layer : whole["attention"][0]["layers"]) {
    for (const json& head : layer["weights"]) {
      for (const json& row : head) {
        for (const json& weight : row) strongest = std::max(strongest, weight.get<double>());
      }
    }
  }
  CHECK(std::abs(std::stod(links[9]) - strongest) < 6e-5);
  CHECK(lines_in(text.substr(text.find("strongest links"))) == 4);
  CHECK(contains(corpus.must("inspect attention gat.h5 train.h5").out, "layer  head  itself  neighbours  bits\n"));
}

TEST_CASE("inspect attention: of a graph, lines and rings are as wide as their weights") {
  const Graphs corpus;
  for (const std::string file : {"train.h5", "plain.h5"}) {
    CAPTURE(file);
    const std::string words = "gat.h5 " + file + " --graph 5 --layer 1 --head 2";
    const json found = corpus.attention(words);
    corpus.must("inspect attention " + words + " -o w.svg");
    const std::string svg = read_file(corpus.path("w.svg"));
    const std::vector<Drawn> lines = drawn(svg, blue), rings = drawn(svg, green);
    REQUIRE(lines.size() == 7);  // a chain of 8
    REQUIRE(rings.size() == 8);
    const auto mean = [&](std::size_t i) { return (weight_of(found, i, i + 1) + weight_of(found, i + 1, i)) / 2; };
    double widest = 0, largest = 0;
    for (std::size_t i = 0; i < 7; ++i) {
      widest = std::max(widest, lines[i].width);
      largest = std::max(largest, mean(i));
      CHECK_FALSE(lines[i].is_dashed);
      CHECK(lines[i].width / lines[0].width == doctest::Approx(mean(i) / mean(0)).epsilon(1e-4));
    }
    CHECK(widest == doctest::Approx(12).epsilon(1e-4));
    for (std::size_t i = 0; i < 8; ++i) {
      CHECK(rings[i].width / rings[0].width ==
            doctest::Approx(weight_of(found, i, i) / weight_of(found, 0, 0)).epsilon(1e-4));
    }
    CHECK(drawn(svg, orange).empty());
    long letters = 0;  // letters of the title and the legend
    for (std::size_t at = svg.find("<use "); at != std::string::npos; at = svg.find("<use ", at + 1)) ++letters;
    CHECK(letters > 80);
  }
  // Several heads or layers, each in half the size.
  for (const std::string some : {"--layer 1", "--head 2"}) {
    corpus.must("inspect attention gat.h5 train.h5 --graph 5 -o w.svg " + some);
    const std::vector<Drawn> lines = drawn(read_file(corpus.path("w.svg")), blue);
    REQUIRE(lines.size() == 2 * 7);
    CHECK(std::ranges::max_element(lines, {}, &Drawn::width)->width == doctest::Approx(6).epsilon(1e-4));
  }
}

TEST_CASE("inspect attention: of a graph with directions, an edge is one way unless both are there") {
  const Graphs corpus;
  data::GraphSchema directed = schema;
  directed.is_directed = true;
  std::vector<data::GraphRecord> records;
  for (const Index length : {4, 5}) {
    data::GraphRecord record = chain(length, true, false);
    std::vector<data::ListedEdge> edges;
    for (Index i = 0; i + 1 < length; ++i) edges.push_back({i, i + 1, {1}});
    edges.push_back({3, 2, {1}});
    data::set_edges(record.graph, edges);
    records.push_back(record);
  }
  corpus.write("directed.h5", false, records, directed);
  corpus.must("finetune -q --arch gat:layers=1,width=8,heads=1 --train directed.h5 --epochs 1 -o d.h5");
  const json found = corpus.attention("d.h5 directed.h5");
  for (std::size_t i = 0; i < 4; ++i) {
    for (std::size_t j = 0; j < 4; ++j)
      CHECK((weight_of(found, i, j) > 0) == (j == i || j + 1 == i || (i == 2 && j == 3)));
  }
  corpus.must("inspect attention d.h5 directed.h5 -o w.html");
  const std::string html = read_file(corpus.path("w.html")), begin = "id=\"data\">";
  const std::size_t from = html.find(begin) + begin.size();
  const json page = parse_json(html.substr(from, html.find("</script>", from) - from));
  CHECK(page["attention"]["pairs"] == parse_json("[[0, 1, true, 1], [1, 2, true, 1], [2, 3, true, 2]]"));
  CHECK(page["attention"]["layers"][0]["heads"][0]["there"][0] == 0);
  corpus.must("inspect attention d.h5 directed.h5 -o w.svg");
  const std::vector<Drawn> lines = drawn(read_file(corpus.path("w.svg")), blue);
  REQUIRE(lines.size() == 3);
  CHECK(lines[1].width / lines[0].width ==
        doctest::Approx(weight_of(found, 2, 1) / weight_of(found, 1, 0)).epsilon(1e-4));
  CHECK(lines[2].width / lines[0].width ==
        doctest::Approx((weight_of(found, 2, 3) + weight_of(found, 3, 2)) / 2 / weight_of(found, 1, 0)).epsilon(1e-4));
  double own = 0, beside = 0;
  for (std::size_t i = 0; i < 4; ++i) {
    own += weight_of(found, i, i) / 4;
    for (std::size_t j = 0; j < 4; ++j) beside += j == i ? 0 : weight_of(found, i, j) / 4;
  }
  const std::vector<std::string> table = lines_of(corpus.must("inspect attention d.h5 directed.h5").out);
  double itself = 0, neighbours = 0;
  int layer = 0, head = 0;
  std::istringstream(table[2]) >> layer >> head >> itself >> neighbours;
  CHECK(std::abs(itself - own) < 0.0051);
  CHECK(std::abs(neighbours - beside) < 0.0051);
}

TEST_CASE("inspect attention: of a graph, weights that are not finite are told, and drawn in red") {
  const Graphs corpus;
  std::string bytes = read_file(corpus.path("gat.h5"));
  const formats::ModelFile file(corpus.path("gat.h5"));
  const float nan = std::numeric_limits<float>::quiet_NaN();
  for (const formats::TensorInfo& tensor : file.weights().tensors()) {
    if (contains(tensor.name, "gat/1/attention")) std::memcpy(bytes.data() + tensor.offset, &nan, sizeof nan);
  }
  write_file(corpus.path("bad.h5"), bytes);
  const std::string says = "bad.h5: the weights of self-attention in layer 2 are not finite";
  corpus.refused("inspect attention bad.h5 train.h5 -o w.svg", 3, says);
  CHECK(drawn(read_file(corpus.path("w.svg")), "86.3").size() >= 4);
  CHECK(contains(corpus.refused("inspect attention bad.h5 train.h5 --json", 3, says).out, "null"));
  corpus.must("inspect attention bad.h5 train.h5 --layer 1");
}

TEST_CASE("inspect attention: a molecule has the coordinates of its file, a line for each order of a bond, and no C") {
  const Graphs corpus;
  corpus.must("inspect attention gat.h5 train.h5 --graph 4 -o w.html");  // seven atoms, of which two are oxygen
  const std::string html = read_file(corpus.path("w.html")), begin = "id=\"data\">";
  const std::size_t from = html.find(begin) + begin.size();
  const json sketch = parse_json(html.substr(from, html.find("</script>", from) - from))["sketch"];
  REQUIRE(sketch["nodes"].size() == 7);
  for (std::size_t i = 0; i < 7; ++i) {
    CHECK(std::abs(sketch["nodes"][i][0].get<double>() - (30 + 28 * 1.3 * static_cast<double>(i))) < 0.051);
    CHECK(std::abs(sketch["nodes"][i][1].get<double>() - (30 + 28 * (i % 2 == 0 ? 0.75 : 0))) < 0.051);
    CHECK(sketch["nodes"][i][2] == (i % 3 == 2 ? "O" : "C"));
  }
  std::vector<std::string> signs;
  for (const json& sign : sketch["signs"]) signs.push_back(sign[2].get<std::string>());
  CHECK(signs == std::vector<std::string>{"O", "H", "O", "H"});
  const json& lines = sketch["lines"];
  CHECK(lines.size() == 1 + 2 + 2 + 1 + 2 + 2);  // single, double, aromatic, and so on
  CHECK(std::ranges::count_if(lines, [](const json& line) { return line[4].get<bool>(); }) == 2);
  corpus.must("inspect attention gat.h5 plain.h5 --graph 4 -o w.html");
}

TEST_CASE("inspect attention: of all pairs, the strongest that no edge joins are dashed") {
  const Graphs corpus;
  const std::string words = "all.h5 train.h5 --graph 5 --layer 1 --head 1 ";
  const json found = corpus.attention(words);
  std::vector<double> apart;
  for (std::size_t i = 0; i < 8; ++i) {
    for (std::size_t j = i + 2; j < 8; ++j) apart.push_back((weight_of(found, i, j) + weight_of(found, j, i)) / 2);
  }
  std::ranges::sort(apart);
  corpus.must("inspect attention " + words + "--top 3 -o w.svg");
  const std::vector<Drawn> dashed = drawn(read_file(corpus.path("w.svg")), orange);
  REQUIRE(dashed.size() == 3);
  for (std::size_t k = 0; k < 3; ++k) {
    CHECK(dashed[k].is_dashed);
    CHECK(dashed[k].width / dashed[0].width == doctest::Approx(apart[18 + k] / apart[18]).epsilon(1e-4));
  }
  corpus.must("inspect attention " + words + "--top 0 -o w.svg");
  CHECK(drawn(read_file(corpus.path("w.svg")), orange).empty());
  for (const std::string name : {"grid.svg", "grid.png", "grid.pdf"})
    corpus.must("inspect attention all.h5 train.h5 -o " + name);
}

TEST_CASE("inspect attention: an answer falls by what classify says of the graph without the node") {
  const Graphs corpus;
  corpus.write("less.h5", true, {chain(6, true, true), chain(6, true, true, 2), chain(6, true, true, 0)});
  for (const std::string model : {"gat.h5", "all.h5", "messages.h5"}) {
    CAPTURE(model);
    const json answer = corpus.attention(model + " less.h5 --of answer");
    const std::vector<json> all = json_lines(corpus.must("classify " + model + " less.h5 --jsonl --top 2").out);
    const auto odds = [&](const json& line) {
      for (const json& each : line["top"]) {
        if (each[0] == answer["answer"]["label"]) return std::log(each[1].get<double>() / (1 - each[1].get<double>()));
      }
      return HUGE_VAL;
    };
    CHECK(answer["answer"]["label"] == all[0]["label"]);
    CHECK(answer["answer"]["log_odds"].get<double>() == doctest::Approx(odds(all[0])).epsilon(1e-4));
    REQUIRE(answer["nodes"].size() == 6);
    CHECK(std::abs(answer["nodes"][2]["falls_by"].get<double>() - (odds(all[0]) - odds(all[1]))) < 1e-4);
    CHECK(std::abs(answer["nodes"][0]["falls_by"].get<double>() - (odds(all[0]) - odds(all[2]))) < 1e-4);
    CHECK(answer["nodes"][2]["name"] == "O");
  }
  const std::string table = corpus.must("inspect attention gat.h5 less.h5 --of answer --top 2").out;
  CHECK(table.starts_with("graph 1, chain 1\nlog-odds of the class "));
  CHECK(lines_in(table) == 2 + 3 + 2);
  for (const std::string name : {"a.svg", "a.png", "a.html", "a.tsv"}) {
    corpus.must("inspect attention gat.h5 less.h5 --of answer -o " + name);
  }
  const json answer = corpus.attention("gat.h5 less.h5 --of answer");
  const auto falls_by = [&](std::size_t i) { return answer["nodes"][i]["falls_by"].get<double>(); };
  const std::vector<std::string> rows = lines_of(read_file(corpus.path("a.tsv")));
  REQUIRE(rows.size() == 1 + 6);
  CHECK(rows[0] == "node\tname\tfalls_by");
  for (std::size_t i = 0; i < 6; ++i) {
    CAPTURE(rows[i + 1]);
    CHECK(rows[i + 1].starts_with(std::to_string(i + 1) + (i % 3 == 2 ? "\tO\t" : "\tC\t")));
    CHECK(std::stod(rows[i + 1].substr(rows[i + 1].rfind('\t'))) == doctest::Approx(falls_by(i)).epsilon(1e-5));
  }
  // Behind the molecule, a disc for each node, whose area is that of its share.
  const std::string svg = read_file(corpus.path("a.svg"));
  CHECK(drawn(svg, "10.19").size() == 5 + 3);  // bonds, of which two are double and one aromatic
  static const std::regex disc("<path ([^>]*fill:rgb\\(([0-9.]+)%[^>]*fill-opacity:0.[45]5[^>]*) d=\"([^\"]*)\""),
      number("[0-9.]+");
  std::vector<double> radii, reds, middles;
  for (std::sregex_iterator at(svg.begin(), svg.end(), disc), end; at != end; ++at) {
    const std::string path = (*at)[3];
    std::vector<double> across;
    std::size_t place = 0;
    for (std::sregex_iterator word(path.begin(), path.end(), number); word != end; ++word, ++place) {
      if (place % 2 == 0) across.push_back(std::stod(word->str()));
    }
    const auto [least, most] = std::ranges::minmax_element(across);
    radii.push_back((*most - *least) / 2);
    middles.push_back((*most + *least) / 2);
    reds.push_back(std::stod((*at)[2]));
  }
  REQUIRE(radii.size() == 6);
  for (std::size_t i = 1; i < 6; ++i) CHECK(std::abs(middles[i] - middles[i - 1] - 28 * 1.3) < 0.1);
  double largest = 0;
  for (std::size_t i = 0; i < 6; ++i) largest = std::max(largest, std::abs(falls_by(i)));
  for (std::size_t i = 0; i < 6; ++i) {
    CHECK(std::abs(radii[i] - 18 * std::sqrt(std::abs(falls_by(i)) / largest)) < 0.05);
    CHECK((reds[i] > 50) == (falls_by(i) > 0));
  }
}

TEST_CASE("inspect attention: an answer that is a number falls by what it is without the node") {
  const Graphs corpus;
  const auto write_sizes = [&](const std::string& name, const std::vector<data::GraphRecord>& records) {
    formats::GraphsFileWriter writer(corpus.path(name), schema, {data::GraphLevel::graph, {{"size", {}}}});
    for (data::GraphRecord record : records) {
      record.targets = {static_cast<double>(record.graph.nodes)};
      writer.append(record);
    }
    writer.commit(formats::start_provenance("a test"));
  };
  std::vector<data::GraphRecord> many;
  for (Index i = 0; i < 24; ++i) many.push_back(chain(3 + i % 6, i % 2 == 1, true));
  write_sizes("sizes.h5", many);
  write_sizes("less.h5", {chain(6, true, true), chain(6, true, true, 5)});
  corpus.must(
      "finetune -q --arch message-passing:layers=1,width=8,readout=sum --train sizes.h5 --epochs 5 -o sizes-model.h5");
  const json answer = corpus.attention("sizes-model.h5 less.h5 --of answer");
  const std::vector<std::string> numbers = lines_of(corpus.must("classify sizes-model.h5 less.h5").out);
  REQUIRE(numbers.size() == 2);
  CHECK(answer["answer"] == json({{"number", answer["answer"]["number"]}}));
  CHECK(answer["answer"]["number"].get<double>() == doctest::Approx(std::stod(numbers[0])).epsilon(1e-4));
  CHECK(std::abs(answer["nodes"][5]["falls_by"].get<double>() - (std::stod(numbers[0]) - std::stod(numbers[1]))) <
        1e-3);
  CHECK(corpus.must("inspect attention sizes-model.h5 less.h5 --of answer").out.starts_with("graph 1\nnumber: "));
}

TEST_CASE("inspect attention: what is no graph, or has none of this, is refused in one line") {
  const Graphs corpus;
  const auto refuses = [&](const std::string& words, const std::string& reason) {
    const Outcome run = corpus.run("inspect attention " + words);
    CAPTURE(words);
    CAPTURE(run.err);
    CHECK(run.status != 0);
    CHECK(run.out.empty());
    CHECK(lines_in(run.err) == 1);
    CHECK(contains(run.err, reason));
  };
  refuses("gat.h5 train.h5 --graph 41", "train.h5: has no graph 41, neither as a number from 1 to 40 nor as an id");
  refuses("gat.h5 train.h5 --graph CCO", "has no graph CCO");
  refuses("gat.h5 texts.txt", "is of the architecture gat, which reads graphs, not texts");
  refuses("gat.h5 texts.txt --graph 1", "--graph and --of answer are for graphs files");
  refuses("gat.h5 texts.txt --of answer", "--graph and --of answer are for graphs files");
  refuses("model.h5 train.h5",
          "which predicts next tokens; inspect attention needs a model that attends along the edges of graphs");
  refuses("messages.h5 train.h5",
          "messages.h5: is of the architecture message-passing, which gives a vector for each node");
  refuses("model.h5 train.h5 --of answer", "needs a model that gives a vector for each node of a graph");
  refuses("gat.h5 train.h5 --layer 3", "3");
  refuses("gat.h5 train.h5 --head 3", "--head 3: the layers have heads 1 to 2");
  refuses("gat.h5 train.h5 --of source", "--of source: of graphs there are all and answer");
  refuses("gat.h5 train.h5 --of answer --layer 1", "leave them out with --of answer");
  refuses("gat.h5 train.h5 --of answer -o x.h5", "--of answer is written to");
  refuses("gat.h5 train.h5 plain.h5", "SECOND is for texts");
  refuses("gat.h5 train.h5 --vectors all -o x.html", "--vectors is for pages of texts");
  corpus.write("one.h5", true, {chain(1, true, true)});
  refuses("gat.h5 one.h5 --of answer", "one.h5: graph 1, chain 1: has one node, and nothing is left without it");
  corpus.must("inspect attention gat.h5 one.h5 -o one.svg");
  std::vector<data::GraphRecord> large{chain(1001, true, false)};
  corpus.write("large.h5", false, large);
  refuses("gat.h5 large.h5 -o x.svg",
          "large.h5: graph 1, chain 1: has 1001 nodes, and at most 1000 are drawn; write a .tsv or .h5 file");
  corpus.must("inspect attention gat.h5 large.h5 --layer 1 --head 1 -o large.tsv");
  CHECK_FALSE(std::filesystem::exists(corpus.path("x.h5")));
  CHECK_FALSE(std::filesystem::exists(corpus.path("x.svg")));
}

}  // namespace inspect_graphs_tests
