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
  // What to expect is said of runs that are long enough.
  CHECK(contains(corpus.must(train + "--budget 1e15flop --dry-run").err, " bits per byte"));
}

TEST_CASE("budget: the same command goes on with what it chose, or is finished") {
  const SmallCorpus corpus;
  const std::string command = train + "--budget 2e9flop --layers 1 --width 16 --heads 2 --batch-size 2 -o m.h5 ";
  corpus.must(command + "--threads 1 --log whole.log");
  const auto whole = corpus.weights("m.h5");
  CHECK(contains(corpus.must(command + "--log whole.log").err, "is finished"));
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
