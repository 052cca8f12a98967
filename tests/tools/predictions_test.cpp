// classify --evaluate -o, and what passes through from objects to objects.
#include <filesystem>

#include "support/json.hpp"
#include "tools/labelled_corpus.hpp"

using namespace heddle;
using namespace heddle::testing;

namespace predictions_tests {

namespace {

// The fields of TSV's lines.
std::vector<std::vector<std::string>> table(const SmallCorpus& corpus, const std::string& name) {
  std::vector<std::vector<std::string>> rows;
  for (const std::string& line : lines_of(read_file(corpus.path(name)))) {
    std::vector<std::string>& row = rows.emplace_back();
    for (std::size_t begin = 0, end = 0; end != line.npos; begin = end + 1) {
      end = line.find('\t', begin);
      row.push_back(line.substr(begin, end == line.npos ? line.npos : end - begin));
    }
  }
  return rows;
}

}  // namespace

TEST_CASE("predictions: text, gold, predicted and probability of each example, as the metrics count them") {
  const Labelled corpus;
  corpus.must("finetune --from model.h5 --train texts.tsv -o c.h5" + quick);
  write_file(corpus.path("gold.tsv"),
             "animal\tthe cat \\ sees a dog.\nroyal\tthe cat sees a dog.\nroyal\tmy queen sees a dog.\n");
  const json report = parse_json(corpus.must("classify c.h5 gold.tsv --evaluate --json -o p.tsv").out);
  const auto rows = table(corpus, "p.tsv");
  REQUIRE(rows.size() == 4);
  CHECK(rows[0] == std::vector<std::string>{"text", "gold", "predicted", "probability"});
  CHECK(rows[1][0] == "the cat \\\\ sees a dog.");
  int right = 0;
  const auto answers = corpus.must("cut -f2 gold.tsv | classify c.h5").out;
  for (std::size_t i = 1; i < rows.size(); ++i) {
    right += rows[i][1] == rows[i][2] ? 1 : 0;
    CHECK(lines_of(answers)[i - 1] == rows[i][2] + "\t" + rows[i][3]);
  }
  CHECK(rows[2][1] == "royal");
  CHECK(report["accuracy"].get<double>() == doctest::Approx(right / 3.0));
  // The metrics are the same with and without a file; below the threshold there is no prediction.
  CHECK(corpus.must("classify c.h5 gold.tsv --evaluate -o p.jsonl").out ==
        corpus.must("classify c.h5 gold.tsv --evaluate").out);
  CHECK(json_lines(read_file(corpus.path("p.jsonl")))[1]["gold"] == "royal");
  corpus.must(
      "classify c.h5 gold.tsv --evaluate --threshold 1 -o p.tsv && classify c.h5 gold.tsv --evaluate --threshold 1 -o "
      "p.jsonl");
  CHECK(table(corpus, "p.tsv")[1][2].empty());
  CHECK(json_lines(read_file(corpus.path("p.jsonl")))[0]["predicted"].is_null());
  // A probability of exactly the threshold is a prediction.
  const std::string exact = json_lines(read_file(corpus.path("p.jsonl")))[0]["probability"].dump();
  corpus.must("classify c.h5 gold.tsv --evaluate --threshold " + exact + " -o p.jsonl");
  CHECK(json_lines(read_file(corpus.path("p.jsonl")))[0]["predicted"].is_string());
  // One fold's examples are those that are evaluated.
  corpus.must("classify c.h5 texts.tsv --evaluate --folds 4 -o p.tsv");
  CHECK(table(corpus, "p.tsv").size() == 31);
}

TEST_CASE("predictions: pairs, numbers, words and questions have their own columns") {
  const Labelled corpus;
  corpus.must("finetune --from model.h5 --task pair --train pairs.tsv -o p.h5 -q --epochs 1");
  corpus.must("classify p.h5 pairs.tsv --evaluate -o p.tsv");
  CHECK(table(corpus, "p.tsv")[0] == std::vector<std::string>{"text", "text_b", "gold", "predicted", "probability"});
  CHECK(table(corpus, "p.tsv")[1][1] == "sees");

  std::string numbers, spans;
  for (int i = 0; i < 30; ++i) {
    numbers += std::to_string(i % 3) + ".50\tthe cat sees.\n";
    spans += R"({"id":"q)" + std::to_string(i) + R"(","question":"who sees","context":"the cat sees","answers":[)" +
             R"({"text":"cat","answer_start":4},{"text":"the cat","answer_start":0}],"source":[1.50,{"a":"},"}]})" +
             "\n";
  }
  write_file(corpus.path("n.tsv"), numbers);
  corpus.must("finetune --from model.h5 --task regress --train n.tsv -o n.h5 -q --epochs 1");
  corpus.must("classify n.h5 n.tsv --evaluate -o p.tsv && classify n.h5 n.tsv --evaluate -o p.jsonl");
  CHECK(table(corpus, "p.tsv")[0] == std::vector<std::string>{"text", "gold", "predicted"});
  CHECK(table(corpus, "p.tsv")[2][1] == "1.5");
  CHECK(json_lines(read_file(corpus.path("p.jsonl")))[0]["gold"] == 0.5);

