// Update rules that are trained, and train.
#include "libcore/base/strings.hpp"
#include "support/json.hpp"
#include "tools/background.hpp"
#include "tools/small_corpus.hpp"

using namespace heddle;
using namespace heddle::testing;

namespace learned_optimizer_tests {

namespace {

const std::string rule = "pretrain -q --arch lstm-rule:width=6 --tasks quadratics:dimension=4 --batch-size 8 ";

}  // namespace

TEST_CASE("learned optimizers: a rule is trained, shown, and resumed to the same weights") {
  const SmallCorpus corpus;
  const Outcome run = corpus.must(
      "pretrain --arch lstm-rule:width=6 --tasks quadratics:dimension=4 --batch-size 8 --steps 40 --learning-rate "
      "0.01 --eval-every 20 --log log.jsonl -o rule.h5");
  CHECK(contains(run.err, "problems of quadratics:dimension=4, of 4 numbers"));
  CHECK(contains(run.err, "validation loss"));
  CHECK(contains(run.err, "steps/s"));
  const nlohmann::json shown = parse_json(corpus.must("inspect rule.h5 --json").out);
  CHECK(shown["config"]["learned_on"] == "quadratics:dimension=4");
  CHECK(shown["config"]["horizon"] == 100);
  CHECK(contains(corpus.must("inspect show rule.h5").out, "loss in part of the function that is left"));
  CHECK_FALSE(contains(corpus.must("inspect show rule.h5").out, "nats"));
  corpus.must("inspect verify rule.h5");
  const std::string command = rule + "--learning-rate 0.01 --checkpoint-every 1 --log part.jsonl --log-every 1 ";
  const long steps = stopped_and_resumed(corpus, command, "part", 3);
  corpus.must(rule + "--learning-rate 0.01 " + endless_schedule + "--steps " + std::to_string(steps) + " -o whole.h5");
  CHECK(corpus.weights("whole.h5") == corpus.weights("part.h5"));
}

TEST_CASE("learned optimizers: they train models, and a run goes on with the same rule alone") {
  const SmallCorpus corpus;
  corpus.must(rule + "--steps 60 --learning-rate 0.01 -o rule.h5");
  corpus.must(
      "pretrain -q --arch transformer-rule:width=8 --tasks quadratics:dimension=4 --steps 20 --batch-size 8 -o "
      "attends.h5");
  corpus.must(
      "pretrain -q --arch mnemosyne:width=8 --tasks quadratics:dimension=4 --steps 20 --batch-size 8 -o "
      "remembers.h5");
  const std::string small = "pretrain -q --train train.h5 --layers 1 --width 16 --heads 2 --context 16 --batch-size 4 ";
  for (const std::string file : {"rule.h5", "attends.h5", "remembers.h5"}) {
    CAPTURE(file);
    corpus.must(small + "--steps 5 --optimizer learned:file=" + file + " -o m.h5");
    corpus.must("rm m.h5");
  }
  const Outcome loud = corpus.must(
      "pretrain --train train.h5 --layers 1 --width 16 --heads 2 --context 16 --batch-size "
      "4 --steps 5 --optimizer learned:file=rule.h5 -o noted.h5");
  CHECK(contains(loud.err,
                 "pretrain: optimizer learned was trained on quadratics:dimension=4 for 100 steps; longer runs and "
                 "other problems are untested"));
  CHECK(corpus.must(small + "--steps 5 --optimizer learned:file=rule.h5 -o quiet.h5").err.empty());
  const std::string learned = small + "--optimizer learned:file=rule.h5 ";
  const long steps =
      stopped_and_resumed(corpus, learned + "--checkpoint-every 1 --log part.jsonl --log-every 1 ", "part", 3);
  const std::string whole = learned + endless_schedule + "--steps " + std::to_string(steps) + " -o whole.h5";
  corpus.must(whole);
  CHECK(corpus.weights("whole.h5") == corpus.weights("part.h5"));
  // The file may move; another rule is refused, under the same name too.
  corpus.must(learned + "--steps 9 --checkpoint-every 3 --keep 9 -o kept.h5");
  CHECK(contains(corpus.must("inspect kept.h5 --provenance").out, "optimizer: rule.h5"));
  corpus.must("mkdir rules && mv rule.h5 rules/moved.h5");
  const std::string moved = small + "--optimizer learned:file=rules/moved.h5 --steps 9 ";
  corpus.must(moved + "--resume kept.step-3.h5 -o again.h5");
  CHECK(corpus.weights("again.h5") == corpus.weights("kept.h5"));
  CHECK(contains(corpus.must(replaced(moved, "-q", "") + "--checkpoint-every 3 --keep 9 -o kept.h5").err,
                 "kept.h5: already trained by this command"));
  corpus.must(rule + "--steps 61 --learning-rate 0.01 -o rule.h5");
  corpus.refused(learned + "--steps 9 --resume kept.step-3.h5 -o no.h5", 1,
                 "rule.h5 has changed since its run began; give the same --optimizer");
  // So it is of a run that goes on from its own checkpoint, and what another rule trained is not finished.
  REQUIRE(corpus.run(learned + "--steps 9 -o own.h5 --max-time 0.001s").status == 75);
  corpus.must("cp rule.h5 same.h5 && " + rule + "--steps 62 --learning-rate 0.01 -o rule.h5");
  corpus.refused(learned + "--steps 9 -o own.h5", 1, "rule.h5 has changed since its run began; give the same");
  corpus.must("mv same.h5 rule.h5 && " + learned + "--steps 9 -o own.h5 && cp rule.h5 same.h5");
  corpus.must(rule + "--steps 62 --learning-rate 0.01 -o rule.h5");
  CHECK(
      contains(corpus.must(replaced(learned, "-q", "") + "--steps 9 -o own.h5").err, "the new model will replace it"));
  corpus.must("mv same.h5 other.h5");
  corpus.refused(small + "--optimizer learned:file=other.h5 --steps 9 --resume kept.step-3.h5 -o no.h5", 1,
                 "its run reads rule.h5, and other.h5 is another file; give the same --optimizer");
  CHECK_FALSE(std::filesystem::exists(corpus.path("no.h5")));
}

TEST_CASE("learned optimizers: the table of a rule's problems may move, and is one of its inputs") {
  const SmallCorpus corpus;
  write_file(corpus.path("numbers.csv"), "a,b\n1,2\n2,5\n4,5\n7,1\n");
  const auto command = [](const std::string& table, const std::string& more = "") {
    return "pretrain -q --arch lstm-rule:width=4 --batch-size 4 --steps 9 --checkpoint-every 3 --keep 9 --tasks "
           "mlp:table=" +
           table + ",hidden=2,rows=3 -o " + more;
  };
  corpus.must(command("numbers.csv", "rule.h5"));
  CHECK(contains(corpus.must("inspect rule.h5 --provenance").out, "tasks: numbers.csv"));
  corpus.must("mkdir tables && mv numbers.csv tables/moved.csv");
  corpus.must(command("tables/moved.csv", "again.h5 --resume rule.step-3.h5"));
  CHECK(corpus.weights("again.h5") == corpus.weights("rule.h5"));
  write_file(corpus.path("numbers.csv"), "a,b\n1,2\n2,5\n4,5\n7,2\n");
  corpus.refused(command("numbers.csv", "no.h5 --resume rule.step-3.h5"), 1,
                 "numbers.csv has changed since its run began; give the same --tasks");
  corpus.refused(replaced(command("tables/moved.csv", "no.h5 --resume rule.step-3.h5"), "hidden=2", "hidden=3"), 2,
                 "--tasks mlp:hidden=3 differs from the 2");
}

TEST_CASE("learned optimizers: what the program fills in is no option, though files show it") {
  const SmallCorpus corpus;
  for (const std::string key : {"learned-on=x", "horizon=3"}) {
    corpus.refused("pretrain --arch lstm-rule:" + key + " --tasks quadratics --steps 2 -o no.h5", 2,
                   "lstm-rule has no key '" + key.substr(0, key.find('=')) + "'");
  }
  corpus.refused("pretrain --train train.h5 --optimizer learned:content=x -o no.h5", 2, "has no key 'content'");
  for (const std::string help : {"arch:lstm-rule", "arch:mnemosyne", "optimizer:learned"}) {
    const std::string text = corpus.must("pretrain --help=" + help).out;
    for (const char* const word : {"learned-on", "horizon", "content"}) CHECK_FALSE(contains(text, word));
  }
  corpus.refused("HEDDLE_PRETRAIN_ARCH=lstm-rule:horizon=7 pretrain --tasks quadratics --steps 2 -o no.h5", 2,
                 "horizon");
  CHECK_FALSE(
      contains(corpus.must("pretrain --arch lstm-rule --tasks quadratics -o x.h5 --print-config").out, "learned-on"));
}

TEST_CASE("learned optimizers: a dry run has the memory of the state, and of the problems") {
  const SmallCorpus corpus;
  corpus.must(rule + "--steps 2 -o rule.h5");
  const std::string text =
      corpus
          .must(
              "pretrain --train train.h5 --layers 1 --width 16 --heads 2 --context 16 --steps 2 --optimizer "
              "learned:file=rule.h5 --dry-run")
          .out;
  CHECK(contains(text, ", 24 numbers for each that is trained"));  // two layers of cells of width 6, with two states
  const auto estimated = [&](const std::string& dimension) -> nlohmann::json {
    return parse_json(corpus
                          .must("pretrain --arch lstm-rule:width=4 --tasks quadratics:dimension=" + dimension +
                                " --batch-size 8 --steps 2 --dry-run --json")
                          .out)["memory"];
  };
  CHECK(estimated("10")["problems_bytes"] == 64 * 12 * 10 * 8);
  CHECK(estimated("300")["problems_bytes"] == 64 * 302 * 300 * 8);
  corpus.refused("pretrain --arch lstm-rule --tasks quadratics:dimension=1001 --steps 2 -o no.h5", 2,
                 "--tasks: dimension: 1001 is out of range; it must be from 1 to 1000");
}

TEST_CASE("learned optimizers: files and options of the wrong kind are refused in one line") {
  const SmallCorpus corpus;
  corpus.must(rule + "--steps 2 -o rule.h5");
  corpus.must("pretrain -q --train train.h5 --layers 1 --width 16 --heads 2 --context 16 --steps 2 -o decoder.h5");
  write_file(corpus.path("words.csv"), "a,b\nx,y\nz,w\n");
  write_file(corpus.path("numbers.csv"), "a,name,b\n1,x,2\n2,y,3\n4,z,5\n");
  write_file(corpus.path("labelled.csv"), "text,label\na b,x\nc d,y\n");
  corpus.must("pretrain -q --arch lstm-rule:width=4 --tasks mlp:table=numbers.csv,hidden=3 --steps 2 -o mlp.h5");
  write_file(corpus.path("gaps.csv"), "a,b\n1,2\n2,\n3,4\n");
  corpus.refused("pretrain --arch lstm-rule --tasks mlp:table=numbers.csv --steps 2 -o numbers.csv", 2, "numbers.csv");
  CHECK(read_file(corpus.path("numbers.csv")).starts_with("a,name,b\n"));
  const std::string small = "pretrain --train train.h5 --layers 1 --width 16 --steps 2 -o no.h5 ";
  for (const Refusal& refusal : std::vector<Refusal>{
           {small + "--optimizer learned:file=decoder.h5", "decoder.h5", 1},
           {small + "--optimizer learned:file=none.h5", "none.h5", 1},
           {small + "--optimizer learned", "--optimizer", 2},
           {"pretrain --tasks quadratics --steps 2 -o no.h5", "--tasks: is for models that take steps", 2},
           {"pretrain --tasks cubics --arch lstm-rule --steps 2 -o no.h5", "quadratics", 2},
           {"pretrain --tasks mlp --arch lstm-rule --steps 2 -o no.h5", "table", 2},
           {"pretrain --tasks mlp:table=none.csv --arch lstm-rule --steps 2 -o no.h5", "none.csv", 1},
           {"pretrain --tasks mlp:table=gaps.csv --arch lstm-rule --steps 2 -o no.h5",
            "gaps.csv:3: '' in the column 'b'", 1},
           {"pretrain --tasks quadratics --arch lstm-rule --dropout 0.5 --steps 2 -o no.h5", "dropout", 2},
           {"pretrain --tasks mlp:table=words.csv --arch lstm-rule --steps 2 -o no.h5", "words.csv", 1},
           {"pretrain --tasks quadratics --arch lstm-rule --train train.h5 --steps 2 -o no.h5", "--train", 2},
           {"pretrain --arch lstm-rule --train train.h5 --steps 2 -o no.h5", "train.h5", 2},
           {"pretrain --tasks quadratics --arch lstm-rule --objective optimizer:unroll=30 --steps 2 -o no.h5",
            "horizon", 2},
           {"pretrain --tasks quadratics --arch lstm-rule --label-smoothing 0.1 --steps 2 -o no.h5",
            "--label-smoothing: is for texts and graphs", 2},
           {"generate rule.h5 -p x", "rule.h5", 1},
           {"classify rule.h5 -", "rule.h5: is of the architecture lstm-rule, which reads gradients; no task", 1},
           {"convert rule.h5 --dtype bf16 -o no.h5",
            "rule.h5: is of the architecture lstm-rule, which reads gradients; convert", 1},
           {"convert rule.h5 -o no/", "lstm-rule, which reads gradients", 1},
           {"convert rule.h5 rule.h5 --average -o no.h5", "lstm-rule, which reads gradients", 1},
           {"finetune --from rule.h5 --train labelled.csv -o no.h5", "rule.h5", 1},
           {"inspect evaluate rule.h5 train.h5", "rule.h5", 1}}) {
    CAPTURE(refusal.command);
    const Outcome run = corpus.refused(refusal);
    CHECK(lines_in(run.err) == 1);
    CHECK_FALSE(std::filesystem::exists(corpus.path("no.h5")));
  }
}

}  // namespace learned_optimizer_tests
