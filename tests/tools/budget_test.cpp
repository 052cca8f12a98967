// --budget: what a time or an amount of arithmetic buys.
#include <cmath>

#include "support/json.hpp"
#include "tools/small_corpus.hpp"

using namespace heddle;
using namespace heddle::testing;
using nlohmann::json;

namespace budget_tests {

namespace {

const std::string train = "pretrain --threads 1 --train train.h5 --valid valid.h5 ";

json model_of(const SmallCorpus& corpus, const std::string& file) {
  return parse_json(corpus.must("inspect show --json " + file).out)["config"];
}

json planned(const SmallCorpus& corpus, const std::string& options) {
  return parse_json(corpus.must(train + "--dry-run --json --precision f32 " + options).out);
}

}  // namespace

TEST_CASE("budget: more arithmetic buys a larger model and more steps, and all of it is spent") {
  const SmallCorpus corpus;
  const json small = planned(corpus, "--budget 1e11flop"), large = planned(corpus, "--budget 1e17flop");
  CHECK(large["parameters"].get<double>() > small["parameters"].get<double>());
  for (const auto& [run, flops] : {std::pair(small, 1e11), std::pair(large, 1e17)}) {
    const double spent = run["steps"].get<double>() * run["flops_per_step"].get<double>();
    CHECK(spent <= flops);
    CHECK(spent > flops - run["flops_per_step"].get<double>());
  }
}

TEST_CASE("budget: what is given stays, and the rest follows") {
  const SmallCorpus corpus;
  const Outcome run = corpus.must(train + "--budget 3e9flop --layers 1 --width 16 --heads 2 --batch-size 2 " +
                                  "--arch decoder:sequence-length=16 --optimizer adamw -o m.h5");
  CHECK(contains(run.err, "budget 3e+09flop: layers 1, width 16, heads 2, sequence-length 16, batch-size 2, "));
  const json model = model_of(corpus, "m.h5");
  CHECK(model["layers"] == 1);
  CHECK(model["width"] == 16);
  // The expected loss is printed for runs that are long enough.
  CHECK(contains(corpus.must(train + "--budget 1e15flop --dry-run").err, " bits per byte"));
  for (const auto& [context, length] : {std::pair(512, 128), std::pair(32, 32)}) {
    const std::string say = corpus.must(train + concatenate("--budget 1e12flop --dry-run --context ", context)).err;
    CHECK(contains(say, concatenate("sequence-length ", length, ",")));
  }
}

TEST_CASE("budget: evaluations come as often as is asked for, or after each tenth") {
  const SmallCorpus corpus;
  const std::string command = train + "--budget 3e9flop --layers 1 --width 16 --heads 2 --batch-size 2 -o m.h5 ";
  const auto evaluated = [&](const std::string& options) {
    corpus.must(command + options + "--restart");
    const json history = parse_json(corpus.must("inspect show --history --json m.h5").out)["history"];
    std::vector<Index> steps;
    for (std::size_t row = 0; row < history["step"].size(); ++row) {
      if (history["valid_loss"][row].is_number()) steps.push_back(history["step"][row].get<Index>());
    }
    return steps;
  };
  const std::vector<Index> usual = evaluated("");
  REQUIRE(usual.size() >= 10);
  CHECK(usual[1] == 2 * usual[0]);
  const std::vector<Index> asked = evaluated(concatenate("--eval-every ", usual[0] + 3, " "));
  REQUIRE(asked.size() > 2);
  CHECK(asked[0] == usual[0] + 3);
  CHECK(asked[1] == 2 * asked[0]);
  CHECK(asked.back() == usual.back());
}

TEST_CASE("budget: fine-tuning is as long as is usual, or as the budget lasts") {
  const SmallCorpus corpus;
  corpus.must("pretrain -q --train train.h5 --steps 5 -o model.h5 --layers 1 --width 16 --heads 2 --context 16");
  std::string texts;
  for (int i = 0; i < 40; ++i) texts += i % 2 == 0 ? "animal\tthe cat sees\n" : "royal\tmy queen forgets\n";
  write_file(corpus.path("texts.tsv"), texts);
  const std::string tune = "finetune --threads 1 --precision f32 --from model.h5 ";
  for (const std::string task :
       {"--train texts.tsv ", "--train texts.tsv --epochs 2 ", "--task lm --train train.h5 "}) {
    CAPTURE(task);
    const auto plan = [&](const std::string& options) {
      return parse_json(corpus.must(tune + task + "--dry-run --json " + options).out);
    };
    if (contains(task, "--epochs")) {
      corpus.refused(tune + task + "--budget 1e9flop -o t.h5", 2, "--budget and --epochs both set");
      continue;
    }
    const json usual = plan("");
    const double steps = usual["steps"], each = usual["flops_per_step"];
    CHECK(plan(concatenate("--budget ", 40 * steps * each, "flop"))["steps"] == steps);
    const json half = plan(concatenate("--budget ", 0.5 * steps * each, "flop"));
    CHECK(std::abs(half["steps"].get<double>() - 0.5 * steps) <= 1);
    // The chosen shape is trained, and the same command resumes it.
    const std::string command = tune + task + concatenate("--budget ", 9.5 * each, "flop -o t.h5 ");
    REQUIRE(corpus.run(command + "--max-time 0.001s").status == 75);
    corpus.must(command);
    CHECK(contains(corpus.must(command).err, "already trained by this command (9 steps)"));
    corpus.must("rm t.h5");
  }
}

TEST_CASE("budget: the same command goes on with what it chose, or is finished") {
  const SmallCorpus corpus;
  const std::string command = train + "--budget 2e9flop --layers 1 --width 16 --heads 2 --batch-size 2 -o m.h5 ";
  corpus.must(command + "--threads 1 --log whole.log");
  const auto whole = corpus.weights("m.h5");
  CHECK(contains(corpus.must(command + "--log whole.log").err, "already trained by this command"));
  corpus.must("mv m.h5 whole.h5");
  CHECK(corpus.run(command + "--log a.log --max-time 1ms").status == 2);  // no length of time
  CHECK(corpus.run(command + "--max-time 0.001s").status == 75);
  corpus.refused(command + "--resume m.checkpoint.h5", 2, "--resume continues");
  corpus.must(command);
  CHECK(corpus.weights("m.h5") == whole);
}

TEST_CASE("budget: a command that says less than the run's is another one; shapes that do not fit are left out") {
  const SmallCorpus corpus;
  const std::string command = train + "--budget 2e9flop --layers 1 --width 16 --heads 2 --batch-size 2 -o m.h5 ";
  REQUIRE(corpus.run(command + "--optimizer adamw --label-smoothing 0.1 --max-time 0.001s").status == 75);
  corpus.refused(command + "--optimizer adamw", 2, "--label-smoothing was 0.1 and is 0 now");
  corpus.refused(command + "--label-smoothing 0.1", 2, "--optimizer was adamw and is muon now");
  // 256 is no multiple of 6 or 12 heads.
  CHECK(planned(corpus, "--budget 1e13flop --layers 8 --width 256")["parameters"].get<double>() > 6e6);
  CHECK(planned(corpus, "--budget 1e13flop --context 32")["steps"].get<double>() > 0);
}

TEST_CASE("budget: of time, by the speed of this machine") {
  const SmallCorpus corpus;
  const json run = planned(corpus, "--budget 20s --layers 1 --width 16 --heads 2");
  CHECK(run["steps"].get<double>() * run["seconds_per_step"].get<double>() < 60);
  CHECK(run["steps"].get<double>() > 20);
}

TEST_CASE("budget: a run of a length of time that is interrupted goes on with the steps that it has") {
  const SmallCorpus corpus;
  const std::string command = train + "--precision f32 --budget 6s --layers 1 --width 16 --heads 2 -o m.h5 ";
  REQUIRE(corpus.run(command + "--max-time 1s").status == 75);
  corpus.must("mkdir kept && cp m.* kept");  // perhaps with a best model
  corpus.must(command);
  const auto first = corpus.weights("m.h5");
  corpus.must("rm m.h5 && cp kept/m.* .");
  corpus.must(command);
  CHECK(corpus.weights("m.h5") == first);
}

TEST_CASE("budget: recurrent models, encoders and encoder-decoders") {
  const auto check_plans = [](const SmallCorpus& corpus, const std::string& run) {
    CAPTURE(run);
    const std::string command = "pretrain --threads 1 --dry-run --json --precision f32 " + run + " --budget ";
    const json small = parse_json(corpus.must(command + "1e11flop").out);
    const json large = parse_json(corpus.must(command + "1e16flop").out);
    CHECK(large["parameters"].get<double>() > small["parameters"].get<double>());
    CHECK(large["steps"].get<double>() * large["flops_per_step"].get<double>() <= 1e16);
  };
  const SmallCorpus corpus;
  check_plans(corpus, "--arch lstm --train train.h5");
  corpus.must("tokenize -q -t tokenizer.h5 --pairs -o pairs.h5 train.txt train.txt");
  check_plans(corpus, "--arch encoder-decoder --train pairs.h5");
  corpus.must("tokenize -q --train --model wordpiece --vocab-size 100 -o pieces.h5 train.txt");
  check_plans(corpus, "--arch encoder --train train.txt -t pieces.h5");
  // More arithmetic makes larger steps of an encoder where there would be more than 5,000.
  const std::string encoder =
      "pretrain --threads 1 --dry-run --json --precision f32 --arch encoder --layers 1 --width 16 --heads 2 "
      "--train train.txt -t pieces.h5 --budget ";
  const Outcome run = corpus.must(encoder + "1e13flop");
  const Outcome as_given = corpus.must(encoder + "1e13flop --accumulate 1");
  const json large = parse_json(run.out);
  CHECK(large["steps"] <= 5000);
  CHECK(large["steps"] > 2500);
  CHECK(parse_json(as_given.out)["steps"] > 5000);
  // Steps mask different numbers of tokens.
  CHECK(large["flops_per_step"].get<double>() * large["steps"].get<double>() == doctest::Approx(1e13).epsilon(0.1));
  CHECK(contains(run.err, "batch-size 12, accumulate "));
  CHECK_FALSE(contains(as_given.err, "accumulate"));
}

TEST_CASE("budget: files that are named like a best model of a run that may become longer are not overwritten") {
  const SmallCorpus corpus;
  corpus.must("echo mine > m.best-5000000.h5");
  const std::string command = train + "--layers 1 --width 16 --heads 2 --batch-size 2 --eval-every 5 -o m.h5 ";
  corpus.refused(command + "--budget 20s", 2,
                 "m.best-5000000.h5: is named like a best model of this run, but is not one");
  corpus.must(command + "--budget 2e8flop");
  CHECK(read_file(corpus.path("m.best-5000000.h5")) == "mine\n");
}

TEST_CASE("budget: errors") {
  const SmallCorpus corpus;
  corpus.refused(train + "--budget soon -o m.h5", 2,
                 "--budget: 'soon' is not a length of time (30m, 2h), an amount of arithmetic (2e15flop) or none");
  corpus.refused(train + "--budget infflop -o m.h5", 2, "is not a length of time");
  corpus.refused(train + "--budget 1e30flop -o m.h5", 2, "--budget 1e+30flop: is more than 1,000,000,000 steps");
  corpus.refused(train + "--budget 1e12flop --layers 1 --width 17 -o m.h5", 2, "width");
  corpus.refused(train + "--budget -1flop -o m.h5", 2, "is not a length of time");
  corpus.refused(train + "--budget 10m --steps 5 -o m.h5", 2,
                 "--budget and --steps both set the length of the training; give one of them");
  corpus.refused(train + "--budget 10m --epochs 5 -o m.h5", 2, "--budget and --epochs both set");
  corpus.refused(train + "--budget 1flop -o m.h5", 2, "--budget 1flop: is less than a step; give more");
  corpus.refused(train + "--budget 10m --arch bilm -o m.h5", 2,
                 "--budget: what models of the architecture bilm reach was not measured");
}

}  // namespace budget_tests
