// --valid N%: which part is held out, and that training never sees it.
#include <map>
#include <set>

#include "tools/labelled_corpus.hpp"

using namespace heddle;
using namespace heddle::testing;

namespace held_out_tests {

namespace {

// A corpus of documents of a line.
struct HeldOut : Labelled {
  HeldOut() { must("tokenize -q -t tokenizer.h5 --documents line -o lines.h5 train.txt"); }
};

// Number of examples that a run reports: "36 examples of 2 classes".
int examples_trained(const std::string& said) {
  const std::size_t at = said.find(" examples of ");
  REQUIRE(at != std::string::npos);
  const std::size_t begin = said.find_last_not_of("0123456789,", at - 1) + 1;
  return std::stoi(said.substr(begin, at - begin));
}

}  // namespace

TEST_CASE("held out: finetune trains on the rest, whatever the threads") {
  const HeldOut corpus;
  const std::string tune = "finetune --from model.h5 --train texts.tsv --epochs 2 --batch-size 8 --eval-every 5 ";
  const Outcome tenth = corpus.must(tune + "--valid 10% -o a.h5 --log a.log");
  CHECK(examples_trained(tenth.err) == 110);  // 120 examples, whose texts occur 10 or 20 times
  CHECK(json_lines(read_file(corpus.path("a.log"))).back().contains("valid_accuracy"));
  CHECK(examples_trained(corpus.must(tune + "--valid 25% -o b.h5").err) == 90);
  corpus.must(tune + "--valid 10% --threads 1 -o c.h5");
  CHECK(corpus.weights("c.h5") == corpus.weights("a.h5"));
  CHECK(contains(corpus.must("inspect a.h5 --provenance").out, "train, 10% for validation: texts.tsv"));
}

TEST_CASE("held out: each class in proportion, however rare") {
  const HeldOut corpus;
  const std::map<std::string, int> sizes{{"a", 200}, {"b", 100}, {"c", 60}, {"d", 30}, {"e", 10}};
  std::string all;
  for (const auto& [label, size] : sizes) {
    std::string examples;
    for (int i = 0; i < size; ++i) examples += label + "\tthe " + label + " of " + std::to_string(i) + "\n";
    write_file(corpus.path(label + ".tsv"), examples);
    all += examples;
  }
  write_file(corpus.path("all.tsv"), all);
  corpus.must("finetune -q --arch bag --task classify --train all.tsv --valid 10% --steps 1 -o bag.h5");
  for (const auto& [label, size] : sizes) {
    const std::string said = corpus.must("classify bag.h5 " + label + ".tsv --evaluate").err;
    CAPTURE(said);
    CHECK(contains(said, label + ".tsv: " + std::to_string(size - size / 10) + " of " + std::to_string(size) +
                             " examples are in the training data of bag.h5"));
  }
}

TEST_CASE("held out: copies of a text are on one side") {
  const HeldOut corpus;
  // With one class a label: what training has of it is what was not held out.
  std::string own;
  for (int i = 0; i < 40; ++i) {
    const std::string n = std::to_string(i);
    const std::string line = "n" + n + "\tthe cat sees " + n + "\n";
    own += i % 2 == 0 ? line + line : line;
  }
  write_file(corpus.path("own.tsv"), own);
  const std::string said =
      corpus.must("finetune --from model.h5 --train own.tsv --steps 1 --valid 20% -o own.h5 --seed 3").err;
  const std::string begin = "own.tsv: no example of ";
  const std::size_t at = said.find(begin) + begin.size();
  REQUIRE(at >= begin.size());
  std::set<std::string> left_out;
  int held_out = 0;
  for (const std::string& label : split(said.substr(at, said.find('\n', at) - at), ',')) {
    const std::string name = label.substr(label.find_first_not_of(' '));
    left_out.insert(name);
    held_out += std::stoi(name.substr(1)) % 2 == 0 ? 2 : 1;
  }
  // No label is on both sides: what the labels that training lacks have in all is what training has less.
  CHECK(held_out >= 11);
  CHECK(held_out <= 13);
  CHECK(examples_trained(said) == 60 - held_out);
  corpus.must("sort -r own.tsv > sorted.tsv");
  const std::string again =
      corpus.must("finetune --from model.h5 --train sorted.tsv --steps 1 --valid 20% -o own.h5").err;
  for (const std::string& label : left_out) CHECK(contains(again, label));
  CHECK(examples_trained(again) == 60 - held_out);
}

TEST_CASE("held out: pretrain holds out documents, or the tail of one") {
  const HeldOut corpus;
  const std::string train = "pretrain -q --steps 8 --eval-every 4" + tiny_model;
  corpus.must(train + "--train train.h5 --valid 10% -o a.h5 --log a.log");
  CHECK(json_lines(read_file(corpus.path("a.log"))).back().contains("valid_loss"));
  // One document has its last tenth held out: 360 lines make so many tokens, of which nine tenths are trained on.
  const auto tokens_trained = [&](const std::string& options) {
    const std::string said = corpus.must("pretrain --steps 2 -o b.h5" + tiny_model + options).err;
    const std::size_t end = said.find(" training tokens"), begin = said.rfind(' ', end - 1) + 1;
    REQUIRE(end != std::string::npos);
    std::string digits = said.substr(begin, end - begin);
    std::erase(digits, ',');
    return std::stol(digits);
  };
  const long all = tokens_trained("--train train.h5");
  CHECK(tokens_trained("--train train.h5 --valid 10%") == all - (all + 5) / 10);
  const long lines = tokens_trained("--train lines.h5"), rest = tokens_trained("--train lines.h5 --valid 10%");
  CHECK(std::abs(static_cast<double>(lines - rest) - 0.1 * static_cast<double>(lines)) < 20);
  CHECK(tokens_trained("--train lines.h5,train.h5 --valid 10%") == rest + all - (all + 5) / 10);
  const auto weights = corpus.weights("a.h5");
  corpus.must(train + "--train train.h5 --valid 10% --threads 1 -o c.h5");
  CHECK(corpus.weights("c.h5") == weights);
  CHECK(contains(corpus.must("inspect a.h5 --provenance").out, "train, 10% for validation: train.h5"));
  corpus.must("pretrain --dry-run --json --steps 8 --train lines.h5 --valid 10%" + tiny_model);
}

TEST_CASE("held out: what is no such part is refused, and files may have such names") {
  const HeldOut corpus;
  const std::string train = "pretrain -q --steps 2 -o x.h5 --train train.h5" + tiny_model;
  const std::string tune = "finetune -q --from model.h5 --steps 2 -o x.h5 --train ";
  write_file(corpus.path("few.tsv"), "a\tone\nb\ttwo\n");
  for (const Refusal& refusal :
       std::vector<Refusal>{{train + "--valid 0%", "--valid 0%: the part must be more than 0% and less than 100%", 2},
                            {train + "--valid 100%", "--valid 100%: the part must be more than 0%", 2},
                            {train + "--valid -5%", "--valid -5%: the part must be", 2},
                            {tune + "texts.tsv --valid 250%", "a file of this name is ./250%", 2},
                            {tune + "few.tsv --valid 10%", "few.tsv: 2 examples are too few", 1}}) {
    corpus.refused(refusal);
  }
  corpus.must("cp valid.h5 10%");
  corpus.must(train + "--valid ./10%");
  CHECK(contains(corpus.must("inspect x.h5 --provenance").out, "valid: ./10%"));
}

}  // namespace held_out_tests
