// Word vectors of trained models, from outside: inspect senses and bias.
#include <cmath>
#include <map>
#include <nlohmann/json.hpp>
#include <set>
#include <sstream>

#include "libcore/base/random.hpp"
#include "support/json.hpp"
#include "tools/small_corpus.hpp"

using namespace heddle;
using namespace heddle::testing;
using nlohmann::json;

namespace vectors_tests {

namespace {

std::string pick(const std::vector<std::string>& list, std::uint64_t at) {
  return list[at % list.size()];
}

// Sentences of two words, banana and door, that are written as one. Twice as many are of the first.
struct PseudoWord {
  std::string sense, sentence;  // with the word as number 3
};
PseudoWord pseudo_word(std::uint64_t i) {
  const RandomStream stream(5, 6, i);
  const bool fruit = stream.below(0, 3) < 2;
  const auto word = [&](std::uint64_t at, const std::vector<std::string>& a, const std::vector<std::string>& b) {
    return pick(fruit ? a : b, stream.below(at, 100)) + " ";
  };
  return {fruit ? "banana" : "door", "they " + word(1, {"eat", "peel", "taste"}, {"open", "shut", "paint"}) +
                                         word(2, {"ripe", "sweet", "yellow"}, {"old", "wooden", "heavy"}) +
                                         "banadoor " + word(3, {"with", "after", "for"}, {"of", "behind", "to"}) +
                                         pick(fruit ? std::vector<std::string>{"cream", "lunch", "breakfast"}
                                                    : std::vector<std::string>{"the house", "the garden", "the cellar"},
                                              stream.below(4, 100))};
}

class SenseCorpus : public SmallCorpus {
 public:
  SenseCorpus() {
    std::string text, examples, questions, gold;
    for (std::uint64_t i = 0; i < 700; ++i) {
      const auto [sense, sentence] = pseudo_word(i);
      text += sentence + "\n";
      if (i >= 160) continue;
      (i < 80 ? examples : gold) += sense + "\t3\t" + sentence + "\n";
      if (i >= 80) questions += "3\t" + sentence + "\n";
    }
    write_file(path("text.txt"), text);
    write_file(path("examples.tsv"), examples);
    write_file(path("questions.tsv"), questions);
    write_file(path("gold.tsv"), gold);
    must("tokenize -q --train --model wordpiece --vocab-size 300 -o pieces.h5 text.txt");
    must("tokenize -q -t pieces.h5 -o text.h5 text.txt");
    must(
        "pretrain -q --arch encoder --train text.h5 -o encoder.h5 --layers 2 --width 32 --heads 2 --context 16 "
        "--batch-size 8 --steps 60 --learning-rate 3e-3");
  }
  json score(const std::string& options) const {
    return parse_json(must("inspect senses -q encoder.h5 examples.tsv --evaluate --json gold.tsv " + options).out);
  }
};

}  // namespace

TEST_CASE("inspect senses: words in context tell pseudo-words apart; words alone have the most frequent sense") {
  const SenseCorpus corpus;
  for (const char* options : {"", "--layer -1 --sentence-weight 0", "--sentence-weight 0 --voters 1", "--voters 5"}) {
    CAPTURE(options);
    const json answer = corpus.score(options);
    CHECK(answer["examples"] == 80);
    CHECK(answer["accuracy"].get<double>() > answer["most_frequent_sense"].get<double>() + 0.2);
    CHECK(answer["classes"]["door"]["support"].get<int>() + answer["classes"]["banana"]["support"].get<int>() == 80);
  }
  // The input of the first block is the same in every sentence, since the word stands in the same place.
  for (const char* options : {"", " --voters 1", " --voters 7"}) {
    const json alone = corpus.score("--layer 0 --sentence-weight 0" + std::string(options));
    CHECK(alone["accuracy"] == alone["most_frequent_sense"]);
  }
  const std::string lines = corpus.must("inspect senses encoder.h5 examples.tsv questions.tsv").out;
  std::istringstream senses(lines), gold(read_file(corpus.path("gold.tsv")));
  int right = 0, count = 0;
  for (std::string sense, line; std::getline(senses, sense) && std::getline(gold, line); ++count) {
    right += sense.substr(0, sense.find('\t')) == line.substr(0, line.find('\t')) ? 1 : 0;
  }
  CHECK(count == 80);
  CHECK(right / 80.0 == doctest::Approx(corpus.score("")["accuracy"].get<double>()));
  CHECK(contains(corpus.must("inspect senses encoder.h5 examples.tsv --evaluate gold.tsv").out,
                 "\nmost frequent sense  0."));
}

TEST_CASE("inspect senses: by default the mean of the last four layers, of all blocks if fewer (SPEC 7.5)") {
  const SenseCorpus corpus;
  const auto answers = [&](Index layers, const std::string& options) {
    const std::string model = "deep" + std::to_string(layers) + ".h5";
    return corpus.must("inspect senses -q " + model + " examples.tsv --jsonl questions.tsv " + options).out;
  };
  for (const Index layers : {3, 6}) {
    CAPTURE(layers);
    const std::string count = std::to_string(layers);
    corpus.must("pretrain -q --arch encoder --train text.h5 -o deep" + count + ".h5 --layers " + count +
                " --width 16 --heads 2 --context 16 --batch-size 4 --steps 3");
    const std::string expected = answers(layers, layers == 3 ? "--layer -1,-2,-3" : "--layer -1,-2,-3,-4");
    CHECK(answers(layers, "") == expected);
    for (const char* other : {"-1", "-1,-2", "0,-1,-2,-3"}) {
      CHECK(answers(layers, "--layer " + std::string(other)) != expected);
    }
  }
}

TEST_CASE("inspect senses: long sentences are cut around the word, and errors name the line") {
  const SenseCorpus corpus;
  const std::string tail = "for i in $(seq 40); do printf ' open'; done";
  const Outcome outcome = corpus.must("(printf '43\\t'; " + tail +
                                      "; echo ' they peel ripe banadoor with cream'; "
                                      "printf '3\\tthey peel ripe banadoor with cream\\n') | "
                                      "inspect senses encoder.h5 examples.tsv");
  CHECK(
      contains(outcome.err, "standard input: 1 sentences were longer than the context and truncated around the word"));
  CHECK(outcome.out.starts_with("banana\t"));
  const Outcome wrong = corpus.run("printf '0\\ta\\n1\\ta\\n' | inspect senses encoder.h5 examples.tsv");
  CHECK(wrong.status == 1);
  CHECK(contains(wrong.err, "standard input:2: there is no word 1"));
  CHECK(contains(corpus.run("inspect senses encoder.h5 questions.tsv gold.tsv").err, "questions.tsv:1: "));
  const auto answers = json_lines(corpus.must("inspect senses encoder.h5 examples.tsv --jsonl questions.tsv").out);
  const auto lines = lines_of(corpus.must("inspect senses encoder.h5 examples.tsv questions.tsv").out);
  REQUIRE(answers.size() == lines.size());
  for (std::size_t i = 0; i < lines.size(); ++i)
    CHECK(lines[i].starts_with(answers[i]["sense"].get<std::string>() + "\t"));
}

namespace {

// Nine of ten nurses are she, nine of ten engineers he, teachers and persons as often the one as the other.
std::string planted_text() {
  const std::vector<std::pair<std::string, int>> he_of_ten{
      {"nurse", 1}, {"engineer", 9}, {"teacher", 5}, {"person", 5}};
  std::vector<std::string> lines;
  for (int i = 0; i < 1000; ++i) {
    for (const auto& [attribute, he] : he_of_ten) {
      lines.push_back("the " + attribute + " said that " + (i % 10 < he ? "he" : "she") + " was late\n");
    }
  }
  const RandomStream stream(3, 4);
  std::string text;
  for (std::size_t i = lines.size(); i > 0; --i) {
    std::swap(lines[i - 1], lines[stream.below(i, i)]);
    text += lines[i - 1];
  }
  return text;
}

const std::string tests =
    "[templates occupations]\n"
    "template = the [ATTRIBUTE] said that [TARGET] was late\n"
    "target = he, she\n"
    "attribute = nurse, engineer, teacher\n"
    "neutral = person\n"
    "[pairs occupations]\n"
    "first = the nurse said that she was late\n"
    "second = the nurse said that he was late\n"
    "first = the engineer said that he was late\n"
    "second = the engineer said that she was late\n"
    "first = the teacher said that she was late\n"
    "second = the teacher said that he was late\n";

json bias_of(const SmallCorpus& corpus, const std::string& model) {
  return parse_json(corpus.must("inspect bias " + model + " tests.txt --json").out);
}

std::map<std::string, double> template_bias_of(const json& answer) {
  std::map<std::string, double> bias;
  for (const json& one : answer["templates"][0]["attributes"]) bias[one["attribute"]] = one["bias"];
  return bias;
}

void check_planted(const SmallCorpus& corpus, const std::string& model) {
  const json answer = bias_of(corpus, model);
  CHECK(answer["templates"][0]["targets"] == json({"he", "she"}));
  const auto bias = template_bias_of(answer);
  CHECK(std::abs(bias.at("nurse") + std::log(9)) < 0.5);
  CHECK(std::abs(bias.at("engineer") - std::log(9)) < 0.5);
  CHECK(std::abs(bias.at("teacher")) < 0.2);
  const json& pairs = answer["pairs"][0];
  CHECK(pairs["name"] == "occupations");
  CHECK(std::abs(pairs["pairs"][0]["difference"].get<double>() - std::log(9)) < 0.5);
  CHECK(std::abs(pairs["pairs"][1]["difference"].get<double>() - std::log(9)) < 0.5);
  CHECK(std::abs(pairs["pairs"][2]["difference"].get<double>()) < 0.5);
  CHECK(pairs["first_likelier"].get<double>() > 0.6);
  const std::string text = corpus.must("inspect bias " + model + " tests.txt").out;
  CHECK(contains(text, "of 3, mean difference "));
  CHECK_FALSE(contains(text, "{"));  // JSON is asked for
  for (const std::string job : {"nurse", "engineer", "teacher"}) CHECK(contains(text, "  the " + job + " said that "));
}

// Labels that have nothing to do with who is late.
std::string unrelated_labels() {
  std::string lines;
  for (int i = 0; i < 60; ++i)
    lines += i % 2 == 0 ? "statement\tthe person was late\n" : "question\twas the person late\n";
  return lines;
}

}  // namespace

TEST_CASE("inspect bias: templates and pairs find the bias that was planted, and after unrelated fine-tuning too") {
  const SmallCorpus corpus;
  write_file(corpus.path("planted.txt"), planted_text());
  write_file(corpus.path("tests.txt"), tests);
  corpus.must(
      "tokenize -q --train --vocab-size 320 -o t.h5 planted.txt && "
      "tokenize -q -t t.h5 --documents line -o planted.h5 planted.txt");
  const std::string learn =
      "--layers 1 --width 32 --heads 2 --batch-size 16 --steps 800 --warmup 50 --optimizer adamw:beta2=0.95 "
      "--schedule cosine "
      "--learning-rate 2e-3";
  corpus.must("pretrain -q --train planted.h5 -o decoder.h5 --context 16 --positions learned " + learn);
  check_planted(corpus, "decoder.h5");
  corpus.must(
      "tokenize -q --train --model wordpiece --vocab-size 100 -o t.h5 planted.txt && "
      "tokenize -q -t t.h5 --documents line -o planted.h5 planted.txt");
  corpus.must(
      "pretrain -q --arch encoder:norm=layer,gated=false,activation=gelu-tanh --positions learned "
      "--objective masked:probability=0.15 --train planted.h5 -o encoder.h5 --context 10 " +
      learn);
  check_planted(corpus, "encoder.h5");
  write_file(corpus.path("labels.tsv"), unrelated_labels());
  corpus.must("finetune -q --from encoder.h5 --train labels.tsv -o labels.h5 --epochs 4 --learning-rate 1e-3");
  CHECK(parse_json(corpus.must("classify labels.h5 labels.tsv --evaluate --json").out)["accuracy"] == 1.0);
  const auto before = template_bias_of(bias_of(corpus, "encoder.h5")),
             after = template_bias_of(bias_of(corpus, "labels.h5"));
  CHECK(after != before);
  CHECK(after.at("nurse") < 0.5 * before.at("nurse"));
  CHECK(after.at("engineer") > 0.5 * before.at("engineer"));
  write_file(corpus.path("pairs.txt"), "[pairs p]\nfirst = he\nsecond = she\n");
  CHECK(
      contains(corpus.run("inspect bias encoder.h5 pairs.txt").err, "pairs.txt:3: has no token in common with line 2"));
  corpus.must("sed -i '/neutral/d' tests.txt");
  CHECK(parse_json(corpus.must("inspect bias encoder.h5 tests.txt --json").out)["templates"][0]["attributes"].size() ==
        3);
  const Outcome refused = corpus.run("inspect bias decoder.h5 tests.txt");
  CHECK(refused.status == 1);
  CHECK(contains(refused.err,
                 "tests.txt:1: a model that predicts next tokens has no masks; give occupations words for "
                 "the prior"));
  corpus.must("sed -i 's/^target.*/target = engineernurse, she/' tests.txt");
  CHECK(contains(corpus.run("inspect bias encoder.h5 tests.txt").err, "tests.txt:3: 'engineernurse' is not one token"));
}

TEST_CASE("inspect bias: word sets, with words alone and in context") {
  const SmallCorpus corpus;
  corpus.must("pretrain -q --train train.h5 -o model.h5 --steps 5" + tiny_model);
  const std::string sets =
      "[weat animals]\nx = cat, dog, cats\ny = king, queen, kings\na = cat, dog\nb = king, queen\n";
  write_file(corpus.path("sets.txt"), sets);
  write_file(corpus.path("contexts.txt"), sets + "context = the [WORD] sees\ncontext = a [WORD]\n");
  const auto answer = [&](const std::string& options) {
    return parse_json(corpus.must("inspect bias model.h5 --json " + options).out)["weat"][0];
  };
  const json alone = answer("sets.txt");
  CHECK(alone["name"] == "animals");
  CHECK(alone["effect_size"].get<double>() > 0.5);
  CHECK(alone["permutations"] == 20);
  CHECK(alone["p"].get<double>() == doctest::Approx(0.05).epsilon(0.001));
  const json drawn = answer("sets.txt --permutations 19 --seed 2");
  CHECK(drawn["exact"] == false);
  CHECK(drawn["effect_size"] == alone["effect_size"]);
  CHECK(drawn == answer("sets.txt --permutations 19 --seed 2"));
  std::set<double> fractions;
  for (const std::string seed : {"2", "3", "4", "5"}) {
    fractions.insert(answer("sets.txt --permutations 19 --seed " + seed)["p"].get<double>());
  }
  CHECK(fractions.size() > 1);
  const json last = answer("contexts.txt"), first = answer("contexts.txt --layer 0");
  CHECK(last["effect_size"] != first["effect_size"]);
  CHECK(first["effect_size"] != alone["effect_size"]);
  CHECK(contains(corpus.must("inspect bias model.h5 sets.txt").out, "weat animals: effect size "));
  write_file(corpus.path("bad.txt"), "[weat animals]\nx = cat\n");
  const Outcome bad = corpus.run("inspect bias model.h5 bad.txt");
  CHECK(bad.status == 1);
  CHECK(contains(bad.err, "bad.txt:1: "));
}

TEST_CASE("inspect embed: the first position of an encoder's text is [CLS], the same for all texts before the layers") {
  const SmallCorpus corpus;
  corpus.must("tokenize -q --train --model wordpiece --vocab-size 300 -o pieces.h5 train.txt");
  corpus.must("tokenize -q -t pieces.h5 -o pieces-of-text.h5 valid.txt");
  corpus.must("pretrain -q --arch encoder --train pieces-of-text.h5 -o encoder.h5 --steps 2" + tiny_model);
  const auto first = [&](const std::string& text, const std::string& layer) -> std::vector<double> {
    return parse_json(
        corpus.must("inspect embed encoder.h5 --pooling first --json --layer " + layer + " --text '" + text + "'")
            .out)["texts"][0]["vector"];
  };
  CHECK(first("the cat sees", "0") == first("a dog", "0"));
  CHECK(first("the cat sees", "-1") != first("a dog", "-1"));
}

TEST_CASE("inspect senses and bias: a bag has one layer and predicts no tokens") {
  const SmallCorpus corpus;
  write_file(corpus.path("texts.tsv"), "a\tthe cat\nb\tthe king\n");
  corpus.must("finetune -q --arch bag --task classify --train texts.tsv -o bag.h5");
  write_file(corpus.path("senses.tsv"), "a\t1\tthe cat\nb\t1\tthe king\n");
  CHECK(contains(corpus.must("inspect senses bag.h5 senses.tsv senses.tsv --evaluate").out, "accuracy"));
  write_file(corpus.path("pairs.txt"), "[pairs animals]\nfirst = the cat\nsecond = the king\n");
  corpus.refused("inspect bias bag.h5 pairs.txt", 1, "bag.h5: predicts neither masked nor next tokens");
}

}  // namespace vectors_tests
