// finetune, interrupted and resumed, from outside.
#include <algorithm>

#include "support/json.hpp"
#include "tools/background.hpp"
#include "tools/small_corpus.hpp"

using namespace heddle;
using namespace heddle::testing;
using nlohmann::json;

namespace finetune_resume_tests {

namespace {

struct Started : SmallCorpus {
  Started() {
    begin_with("model", [&] { must("pretrain -q --train train.h5 -o model.h5 --steps 20" + tiny_model); });
    std::string texts;
    for (int i = 0; i < 60; ++i) texts += i % 2 == 0 ? "animal\tthe cat sees a dog.\n" : "royal\tmy queen forgets.\n";
    write_file(path("texts.tsv"), texts);
  }
  // The weights of a model or an adapter.
  std::map<std::string, std::vector<float>> trained(const std::string& file) const {
    return weights(file, formats::kind_of(path(file)));
  }
  json history(const std::string& file) const {
    return parse_json(must("inspect " + file + " --history --json").out)["history"];
  }
};

}  // namespace

TEST_CASE("finetune: killed at any step and resumed, it ends with the weights of the uninterrupted run") {
  const Started corpus;
  const std::string common = "finetune -q --from model.h5 --dropout 0.1 --batch-size 2 ";
  struct Kind {
    std::string name, options;
  };
  for (const Kind& kind : std::vector<Kind>{
           {"a task", "--train texts.tsv --valid texts.tsv --eval-every 7 "},
           {"an adapter", "--train texts.tsv --valid texts.tsv --lora-rank 2 --lora-dropout 0.1 "},
           {"a language model", "--task lm --train train.h5 --valid valid.h5 --eval-every 20 --freeze decoder/0 "},
           {"a language model's adapter", "--task lm --train train.txt --lora-rank 2 "}}) {
    CAPTURE(kind.name);
    const std::string command = common + kind.options;
    for (const int lines : {1, 31}) {
      CAPTURE(lines);
      corpus.must("rm -f whole.*");
      const long steps = stopped_and_resumed(corpus, command, "part", lines);
      corpus.must(command + endless_schedule + "-o whole.h5 --steps " + std::to_string(steps));
      CHECK(corpus.trained("part.h5") == corpus.trained("whole.h5"));
      CHECK(corpus.history("part.h5") == corpus.history("whole.h5"));
      CHECK(corpus.must("inspect verify part.h5").status == 0);
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
  CHECK(contains(stopped.err, "stopped; the same command continues"));
  const auto size_of = [&](const std::string& name) { return std::filesystem::file_size(corpus.path(name)); };
  const auto size = size_of("part.checkpoint.h5");
  corpus.must("finetune --from model.h5 --train texts.tsv --epochs 2 -o done.h5");
  CHECK(size_of("done.h5") < size / 2);
  const std::string bytes = read_file(corpus.path("done.h5"));
  CHECK(contains(corpus.must("finetune --from model.h5 --train texts.tsv --epochs 2 -o done.h5").err,
                 "already trained by this command"));
  CHECK(read_file(corpus.path("done.h5")) == bytes);
  corpus.refused("finetune --from model.h5 --train texts.tsv --epochs 5 -o more.h5 --resume done.h5", 1,
                 "to train it further, start from it (finetune --from)");
}

TEST_CASE("finetune: the best model by the validation is the output, of an adapter and of a model with frozen parts") {
  const Started corpus;
  // Training labels contradict the validation labels: the metric falls steadily.
  corpus.must("sed 's/^animal/10/; s/^royal/20/' texts.tsv > valid.tsv");
  corpus.must("sed 's/^animal/20/; s/^royal/10/' texts.tsv > train.tsv");
  const std::string command =
      "finetune -q --from model.h5 --task regress --train train.tsv --valid valid.tsv --metric mean_squared_error "
      "--batch-size 8 --steps 60 --eval-every 6 --log-every 1 --learning-rate 1e-2 --warmup 0 --dropout 0 ";
  const auto error_of = [&](const std::string& model) {
    return parse_json(corpus.must("classify " + model + " valid.tsv --evaluate --json").out)["mean_squared_error"]
        .get<double>();
  };
  for (const std::string kind : {"--freeze embeddings,decoder/0 ", "--lora-rank 2 "}) {
    CAPTURE(kind);
    corpus.must("rm -f log");
    corpus.must(command + kind + "--log log -o best.h5 --restart");
    std::vector<double> errors;
    for (const json& line : json_lines(read_file(corpus.path("log")))) {
      if (line.contains("valid_mean_squared_error")) errors.push_back(line["valid_mean_squared_error"]);
    }
    REQUIRE(errors.size() == 10);
    REQUIRE(std::ranges::min(errors) < 0.9 * errors.back());
    CHECK(error_of("best.h5") == doctest::Approx(std::ranges::min(errors)).epsilon(1e-4));
    corpus.must(command + kind + "-o last.h5 --select last --restart");
    CHECK(error_of("last.h5") == doctest::Approx(errors.back()).epsilon(1e-4));
    CHECK(corpus.history("best.h5") == corpus.history("last.h5"));
  }
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
  CHECK(corpus.history("part.checkpoint.h5")["step"].size() < whole["step"].size());
  CHECK_FALSE(std::filesystem::exists(corpus.path("part.h5")));
  corpus.must(command + "part.h5");
  CHECK(corpus.history("part.h5") == whole);
  CHECK(corpus.trained("part.h5") == corpus.trained("whole.h5"));
}

TEST_CASE("finetune: resuming refuses what does not fit") {
  const Started corpus;
  const std::string command = "finetune -q --train texts.tsv --steps 3 -o x.h5 --from ";
  REQUIRE(corpus.run(command + "model.h5 --max-time 0.001s").status == 75);
  corpus.must("pretrain -q --train train.h5 -o other.h5 --steps 2" + tiny_model +
              "&& sed s/royal/noble/ texts.tsv > other.tsv");
  const std::string resumed = " --resume x.checkpoint.h5";
  for (const std::string& how : {std::string(), resumed}) {
    CAPTURE(how);
    corpus.refused(command + "other.h5" + how, 1,
                   "x.checkpoint.h5: its run reads model.h5, and other.h5 is another file");
    corpus.refused(command + "model.h5 --train other.tsv" + how, 1,
                   "x.checkpoint.h5: its run does not read other.tsv (train)");
  }
  const auto differs = [](const std::string& now, const std::string& then) {
    return now + " differs from the " + then + " that x.checkpoint.h5 was trained with";
  };
  const auto changed = [&](const std::string& again, const std::string& what) {
    CHECK(contains(corpus.refused(again, 2, "finetune: x.checkpoint.h5: ").err, what));
  };
  corpus.refused(command + "model.h5 --task regress" + resumed, 2, differs("--task regress", "classify"));
  corpus.refused(command + "model.h5 --lora-rank 2" + resumed, 2, differs("--lora-rank 2", "none"));
  corpus.refused(command + "model.h5 --label-smoothing 0.1" + resumed, 2, differs("--label-smoothing 0.1", "0"));
  corpus.refused(command + "model.h5 --optimizer sgd" + resumed, 2, differs("--optimizer sgd", "adamw"));
  corpus.refused(command + "model.h5 --optimizer adamw:beta1=0.8" + resumed, 2, differs("beta1=0.8", "0.9"));
  corpus.refused(command + "model.h5 --seed 2" + resumed, 2, differs("--seed 2", "1"));
  changed(command + "model.h5 --task regress", "--task was classify and is regress now");
  changed(command + "model.h5 --lora-rank 2", "--lora-rank was none and is 2 now");
  changed(command + "model.h5 --freeze body", "--freeze was not given and is body now");
  changed(command + "model.h5 --dropout 0.3", "--dropout was auto and is 0.3 now");
  changed(command + "model.h5 --label-smoothing 0.1", "--label-smoothing was 0 and is 0.1 now");
  changed(command + "model.h5 --optimizer sgd", "--optimizer was adamw and is sgd now");
  changed(command + "model.h5 --optimizer adamw:beta1=0.8", " was 0.9 and is 0.8 now");
  changed(command + "model.h5 --folds 3", "--folds was none and is 3 now");
  corpus.refused(command + "model.h5 --epochs 1", 2, "--steps and --epochs both set");
  const std::string tune = "finetune -q --from model.h5 --train texts.tsv ";
  corpus.refused(tune + "-o none.h5 --resume none.checkpoint.h5", 1, "none.checkpoint.h5");
  corpus.refused(tune + "-o y.h5 --resume model.h5", 1, "model.h5: is a finished model");
  corpus.refused(tune + "-o model.h5 --resume x.checkpoint.h5", 2, "refusing to overwrite the input model.h5");
  corpus.refused("pretrain --train train.h5 -o x.h5" + tiny_model, 1,
                 "x.checkpoint.h5: is a checkpoint of finetune; resume it with finetune, give -o another name, or");
  corpus.refused("pretrain --train train.h5 -o y.h5 --resume x.checkpoint.h5", 1,
                 "x.checkpoint.h5: is a checkpoint of finetune; --resume needs a checkpoint of pretrain");
  REQUIRE(corpus.run("pretrain -q --train train.h5 -o p.h5 --steps 9 --max-time 0.001s" + tiny_model).status == 75);
  const std::string other = "p.checkpoint.h5: is a checkpoint of pretrain; ";
  corpus.refused(tune + "-o p.h5", 1, other + "resume it with pretrain, give -o another name, or --restart");
  corpus.refused(tune + "-o p.h5 --dry-run", 1, other + "resume it with pretrain");
  corpus.refused(tune + "-o q.h5 --resume p.checkpoint.h5", 1, other + "--resume needs a checkpoint of finetune");
}

TEST_CASE("finetune, pretrain: --resume takes the seed of the checkpoint") {
  const Started corpus;
  for (const std::string& command : std::vector<std::string>{"finetune -q --from model.h5 --train texts.tsv",
                                                             "pretrain -q --train train.h5" + tiny_model}) {
    CAPTURE(command);
    corpus.must(command + " --steps 4 --seed 3 -o whole.h5 --restart");
    corpus.must(command + " --steps 4 --seed 3 --checkpoint-every 2 --keep 2 -o kept.h5 --restart");
    const std::string again = command + " --steps 4 --resume kept.step-2.h5 -o resumed.h5";
    corpus.must(again);
    CHECK(corpus.trained("resumed.h5") == corpus.trained("whole.h5"));
    REQUIRE(corpus.run(command + " --steps 4 --seed 3 --max-time 0.001s -o own.h5").status == 75);
    const std::string own = command + " --steps 4 --resume own.checkpoint.h5 -o own.h5";
    corpus.must(own);
    CHECK(corpus.trained("own.h5") == corpus.trained("whole.h5"));
    corpus.must(own);  // the run is finished, and its checkpoint removed
    corpus.must("rm resumed.h5 own.h5 kept*");
  }
}

}  // namespace finetune_resume_tests
