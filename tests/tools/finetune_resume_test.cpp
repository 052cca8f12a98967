// finetune --resume from outside.
#include "tools/background.hpp"
#include "tools/small_corpus.hpp"

using namespace heddle;
using namespace heddle::testing;
using nlohmann::json;

namespace {

struct Started : SmallCorpus {
  Started() {
    begin_with("model",
               [&] { must("pretrain -q --train train.h5 -o model.h5 --steps 20 --learning-rate 5e-3" + tiny_model); });
    std::string texts;
    for (int i = 0; i < 60; ++i) texts += i % 2 == 0 ? "animal\tthe cat sees a dog.\n" : "royal\tmy queen forgets.\n";
    write_file(path("texts.tsv"), texts);
  }
  // The weights of a model or an adapter.
  std::map<std::string, std::vector<float>> trained(const std::string& file) const {
    return weights(file, formats::kind_of(path(file)));
  }
  json history(const std::string& file) const {
    return json::parse(must("inspect " + file + " --history --json").out)["history"];
  }
};

}  // namespace

TEST_CASE("finetune: killed at any step and resumed, it ends with the weights of the uninterrupted run") {
  const Started corpus;
  const std::string common = "finetune -q --from model.h5 --dropout 0.1 --batch-size 2 ";
  struct Kind {
    std::string name, options;
    bool has_best;
  };
  for (const Kind& kind :
       std::vector<Kind>{{"a task", "--train texts.tsv --valid texts.tsv --eval-every 7 ", true},
                         {"an adapter", "--train texts.tsv --valid texts.tsv --lora-rank 2 --lora-dropout 0.1 ", true},
                         {"a language model",
                          "--task lm --train train.h5 --valid valid.h5 --eval-every 20 --freeze decoder/0 ", true},
                         {"a language model's adapter", "--task lm --train train.txt --lora-rank 2 ", false}}) {
    CAPTURE(kind.name);
    const std::string command = common + kind.options;
    for (const int lines : {1, 31}) {
      CAPTURE(lines);
      corpus.must("rm -f whole.*");
      const long steps = stopped_and_resumed(corpus, command, "part", lines);
      corpus.must(command + endless_schedule + "-o whole.h5 --steps " + std::to_string(steps));
      CHECK(corpus.trained("part.h5") == corpus.trained("whole.h5"));
      if (kind.has_best) CHECK(corpus.trained("part.best.h5") == corpus.trained("whole.best.h5"));
      CHECK(corpus.history("part.h5") == corpus.history("whole.h5"));
      CHECK(corpus.must("inspect --verify part.h5").status == 0);
      CHECK(corpus.leftovers() == 0);
    }
  }
}

TEST_CASE("finetune: a signal saves and leaves with 128 + N; what is finished is small and stays as it is") {
  const Started corpus;
  const std::string command =
      "finetune --from model.h5 --train texts.tsv --batch-size 2 --steps 1000000 --log log "
      "--log-every 1 -o part.h5";
  const Outcome stopped = corpus.run(signalled(command, "test -s log", "TERM"));
  CHECK(stopped.status == 143);
  CHECK(contains(stopped.err, "stopped, --resume goes on"));
  const auto size_of = [&](const std::string& name) { return std::filesystem::file_size(corpus.path(name)); };
  const auto size = size_of("part.h5");
  corpus.must("finetune --from model.h5 --train texts.tsv --epochs 2 -o done.h5");
  CHECK(size_of("done.h5") < size / 2);
  const std::string bytes = read_file(corpus.path("done.h5"));
  CHECK(contains(corpus.must("finetune --from model.h5 --train texts.tsv -o done.h5 --resume").err, "is finished"));
  CHECK(read_file(corpus.path("done.h5")) == bytes);
  corpus.refused("finetune --from model.h5 --train texts.tsv --epochs 5 -o done.h5 --resume", 1,
                 "to train further, begin with it (--from)");
}

TEST_CASE("finetune: patience counts over an interruption") {
  const Started corpus;
  const std::string command =
      "finetune --from model.h5 --train texts.tsv --valid texts.tsv --batch-size 2 --steps 3000 "
      "--eval-every 2 --patience 20 --checkpoint-every 1 -o ";
  corpus.must(command + "whole.h5");
  const json whole = corpus.history("whole.h5");
  CHECK(whole["step"].back() < 3000);
  // With a file named anew after each step and each best evaluation, this many of them come before patience is over.
  const Outcome killed =
      corpus.run("LD_PRELOAD='" HEDDLE_FAULTS "' HEDDLE_FAULT=rename:30:kill sh -c 'exec " + command + "part.h5'");
  CHECK(killed.status == status_of("KILL"));
  CHECK(corpus.history("part.h5")["step"].size() < whole["step"].size());
  corpus.must(command + "part.h5 --resume");
  CHECK(corpus.history("part.h5") == whole);
}

TEST_CASE("finetune: resuming refuses what does not fit") {
  const Started corpus;
  const std::string command = "finetune -q --train texts.tsv --steps 3 -o x.h5 --from ";
  corpus.must(command + "model.h5");
  corpus.must("pretrain -q --train train.h5 -o other.h5 --steps 2" + tiny_model +
              "&& sed s/royal/noble/ texts.tsv > other.tsv");
  const auto refused = [&](const std::string& resumed, int status, const std::string& says) {
    corpus.refused(resumed + " --resume", status, says);
  };
  refused(command + "other.h5", 1, "other.h5: is not the file that x.h5 was trained on (model.h5)");
  refused(command + "model.h5 --train other.tsv", 1, "other.tsv: is not the file");
  refused(command + "model.h5 --task regress", 2, "--task differs");
  refused(command + "model.h5 --lora-rank 2", 2, "--lora-rank differs");
  refused(command + "model.h5 --layer-decay 0.9", 2, "--layer-decay differs");
  refused(command + "model.h5 --seed 2", 2, "--seed = 2 differs");
  refused("finetune -q --from model.h5 --train texts.tsv -o none.h5", 1, "none.h5");
  corpus.must("cp model.h5 untuned.h5");
  refused("finetune -q --from model.h5 --train texts.tsv -o untuned.h5", 1, "untuned.h5");
  refused("finetune -q --from model.h5 --train texts.tsv -o model.h5", 2, "would be written over model.h5");
}
