// inspect attention and its files: the same weights everywhere, those of PyTorch, and what cannot be shown.
#include <zlib.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <fstream>
#include <limits>
#include <set>

#include "libcore/base/base64.hpp"
#include "libcore/base/printable.hpp"
#include "support/json.hpp"
#include "support/png.hpp"
#include "tools/small_corpus.hpp"

using namespace heddle;
using namespace heddle::testing;
using nlohmann::json;

namespace inspect_attention_tests {

namespace {

const std::string decoder = "pretrain -q --train train.h5 -o model.h5 --steps 1 --learning-rate 1e-9" + tiny_shape;
const std::string sentence = " 'the cat sees my queen.'";

json attention_of(const SmallCorpus& corpus, const std::string& words) {
  return parse_json(corpus.must("inspect attention " + words + " --json").out);
}

json data_of_page(const std::string& html) {
  const std::string begin = "<script type=\"application/json\" id=\"data\">";
  const std::size_t from = html.find(begin) + begin.size();
  return parse_json(html.substr(from, html.find("</script>", from) - from));
}

std::vector<unsigned char> unpacked(const json& text_of_bytes, std::size_t size) {
  const std::string bytes = *from_base64(text_of_bytes.get<std::string>());
  std::vector<unsigned char> result(size + 1);
  uLongf length = result.size();
  REQUIRE(uncompress(result.data(), &length, reinterpret_cast<const Bytef*>(bytes.data()), bytes.size()) == Z_OK);
  REQUIRE(length == size);
  result.resize(size);
  return result;
}

// All weights of a layer, [head][query][key].
std::vector<double> flat(const json& layer) {
  std::vector<double> all;
  for (const json& head : layer["weights"]) {
    for (const json& row : head) {
      for (const json& weight : row) all.push_back(weight.get<double>());
    }
  }
  return all;
}

// Rows that sum to `least` at least, and to 1 at most; nothing above the diagonal where a model sees no future.
void check_rows(const json& group, bool causal, double least = 1 - 1e-5) {
  for (const json& layer : group["layers"]) {
    CAPTURE(layer["name"]);
    for (const json& head : layer["weights"]) {
      for (std::size_t i = 0; i < head.size(); ++i) {
        double sum = 0;
        for (std::size_t j = 0; j < head[i].size(); ++j) {
          sum += head[i][j].get<double>();
          if (causal && j > i) CHECK(head[i][j] == 0);
        }
        CHECK(sum <= 1 + 1e-5);
        CHECK(sum >= least);
      }
    }
  }
}

// Writes bad.h5: model.h5 with NaN in the first query bias of a layer, from 0.
void poison_queries(const SmallCorpus& corpus, int layer) {
  const std::string name = "decoder/" + std::to_string(layer) + "/attention/query/bias";
  std::string bytes = read_file(corpus.path("model.h5"));
  const formats::ModelFile file(corpus.path("model.h5"));
  const float nan = std::numeric_limits<float>::quiet_NaN();
  for (const formats::TensorInfo& tensor : file.weights().tensors()) {
    if (tensor.name == name) std::memcpy(bytes.data() + tensor.offset, &nan, sizeof nan);
  }
  write_file(corpus.path("bad.h5"), bytes);
}

}  // namespace

TEST_CASE("attention: the weights of imported models are PyTorch's") {
  const SmallCorpus corpus;
  const json all = parse_json(read_file(HEDDLE_ATTENTION "/expected.json"));
  REQUIRE(all.size() == 2);
  for (const json& expected : all) {
    const std::string model = expected["model"];
    CAPTURE(model);
    corpus.must("convert -q '" HEDDLE_HUGGINGFACE "/" + model + "' -o model.h5");
    std::string words = "model.h5";
    for (const json& each : expected["texts"]) words += " '" + each.get<std::string>() + "'";
    const json found = attention_of(corpus, words);
    REQUIRE(found["texts"][0]["ids"] == expected["ids"]);
    REQUIRE(found["attention"].size() == 1);
    double difference = 0;
    for (std::size_t layer = 0; layer < expected["weights"].size(); ++layer) {
      const std::vector<double> ours = flat(found["attention"][0]["layers"][layer]),
                                theirs = flat({{"weights", expected["weights"][layer]}});
      REQUIRE(ours.size() == theirs.size());
      for (std::size_t i = 0; i < ours.size(); ++i) difference = std::max(difference, std::abs(ours[i] - theirs[i]));
    }
    CHECK(difference < 1e-6);
    check_rows(found["attention"][0], model.starts_with("gpt2"));
  }
}

TEST_CASE("attention: every form of output has the same weights") {
  const SmallCorpus corpus;
  corpus.must(decoder);
  const json found = attention_of(corpus, "model.h5" + sentence);
  const json& group = found["attention"][0];
  CHECK(group["of"] == "self");
  REQUIRE(group["layers"].size() == 2);
  const std::size_t time = found["texts"][0]["pieces"].size();
  check_rows(group, true);
  corpus.must("inspect attention model.h5" + sentence + " -o a.h5 && inspect verify a.h5");
  corpus.must("inspect attention model.h5" + sentence + " -o a.tsv");
  corpus.must("inspect attention model.h5" + sentence + " -o a.html");
  const json page = data_of_page(read_file(corpus.path("a.html")));
  REQUIRE(page["attention"].size() == 1);
  CHECK(page["attention"][0]["causal"] == true);
  CHECK(page["texts"][0]["tokens"].size() == time);
  const std::vector<std::string> table = lines_of(read_file(corpus.path("a.tsv")));
  REQUIRE(table.size() == 1 + 2 * 2 * time * time);
  std::size_t line = 1;
  for (std::size_t layer = 0; layer < 2; ++layer) {
    const std::vector<double> weights = flat(group["layers"][layer]);
    const std::string dump = corpus
                                 .must("h5dump -m %.9g -y -w 1 -d /attention/self/decoder/" + std::to_string(layer) +
                                       "/attention a.h5 | grep -E '^ *[0-9]'")
                                 .out;
    const std::vector<std::string> stored = lines_of(dump);
    REQUIRE(stored.size() == weights.size());
    const json& drawn = page["attention"][0]["layers"][layer];
    const auto bytes = unpacked(drawn["weights"], weights.size());
    for (std::size_t i = 0; i < weights.size(); ++i) {
      CHECK(std::stod(stored[i]) == doctest::Approx(weights[i]).epsilon(1e-6));
      CHECK(std::stod(table[line].substr(table[line].rfind('\t') + 1)) == doctest::Approx(weights[i]).epsilon(1e-6));
      CHECK(bytes[i] == std::lround(255 * weights[i]));
      ++line;
    }
    CHECK(drawn["not_finite"].is_null());
    CHECK(drawn["number"] == layer + 1);
  }
  const auto rollout = unpacked(page["attention"][0]["rollout"], 2 * time * time);
  CHECK(rollout[0] == 255);
}

TEST_CASE("attention: the scores of a page are the products of its vectors") {
  const SmallCorpus corpus;
  corpus.must(decoder + " --positions rope --kv-heads 1");
  corpus.must("inspect attention model.h5" + sentence + " -o a.html");
  const json page = data_of_page(read_file(corpus.path("a.html"))), found = attention_of(corpus, "model.h5" + sentence);
  const std::size_t time = found["texts"][0]["pieces"].size(), width = 16;
  const json& vectors = page["attention"][0]["layers"][1]["vectors"];
  REQUIRE(vectors["width"] == width);
  CHECK(page["attention"][0]["causal"] == true);
  const auto query = unpacked(vectors["query"], 2 * time * width), key = unpacked(vectors["key"], 2 * time * width);
  const auto score = [&](std::size_t head, std::size_t i, std::size_t j) {
    double sum = 0;
    for (std::size_t a = 0; a < width; ++a) {
      sum += static_cast<signed char>(query[(head * time + i) * width + a]) *
             static_cast<signed char>(key[(head * time + j) * width + a]);
    }
    return sum * vectors["query_step"].get<double>() * vectors["key_step"].get<double>() *
           vectors["scale"].get<double>();
  };
  const json& weights = found["attention"][0]["layers"][1]["weights"];
  for (std::size_t head = 0; head < 2; ++head) {
    for (std::size_t j = 1; j < time; ++j) {
      const double ratio =
          std::log(weights[head][time - 1][j].get<double>()) - std::log(weights[head][time - 1][0].get<double>());
      CHECK(std::abs(ratio - (score(head, time - 1, j) - score(head, time - 1, 0))) < 0.02);
    }
  }
  corpus.must("inspect attention model.h5" + sentence + " -o none.html --vectors none");
  const json without = data_of_page(read_file(corpus.path("none.html")));
  CHECK(without["attention"][0]["layers"][0]["vectors"].is_null());
  CHECK(without["notes"].size() == 1);
}

TEST_CASE("attention: a picture has a cell of 255 w for each pair, with and without labels") {
  const SmallCorpus corpus;
  corpus.must(decoder + " --context 40");
  const std::string longer = " 'the cat sees my queen. the old king forgets a dog. my queen sings to the cat.'";
  const json head = attention_of(corpus, "model.h5" + longer)["attention"][0]["layers"][1]["weights"][0];
  corpus.must("inspect attention model.h5" + longer + " --layer 2 --head 1 -o one.png");
  const Png png(read_file(corpus.path("one.png")));
  // The cells, 28 pixels wide, end 24 pixels before the right and the lower edge.
  const std::size_t time = head.size(), left = png.width() - 24 - 28 * time, top = png.height() - 24 - 28 * time;
  for (std::size_t i = 0; i < time; ++i) {
    for (std::size_t j = 0; j < time; ++j) {
      const auto level = static_cast<int>(std::lround(255 * head[i][j].get<double>()));
      for (const std::size_t at : {std::size_t{0}, std::size_t{27}}) {
        const auto pixel = png.at(left + 28 * j + at, top + 28 * i + at);
        CHECK(static_cast<int>(pixel[0]) == level);
        CHECK(static_cast<int>(pixel[2]) == level);
      }
    }
  }
  for (const std::string form : {"svg", "pdf", "png"}) {
    corpus.must("inspect attention model.h5" + sentence + " -o grid." + form);
    CHECK(read_file(corpus.path("grid." + form)).size() > 1000);
    corpus.must("inspect attention model.h5" + sentence + " --head mean -o mean." + form);
  }
}

TEST_CASE("attention: the sign of a space stands above the middle of its column") {
  const SmallCorpus corpus;
  corpus.must(decoder + " --context 40");
  // So long that the cells are wider than the title.
  const std::string text = "model.h5 'the  cat sees my queen. the old king forgets a dog. my queen sings to the cat.'";
  corpus.must("inspect attention " + text + " -o a.html");
  corpus.must("inspect attention " + text + " --layer 1 --head 1 -o a.png");
  const json tokens = data_of_page(read_file(corpus.path("a.html")))["texts"][0]["tokens"];
  const auto blank = std::ranges::find_if(tokens, [](const json& token) { return token["label"] == "␣"; });
  REQUIRE(blank != tokens.end());
  const Png png(read_file(corpus.path("a.png")));
  const std::size_t side = 28 * tokens.size(), left = png.width() - 24 - side, top = png.height() - 24 - side;
  const std::size_t first = left + 28 * static_cast<std::size_t>(blank - tokens.begin());
  double ink = 0, places = 0;
  for (std::size_t x = first; x < first + 28; ++x) {
    for (std::size_t y = top - 30; y < top - 4; ++y) {
      const double dark = 255 - png.at(x, y)[0];
      ink += dark;
      places += dark * static_cast<double>(x - first);
    }
  }
  REQUIRE(ink > 500);
  CHECK(std::abs(places / ink - 13.5) < 3);
}

TEST_CASE("attention: a grid of many heads has a grey pixel of 255 w for each pair") {
  const SmallCorpus corpus;
  corpus.must(
      "pretrain -q --train train.h5 -o model.h5 --steps 1 --layers 12 --heads 8 --width 16 --context 512 --batch-size "
      "1 "
      "--sequence-length 16");
  corpus.must("inspect attention model.h5 valid.txt -o grid.png");
  const Png png(read_file(corpus.path("grid.png")));
  CHECK(png.is_grey());
  CHECK(png.width() * png.height() > 8'000'000);
  for (const auto& [layer, head] : {std::pair<std::size_t, std::size_t>{1, 1}, {7, 4}, {12, 8}}) {
    const json weights = attention_of(corpus, "model.h5 valid.txt --layer " + std::to_string(layer) + " --head " +
                                                  std::to_string(head))["attention"][0]["layers"][0]["weights"][0];
    // The heads are this far apart, in whole points, and the last one ends before the margin.
    const std::size_t time = weights.size(), apart = 2 * ((time + 1) / 2 + 6);
    const std::size_t left = png.width() - 24 - (9 - head) * apart, top = png.height() - 24 - (13 - layer) * apart;
    std::size_t wrong = 0;
    for (std::size_t i = 0; i < time; ++i) {
      for (std::size_t j = 0; j < time; ++j) {
        const long level = std::lround(255 * weights[i][j].get<double>());
        wrong += png.at(left + j, top + i)[0] != level ? 1 : 0;
      }
    }
    CHECK(wrong == 0);
  }
}

TEST_CASE("attention: an SVG has each head as a PNG with a pixel of 255 w for each pair") {
  const SmallCorpus corpus;
  corpus.must(decoder);
  const json layers = attention_of(corpus, "model.h5" + sentence)["attention"][0]["layers"];
  corpus.must("inspect attention model.h5" + sentence + " -o grid.svg");
  const std::string svg = read_file(corpus.path("grid.svg")), begin = "data:image/png;base64,";
  std::set<std::string> found, wanted;
  for (std::size_t at = 0; (at = svg.find(begin, at)) != svg.npos;) {
    at += begin.size();
    std::string text = svg.substr(at, svg.find('"', at) - at);
    std::erase_if(text, [](char letter) { return letter == '\n'; });
    const Png png(*from_base64(text));
    std::string levels;
    for (std::size_t y = 0; y < png.height(); ++y) {
      for (std::size_t x = 0; x < png.width(); ++x) levels += static_cast<char>(png.at(x, y)[0]);
    }
    found.insert(levels);
  }
  for (const json& layer : layers) {
    for (const json& head : layer["weights"]) {
      std::string levels;
      for (const json& row : head) {
        for (const json& weight : row) levels += static_cast<char>(std::lround(255 * weight.get<double>()));
      }
      wanted.insert(levels);
    }
  }
  CHECK(wanted.size() == 4);
  CHECK(found == wanted);
}

TEST_CASE("attention: as text, where heads look and the strongest links; or one head as shades") {
  const SmallCorpus corpus;
  corpus.must(decoder);
  const std::vector<std::string> lines =
      lines_of(corpus.must("inspect attention model.h5" + sentence + " --top 3 --hide none").out);
  REQUIRE(lines.size() == 2 + 4 + 1 + 2 + 3);
  CHECK(lines[0] == "self-attention");
  CHECK(lines[1] == "layer  head  first  previous  itself  distance  bits  only");
  CHECK(lines[7] == "strongest links");
  for (const std::string& line : lines_of(corpus.must("inspect attention model.h5" + sentence + " --top 3").out)) {
    if (contains(line, ".") && !contains(line, "layer")) {
      std::istringstream words(line);
      std::string weight, layer, head, from, label, to;
      words >> weight >> layer >> head >> from >> label >> to;
      if (weight.starts_with("0.")) CHECK(from != to);
    }
  }
  corpus.refused("inspect attention model.h5" + sentence + " --hide commas", 2, "--hide commas: there are self, begin");
  corpus.refused("inspect attention model.h5" + sentence + " --hide self -o x.html", 2, "a page has switches");
  const std::string shades = corpus.must("inspect attention model.h5" + sentence + " --layer -1 --head 2").out;
  CHECK(shades.starts_with("self-attention, layer 2, head 2\n"));
  const json found = attention_of(corpus, "model.h5" + sentence);
  CHECK(lines_in(shades) == static_cast<long>(1 + found["texts"][0]["pieces"].size()));
  for (const std::string& line : lines_of(shades)) {
    const std::size_t first = line.find(" |"), last = line.rfind("| ");
    if (first == std::string::npos) continue;
    const std::string row = line.substr(first + 2, last - first - 2);  // two letters for each token
    CHECK(std::ranges::count_if(row, [](char letter) { return (letter & 0xC0) != 0x80; }) ==
          2 * std::ssize(found["texts"][0]["pieces"]));
  }
  const json mean = attention_of(corpus, "model.h5" + sentence + " --head mean --layer 2");
  REQUIRE(mean["attention"][0]["layers"].size() == 1);
  CHECK(mean["attention"][0]["layers"][0]["heads"] == json::array({"mean"}));
  const json& both = found["attention"][0]["layers"][1]["weights"];
  CHECK(mean["attention"][0]["layers"][0]["weights"][0][3][1].get<double>() ==
        doctest::Approx((both[0][3][1].get<double>() + both[1][3][1].get<double>()) / 2));
}

TEST_CASE("attention: what every variant mixes by, and every kind of model") {
  const SmallCorpus corpus;
  for (const std::string variant :
       {"performer:features=16", "gaussian", "fourier", "additive", "bilinear", "basic", "dot"}) {
    CAPTURE(variant);
    corpus.must(decoder + " --restart --attention " + variant);
    const json found = attention_of(corpus, "model.h5" + sentence);
    check_rows(found["attention"][0], true, variant == "fourier" ? 0 : 1 - 1e-5);
    corpus.must("inspect attention model.h5" + sentence + " -o a.html");
    const json page = data_of_page(read_file(corpus.path("a.html")));
    const bool has_products = variant != "fourier" && variant != "additive";
    CHECK(page["attention"][0]["layers"][0]["vectors"].is_null() != has_products);
    CHECK(page["notes"].empty() == has_products);
    // An estimate is not the softmax of its products.
    if (variant == "dot") CHECK(page["attention"][0]["layers"][0]["vectors"]["softmax"] == true);
    if (variant.starts_with("performer")) CHECK(page["attention"][0]["layers"][0]["vectors"]["softmax"] == false);
  }
  corpus.must("tokenize -q -t tokenizer.h5 --pairs -o pairs.h5 train.txt train.txt");
  const std::string pairs = "pretrain -q --train pairs.h5 --width 16 --batch-size 4 --steps 1 --learning-rate 1e-9 ";
  corpus.must(pairs + "-o two.h5 --arch encoder-decoder --layers 1 --heads 2 --restart");
  const json two = attention_of(corpus, "two.h5 'the cat sees' 'my queen'");
  REQUIRE(two["attention"].size() == 3);
  const char* names[] = {"encoder", "self", "source"};
  for (std::size_t i = 0; i < 3; ++i) {
    CHECK(two["attention"][i]["of"] == names[i]);
    check_rows(two["attention"][i], i == 1);
  }
  const json& crossing = two["attention"][2]["layers"][0]["weights"][0];
  CHECK(crossing.size() == two["texts"][1]["pieces"].size());
  CHECK(crossing[0].size() == two["texts"][0]["pieces"].size());
  CHECK(attention_of(corpus, "two.h5 'the cat sees' 'my queen' --of source")["attention"].size() == 1);
  corpus.must(
      "inspect attention two.h5 'the cat' --of source -o a.svg && inspect attention two.h5 'the cat' -o a.html");
  corpus.must("inspect attention two.h5 'the cat' -o a.h5 && inspect verify a.h5");
  corpus.refused("inspect attention two.h5 'the cat' -o a.svg", 2, "choose --of encoder or self or source");
  corpus.must(pairs + "-o recurrent.h5 --arch rnn --restart");
  const json recurrent = attention_of(corpus, "recurrent.h5 'the cat sees' 'my queen'");
  REQUIRE(recurrent["attention"].size() == 1);
  check_rows(recurrent["attention"][0], false);
  corpus.must("inspect attention recurrent.h5 'the cat'");
}

TEST_CASE("attention: tokens are text in a page, whatever they look like") {
  const SmallCorpus corpus;
  corpus.must(decoder + " --context 128");
  const std::string hostile = "</script><img src=x onerror=alert(1)> <!-- \u202e\u2066 & \" \u0007 日本 مرحبا 😀";
  corpus.must("inspect attention model.h5 \"$(printf '%b' '" + hostile + "')\" -o a.html");
  const std::string html = read_file(corpus.path("a.html"));
  CHECK_FALSE(contains(html, "<img"));
  CHECK_FALSE(contains(html, "<!--"));
  CHECK_FALSE(contains(html, "\u202e"));
  CHECK(contains(html, "default-src 'none'"));
  std::string together;
  const json page = data_of_page(html);
  for (const json& token : page["texts"][0]["tokens"]) together += token["label"].get<std::string>();
  CAPTURE(together);
  CHECK(contains(together, "</script>"));
  CHECK(contains(together, "\\x07"));
  CHECK(contains(together, "日‥‥"));  // a character of three tokens
  corpus.must("inspect attention model.h5 '" + hostile + "' --layer 1 --head 1 -o a.png");
}

TEST_CASE("attention: a text is a word, a file or standard input") {
  const SmallCorpus corpus;
  corpus.must("tokenize -q -t tokenizer.h5 --pairs -o pairs.h5 train.txt train.txt");
  corpus.must("pretrain -q --train pairs.h5 --arch rnn --width 16 --batch-size 4 --steps 1 -o model.h5");
  write_file(corpus.path("first.txt"), "the cat sees\n");
  write_file(corpus.path("second.txt"), "my queen\n");
  for (const std::string verb : {"attention", "align"}) {
    const std::string command = "inspect " + verb + " model.h5";
    const auto texts = [&](const std::string& words) { return parse_json(corpus.must(command + words).out); };
    const json expected = texts(" 'the cat sees' 'my queen' --json");
    for (const std::string words : {" first.txt second.txt", " - second.txt <first.txt", " first.txt - <second.txt"}) {
      CAPTURE(words);
      CHECK(texts(words + " --json") == expected);
    }
    CHECK(texts(" --json <first.txt") == texts(" --json 'the cat sees'"));
    corpus.refused(command + " - - <first.txt", 2, "standard input gives one text");
    corpus.refused(command + " no.txt", 1, "no.txt: there is no such file; standard input takes it as a text");
    corpus.refused(command + " </dev/null", 1, "has no text");
    corpus.refused(command + " first.txt -o first.tsv -q && " + command + " first.tsv -o first.tsv", 2, "first.tsv");
  }
}

TEST_CASE("attention: what cannot be shown is refused in one line") {
  const SmallCorpus corpus;
  corpus.must(decoder);
  const std::string of = "inspect attention model.h5 ";
  const std::vector<Refusal> refusals{
      {of + "'the cat' --layer 3", "--layer 3: the model has layers 1 to 2, or from the last one -1 to -2", 2},
      {of + "'the cat' --head 3", "--head 3: the layers of self have heads 1 to 2", 2},
      {of + "'the cat' --of source", "--of source: this model has attention of self", 2},
      {of + "'the cat' -o a.gif", "a.gif: attention can be written to .html, .svg, .png, .pdf, .tsv and .h5 files", 2},
      {of + "'the cat' -o a.svg --top 3", "--top is for terminal output and drawings", 2},
      {of + "'the cat' -o a.svg --json", "--json prints to standard output", 2},
      {of + "'the cat' -o a.html --head 1", "a.html: such a file has every head; leave out --head", 2},
      {of + "'the cat' --vectors all", "--vectors is for pages, -o FILE.html", 2},
      {of + "'the cat' -o model.h5", "model.h5", 2},
      {of + "'the cat' 'my queen'", "model.h5: this model reads one text; leave out the second", 2},
      {of + "''", "the TEXT is empty", 2},
      {of + "- </dev/null", "standard input: has no text", 1},
      {of + "\"$(cat valid.txt)\"", "TEXT: 303 tokens are more", 1},
      {of + "valid.txt", "valid.txt: 303 tokens are more", 1},
      {of + "- <valid.txt", "standard input: 303 tokens are more", 1},
      {of + "valid.txt", "tokens are more than the model's context of 16; give a shorter text", 1},
      {"inspect attention train.h5 'the cat'", "train.h5", 1},
      {"inspect attention model.h5", "standard input: has no text", 1}};
  for (const Refusal& refusal : refusals) {
    const Outcome outcome = corpus.refused(refusal);
    CHECK(lines_in(outcome.err) == 1);
    CHECK(outcome.out.empty());
  }
  corpus.must("tokenize -q -t tokenizer.h5 --pairs -o pairs.h5 train.txt train.txt");
  corpus.must(
      "pretrain -q --train pairs.h5 -o fixed.h5 --arch rnn:source-attention=none --width 16 --batch-size 4 --steps "
      "1");
  corpus.refused("inspect attention fixed.h5 'the cat'", 1,
                 "this rnn has no attention: it reads its source as one vector");
  corpus.refused("inspect align fixed.h5 'the cat'", 1, "this rnn has no attention");
  corpus.must(decoder + " --restart --context 2700");
  corpus.refused("inspect attention model.h5 \"$(head -c 9000 train.txt)\" --layer 1 --head 1 -o long.svg", 2,
                 "long.svg: a picture has at most 1024 tokens on a side, and the text has ");
  CHECK(contains(corpus.must("inspect attention model.h5 \"$(head -c 9000 train.txt)\" --layer 1 --head 1").out,
                 "-o writes all weights into a file that ends in .tsv\n"));
  CHECK(corpus.leftovers() == 0);
}

TEST_CASE("attention: weights that are not finite are shown as such, and the status says so") {
  const SmallCorpus corpus;
  corpus.must(decoder);
  poison_queries(corpus, 1);
  const std::string says = "bad.h5: the weights of self-attention in layer 2 are not finite";
  corpus.refused("inspect attention bad.h5" + sentence + " -o a.html", 3, says);
  const json page = data_of_page(read_file(corpus.path("a.html")));
  CHECK(page["attention"][0]["layers"][0]["not_finite"].is_null());
  CHECK(page["attention"][0]["layers"][1]["not_finite"].is_string());
  corpus.refused("inspect attention bad.h5" + sentence + " --layer 2 --head 1 -o a.png", 3, says);
  const Png png(read_file(corpus.path("a.png")));
  CHECK_FALSE(png.is_grey());
  const auto pixel = png.at(png.width() / 2, png.height() - 26);
  CHECK(static_cast<int>(pixel[0]) == 220);
  CHECK(static_cast<int>(pixel[1]) == 0);
  const std::string shades = corpus.refused("inspect attention bad.h5" + sentence + " --layer 2 --head 1", 3, says).out;
  CHECK(contains(shades, "??"));
  for (const std::string& line : lines_of(shades)) CHECK((!contains(line, "??") || line.ends_with("| ?")));
  CHECK(contains(corpus.refused("inspect attention bad.h5" + sentence, 3, says).out, "nan"));
}

TEST_CASE("attention: all layers that are not finite are named, and vectors of a page say which elements are not") {
  const SmallCorpus corpus;
  corpus.must(decoder);
  poison_queries(corpus, 0);
  const std::string says = "bad.h5: the weights of self-attention in layers 1, 2 are not finite; train it again";
  corpus.refused("inspect attention bad.h5" + sentence + " -o a.html", 3, says);
  const json page = data_of_page(read_file(corpus.path("a.html")));
  const std::size_t time = page["texts"][0]["tokens"].size(), width = 16;
  const json& vectors = page["attention"][0]["layers"][0]["vectors"];
  const auto query = unpacked(vectors["query"], 2 * time * width), key = unpacked(vectors["key"], 2 * time * width);
  for (std::size_t i = 0; i < 2 * time; ++i) {
    if (i < time) CHECK(static_cast<signed char>(query[i * width]) == -128);
    CHECK(static_cast<signed char>(query[i * width + 1]) != -128);
  }
  CHECK(std::ranges::count(key, 128) == 0);
  CHECK(vectors["softmax"] == true);  // among the rows that have one
}

TEST_CASE("attention: adapters of any task, with their base") {
  const SmallCorpus corpus;
  corpus.must(decoder);
  corpus.must(
      "finetune -q --from model.h5 --task lm --train train.h5 --lora-rank 2 --learning-rate 0.1 --steps 3 -o lora.h5");
  corpus.must("convert -q lora.h5 --merge -o whole.h5");
  const auto weights = [&](const std::string& model) {
    return flat(attention_of(corpus, model + sentence)["attention"][0]["layers"][1]);
  };
  const std::vector<double> adapted = weights("lora.h5"), merged = weights("whole.h5"), base = weights("model.h5");
  REQUIRE(adapted.size() == merged.size());
  double apart = 0, moved = 0;
  for (std::size_t i = 0; i < adapted.size(); ++i) {
    apart = std::max(apart, std::abs(adapted[i] - merged[i]));
    moved = std::max(moved, std::abs(adapted[i] - base[i]));
  }
  CHECK(apart < 1e-5);
  CHECK(moved > 1e-3);
  corpus.must("mkdir away && mv model.h5 away/base.h5");
  corpus.refused("inspect attention lora.h5" + sentence, 1, "name it with --base");
  CHECK(weights("lora.h5 --base away/base.h5") == adapted);
  corpus.refused("inspect attention whole.h5 --base away/base.h5" + sentence, 2, "leave out --base");
  corpus.refused("inspect attention lora.h5 --base away/base.h5 -o away/base.h5" + sentence, 2, "away/base.h5");
  corpus.must("inspect attention lora.h5 --base away/base.h5 -o a.h5" + sentence + " && inspect verify a.h5");
  write_file(corpus.path("texts.tsv"), "a\tthe cat\nb\tthe king\n");
  corpus.must(
      "finetune -q --from away/base.h5 --task classify --train texts.tsv --lora-rank 2 --steps 2 -o classes.h5");
  CHECK(weights("classes.h5 --base away/base.h5").size() == adapted.size());
}

TEST_CASE("inspect: other verbs take adapters, too, and say what merged models do") {
  const SmallCorpus corpus;
  corpus.must(decoder);
  corpus.must(
      "finetune -q --from model.h5 --task lm --train train.h5 --lora-rank 2 --learning-rate 0.1 --steps 3 -o lora.h5");
  corpus.must("convert -q lora.h5 --merge -o whole.h5 && mkdir away && mv model.h5 away/base.h5");
  const auto vector_of = [&](const std::string& model) -> std::vector<double> {
    const std::string out = corpus.must("inspect embed --text 'the cat sees' --pooling mean --json " + model).out;
    return parse_json(out)["texts"][0]["vector"];
  };
  const std::vector<double> adapted = vector_of("lora.h5 --base away/base.h5"), merged = vector_of("whole.h5"),
                            base = vector_of("away/base.h5");
  double moved = 0;
  REQUIRE(adapted.size() == merged.size());
  for (std::size_t i = 0; i < adapted.size(); ++i) {
    CHECK(adapted[i] == doctest::Approx(merged[i]).epsilon(1e-4));
    moved = std::max(moved, std::abs(adapted[i] - base[i]));
  }
  CHECK(moved > 1e-3);
  for (const std::string verb : {"positions MODEL --json", "kernels MODEL --json", "neighbours MODEL cat --json"}) {
    const auto of = [&](const std::string& model) {
      std::string command = "inspect " + verb;
      return corpus.must(command.replace(command.find("MODEL"), 5, model)).out;
    };
    CHECK(of("lora.h5 --base away/base.h5") == of("whole.h5"));
  }
  corpus.refused("inspect embed lora.h5 --text cat", 1, "name it with --base");
  corpus.refused("inspect embed lora.h5 --text cat --base away/base.h5 -o away/base.h5", 2, "away/base.h5");
  corpus.refused("inspect positions --scheme rope --base away/base.h5", 2, "--base belongs to a MODEL");
}

TEST_CASE("align: adapters, with their base") {
  const SmallCorpus corpus;
  corpus.must("tokenize -q -t tokenizer.h5 --pairs -o pairs.h5 train.txt train.txt");
  corpus.must(
      "pretrain -q --train pairs.h5 --width 16 --batch-size 4 --steps 1 -o model.h5 --arch encoder-decoder --layers 1 "
      "--heads 2");
  write_file(corpus.path("texts.tsv"), "a\tthe cat\nb\tthe king\n");
  corpus.must(
      "finetune -q --from model.h5 --task classify --train texts.tsv --lora-rank 2 --learning-rate 0.1 --steps 3 -o "
      "lora.h5");
  const std::string words = " 'the cat sees' 'my queen' --json";
  const std::string adapted = corpus.must("inspect align lora.h5" + words).out;
  CHECK(adapted != corpus.must("inspect align model.h5" + words).out);
  corpus.must("mkdir away && mv model.h5 away/base.h5");
  CHECK(corpus.must("inspect align lora.h5 --base away/base.h5" + words).out == adapted);
}

TEST_CASE("attention: bytes that are not UTF-8 are refused where the tokenizer would leave them out") {
  const SmallCorpus corpus;
  corpus.must("tokenize -q --train --model wordpiece --vocab-size 200 -o pieces.h5 train.txt");
  corpus.must("tokenize -q -t pieces.h5 -o masked.h5 train.txt");
  corpus.must("pretrain -q --train masked.h5 -o encoder.h5 --arch encoder --steps 1" + tiny_shape);
  corpus.must(decoder);
  write_file(corpus.path("bad.txt"), "the\ncat \xff\xfe sees\n");
  const std::string says = "bad.txt:2:5: invalid UTF-8";
  const json one = parse_json(corpus.must("inspect attention encoder.h5 'the cat' --json").out);
  const json& pieces = one["texts"][0]["pieces"];
  CHECK(pieces.front() == "[CLS]");
  CHECK(pieces.back() == "[SEP]");
  corpus.must("inspect attention encoder.h5 'the cat' -o e.html");
  CHECK(data_of_page(read_file(corpus.path("e.html")))["attention"][0]["causal"] == false);
  CHECK(pieces.size() > 3);
  corpus.refused("inspect attention encoder.h5 bad.txt --json", 1, says);
  corpus.refused("inspect attention encoder.h5 'the cat' bad.txt --json", 1, says);
  corpus.refused("inspect embed encoder.h5 bad.txt", 1, says);
  corpus.refused("inspect attention encoder.h5 \"$(printf 'a\\xffb')\"", 1, "TEXT:1:2: invalid UTF-8");
  corpus.must("inspect attention model.h5 bad.txt --json");  // its tokens are bytes
}

TEST_CASE("attention: shades that are wider than the terminal give way to the strongest links") {
  const SmallCorpus corpus;
  corpus.must("tokenize -q -t tokenizer.h5 --pairs -o pairs.h5 train.txt train.txt");
  corpus.must("pretrain -q --train pairs.h5 --arch rnn --width 16 --batch-size 4 --steps 1 -o pair.h5");
  corpus.must(decoder + " --context 400");
  const std::string words = "'" + read_file(corpus.path("train.txt")).substr(0, 700) + "'";
  const auto check_narrow = [&](const std::string& command, const std::string& files) {
    const std::vector<std::string> lines = lines_of(corpus.must(command).out);
    for (const std::string& line : lines) CHECK(display_width(line) <= 200);
    const auto says =
        std::ranges::find_if(lines, [](const std::string& line) { return contains(line, "is wider than"); });
    REQUIRE(says != lines.end());
    CHECK(contains(*says, "is wider than 200 columns; -o writes all weights into a file that ends in " + files));
    CHECK(lines.end() - says == 1 + 1 + 2 + 10);
  };
  check_narrow("inspect attention model.h5 " + words + " --layer 1 --head 1", ".png, .tsv or, without --head, .html");
  check_narrow("inspect align pair.h5 " + words + " 'the cat'", ".html, .png or .tsv");
}

}  // namespace inspect_attention_tests
