// inspect on what the other tools made: in what files differ, where they come from, what tokens and runs are like.
#include <algorithm>
#include <cmath>
#include <set>

#include "libcore/models/config.hpp"
#include "support/json.hpp"
#include "tools/small_corpus.hpp"

using namespace heddle;
using namespace heddle::testing;
using nlohmann::json;

namespace inspect_parts_tests {

namespace {

json answer(const SmallCorpus& corpus, const std::string& command) {
  return parse_json(corpus.must(command + " --json").out);
}

// The answer of inspect diff, whose exit status must fit it.
json difference_of(const SmallCorpus& corpus, const std::string& files) {
  const Outcome outcome = corpus.run("inspect diff --json " + files);
  CHECK(outcome.err.empty());
  json answer = parse_json(outcome.out);
  CHECK(outcome.status == (answer["same"].get<bool>() ? 0 : 1));
  return answer;
}

// A model file with the weights as `change` leaves them, and otherwise what `name` has.
template <class Change>
void rewrite(const SmallCorpus& corpus, const std::string& name, const std::string& as, const Change& change) {
  const formats::ModelFile file(corpus.path(name));
  std::vector<formats::NamedTensor> weights = file.weights().read();
  auto config = file.config<models::ModelConfig>();
  change(weights, config);
  formats::ModelWriter writer(corpus.path(as));
  writer.config(config);
  writer.tokenizer(file.tokenizer_model());
  writer.weights(weights);
  writer.commit(formats::start_provenance("test"));
}

}  // namespace

TEST_CASE("inspect diff: the same is said to be the same, whatever made it") {
  const SmallCorpus corpus;
  corpus.must("pretrain -q --train train.h5 -o a.h5 --steps 4" + tiny_model);
  corpus.must("pretrain -q --train train.h5 -o b.h5 --steps 4 --threads 2" + tiny_model);
  CHECK(corpus.must("inspect diff a.h5 b.h5").out == "a.h5 and b.h5 have the same content\n");
  CHECK(difference_of(corpus, "a.h5 b.h5")["same"] == true);
  for (const char* file : {"tokenizer.h5", "train.h5"}) {
    CHECK(difference_of(corpus, concatenate(file, " ", file))["same"] == true);
  }
}

TEST_CASE("inspect diff: each weight's distance, and the weights of one file only") {
  const SmallCorpus corpus;
  corpus.must("pretrain -q --train train.h5 -o a.h5 --steps 4" + tiny_model);
  rewrite(corpus, "a.h5", "b.h5", [](auto& weights, auto& config) {
    Tensor(weights.at(0).value).scale(3);
    weights.at(1).value = Tensor({2, 2}, Real(1));
    weights.at(2).name = "decoder/extra";
    weights.at(3).value[5] += Real(0.5);
    weights.at(4).value[0] = std::nanf("");
    config->dropout = 0.25;
  });
  const auto before = corpus.weights("a.h5");
  const json difference = difference_of(corpus, "a.h5 b.h5");
  CHECK(difference["same"] == false);
  CHECK(difference["fields"] ==
        parse_json(R"([{"field": "config.dropout", "first": 0.0, "second": 0.25, "others": 0}])"));
  const json& weights = difference["weights"];
  CHECK(weights["compared"] == before.size() - 2);
  REQUIRE(weights["differing"].size() == 3);
  CHECK(weights["differing"][0]["relative_norm"].get<double>() == doctest::Approx(2));
  CHECK(weights["differing"][1]["largest"].get<double>() == doctest::Approx(0.5));
  CHECK(weights["differing"][2]["largest"].is_null());
  REQUIRE(weights["mismatched"].size() == 3);
  CHECK(weights["mismatched"][0]["second_shape"] == json{2, 2});
  CHECK(weights["mismatched"][1]["second_shape"].is_null());
  CHECK(weights["mismatched"][2]["first_shape"].is_null());
  const Outcome text = corpus.run("inspect diff a.h5 b.h5");
  CHECK(text.status == 1);
  for (const char* part :
       {"a.h5 and b.h5 differ\n", "\n  config.dropout  0.0   0.25\n", "  3 of 33 differ ", "\n  decoder/extra "}) {
    CAPTURE(part);
    CHECK(contains(text.out, part));
  }
}

// 65,536 tokens are compared at once.
TEST_CASE("inspect diff: the first token that differs, of more than are compared at once") {
  const SmallCorpus corpus;
  std::string text = repeated("abc", 50000);
  write_file(corpus.path("one"), text);
  text[131073] = 'x';
  write_file(corpus.path("two"), text);
  corpus.must(
      "tokenize -q --train --model byte -o bytes.h5 train.txt; "
      "for i in one two; do tokenize -q -t bytes.h5 -o $i.h5 $i; done");
  CHECK(difference_of(corpus, "one.h5 two.h5")["first_token"] == 131073);
}

TEST_CASE("inspect diff: types of weights, tokenizers, adapters and token files") {
  const SmallCorpus corpus;
  corpus.must("pretrain -q --train train.h5 -o a.h5 --steps 4" + tiny_model);
  corpus.must("convert -q a.h5 --dtype bf16 -o half.h5");
  const json rounded = difference_of(corpus, "a.h5 half.h5");
  CHECK(rounded["fields"].empty());
  CHECK(rounded["weights"]["relative_norm"].get<double>() < 1.0 / 256);
  CHECK(rounded["weights"]["differing"][0]["types"] == json{"float32", "bfloat16"});

  corpus.must("tokenize -q --train --vocab-size 280 -o other.h5 train.txt");
  const json tokenizers = difference_of(corpus, "tokenizer.h5 other.h5");
  const json& pieces = tokenizers["fields"].at(0);
  CHECK(pieces["field"] == "tokenizer.pieces[279]");
  CHECK(pieces["second"] == "<|endoftext|>");
  CHECK(pieces["others"].get<int>() > 0);

  write_file(corpus.path("texts.tsv"), "cat\tthe cat\nking\tthe king\n");
  for (const char* rank : {"2", "4"}) {
    corpus.must(
        concatenate("finetune -q --from a.h5 --train texts.tsv --steps 2 -o r", rank, ".h5 --lora-rank ", rank));
  }
  const Outcome adapters = corpus.run("inspect diff r2.h5 r4.h5");
  CHECK(adapters.status == 1);
  CHECK(contains(adapters.out, "adapters.lora_rank  2"));
  CHECK(contains(adapters.out, "lora/a  [2, 32]  [4, 32]"));
  CHECK(contains(corpus.must("inspect r2.h5 --config").out, "lora-rank = 2\n"));

  // An item that one of two files lacks is a difference, whichever file it is.
  const auto fields = [&](const std::string& files) {
    std::set<std::string> names;
    const json difference = difference_of(corpus, files);
    for (const json& field : difference["fields"]) names.insert(field["field"]);
    return names;
  };
  corpus.must("pretrain -q --arch lstm --layers 1 --width 16 --train train.h5 -o lstm.h5 --steps 1 --batch-size 4");
  CHECK(fields("a.h5 lstm.h5") == fields("lstm.h5 a.h5"));
  CHECK(fields("a.h5 lstm.h5").contains("config.heads"));

  const json tokens = difference_of(corpus, "train.h5 valid.h5");
  CHECK(tokens["first_token"].is_number());
  CHECK(tokens["fields"][0]["field"] == "tokens");
  corpus.must("inspect embed a.h5 --text cat -o x.h5");
  corpus.refused("inspect diff x.h5 x.h5", 2, "x.h5: holds vectors");
  corpus.refused("inspect diff a.h5 train.txt", 2, "train.txt:");
  corpus.refused("inspect diff a.h5 absent.h5", 2, "absent.h5: cannot open");
  corpus.refused("inspect diff a.h5 a.h5 > /dev/full", 2, "standard output: cannot write: No space left on device");
  corpus.refused("inspect diff a.h5 half.h5 --weights", 2,
                 "inspect diff has no option --weights, but inspect show has it");
  CHECK(difference_of(corpus, "a.h5 train.h5")["fields"][0]["field"] == "kind");
}

TEST_CASE("inspect --provenance: the commands back to the text, and nothing else") {
  const SmallCorpus corpus;
  corpus.must("pretrain -q --train train.h5 --valid valid.h5 -o a.h5 --steps 2" + tiny_model);
  corpus.must("convert -q a.h5 --dtype bf16 -o half.h5");
  const json steps = answer(corpus, "inspect half.h5 --provenance")["provenance"];
  REQUIRE(steps.size() == 5);
  CHECK(steps[0]["command_line"] == "tokenize -q --train --vocab-size 300 -o tokenizer.h5 train.txt");
  const json& text = steps[0]["inputs"][0];
  CHECK(text["name"] == "train.txt");
  CHECK(text["size"] == std::filesystem::file_size(corpus.path("train.txt")));
  CHECK(text["xxh128"].get<std::string>().size() == 32);
  CHECK(text["made_by"].is_null());
  CHECK(steps[4]["inputs"][0]["made_by"] == 3);
  const std::string shown = corpus.must("inspect half.h5 --provenance").out;
  CHECK(shown.starts_with("Provenance\n  [1] tokenize -q --train "));
  CHECK(contains(shown, "  [5] convert -q a.h5"));
  CHECK(contains(shown, ", made by [4]\n"));
  CHECK_FALSE(contains(shown, "parameters"));
}

TEST_CASE("inspect --tokens: statistics of token files are those of the ids") {
  const SmallCorpus corpus;
  corpus.must("tokenize -q -t tokenizer.h5 --documents line -o lines.h5 valid.txt");
  std::map<Index, Index> counts;
  std::vector<std::size_t> lengths;
  for (const std::string& line : lines_of(corpus.must("tokenize -t tokenizer.h5 valid.txt").out)) {
    std::istringstream ids(line);
    std::size_t length = 2;  // the newline and the end of text
    for (Index id = 0; ids >> id; ++length) ++counts[id];
    lengths.push_back(length);
  }
  std::ranges::sort(lengths);
  const json tokens = answer(corpus, "inspect lines.h5 --tokens --top 3");
  const json& statistics = tokens["statistics"];
  CHECK(tokens["documents"] == lengths.size());
  CHECK(statistics["special"] == lengths.size());
  CHECK(statistics["used"] == counts.size() + 2);
  CHECK(statistics["shortest"] == lengths.front());
  CHECK(statistics["longest"] == lengths.back());
  CHECK(statistics["median"] == lengths[lengths.size() / 2]);
  REQUIRE(statistics["frequent"].size() == 3);
  const auto most = std::ranges::max_element(counts, {}, [](const auto& entry) { return entry.second; });
  CHECK(statistics["frequent"][0]["count"] == most->second);
  const json all = answer(corpus, "inspect lines.h5 --tokens --top 1000")["statistics"]["frequent"];
  REQUIRE(all.size() == counts.size() + 2);
  for (std::size_t i = 1; i < all.size(); ++i) {  // ties: the lower id first
    const auto place = [&](std::size_t at) {
      return std::pair(-all[at]["count"].get<Index>(), all[at]["id"].get<Index>());
    };
    CHECK(place(i - 1) < place(i));
  }
  CHECK(contains(corpus.must("inspect lines.h5 --tokens").out, " tokens per document, median "));
  CHECK_FALSE(answer(corpus, "inspect lines.h5").contains("statistics"));
}

TEST_CASE("inspect --tokens: of what has a tokenizer only, the vocabulary") {
  const SmallCorpus corpus;
  const json pieces = answer(corpus, "inspect tokenizer.h5 --tokens")["pieces"];
  REQUIRE(pieces.size() == 300);
  const std::string text = corpus.must("inspect tokenizer.h5 --tokens").out;
  CHECK(lines_in(text) == 301);
  CHECK(contains(text, "  299  " + pieces[299].get<std::string>() + "\n"));
  corpus.must("pretrain -q --train train.h5 -o a.h5 --steps 2" + tiny_model);
  CHECK(corpus.must("inspect a.h5 --tokens").out == text);
  corpus.refused("inspect --preset nano --tokens", 1, "has no tokens");
  // Words that a vocabulary lacks are counted.
  write_file(corpus.path("foreign.txt"), "the \u20ac cat \u20ac\n");
  corpus.must(
      "tokenize -q --train --model wordpiece --vocab-size 100 -o words.h5 train.txt && "
      "tokenize -q -t words.h5 -o foreign.h5 foreign.txt");
  CHECK(answer(corpus, "inspect foreign.h5 --tokens")["statistics"]["unknown"] == 2);
}

TEST_CASE("inspect history: several runs as a table, a picture, columns and JSON") {
  const SmallCorpus corpus;
  for (const char* seed : {"1", "2"}) {
    corpus.must(concatenate("pretrain -q --train train.h5 --valid valid.h5 --eval-every 5 --steps 10 --seed ", seed,
                            " -o run", seed, ".h5", tiny_model));
  }
  const json runs = answer(corpus, "inspect history run1.h5 run2.h5")["runs"];
  REQUIRE(runs.size() == 2);
  CHECK(runs[1]["name"] == "run2.h5");
  corpus.refused("inspect history run1.h5 --json --jsonl", 2, "--json and --jsonl are two forms of the answer");
  CHECK(runs[1]["history"] == answer(corpus, "inspect run2.h5 --history")["history"]);
  const std::vector<std::string> table = lines_of(corpus.must("inspect history run1.h5 run2.h5").out);
  REQUIRE(table.size() == 3);
  CHECK(table[2].starts_with("run2.h5     10 "));
  for (std::size_t i = 0; i < 2; ++i) {
    const json& history = runs[i]["history"];
    std::vector<std::pair<double, long>> validations;
    for (std::size_t row = 0; row < history["step"].size(); ++row) {
      if (history["valid_loss"][row].is_number())
        validations.emplace_back(history["valid_loss"][row], history["step"][row]);
    }
    REQUIRE(validations.size() == 2);
    const auto lowest = std::ranges::min(validations);
    std::istringstream fields(table[i + 1]);
    std::string name, steps;
    double training = 0, last = 0, best = 0;
    long at = 0;
    REQUIRE((fields >> name >> steps >> training >> last >> best >> at));
    CHECK(std::abs(training - history["loss"].back().get<double>()) <= 5.1e-5);
    CHECK(std::abs(last - validations.back().first) <= 5.1e-5);
    CHECK(std::abs(best - lowest.first) <= 5.1e-5);
    CHECK(at == lowest.second);
  }

  corpus.must("inspect history run1.h5 run2.h5 -o runs.tsv");
  const std::vector<std::string> rows = lines_of(read_file(corpus.path("runs.tsv")));
  CHECK(rows.front().starts_with("run\tstep\t"));
  CHECK(rows.size() == 1 + 2 * runs[0]["history"]["step"].size());
  const auto tabs = std::ranges::count(rows.front(), '\t');
  for (const std::string& row : rows) CHECK(std::ranges::count(row, '\t') == tabs);

  const auto lines = json_lines(corpus.must("inspect history run1.h5 run2.h5 --jsonl").out);
  REQUIRE(lines.size() == 2);
  for (std::size_t i = 0; i < lines.size(); ++i) CHECK(lines[i] == runs[i]);
  const std::string chart = corpus.must("inspect history run1.h5").out;
  CHECK(chart.starts_with("loss in nats per token: . training, o validation\n"));
  CHECK(contains(chart, "\nvalidation loss "));
  corpus.refused("inspect run1.h5 run2.h5", 2, "unexpected argument 'run2.h5' (inspect show --help");
  corpus.refused("inspect history run1.h5 train.h5", 1, "train.h5: has no history");
  corpus.refused("inspect history run1.h5 run2.h5 -o run2.h5", 2, "run2.h5");
}

}  // namespace inspect_parts_tests
