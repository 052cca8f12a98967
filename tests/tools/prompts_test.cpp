// Language models that are asked, from outside: classes without fine-tuning (SPEC 7.4).
#include "support/json.hpp"
#include "tools/small_corpus.hpp"

using namespace heddle;
using namespace heddle::testing;
using nlohmann::json;

namespace prompts_tests {

namespace {

// Reviews in one form, of which the last word says what they say: "the film was lovely and the cast was warm, so it was
// good". No pair of adjectives in the held-out ones occurs in the others.
struct Reviews : SmallCorpus {
  Reviews() {
    const std::vector<std::string> things{"film", "plot", "music", "cast", "book"};
    const std::vector<std::vector<std::string>> adjectives{{"lovely", "great", "funny", "warm", "clever"},
                                                           {"dull", "poor", "sad", "cold", "boring"}};
    std::string training, held_out;
    for (std::size_t i = 0; i < 5 * 5 * 5 * 2 * 4; ++i) {
      const std::size_t kind = i % 2, first = i / 2 % 5, second = i / 10 % 5, thing = i / 50 % 5;
      const std::string review = "the " + things[thing] + " was " + adjectives[kind][first] + " and the " +
                                 things[(thing + 1 + i / 250) % 5] + " was " + adjectives[kind][second];
      const std::string label = kind == 0 ? "good" : "bad";
      if ((first + second) % 5 == 0) {
        held_out += label + "\t" + review + "\n";
      } else {
        training += review + ", so it was " + label + "\n";
      }
    }
    write_file(path("reviews.txt"), training);
    write_file(path("held_out.tsv"), held_out);
  }
  void learn(const std::string& tokenizer, const std::string& model) const {
    must("tokenize -q --train " + tokenizer +
         " -o t.h5 reviews.txt && tokenize -q -t t.h5 --documents line -o reviews.h5 reviews.txt");
    must("pretrain -q --train reviews.h5 -o model.h5 --layers 2 --width 32 --heads 2 --batch-size 16 --warmup 20 " +
         model);
  }
};

}  // namespace

TEST_CASE("prompts: a decoder that has read a form says of held-out texts which label follows") {
  const Reviews corpus;
  corpus.learn("--vocab-size 320", "--context 32 --steps 1000 --learning-rate 3e-3");
  const std::string command =
      "classify model.h5 held_out.tsv --labels good,bad --template '{}, so it was' --evaluate --json";
  const json report = parse_json(corpus.must(command).out);
  CHECK(report["examples"] == 200);
  CHECK(report["confusion"]["good"]["good"].get<int>() + report["confusion"]["good"]["bad"].get<int>() == 100);
  CHECK(report["accuracy"] >= 0.9);
}

TEST_CASE("prompts: an encoder that has read a form fills in the label of held-out texts") {
  const Reviews corpus;
  // A window holds one review, as the question does.
  corpus.learn("--model wordpiece --vocab-size 150",
               "--arch encoder:norm=layer,gated=false,activation=gelu-tanh --context 17 --steps 1500 "
               "--learning-rate 3e-3");
  corpus.must("cut -f2 held_out.tsv | sed 's/$/, so it was [MASK]/' > asked.txt");
  const auto filled = lines_of(corpus.must("generate model.h5 asked.txt").out);
  const auto gold = lines_of(read_file(corpus.path("held_out.tsv")));
  REQUIRE(filled.size() == 200);
  int right = 0;
  for (std::size_t i = 0; i < filled.size(); ++i) {
    right += filled[i].ends_with("so it was " + gold[i].substr(0, gold[i].find('\t'))) ? 1 : 0;
  }
  CHECK(right >= 180);
}

}  // namespace prompts_tests
