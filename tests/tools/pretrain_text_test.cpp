// pretrain on text itself: the same as on the token files that tokenize makes of it.
#include "support/json.hpp"
#include "tools/small_corpus.hpp"

using namespace heddle;
using namespace heddle::testing;
using nlohmann::json;

namespace pretrain_text_tests {

namespace {

const std::string train = "pretrain -q --steps 8" + tiny_model;

}  // namespace

TEST_CASE("pretrain on text: the same weights, to the bit, as on token files") {
  const SmallCorpus corpus;
  corpus.must(train + "--train train.h5 --valid valid.h5 --eval-every 4 --log tokens.log -o tokens.model.h5");
  corpus.must(train + "--train train.txt -t tokenizer.h5 --valid valid.txt --eval-every 4 --log text.log -o text.h5");
  CHECK(corpus.weights("text.h5") == corpus.weights("tokens.model.h5"));
  const auto logged = json_lines(read_file(corpus.path("tokens.log"))),
             others = json_lines(read_file(corpus.path("text.log")));
  CHECK(others.back()["valid_loss"] == logged.back()["valid_loss"]);
  // The model has the tokenizer that the token file has.
  CHECK(corpus.must("inspect text.h5 --tokenizer").out == corpus.must("inspect tokens.model.h5 --tokenizer").out);
  const std::string provenance = corpus.must("inspect text.h5 --provenance").out;
  CHECK(contains(provenance, "train: train.txt"));
  CHECK(contains(provenance, "valid: valid.txt"));
  CHECK(contains(provenance, "tokenizer: tokenizer.h5"));
}

TEST_CASE("pretrain on text: several files with weights, token files among them, and documents") {
  const SmallCorpus corpus;
  corpus.must("tokenize -q -t tokenizer.h5 --documents line -o lines.h5 train.txt");
  corpus.must("tokenize -q -t tokenizer.h5 --documents line -o others.h5 valid.txt");
  corpus.must(train + "--train lines.h5,others.h5:2 --valid 20% -o a.h5");
  corpus.must(train + "--train train.txt,valid.txt:2 -t tokenizer.h5 --documents line --valid 20% -o b.h5");
  corpus.must(train + "--train train.txt,others.h5:2 -t train.h5 --documents line --valid 20% -o c.h5");
  CHECK(corpus.weights("b.h5") == corpus.weights("a.h5"));
  CHECK(corpus.weights("c.h5") == corpus.weights("a.h5"));
  CHECK(contains(corpus.must("inspect b.h5 --provenance").out,
                 "train, weight 2, documents line, 20% for validation: valid.txt"));
}

TEST_CASE("pretrain on text: many small files take little memory") {
  const SmallCorpus corpus;
  corpus.must(
      "seq 1200 | sed 's/^/the cat sees the king number /' > lines && mkdir many && cd many && split -l 1 -a 4 "
      "../lines "
      "&& ls | sed 's/^/many\\//' | paste -sd, > ../list");
  const std::string bounded = "ulimit -v 2000000; " + train + "--threads 1 -t tokenizer.h5 ";
  corpus.must(bounded + "--train $(cat list) -o a.h5");
  corpus.must(bounded + "--train lines -o b.h5");
}

TEST_CASE("pretrain on text: with a foreign vocabulary") {
  const SmallCorpus corpus;
  write_file(corpus.path("vocab.txt"),
             "[PAD]\n[UNK]\n[CLS]\n[SEP]\n[MASK]\nthe\ncat\ndog\na\nking\nold\nmy\nqueen\nsees\n.\n");
  corpus.must("tokenize -q -t vocab.txt -o foreign.h5 train.txt");
  corpus.must(train + "--train foreign.h5 -o a.h5");
  corpus.must(train + "--train train.txt -t vocab.txt -o b.h5");
  CHECK(corpus.weights("a.h5") == corpus.weights("b.h5"));
}

TEST_CASE("pretrain on text: resumes, and estimates") {
  const SmallCorpus corpus;
  const std::string text = tiny_model + "--train train.txt -t tokenizer.h5 --valid 10% ";
  const std::string last = "--schedule constant --warmup 0 --select last" + text;
  corpus.must("pretrain -q --steps 5 --keep 1 " + last + "-o parts.h5");
  corpus.must("pretrain -q --steps 10 " + last + "-o once.h5");
  corpus.must("pretrain -q --steps 10 --resume parts.step-5.h5 " + last + "-o resumed.h5");
  CHECK(corpus.weights("resumed.h5") == corpus.weights("once.h5"));
  // Options that change the data are refused.
  const std::string again = "pretrain -q --steps 20 --resume parts.step-5.h5 -o x.h5 --train train.txt ";
  const std::string advice = ", or leave --resume out to start a new run";
  corpus.refused(again + "-t tokenizer.h5 --valid 20%", 1, "; give the same --train" + advice);
  corpus.refused(again + "-t tokenizer.h5", 1, "; give the same --train" + advice);
  corpus.refused(again + "-t tokenizer.h5 --valid 10% --documents line", 1, "; give the same --train" + advice);
  corpus.refused(again + "-t train.h5 --valid 10%", 1, "; give the same -t" + advice);
  corpus.must("tokenize -q --train --vocab-size 260 -o small.h5 train.txt");
  CHECK(corpus.run("pretrain -q --steps 20 --max-time 0.001s -o y.h5" + text).status == 75);
  corpus.refused("pretrain -q --steps 20 -o y.h5 --train train.txt -t small.h5 --valid 10%" + tiny_model, 1,
                 "y.checkpoint.h5: its run reads tokenizer.h5, and small.h5 is another file; give the same -t");
  const json estimate = parse_json(corpus.must("pretrain --dry-run --json --steps 10" + text).out);
  CHECK(estimate.contains("parameters"));
}

TEST_CASE("pretrain on text: refusals say what to do") {
  const SmallCorpus corpus;
  corpus.must("tokenize -q --train --vocab-size 280 -o other.h5 train.txt");
  write_file(corpus.path("empty.txt"), "");
  const std::string run = "pretrain -q --steps 2 -o x.h5" + tiny_model + "--train ";
  for (const Refusal& refusal : std::vector<Refusal>{
           {run + "train.txt", "to train on text give its tokenizer, -t tokenizer.h5, or encode it first", 1},
           {run + "train.h5,valid.txt", "valid.txt: is not a token file; to train on text", 1},
           {run + "train.h5 --valid valid.txt", "valid.txt: is not a token file; to train on text", 1},
           {run + "train.h5 -t other.h5", "train.h5: was encoded with another tokenizer than other.h5", 1},
           {run + "empty.txt -t tokenizer.h5", "empty.txt: no text", 1},
           {run + "train.h5 -t tokenizer.h5 --documents line", "--documents is for text", 2},
           {run + "train.txt --documents line", "--documents has no effect without --tokenizer", 2},
           {run + "absent.txt -t tokenizer.h5", "absent.txt", 1}}) {
    corpus.refused(refusal);
  }
}

}  // namespace pretrain_text_tests