  corpus.must("finetune --from model.h5 --task label --train tags.conll -o t.h5 -q --epochs 1");
  corpus.must("classify t.h5 tags.conll --evaluate -o p.tsv && classify t.h5 tags.conll --evaluate -o p.jsonl");
  const auto words = table(corpus, "p.tsv");
  CHECK(words[0] == std::vector<std::string>{"sentence", "word", "gold", "predicted", "probability"});
  CHECK(words.size() == 1 + 3 * 120);
  CHECK(words[4][0] == "2");
  const json sentence = json_lines(read_file(corpus.path("p.jsonl")))[0];
  CHECK(sentence["words"] == json{"the", "cat", "sees"});
  CHECK(sentence["gold"] == json{"DET", "NOUN", "VERB"});
  CHECK(sentence["predicted"].size() == 3);

  write_file(corpus.path("s.jsonl"), spans);
  corpus.must("finetune --from model.h5 --task span --train s.jsonl -o s.h5 -q --epochs 1");
  corpus.must("classify s.h5 s.jsonl --evaluate -o p.tsv && classify s.h5 s.jsonl --evaluate -o p.jsonl");
  CHECK(table(corpus, "p.tsv")[0] == std::vector<std::string>{"id", "question", "gold", "predicted", "score"});
  CHECK(table(corpus, "p.tsv")[1][2] == "cat | the cat");
  CHECK(
      read_file(corpus.path("p.jsonl")).starts_with(R"({"source":[1.50,{"a":"},"}],"id":"q0","question":"who sees",)"));
}

TEST_CASE("predictions: what an object has besides passes through as it is spelled") {
  const Labelled corpus;
  corpus.must("finetune --from model.h5 --train texts.tsv -o c.h5 -q --epochs 1");
  const std::string kept =
      R"("id":12345678901234567890123,"when" : "\u00e9t\u00e9 \"x\", }","n":1.50,"deep":{"text":[{}]},)";
  write_file(corpus.path("x.jsonl"), "{" + kept + R"("te\u0078t":"the cat","label":"royal","probability":"mine"})" +
                                         "\n" + R"({"text":"my queen","label":"royal"})" + "\n");
  corpus.must("classify c.h5 x.jsonl --evaluate -o p.jsonl");
  const std::vector<std::string> lines = lines_of(read_file(corpus.path("p.jsonl")));
  CHECK(lines[0].starts_with("{" + kept + R"("text":"the cat","gold":"royal","predicted":)"));
  CHECK_FALSE(contains(lines[0], "mine"));
  CHECK(lines[1].starts_with(R"({"text":"my queen","gold":"royal")"));
  const std::string answers = corpus.must("classify c.h5 x.jsonl --jsonl").out;
  CHECK(lines_of(answers)[0].starts_with("{" + kept + R"("text":"the cat","label":)"));
}

TEST_CASE("predictions: other endings, and a file that is read, are refused; a refusal leaves no file") {
  const Labelled corpus;
  corpus.must("finetune --from model.h5 --train texts.tsv -o c.h5 -q --epochs 1");
  for (const Refusal& refusal :
       std::vector<Refusal>{{"classify c.h5 texts.tsv --evaluate -o report.txt",
                             "-o report.txt: with --evaluate it takes the predictions", 2},
                            {"classify c.h5 texts.tsv --evaluate -o texts.tsv", "texts.tsv", 2},
                            {"classify c.h5 texts.tsv --evaluate --jsonl -o p.jsonl", "--evaluate prints metrics", 2},
                            {"classify c.h5 texts.tsv --evaluate -o no/p.tsv", "no/p.tsv", 1}}) {
    corpus.refused(refusal);
  }
  CHECK_FALSE(std::filesystem::exists(corpus.path("p.tsv")));
  CHECK(corpus.leftovers() == 0);
}

}  // namespace predictions_tests
