// Pages of histories, and maps of vectors, from outside: inspect history, inspect neighbours and inspect senses with
// -o.
#include <cmath>
#include <nlohmann/json.hpp>
#include <sstream>

#include "support/json.hpp"
#include "tools/small_corpus.hpp"

using namespace heddle;
using namespace heddle::testing;
using nlohmann::json;

namespace inspect_maps_tests {

namespace {

class MapCorpus : public EncoderCorpus {
 public:
  MapCorpus() {
    begin_with("maps", [&] {
      must(
          "pretrain -q --arch encoder --train train.h5 --valid valid.h5 -o encoder.h5 --steps 40 --eval-every 10 "
          "--log-every 2" +
          tiny_shape);
      must("awk '{ print ($1 == \"the\" ? \"article\" : \"other\") \"\\t2\\t\" $0 }' valid.txt > senses.tsv");
      must("head -n 5 train.txt | sed 's/^/1\\t/' > asked.tsv");
    });
  }
};

json data_of(const std::string& page) {
  const std::string begin = "<script type=\"application/json\" id=\"data\">";
  const std::size_t at = page.find(begin) + begin.size();
  return parse_json(page.substr(at, page.find("</script>", at) - at));
}

// The cells of a table.
std::vector<std::vector<std::string>> cells(const std::string& table) {
  std::vector<std::vector<std::string>> rows;
  for (const std::string& line : lines_of(table)) {
    std::istringstream stream(line);
    rows.emplace_back();
    for (std::string cell; std::getline(stream, cell, '\t');) rows.back().push_back(cell);
  }
  return rows;
}

}  // namespace

TEST_CASE("inspect history: the points of a page are those of the history, means where there are many") {
  const MapCorpus corpus;
  corpus.must("inspect history encoder.h5 encoder.h5 -o page.html");
  const json data = data_of(read_file(corpus.path("page.html")));
  REQUIRE(data["runs"].size() == 2);
  const json history = parse_json(corpus.must("inspect history encoder.h5 --jsonl").out)["history"];
  for (const json& curve : data["runs"][0]["curves"]) {
    const json& column = history[curve["column"].get<std::string>()];
    std::vector<std::pair<double, double>> wanted;
    for (std::size_t row = 0; row < column.size(); ++row) {
      if (!column[row].is_null()) wanted.emplace_back(history["step"][row], column[row]);
    }
    CHECK(curve["logged"] == wanted.size());
    REQUIRE(curve["points"].size() == wanted.size());
    double lowest = wanted.front().second;
    for (std::size_t i = 0; i < wanted.size(); ++i) {
      CHECK(curve["points"][i][0] == wanted[i].first);
      CHECK(curve["points"][i][1].get<double>() == doctest::Approx(wanted[i].second).epsilon(1e-6));
      lowest = std::min(lowest, wanted[i].second);
    }
    CHECK(curve["last"][1].get<double>() == doctest::Approx(wanted.back().second).epsilon(1e-6));
    CHECK(curve["lowest"][1].get<double>() == doctest::Approx(lowest).epsilon(1e-6));
  }
  corpus.refused("inspect history encoder.h5 -o page.htm", 2, "that end in .svg, .png, .pdf, .html or .tsv");
  corpus.refused("inspect history encoder.h5 -o page.html --json", 2, "a picture, a page or a table");
}

TEST_CASE("inspect history: a column for each option that differs, and one setting for runs that differ in the seed") {
  const MapCorpus corpus;
  for (const std::string run : {"a --width 16 --seed 1", "b --width 16 --seed 2", "c --width=32 --seed 1"}) {
    corpus.must(
        "pretrain -q --train train.h5 --arch encoder --layers 1 --heads 2 --context 16 --batch-size 4 --steps 4 " +
        run.substr(2) + " -o " + run.substr(0, 1) + ".h5");
  }
  const std::vector<std::string> table = lines_of(corpus.must("inspect history a.h5 b.h5 c.h5").out);
  CHECK(table[0].ends_with("at step  width  seed"));
  CHECK(table[2].ends_with("16     2"));
  const auto rows = cells(corpus.must("inspect history a.h5 b.h5 c.h5 -o runs.tsv && cat runs.tsv").out);
  CHECK(rows[0][rows[0].size() - 2] == "--width");
  CHECK(rows.back()[rows[0].size() - 2] == "32");
  corpus.must("inspect history a.h5 b.h5 c.h5 -o runs.html && inspect history a.h5 b.h5 c.h5 -o runs.svg");
  const json data = data_of(read_file(corpus.path("runs.html")));
  CHECK(data["options"] == json::array({"width", "seed"}));
  CHECK(data["settings"] == json::array({"width 16", "width 32"}));
  CHECK(data["runs"][1]["setting"] == 0);
  CHECK(data["runs"][2]["setting"] == 1);
}

TEST_CASE("inspect neighbours: a map's table, page and pictures have each word and its neighbours once") {
  const MapCorpus corpus;
  const std::string words = "inspect neighbours encoder.h5 cat king --top 150 ";
  corpus.must(words + "-o map.tsv && " + words + "-o map.html && " + words + "-o map.svg && " + words + "-o map.png");
  const auto rows = cells(read_file(corpus.path("map.tsv")));
  CHECK(rows[0][1] == "word");
  REQUIRE(rows[0].size() == 4 + 3);
  CHECK(contains(rows[0][4], "component 1 ("));
  CHECK(contains(rows[0][6], "component 3 ("));
  CHECK(contains(rows[0][4], " % of the variance)"));
  const json data = data_of(read_file(corpus.path("map.html")));
  REQUIRE(data["points"].size() == rows.size() - 1);
  std::map<std::string, int> labels;
  for (std::size_t i = 1; i < rows.size(); ++i) {
    CHECK(data["points"][i - 1][0] == rows[i][0]);
    ++labels[rows[i][0]];
    for (std::size_t axis = 0; axis < 3; ++axis) {
      CHECK(data["layouts"][0]["coordinates"][axis][i - 1].get<double>() ==
            doctest::Approx(std::stod(rows[i][4 + axis])).epsilon(1e-4));
    }
  }
  for (const auto& [label, count] : labels) CHECK(count == 1);
  for (const json& word : parse_json(corpus.must(words + "--json").out)["words"]) {
    CHECK(labels.contains(word["word"]));
    for (const json& near : word["neighbours"]) CHECK(labels.contains(near["piece"]));
  }
  CHECK(data["layouts"].size() == 2);
  CHECK(contains(read_file(corpus.path("map.svg")), "<svg"));
  // Pieces of bytes are what they stand for within a text, not how the vocabulary spells them.
  corpus.must(
      "tokenize -q --train --model byte -o bytes.h5 train.txt && pretrain -q --train train.txt -t bytes.h5 -o b.h5 "
      "--steps 1" +
      tiny_shape + " && inspect neighbours b.h5 a --top 255 -o bytes.tsv");
  const std::string bytes = read_file(corpus.path("bytes.tsv"));
  CHECK(contains(bytes, "\n\u2423\t"));
  CHECK_FALSE(contains(bytes, "\u0120"));
}

TEST_CASE("inspect senses: a map has the examples, and the words asked for with the senses that are predicted") {
  const MapCorpus corpus;
  corpus.must(
      "inspect senses encoder.h5 senses.tsv -o examples.tsv && inspect senses encoder.h5 senses.tsv asked.tsv "
      "-o both.tsv --layout tsne");
  const auto examples = cells(read_file(corpus.path("examples.tsv"))), both = cells(read_file(corpus.path("both.tsv")));
  CHECK(static_cast<long>(examples.size()) == 1 + lines_in(read_file(corpus.path("senses.tsv"))));
  REQUIRE(both.size() == examples.size() + 5);
  CHECK(both[0][4] == "t-SNE 1");
  const auto predicted = cells(corpus.must("inspect senses encoder.h5 senses.tsv asked.tsv").out);
  for (std::size_t i = 0; i < 5; ++i) {
    CHECK(both[examples.size() + i][1] == predicted[i][0]);
    CHECK(both[examples.size() + i][2] == "1");
  }
  CHECK(contains(examples[1][0], "…"));
}

TEST_CASE("maps: bad input") {
  const MapCorpus corpus;
  corpus.refused("inspect neighbours encoder.h5 cat -o map.gif", 2, "map.gif: maps are written into files that end in");
  corpus.refused("inspect neighbours encoder.h5 cat -o map.svg --json", 2, "leave --json out");
  corpus.refused("inspect neighbours encoder.h5 cat --layout pca", 2, "--layout");
  corpus.refused("inspect neighbours encoder.h5 cat '' -o map.svg", 2, "the WORD is empty");
  corpus.refused("inspect senses encoder.h5 senses.tsv asked.tsv -o map.svg --evaluate", 2, "-o writes a map; leave");
  corpus.refused("inspect senses encoder.h5 senses.tsv -o senses.tsv", 2, "senses.tsv");
  write_file(corpus.path("many.tsv"), repeated(read_file(corpus.path("senses.tsv")), 130));
  corpus.refused("inspect senses encoder.h5 many.tsv -o m.html", 1,
                 "m.html: a map has room for 5,000 points, and there are 5,200");
  corpus.refused("head -n 2100 many.tsv > some.tsv; inspect senses encoder.h5 some.tsv -o m.svg --layout tsne", 1,
                 "t-SNE is for at most 2,000 points");
  CHECK(corpus.leftovers() == 0);
}

TEST_CASE("inspect neighbours: labels of a byte-level tokenizer's pieces are text") {
  const SmallCorpus corpus;
  corpus.must("pretrain -q --train train.h5 -o decoder.h5 --steps 1" + tiny_shape);
  corpus.must("inspect neighbours decoder.h5 ' the' --top 40 -o map.tsv");
  const auto rows = cells(read_file(corpus.path("map.tsv")));
  CHECK(rows[1][0] == "␣the");
  const auto count = [&](const std::string& letters) {
    return std::ranges::count_if(rows, [&](const auto& row) { return contains(row[0], letters); });
  };
  CHECK(count("Ġ") == 0);
  CHECK(count("␣") > 1);
}

}  // namespace inspect_maps_tests
