// Training runs: start, save, stop and resume.
#include <limits>
#include <set>

#include "support/json.hpp"
#include "tools/background.hpp"
#include "tools/small_corpus.hpp"

using namespace heddle;
using namespace heddle::testing;

namespace running_tests {

namespace {

const std::string train = "pretrain --threads 1 --train train.h5 --learning-rate 5e-3" + tiny_model;
// For runs without an end (background.hpp).
const std::string bare_train = "pretrain -q --threads 1 --train train.h5 --learning-rate 5e-3" + tiny_shape;

// The step of the checkpoint that a run reports when it stops.
long stopped_at(const Outcome& outcome) {
  const std::string before = ".checkpoint.h5: step ";
  const std::size_t at = outcome.err.find(before);
  return at == std::string::npos ? -1 : std::stol(outcome.err.substr(at + before.size()));
}

struct Runs : SmallCorpus {
  bool exists(const std::string& name) const { return std::filesystem::exists(path(name)); }
  double step_of(const std::string& name) const {
    const auto json = parse_json(must("inspect --json " + name).out);
    return json["history"]["step"].back();
  }
  // Step of the evaluation with the lowest loss.
  long best_step(const std::string& name) const {
    const auto rows = history(name);
    long best = 0;
    double lowest = std::numeric_limits<double>::infinity();
    for (std::size_t row = 0; row < rows["step"].size(); ++row) {
      const auto& loss = rows["valid_loss"][row];
      if (!loss.is_number() || loss.get<double>() >= lowest) continue;
      lowest = loss;
      best = rows["step"][row].get<long>();
    }
    return best;
  }
  nlohmann::json history(const std::string& name) const {
    return parse_json(must("inspect --history --json " + name).out)["history"];
  }
};

}  // namespace

TEST_CASE("running: the same command starts, continues to the same bits, and knows that it has finished") {
  const Runs corpus;
  const std::string rest = " --threads 1 --train train.h5 --valid valid.h5 --eval-every 7" + tiny_shape +
                           "--log-every 1 --checkpoint-every 3 --steps 24 ";
  corpus.must("pretrain -q" + rest + "-o whole.h5 --log whole.jsonl");
  const std::string command = "pretrain" + rest + "-o m.h5 --log m.jsonl ";
  long before = -1;
  // Each attempt ends with the status of an interruption until the run has finished.
  Outcome outcome;
  for (int attempt = 0; attempt < 24; ++attempt) {
    outcome = corpus.run(command + "--max-time 0.001s");
    if (outcome.status != 75) break;
    CHECK_FALSE(corpus.exists("m.h5"));
    CHECK(contains(outcome.err, "; the time is up; the same command continues"));
    CHECK(stopped_at(outcome) > before);
    before = stopped_at(outcome);
    // Settings that do not affect the result may change.
    if (attempt == 3)
      before = stopped_at(corpus.run(command + "--threads 2 --checkpoint-every never --max-time 0.001s"));
  }
  CHECK(outcome.status == 0);
  CHECK(contains(outcome.err, "m.h5: step 24, loss "));
  CHECK(corpus.must("ls m.*").out == "m.h5\nm.jsonl\n");
  CHECK(corpus.weights("m.h5") == corpus.weights("whole.h5"));
  CHECK(corpus.history("m.h5") == corpus.history("whole.h5"));

  corpus.must("touch -d 2001-01-01 m.h5");
  const std::string bytes = read_file(corpus.path("m.h5"));
  CHECK(contains(corpus.must(command).err,
                 "m.h5: already trained by this command (24 steps); --restart trains it again"));
  CHECK(corpus.must("find m.h5 -newermt 2002-01-01").out == "m.h5\n");
  CHECK(read_file(corpus.path("m.h5")) == bytes);
  // Another command replaces it, but not before it has finished.
  const std::string other = "pretrain -q" + rest + "-o m.h5 --learning-rate 1e-4";
  const Outcome replacing = corpus.run("pretrain" + rest + "-o m.h5 --learning-rate 1e-4 --max-time 0.001s");
  CHECK(replacing.status == 75);
  CHECK(contains(replacing.err, "m.h5: --learning-rate was 0.02 and is 1e-04 now; the new model will replace it"));
  CHECK(read_file(corpus.path("m.h5")) == bytes);
  corpus.must(other);
  CHECK(corpus.weights("m.h5") != corpus.weights("whole.h5"));
}

TEST_CASE("running: another command than the checkpoint's is refused and changes nothing; --restart starts over") {
  const Runs corpus;
  const std::string command = train + "-q --steps 30 -o m.h5 ";
  REQUIRE(corpus.run(command + "--max-time 0.001s").status == 75);
  const std::string before = read_file(corpus.path("m.checkpoint.h5"));
  const std::vector<std::pair<std::string, std::string>> changes{
      {"--learning-rate 1e-2",
       "--learning-rate was 0.005 and is 0.01 now; use the previous value, or --restart to start over"},
      {"--steps 40", "--steps was 30 and is 40 now"},
      {"--seed 2", "--seed was 1 and is 2 now"},
      {"--layers 3", "--layers was 2 and is 3 now"},
      {"--arch encoder", "--arch was decoder and is encoder now"},
      {"--arch decoder:norm=rms", "--arch decoder:norm was layer and is rms now"},
      {"--optimizer muon:beta2=0.98", "--optimizer muon:beta2 was 0.95 and is 0.98 now"},
      {"--optimizer sgd", "--optimizer was muon and is sgd now"},
      {"--schedule linear:final=0.2", "--schedule linear:final was 0 and is 0.2 now"},
      {"--precision bf16", "--precision was f32 and is bf16 now"},
      {"--valid valid.h5", "--valid was not given and is valid.h5 now"},
      {"--valid valid.h5 --select last", "--valid was not given and is valid.h5 now"}};
  for (const auto& [change, says] : changes) {
    corpus.refused(command + change, 2, "pretrain: m.checkpoint.h5: " + says);
  }
  corpus.must("cp train.h5 former.h5 && tokenize -q -t tokenizer.h5 -o train.h5 valid.txt");
  corpus.refused(command, 1, "m.checkpoint.h5: train.h5 has changed since its run began; give the same");
  CHECK(read_file(corpus.path("m.checkpoint.h5")) == before);
  CHECK_FALSE(corpus.exists("m.h5"));
  corpus.must("mv former.h5 train.h5 && " + train + "-q --steps 12 --restart -o m.h5");
  corpus.must(train + "-q --steps 12 -o fresh.h5");
  CHECK(corpus.weights("m.h5") == corpus.weights("fresh.h5"));
  CHECK_FALSE(corpus.exists("m.checkpoint.h5"));
  // A file that is no checkpoint is not used as one.
  corpus.must("cp fresh.h5 m.checkpoint.h5");
  corpus.refused(train + "-q --steps 13 -o m.h5", 1,
                 "m.checkpoint.h5: is a finished model and holds no training state");
}

TEST_CASE(
    "running: --resume continues from a checkpoint with other options, and the same command goes on from its own") {
  const Runs corpus;
  const std::string rest = " -q --threads 1 --train train.h5" + tiny_shape + "--schedule constant --warmup 3 ";
  corpus.must("pretrain" + rest + "--steps 20 --checkpoint-every 10 --keep 2 -o first.h5");
  const std::string longer =
      "pretrain --threads 1 --train train.h5 --resume first.step-10.h5 --steps 40 "
      "--checkpoint-every 7 ";
  corpus.must(longer + "-o whole.h5");
  CHECK(corpus.step_of("whole.h5") == 40);
  corpus.must("pretrain" + rest + "--steps 40 -o straight.h5");
  CHECK(corpus.weights("whole.h5") == corpus.weights("straight.h5"));
  long before = 10;
  Outcome part = corpus.run(longer + "--max-time 0.001s -o parts.h5");
  while (part.status == 75) {
    REQUIRE(stopped_at(part) > before);
    before = stopped_at(part);
    part = corpus.run(longer + "--max-time 0.001s -o parts.h5");
  }
  CHECK(part.status == 0);
  CHECK(before > 30);
  CHECK(corpus.weights("parts.h5") == corpus.weights("whole.h5"));
  CHECK(contains(
      corpus.must("pretrain --threads 1 --train train.h5 --resume first.step-10.h5 --steps 40 -o parts.h5").err,
      "parts.h5: already trained by this command"));
  CHECK(contains(corpus.must("inspect parts.h5 --provenance").out, "checkpoint: first.step-10.h5"));
  // A checkpoint of another run is in the way.
  REQUIRE(corpus.run("pretrain" + rest + "--steps 30 -o other.h5 --max-time 0.001s").status == 75);
  corpus.refused(longer + "-o other.h5", 2, "other.checkpoint.h5: --steps was 30 and is 40 now");
  corpus.must(longer + "-o other.h5 --restart");
  CHECK(corpus.weights("other.h5") == corpus.weights("whole.h5"));
  // A run whose options were changed is not that of the command without.
  REQUIRE(corpus.run("pretrain" + rest + "--steps 30 -o c.h5 --max-time 0.001s").status == 75);
  REQUIRE(corpus.run("pretrain" + rest + "--steps 35 -o c.h5 --resume c.checkpoint.h5 --max-time 0.001s").status == 75);
  corpus.refused("pretrain" + rest + "--steps 35 -o c.h5", 2,
                 "c.checkpoint.h5: its options were changed by --resume after");
  corpus.must("pretrain" + rest + "--steps 35 -o c.h5 --resume c.checkpoint.h5");
  CHECK(corpus.step_of("c.h5") == 35);
  CHECK(contains(corpus.must("pretrain --train train.h5 --threads 1 -o c.h5 --steps 35 --resume c.checkpoint.h5").err,
                 "c.h5: already trained by this command"));

  // A dry run foresees the steps that are left, of a run that goes on from its own checkpoint or from another one.
  REQUIRE(corpus.run("pretrain" + rest + "--steps 30 -o dry.h5 --max-time 0.001s").status == 75);  // after one step
  const auto foreseen = [&](const std::string& options) {
    return parse_json(corpus.must("pretrain --dry-run --json " + options).out)["steps"].get<long>();
  };
  CHECK(foreseen("--threads 1 --train train.h5 --resume first.step-10.h5 --steps 40") == 30);
  CHECK(foreseen(rest + "--steps 30 -o dry.h5") == 29);
  CHECK(foreseen(rest + "--steps 30") == 30);

  corpus.refused(train + "--steps 40 -o new.h5 --resume whole.h5", 1, "whole.h5: is a finished model and holds no");
  corpus.refused(train + "--steps 40 -o new.h5 --resume none.h5", 1, "none.h5: cannot open");
  corpus.refused(train + "--steps 40 -o new.h5 --resume", 2, "--resume");
  CHECK_FALSE(corpus.exists("new.h5"));
}

TEST_CASE("running: validation data that are added to an interrupted run, or left out, are named") {
  const Runs corpus;
  const std::string plain = train + "-q --steps 20 --max-time 0.001s -o p.h5 ";
  REQUIRE(corpus.run(plain).status == 75);
  corpus.refused(
      plain + "--valid valid.h5", 2,
      "p.checkpoint.h5: --valid was not given and is valid.h5 now; leave it out, or --restart to start over");
  corpus.refused(plain + "--valid 10%", 2, "p.checkpoint.h5: --valid was not given and is 10% now");
  CHECK(corpus.run(plain).status == 75);
  const std::string evaluated = train + "-q --steps 20 --max-time 0.001s -o v.h5 ";
  REQUIRE(corpus.run(evaluated + "--valid 10%").status == 75);
  corpus.refused(evaluated, 2, "v.checkpoint.h5: --valid was 10% and is not given now; give the same, or --restart");
  corpus.refused(evaluated + "--valid 20%", 2, "v.checkpoint.h5: --valid was 10% and is 20% now");
  corpus.refused(evaluated + "--valid valid.h5", 2, "v.checkpoint.h5: --valid was 10% and is valid.h5 now");
  CHECK(corpus.run(evaluated + "--valid 10.0%").status == 75);
  write_file(corpus.path("task.tsv"), "good\tthe cat sees\nbad\ta dog forgets\ngood\tmy queen sees\n");
  const std::string tune = "finetune -q --from base.h5 --train task.tsv -o t.h5 --steps 50 --max-time 0.001s ";
  corpus.must(train + "-q --steps 2 -o base.h5");
  REQUIRE(corpus.run(tune).status == 75);
  corpus.refused(tune + "--valid task.tsv", 2, "t.checkpoint.h5: --valid was not given and is task.tsv now");
}

TEST_CASE("running: fine-tuning starts and continues with one command line, too") {
  const Runs corpus;
  corpus.must(train + "-q --steps 20 -o base.h5");
  write_file(corpus.path("task.tsv"),
             "good\tthe cat sees\nbad\ta dog forgets\ngood\tmy queen sees\nbad\tthe cat forgets\n");
  const std::string command =
      "finetune --threads 1 --from base.h5 --train task.tsv --steps 1000000 --checkpoint-every 5 -o tuned.h5 ";
  CHECK(corpus.run(signalled(command, "test -e tuned.checkpoint.h5", "TERM")).status == 143);
  CHECK_FALSE(corpus.exists("tuned.h5"));
  corpus.refused(command + "--steps 1", 2, "tuned.checkpoint.h5: --steps was 1000000 and is 1 now");
  corpus.refused(command + "--resume tuned.checkpoint.h5 --steps 1", 2, "steps, more than the 1 of this run");
  corpus.refused(command + "--max-time 200ms", 2, "is not a duration");
  const Outcome outcome = corpus.run(command + "--max-time 0.3s");
  CHECK(outcome.status == 75);
  CHECK(contains(outcome.err, "the time is up; the same command continues"));
  CHECK(corpus.must("inspect verify tuned.checkpoint.h5").out == "tuned.checkpoint.h5: no problem found\n");
}

TEST_CASE("running: --max-time saves and ends with 75, and the run is completed to the same bits") {
  const Runs corpus;
  long done = 0;
  for (int run = 0; run < 3; ++run) {
    CHECK(corpus.run(bare_train + endless + "-o timed.h5 --max-time 0.2s").status == 75);
    CHECK(steps_of(corpus, "timed.checkpoint.h5") > done);
    done = steps_of(corpus, "timed.checkpoint.h5");
  }
  const std::string steps = "--steps " + std::to_string(done + 5);
  corpus.must(bare_train + endless_schedule + "-o timed.h5 --resume timed.checkpoint.h5 " + steps);
  // Even where starting takes longer, a step is done.
  const Outcome short_time = corpus.run(train + "--steps 3 --max-time 0.001s -o steps.h5");
  CHECK(short_time.status == 75);
  CHECK(contains(short_time.err, "steps.checkpoint.h5: step 1, "));
  corpus.must(bare_train + endless_schedule + "-o whole.h5 " + steps);
  CHECK(corpus.weights("timed.h5") == corpus.weights("whole.h5"));
  for (const char* wrong : {"soon", "10x", "-5m", "0", "1:2:3:4"}) {
    corpus.refused(train + "-o x.h5 --max-time=" + std::string(wrong), 2, "is not a duration; write 90m");
  }
  for (const char* wrong : {"soon", "10x", "-5", "0", "-1", "1.5"}) {
    corpus.refused(train + "-o x.h5 --checkpoint-every=" + std::string(wrong), 2,
                   "' is not a number of steps (500), a duration (10m) or never");
  }
}

TEST_CASE("running: the output holds the best model, or the last") {
  const Runs corpus;
  // So high a rate that the loss goes up and down.
  const std::string command =
      "pretrain -q --threads 1 --train train.h5 --valid valid.h5 --eval-every 5 --steps 60 "
      "--schedule constant --warmup 0 --learning-rate 0.1 --log-every 5" +
      tiny_shape;
  const auto evaluated = [&](const std::string& model) {
    return parse_json(corpus.must("inspect evaluate " + model + " valid.h5 --json").out)["nats_per_token"]
        .get<double>();
  };
  corpus.must(command + "-o best.h5 --log log.jsonl && " + command + "-o last.h5 --select last");
  std::vector<double> losses;
  for (const auto& line : json_lines(read_file(corpus.path("log.jsonl")))) {
    if (line.contains("valid_loss")) losses.push_back(line["valid_loss"]);
  }
  REQUIRE(losses.size() == 12);
  REQUIRE(std::ranges::min(losses) < losses.back());
  CHECK(evaluated("best.h5") == doctest::Approx(std::ranges::min(losses)).epsilon(1e-5));
  CHECK(evaluated("last.h5") == doctest::Approx(losses.back()).epsilon(1e-5));
  CHECK(corpus.history("best.h5") == corpus.history("last.h5"));
  CHECK(corpus.step_of("best.h5") == 60);
  CHECK(corpus.must("ls *best* *checkpoint*; true").out == "best.h5\n");
  CHECK_FALSE(formats::ModelFile(corpus.path("best.h5")).has_training());
  CHECK(std::filesystem::file_size(corpus.path("best.h5")) == std::filesystem::file_size(corpus.path("last.h5")));
  CHECK(contains(corpus.must("pretrain --train train.h5 --valid valid.h5 --steps 5 -o said.h5" + tiny_shape).err,
                 "said.h5: step 5, loss "));
  const std::string said =
      corpus.must("pretrain --train train.h5 --valid valid.h5 --steps 5 --select last -o said.h5" + tiny_shape).err;
  CHECK(contains(said, "; the best was step 5, with validation loss "));
  CHECK_FALSE(contains(said, "it holds the model"));
  corpus.refused(train + "--select best -o x.h5", 2, "--select best needs an evaluation; add --valid");
  corpus.refused(command + "--select worst -o x.h5", 2, "'worst' is not one of auto, best, last");
  // The best model so far outlives an interruption, and a lost one is not replaced by another.
  corpus.must(command + "-o kept.h5 --checkpoint-every 5 --keep 100");
  CHECK(corpus.weights("kept.h5") == corpus.weights("best.h5"));
  corpus.must(
      "pretrain -q --threads 1 --train train.h5 --valid valid.h5 --resume kept.step-55.h5 --steps 60 -o again.h5");
  CHECK(corpus.weights("again.h5") == corpus.weights("best.h5"));
  // So does a checkpoint that has the name of one.
  const std::string best = ".best-" + std::to_string(corpus.best_step("kept.step-55.h5")) + ".h5";
  corpus.must("cp kept.step-55.h5 moved.checkpoint.h5 && cp kept" + best + " moved" + best);
  corpus.must(
      "pretrain -q --threads 1 --train train.h5 --valid valid.h5 --resume moved.checkpoint.h5 --steps 60 -o taken.h5");
  CHECK(corpus.weights("taken.h5") == corpus.weights("best.h5"));
  const std::string lost = command + "-o lost.h5 --steps 1000000 ";
  CHECK(corpus.run(signalled(lost, "ls lost.best-* 2> /dev/null", "TERM")).status == 143);
  // A checkpoint of another output brings its best model along.
  corpus.must(
      "pretrain -q --threads 1 --train train.h5 --valid valid.h5 --resume lost.checkpoint.h5 -o more.h5 --steps " +
      std::to_string(steps_of(corpus, "lost.checkpoint.h5") + 20));  // some more than were logged
  corpus.must("rm lost.best-*.h5");
  corpus.refused(lost, 1,
                 ": is missing; it was the best model so far of the run in lost.checkpoint.h5; --restart starts over");
}

TEST_CASE("running: SIGUSR1 makes a checkpoint and training continues, or ends with one") {
  const Runs corpus;
  const std::string command =
      bare_train + "--steps 1000000 --checkpoint-every never --log-every 1 --log log.jsonl -o usr.h5 ";
  const std::string going_on =
      watching + command +
      "& run=$!\nawait $run 'test -s log.jsonl'\nkill -USR1 $run\n"
      "await $run 'test -e usr.checkpoint.h5'\ncp usr.checkpoint.h5 first.h5; seen=$(lines_of log.jsonl)\n"
      "await $run 'test $(lines_of log.jsonl) -gt $seen'\nkill -TERM $run; wait $run";
  CHECK(corpus.run(going_on).status == 143);
  CHECK(corpus.must("inspect verify first.h5").out == "first.h5: no problem found\n");
  CHECK(corpus.step_of("first.h5") < corpus.step_of("usr.checkpoint.h5"));

  corpus.must("rm log.jsonl usr.checkpoint.h5");
  CHECK(corpus.run(signalled(command + "--on-usr1 exit", "test -s log.jsonl", "USR1")).status == 138);
  CHECK(corpus.must("inspect verify usr.checkpoint.h5").out == "usr.checkpoint.h5: no problem found\n");
}

TEST_CASE("running: the last checkpoints are kept under their own names") {
  const Runs corpus;
  const std::string command = train + "-q --steps 22 --keep 2 -o kept.h5 ";
  corpus.must(command);
  CHECK(corpus.must("ls kept*").out == "kept.h5\nkept.step-20.h5\nkept.step-22.h5\n");
  CHECK(corpus.weights("kept.h5") == corpus.weights("kept.step-22.h5"));
  CHECK(corpus.weights("kept.step-20.h5") != corpus.weights("kept.h5"));
  // A kept one is a whole checkpoint, with which training continues, wherever it lies.
  corpus.must("cp kept.step-20.h5 again.h5 && " + train + "-q --steps 22 --resume again.h5 -o other.h5");
  CHECK(corpus.weights("other.h5") == corpus.weights("kept.h5"));
  corpus.must("convert -q --average kept.step-*.h5 -o average.h5");
  // Kept files of an earlier run mix with a new run's; other files with similar names are not deleted.
  const std::string fewer = train + "-q --steps 12 --keep 1 -o kept.h5";
  corpus.refused(fewer, 2, "was kept by an earlier run");
  corpus.must("touch kept.step-7.h5.txt kept.step-x.h5; " + fewer + " --restart");
  CHECK(corpus.must("ls kept*").out == "kept.h5\nkept.step-12.h5\nkept.step-7.h5.txt\nkept.step-x.h5\n");
}

TEST_CASE("running: the best models that kept checkpoints resume with stay as long as these") {
  const Runs corpus;
  corpus.must(train + "-q --valid valid.h5 --eval-every 5 --steps 25 --keep 2 -o m.h5");
  std::set<std::string> best;
  for (const char* kept : {"20", "25"}) {
    best.insert("m.best-" + std::to_string(corpus.best_step("m.step-" + std::string(kept) + ".h5")) + ".h5");
  }
  std::string names;
  for (const std::string& name : best) names += name + "\n";
  CHECK(corpus.must("ls m.best*").out == names);
}

TEST_CASE("running: a time between checkpoints is that, from one to the next") {
  const Runs corpus;
  // 0.6 seconds lie between the times of two checkpoints, however slow the machine is.
  const std::string often = bare_train + "--steps 1000000 --checkpoint-every 0.6s --keep 9 -o clock.h5";
  const std::string seen = "test $(ls clock.step-* 2> /dev/null | wc -l) -ge 3";
  CHECK(corpus.run(signalled(often, seen, "KILL")).status == 137);
  std::vector<double> times;
  for (const std::string& time : lines_of(corpus.must("stat -c %.Y clock.step-*").out))
    times.push_back(std::stod(time));
  std::ranges::sort(times);
  REQUIRE(times.size() >= 3);
  for (std::size_t i = 1; i < times.size(); ++i) CHECK(times[i] - times[i - 1] > 0.58);  // clocks of files are coarse
  CHECK(corpus.must("inspect verify clock.checkpoint.h5").out == "clock.checkpoint.h5: no problem found\n");
}

TEST_CASE("running: several training files are one text, or are read as often as their weights say") {
  const Runs corpus;
  corpus.must("head -n 100 train.txt > a.txt && tail -n +101 train.txt > b.txt");
  corpus.must(
      "tokenize -q -t tokenizer.h5 -o a.h5 a.txt && tokenize -q -t tokenizer.h5 -o b.h5 b.txt && "
      "tokenize -q -t tokenizer.h5 --documents file -o both.h5 a.txt b.txt");
  const std::string rest = " --threads 1 -q --steps 30 --learning-rate 5e-3" + tiny_model;
  corpus.must("pretrain --train a.h5 --train b.h5 -o two.h5" + rest);
  corpus.must("pretrain --train both.h5 -o one.h5" + rest);
  CHECK(corpus.weights("two.h5") == corpus.weights("one.h5"));
  corpus.must("pretrain --train a.h5,b.h5:2.5 -o weighted.h5" + rest);
  CHECK(corpus.weights("weighted.h5") != corpus.weights("two.h5"));
  CHECK(contains(corpus.must("inspect weighted.h5").out, "train, weight 2.5"));

  corpus.must("pretrain --train a.h5,b.h5:2.5 -o part.h5 --max-time 0.001s" + rest + "|| test $? = 75");
  corpus.must("pretrain --train a.h5,b.h5:2.5 -o part.h5" + rest);
  CHECK(corpus.weights("part.h5") == corpus.weights("weighted.h5"));
  corpus.must("pretrain --train a.h5,b.h5:2.5 -o w.h5 --max-time 0.001s" + rest + "|| test $? = 75");
  for (const std::string& more : {" -o w.h5" + rest, std::string(" -o w.h5 --resume w.checkpoint.h5 --steps 40")}) {
    corpus.refused("pretrain --train a.h5,b.h5" + more, 1,
                   "w.checkpoint.h5: its run reads b.h5 as 'train, weight 2.5', and b.h5 is given as 'train'");
    corpus.refused("pretrain --train a.h5" + more, 1, "w.checkpoint.h5: its run reads b.h5 (train), too");
    corpus.refused("pretrain --train a.h5,b.h5:2.5,b.h5" + more, 1,
                   "w.checkpoint.h5: its run does not read b.h5 (train)");
    corpus.refused("pretrain --train b.h5:2.5,a.h5" + more, 1,
                   "w.checkpoint.h5: its run reads a.h5, and b.h5 is another file");
  }
  corpus.refused("pretrain --train a.h5:0 -o x.h5", 2, "a.h5:0: the weight must be more than 0");
  corpus.refused("pretrain --train a.h5:1000001 --steps 1 -o x.h5" + tiny_shape, 2,
                 "a.h5:1000001: the weight must be more than 0 and at most 1000000");
  corpus.refused("pretrain --train a.h5,none.h5 -o x.h5", 1, "none.h5");
  corpus.refused("pretrain --train a.h5,b.h5 -o b.h5", 2, "b.h5: refusing to overwrite the input b.h5");
  // A colon may be part of a name.
  corpus.must("cp b.h5 b:2 && pretrain --train a.h5,b:2 -o colon.h5" + rest);
  CHECK(corpus.weights("colon.h5") == corpus.weights("two.h5"));
}

TEST_CASE("running: patience ends pre-training when evaluations bring nothing better") {
  const Runs corpus;
  const Outcome outcome = corpus.must(train + "--valid valid.h5 --steps 4000 --eval-every 5 --patience 2 -o m.h5");
  CHECK(contains(outcome.err, "; it holds the model of step "));
  CHECK(contains(outcome.err, "; 2 evaluations in a row without improvement (--patience)"));
  CHECK(corpus.step_of("m.h5") < 4000);
  corpus.must("cp m.h5 first.h5");
  const std::string again = train + "--valid valid.h5 --steps 4000 --eval-every 5 -o m.h5 ";
  CHECK(contains(corpus.must(again + "--patience 2").err, "m.h5: already trained by this command"));
  const double stopped = corpus.step_of("m.h5");
  corpus.must(again + "--patience 2 --restart --keep 1");
  CHECK(corpus.step_of("m.h5") == stopped);
  corpus.must(again + "--patience 3 --resume $(ls m.step-*.h5)");
  CHECK(corpus.step_of("m.h5") > stopped);
  // It stopped at the second evaluation without anything better, and no earlier.
  const auto history = parse_json(corpus.must("inspect --json first.h5").out)["history"];
  std::vector<double> losses;
  for (std::size_t row = 0; row < history["step"].size(); ++row) {
    if (history["valid_loss"][row].is_number()) losses.push_back(history["valid_loss"][row]);
  }
  REQUIRE(losses.size() > 2);
  const auto best = std::ranges::min_element(losses);
  CHECK(losses.end() - best == 3);
  double lowest = losses.front();
  int in_a_row = 0;
  for (std::size_t i = 1; i + 1 < losses.size(); ++i) {
    in_a_row = losses[i] < lowest ? 0 : in_a_row + 1;
    lowest = std::min(lowest, losses[i]);
    CHECK(in_a_row < 2);
  }
  corpus.refused(train + "--patience 2 -o m.h5", 2, "--patience has no effect without --valid");
  // Steps that are logged between evaluations do not count.
  corpus.must(again + "--patience 2 --log-every 1 --restart");
  CHECK(corpus.step_of("m.h5") == stopped);
}

TEST_CASE("running: with other validation data, what was best before does not count, whatever is selected") {
  const Runs corpus;
  corpus.must("rev valid.txt > other.txt && tokenize -q -t tokenizer.h5 -o other.h5 other.txt");
  const std::string command = "pretrain --threads 1 --train train.h5 --eval-every 5 --learning-rate 5e-3 ";
  for (const std::string select : {"last", "best"}) {
    CAPTURE(select);
    corpus.must("rm -f a.* b.*");
    corpus.must(command + "-q --valid train.h5 --steps 40 --keep 1 -o a.h5 --select " + select + tiny_shape);
    const std::string resumed =
        corpus.must(command + "--valid other.h5 --resume a.step-40.h5 --steps 45 -o b.h5 --select " + select).err;
    CHECK(contains(resumed, (select == "best" ? "it holds the model of step 45" : "the best was step 45")));
    const auto losses = corpus.history("b.h5")["valid_loss"];
    CHECK(losses.back().get<double>() > losses[losses.size() - 2].get<double>());
  }
}

TEST_CASE("running: a loss that is no lower than that of token frequencies is reported once, when it is due") {
  const Runs corpus;
  const std::string command =
      "pretrain --threads 1 --train train.h5 --layers 1 --width 8 --heads 1 --context 4 --batch-size 1 --log-every 50 "
      "--checkpoint-every never --schedule constant --warmup 0 --restart -o m.h5 ";
  const auto warned = [&](Index steps, const std::string& rate) {
    const std::string said = corpus.must(command + concatenate("--steps ", steps, " --learning-rate ", rate)).err;
    const std::string begin = "warning: after ", end = " steps the loss, ";
    const std::size_t at = said.find(begin), last = said.find(end);
    if (at == std::string::npos || last == std::string::npos) return Index{0};
    CHECK(said.find(begin, at + 1) == std::string::npos);
    return Index{std::stol(said.substr(at + begin.size(), last - at - begin.size()))};
  };
  CHECK(warned(150, "1e-9") == 0);
  CHECK(warned(300, "1e-9") == 300);
  CHECK(warned(900, "1e-9") == 500);
  CHECK(warned(6000, "1e-9") == 600);
  CHECK(warned(2000, "1e-2") == 0);
  // It says when such a loss falls after all.
  const std::string late = corpus.must(command + "--steps 6000 --warmup 6000 --learning-rate 1e-2").err;
  CHECK(contains(late, "warning: after 600 steps the loss, "));
  CHECK(contains(late, ", has left that of token frequencies, "));
}

TEST_CASE("running: a divergence names the operation, the step, the rate, the documents and the last checkpoint") {
  const Runs corpus;
  const std::string wild =
      "pretrain --threads 1 --train train.h5" + tiny_model +
      "-q --optimizer sgd --schedule cosine --positions learned --clip-norm none --warmup 0 --learning-rate 900 "
      "--steps 500 -o wild.h5 ";
  const Outcome outcome = corpus.run(wild);
  CHECK(outcome.status == 3);
  CHECK(lines_in(outcome.err) == 1);
  for (const char* part :
       {" diverged: loss ", ", gradient norm ", ", learning rate ", "first not finite: the result of ", "decoder/",
        "it read documents of train.h5: 0", "no checkpoint was made"}) {
    CAPTURE(part);
    CHECK(contains(outcome.err, part));
  }
  CHECK_FALSE(corpus.exists("wild.h5"));
  // The earlier checkpoint remains, and the message names it and how to continue.
  const std::string good = train +
                           "-q --optimizer sgd --clip-norm none --steps 500 --schedule constant --warmup 0 "
                           "--checkpoint-every never -o good.h5 --learning-rate 1e-3 ";
  REQUIRE(corpus.run(good + "--max-time 0.001s").status == 75);
  const std::string before = read_file(corpus.path("good.checkpoint.h5"));
  const std::string on = bare_train + "--steps 500 --checkpoint-every never -o good.h5 --resume good.checkpoint.h5 ";
  const Outcome overflow = corpus.run(on + "--learning-rate 900");
  CHECK(overflow.status == 3);
  CHECK(contains(overflow.err,
                 "; good.checkpoint.h5 holds step 1: continue with --resume good.checkpoint.h5 "
                 "--learning-rate RATE"));
  CHECK(read_file(corpus.path("good.checkpoint.h5")) == before);
  CHECK_FALSE(corpus.exists("good.h5"));
  corpus.must(on + "--learning-rate 1e-4");
  CHECK(corpus.step_of("good.h5") == 500);
}

TEST_CASE("running: an evaluation that is not finite ends the run, and no file has it") {
  const Runs corpus;
  const std::string wild =
      "pretrain -q --threads 1 --train train.h5 --valid valid.h5 --layers 1 --width 16 --heads 2 "
      "--context 16 --batch-size 4 --optimizer sgd --clip-norm none --schedule constant --warmup 0 "
      "--learning-rate 900 --weight-decay 100 --eval-every 1 --checkpoint-every 1 --steps ";
  // Each update multiplies the weights with nearly -90,000: whatever the processor's rounding, they overflow within
  // five, and the evaluation that follows is the first to see it.
  for (const char* steps : {"5", "500"}) {
    CAPTURE(steps);
    const Outcome outcome = corpus.run(wild + steps + " --restart -o wild.h5");
    CHECK(outcome.status == 3);
    CHECK(contains(outcome.err, " diverged: validation"));
    CHECK_FALSE(contains(outcome.err, "-nan"));
    CHECK_FALSE(corpus.exists("wild.h5"));
    for (const std::string& file : lines_of(corpus.must("ls wild.*.h5 2> /dev/null; true").out)) {
      CHECK(corpus.must("inspect verify " + file + "").out == file + ": no problem found\n");
      CHECK_FALSE(contains(corpus.must("inspect " + file + " --history").out, "nan"));
    }
  }
}

TEST_CASE("running: outputs that are symbolic links stay links, and kept checkpoints are checkpoints") {
  const Runs corpus;
  corpus.must("mkdir scratch && ln -s scratch/m.h5 m.h5");
  corpus.must(train + "-q --steps 15 --checkpoint-every 5 --keep 2 -o m.h5");
  CHECK(std::filesystem::is_symlink(corpus.path("m.h5")));
  CHECK(std::filesystem::is_regular_file(corpus.path("scratch/m.h5")));
  CHECK_FALSE(std::filesystem::is_symlink(corpus.path("m.step-10.h5")));
  CHECK(corpus.step_of("m.step-10.h5") == 10);
  CHECK(corpus.step_of("m.h5") == 15);
  corpus.must("ln -s loop2.h5 loop.h5; ln -s loop.h5 loop2.h5");
  corpus.refused(train + "-q --steps 5 -o loop.h5", 1, "loop.h5: is a broken symbolic link");
}

TEST_CASE("running: the log outlives whatever ends a run that is resumed") {
  const Runs corpus;
  const std::string on = bare_train + "--log log.jsonl --log-every 1 --checkpoint-every 10 -o m.h5 --steps 1000000";
  CHECK(corpus.run(signalled(on, "test -e m.checkpoint.h5", "KILL")).status == 137);
  const long saved = steps_of(corpus, "m.checkpoint.h5");
  const auto lines = lines_of(read_file(corpus.path("log.jsonl")));
  REQUIRE(static_cast<long>(lines.size()) >= saved);
  std::string before;
  for (long step = 0; step < saved; ++step) before += lines[static_cast<std::size_t>(step)] + "\n";
  const std::string seen = "test $(lines_of log.jsonl) -gt " + std::to_string(lines.size() + 2);
  CHECK(corpus.run(signalled(on, seen, "KILL")).status == 137);
  CHECK(read_file(corpus.path("log.jsonl")).starts_with(before));
}

TEST_CASE("running: a run that diverged continues from its last checkpoint, with a lower rate") {
  const Runs corpus;
  corpus.must(train + "-q --steps 10 --optimizer sgd --schedule constant --keep 1 -o m.h5");
  const std::string on =
      "pretrain --threads 1 --train train.h5 --steps 40 -q -o on.h5 --resume m.step-10.h5 --learning-rate ";
  corpus.must(on + "1e-4 --warmup 0 --clip-norm 0.5 --log log.jsonl --log-every 1");
  CHECK(corpus.step_of("on.h5") == 40);
  const auto log = json_lines(read_file(corpus.path("log.jsonl")));
  REQUIRE(log.size() == 30);
  for (const auto& line : log) CHECK(line["learning_rate"].get<double>() == doctest::Approx(1e-4));
  // The rate at the last step is a fraction of the peak, so that it falls with it.
  corpus.must(train + "-q --steps 5 --schedule linear:final=0.5 --keep 1 -o f.h5");
  corpus.must(
      "pretrain --threads 1 --train train.h5 --resume f.step-5.h5 --steps 9 -q -o f.h5 --learning-rate 1e-5 "
      "--log f.jsonl --log-every 1");
  CHECK(json_lines(read_file(corpus.path("f.jsonl"))).back()["learning_rate"].get<double>() ==
        doctest::Approx(5e-6).epsilon(1e-3));
}

TEST_CASE("running: a new run reports which other one it replaces") {
  const Runs corpus;
  const std::string replaced = "the new model will replace it";
  CHECK_FALSE(contains(corpus.must(train + "--steps 5 -o m.h5").err, replaced));
  CHECK(contains(corpus.must(train + "--steps 6 -o m.h5").err, "m.h5: --steps was 5 and is 6 now; " + replaced));
  corpus.must("cp valid.h5 former.h5; tokenize -q -t tokenizer.h5 -o train.h5 valid.txt");
  CHECK(contains(corpus.must(train + "--steps 6 -o m.h5").err,
                 "m.h5: train.h5 has changed since its run began; " + replaced));
}

TEST_CASE("running: tokens that were made again are the same input, however they are stored") {
  const Runs corpus;
  const std::string command =
      "pretrain -q --threads 1 --train train.h5 --valid valid.h5 --eval-every 10 --steps 20" + tiny_model;
  corpus.must(command + "-o whole.h5");
  REQUIRE(corpus.run(command + "--max-time 0.001s -o m.h5").status == 75);
  corpus.must(
      "export SOURCE_DATE_EPOCH=1800000000; tokenize -q --train --vocab-size 300 -o tokenizer.h5 train.txt; "
      "tokenize -q -t tokenizer.h5 -o train.h5 --compress train.txt; tokenize -q -t tokenizer.h5 -o valid.h5 "
      "valid.txt");
  corpus.must(command + "-o m.h5");
  CHECK(corpus.weights("m.h5") == corpus.weights("whole.h5"));
  corpus.must(command + "-o whole.h5");  // is finished
  // Other tokens are others.
  REQUIRE(corpus.run(command + "--max-time 0.001s -o n.h5").status == 75);
  corpus.must("cp train.h5 good.h5; { cat train.txt; echo more; } | tokenize -q -t tokenizer.h5 -o train.h5");
  corpus.refused(command + "-o n.h5", 1, "n.checkpoint.h5: train.h5 has changed since its run began");
  // So is another tokenizer with the same ids.
  corpus.must(
      "tokenize -q --train --vocab-size 280 -o small.h5 train.txt; tokenize -q -t small.h5 -o train.h5 train.txt");
  corpus.refused(command + "-o n.h5", 1, "train.h5");
}

TEST_CASE("running: no model that computes no finite loss is written, with or without an evaluation") {
  const Runs corpus;
  const std::string wild =
      "pretrain -q --threads 1 --train train.h5 --layers 1 --width 16 --heads 2 --context 16 --batch-size 4 "
      "--optimizer sgd --clip-norm none --schedule constant --warmup 0 --learning-rate 900 --weight-decay 100 "
      "--checkpoint-every 1 --restart -o wild.h5 --steps ";
  long diverged = 0;
  for (long steps = 1; steps <= 8; ++steps) {
    CAPTURE(steps);
    const Outcome outcome = corpus.run("rm -f wild.*; " + wild + std::to_string(steps));
    CHECK((outcome.status == 0 || outcome.status == 3));
    CHECK(corpus.exists("wild.h5") == (outcome.status == 0));
    diverged += outcome.status == 3 ? 1 : 0;
    for (const std::string& file : lines_of(corpus.must("ls wild.*h5 2> /dev/null; true").out)) {
      CHECK(corpus.run("inspect evaluate " + file + " train.h5").status == 0);
    }
  }
  CHECK(diverged > 0);
}

TEST_CASE("running: an input that is named like a kept checkpoint is not lost") {
  const Runs corpus;
  corpus.must("cp train.h5 m.step-5.h5");
  corpus.refused("pretrain --train m.step-5.h5 --steps 10 --checkpoint-every 5 --keep 1 -o m.h5" + tiny_model, 2,
                 "m.step-5.h5: is named like a checkpoint that this run writes");
  // Without --keep no file gets such a name, and none is removed.
  corpus.must("pretrain -q --train m.step-5.h5 --steps 2 -o m.h5" + tiny_model);
  CHECK(read_file(corpus.path("m.step-5.h5")) == read_file(corpus.path("train.h5")));
}

TEST_CASE("running: SIGHUP saves and ends the run, too") {
  const Runs corpus;
  CHECK(corpus.run(signalled(train + "-q --steps 1000000 -o m.h5", "test -e m.checkpoint.h5", "HUP")).status == 129);
  CHECK(corpus.must("inspect verify m.checkpoint.h5").out == "m.checkpoint.h5: no problem found\n");
}

TEST_CASE("running: options that would lose something, or come to nothing, are refused") {
  const Runs corpus;
  corpus.refused(train + "-o m.h5 --log m.h5", 2, "m.h5: is named as two different outputs");
  corpus.refused(train + "-o m.h5 --log ./m.h5", 2, "m.h5: is named as two different outputs");
  corpus.refused(train + "-o m.h5 --log m.checkpoint.h5", 2, "m.checkpoint.h5: is named as two different outputs");
  corpus.refused(train + "-o m.h5 --log m.best-5.h5", 2, "m.best-5.h5: is named like a checkpoint");
  corpus.refused(train + "-o -", 2, "-o needs a file: a training run keeps its checkpoint beside it");
  corpus.refused("pretrain --train - -o m.h5", 1, "cannot come from standard input");
  corpus.refused("pretrain --train= -o m.h5", 2, "--train: the list is empty");
  corpus.refused(train + "-o m.h5 --warmup 101%", 2, "--warmup: '101%' is not a number of steps, such as 2000, or");
  corpus.refused(train + "-o m.h5 --schedule linear:final=-0.5", 2, "--schedule: final: -0.5 is out of range; it must");
  corpus.refused("pretrain --train train.h5:much -o m.h5", 2, "train.h5:much: the weight 'much' is not a number");
  corpus.refused("pretrain --train train.h5 -o m.h5 --preset gtp2", 2, "did you mean 'gpt2'?");
  corpus.must("printf cat > tiny.txt && tokenize -q -t tokenizer.h5 -o tiny.h5 tiny.txt");
  corpus.refused(train + "--train tiny.h5:1000 -o m.h5", 1, "tiny.h5: weight 1000 of 0 windows of ");
  CHECK_FALSE(corpus.exists("m.h5"));
  CHECK(contains(corpus.must(train + "-o m.h5 --steps 5 --warmup 100").err, "never falls after its peak"));
  const std::string shape = " --layers 1 --context 16 --batch-size 2";
  const std::string nano = "pretrain -q --train train.h5 -o nano.h5 --max-time 0.001s --steps ";
  REQUIRE(corpus.run(nano + "2 --preset nano" + shape).status == 75);
  REQUIRE(corpus.run(nano + "4 --preset nano --resume nano.checkpoint.h5" + shape).status == 75);
  corpus.refused(nano + "4 --preset gpt2 --resume nano.checkpoint.h5" + shape, 2,
                 "--width 768 differs from the 128 that nano.checkpoint.h5 was trained with");
}

TEST_CASE("running: fine-tuning on several files is fine-tuning on all of their examples") {
  const Runs corpus;
  corpus.must(train + "-q --steps 20 -o base.h5");
  const std::string first = "good\tthe cat sees\nbad\ta dog forgets\n",
                    second = "good\tmy queen sees\nbad\tthe cat forgets\n";
  write_file(corpus.path("all.tsv"), first + second);
  write_file(corpus.path("first.tsv"), first);
  write_file(corpus.path("second.tsv"), second);
  const std::string command = "finetune -q --threads 1 --from base.h5 --epochs 4 --batch-size 2 ";
  corpus.must(command + "--train all.tsv -o all.h5");
  corpus.must(command + "--train first.tsv --train second.tsv -o two.h5");
  CHECK(corpus.weights("two.h5") == corpus.weights("all.h5"));
  const std::string inputs = corpus.must("inspect two.h5 --provenance").out;
  CHECK(contains(inputs, "train: first.tsv"));
  CHECK(contains(inputs, "train: second.tsv"));
  corpus.must(command + "--train first.tsv,second.tsv --max-time 0.001s -o part.h5 || test $? = 75");
  corpus.refused(command + "--train first.tsv -o part.h5", 1,
                 "part.checkpoint.h5: its run reads second.tsv (train), too");
  corpus.refused(command + "--train first.tsv,second.tsv:2 -o x.h5", 2, "second.tsv: weights are for --task lm");
  corpus.refused(command + "--train first.tsv,absent.tsv -o x.h5", 1, "absent.tsv: cannot open");
  corpus.refused(command + "--train first.tsv,second.tsv -o second.tsv", 2,
                 "second.tsv: refusing to overwrite the input");
  write_file(corpus.path("second.tsv"), second + "good\t" + std::string(200, 'x') + "\n");
  corpus.refused(command + "--train first.tsv,second.tsv --overlong error -o x.h5", 1, "second.tsv:3: ");

  const std::string more = "finetune -q --threads 1 --from base.h5 --task lm --steps 10 --batch-size 2 ";
  corpus.must(more + "--train train.h5 -o one.h5");
  corpus.must(more + "--train train.h5,valid.h5:3 -o joined.h5");
  CHECK(corpus.weights("joined.h5") != corpus.weights("one.h5"));
  CHECK(contains(corpus.must("inspect joined.h5 --provenance").out, "train, weight 3: valid.h5"));
}

}  // namespace running_tests
