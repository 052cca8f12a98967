// generate with an encoder from outside: blanks are filled in.
#include "support/json.hpp"
#include "tools/small_corpus.hpp"

using namespace heddle;
using namespace heddle::testing;
using nlohmann::json;

namespace generate_encoder_tests {

namespace {

struct Filling : EncoderCorpus {
  explicit Filling(const std::string& tokenizer = "--model wordpiece --vocab-size 200") : EncoderCorpus(tokenizer) {
    begin_with("model of " + tokenizer, [&] {
      must("pretrain -q --train train.h5 -o model.h5 --steps 200 --learning-rate 5e-3" + tiny_encoder);
    });
  }
  std::vector<std::string> fill(const std::string& lines, const std::string& options = "") const {
    write_file(path("lines"), lines);
    return lines_of(must("generate model.h5 lines " + options).out);
  }
};

}  // namespace

TEST_CASE(
    "generate: an encoder fills in blanks, several a line, and lines without any come out with nothing replaced") {
  const Filling corpus;
  const std::string text =
      "the cat [MASK] a dog.\nNothing \\ here.\n\nmy queen  ([MASK]) to the old [MASK].\nthe [MASK]";
  write_file(corpus.path("lines"), text);
  const Outcome outcome = corpus.must("generate model.h5 lines");
  const auto lines = lines_of(outcome.out);
  REQUIRE(lines.size() == 5);
  CHECK(lines[0].starts_with("the cat "));
  CHECK(lines[0].ends_with(" a dog."));
  CHECK(lines[1] == "Nothing \\\\ here.");
  CHECK(lines[2].empty());
  CHECK(lines[3].starts_with("my queen  ("));
  CHECK(contains(lines[3], ") to the old "));
  for (const std::string& line : lines) CHECK_FALSE(contains(line, "[MASK]"));
  CHECK(contains(outcome.err, "2 texts have no [MASK] and are unchanged"));
  for (const char* options : {"--batch-size 1", "--batch-size 2", "--threads 1"})
    CHECK(corpus.fill(text, options) == lines);
  // To the last bit of the probabilities.
  std::string many;
  for (int i = 0; i < 10; ++i) many += text + "\n";
  const auto objects = corpus.fill(many, "--jsonl --top 5");
  for (const std::string options : {"--batch-size 1", "--batch-size 3", "--batch-size 20 --threads 1"})
    CHECK(corpus.fill(many, "--jsonl --top 5 " + options) == objects);
  CHECK(corpus.must("generate model.h5 -p 'the cat [MASK] a dog.'").out == lines[0] + "\n");
  CHECK(corpus.must("generate -q model.h5 lines").err.empty());
}

TEST_CASE("generate: the blanks' alternatives, as JSON and behind the text") {
  const Filling corpus;
  const json object = parse_json(corpus.fill("the cat [MASK] a [MASK].", "--jsonl --top 3").front());
  CHECK(object["prompt"] == "the cat [MASK] a [MASK].");
  REQUIRE(object["masks"].size() == 2);
  CHECK(object["masks"][0]["position"] == 3);
  CHECK(object["masks"][1]["position"] == 5);
  const auto& top = object["masks"][0]["top"];
  REQUIRE(top.size() == 3);
  CHECK(top[0][1].get<double>() >= top[1][1].get<double>());
  CHECK(top[2][1].get<double>() > 0);
  CHECK(contains(object["text"], top[0][0].get<std::string>()));
  CHECK(parse_json(corpus.fill("no blank", "--jsonl").front())["masks"].empty());
  const std::string line = corpus.fill("the cat [MASK] a [MASK].", "--top 2").front();
  CHECK(std::count(line.begin(), line.end(), '\t') == 2);
  CHECK(line.starts_with(object["text"].get<std::string>() + "\t" + top[0][0].get<std::string>() + " 0."));
  // Each blank by itself: what is said of one does not depend on what the other becomes.
  const json one = parse_json(corpus.fill("the cat [MASK] a [MASK].", "--jsonl --top 1").front());
  CHECK(one["masks"][0]["top"][0] == top[0]);
}

TEST_CASE("generate: pieces that begin with a space take the place of the one before the blank") {
  const Filling corpus("--vocab-size 300 --special-tokens '<s>,<pad>,</s>,<mask>' --end-of-text '</s>'");
  const auto ids = [&](const std::string& text) {
    return parse_json(corpus.fill(text, "--jsonl").front())["masks"][0];
  };
  CHECK(ids("the cat <mask> a dog.") == ids("the cat<mask> a dog."));
  const std::string line = corpus.fill("the cat <mask> a dog.").front();
  CHECK(line.starts_with("the cat"));
  CHECK_FALSE(contains(line, "  "));
  CHECK(line == corpus.fill("the cat<mask> a dog.").front());
}

TEST_CASE("generate: the probabilities are PyTorch's") {
  const SmallCorpus place;
  for (const char* name : {"bert-narrow", "bert-short", "bert-wide"}) {
    CAPTURE(name);
    const std::string folder = std::string(HEDDLE_HUGGINGFACE) + "/" + name;
    place.must("convert -q '" + folder + "' -o " + name + ".h5");
    const json expected = parse_json(read_file(folder + "/expected.json"));
    std::string text;
    for (const json& line : expected) text += line["text"].get<std::string>() + "\n";
    write_file(place.path("lines"), text);
    const auto lines = lines_of(place.must("generate " + std::string(name) + ".h5 lines --jsonl").out);
    REQUIRE(lines.size() == expected.size());
    for (std::size_t i = 0; i < lines.size(); ++i) {
      const json masks = parse_json(lines[i])["masks"];
      REQUIRE(masks.size() == expected[i]["masks"].size());
      for (std::size_t m = 0; m < masks.size(); ++m) {
        CHECK(masks[m]["position"] == expected[i]["masks"][m]["position"]);
        for (std::size_t k = 0; k < 5; ++k) {
          const json& wanted = expected[i]["masks"][m]["top5"][k];
          CHECK(masks[m]["top"][k][0] == wanted[0]);
          CHECK(masks[m]["top"][k][1].get<double>() == doctest::Approx(wanted[1].get<double>()).epsilon(1e-4));
        }
      }
    }
  }
}

TEST_CASE("generate: what encoders cannot do, and texts that do not fit, are said in one line") {
  const Filling corpus;
  std::string overlong = "the [MASK]";
  for (int i = 0; i < 12; ++i) overlong += " sees a dog";
  write_file(corpus.path("lines"), "a [MASK]\n" + overlong + " [MASK]\nthe cat\n");
  const Outcome failed = corpus.run("generate model.h5 lines");
  CHECK(failed.status == 1);
  CHECK(contains(failed.err, "lines:2: "));
  CHECK(lines_of(failed.out).size() == 1);
  const Outcome cut = corpus.run("generate model.h5 lines --overlong truncate");
  CHECK(cut.status == 0);
  CHECK(lines_of(cut.out).size() == 3);
  CHECK(lines_of(cut.out)[1].ends_with(" sees a dog [MASK]"));
  CHECK_FALSE(contains(lines_of(cut.out)[1].substr(0, 20), "[MASK]"));
  CHECK(contains(cut.err, "generate: 1 text was longer than the context, and truncated; [MASK] stays after the cut\n"));
  for (const char* option : {"--temperature 0.5", "--max-tokens 3", "--stop x", "--top-k 2", "--top-p 0.5",
                             "--kv-cache bf16", "--min-p 0.1", "--repetition-penalty 2", "--no-repeat-ngram-size 2",
                             "--min-tokens 2", "--num-samples 2", "--beam 2", "--stream"}) {
    corpus.refused("generate model.h5 -p '[MASK]' " + std::string(option), 2, "is for models that continue texts");
  }
  corpus.refused("generate model.h5 -p '[MASK]' --score", 1, "--score needs a model that predicts next tokens");
}

}  // namespace generate_encoder_tests
