// Training that is killed at any instant, or whose disk fails it: every file that is left is whole, the output appears
// when it is finished, and the same command ends with the bytes of one that was never stopped. HEDDLE_CRASHES is the
// number of random kills, 200 for the test labelled slow.
#include <algorithm>
#include <csignal>
#include <cstdlib>

#include "libcore/base/random.hpp"
#include "tools/small_corpus.hpp"

using namespace heddle;
using namespace heddle::testing;

namespace crash_tests {

namespace {

int crashes() {
  const char* const number = std::getenv("HEDDLE_CRASHES");
  return number == nullptr ? 8 : std::atoi(number);
}

// One folder has the run that nobody disturbs, another the same command.
struct Run {
  std::string name, command;
  std::vector<std::string> files;  // files that it writes
};

class Crashes : public SmallCorpus {
 public:
  Crashes() {
    must("pretrain -q --train train.h5 -o base.h5 --steps 2" + tiny_model);
    write_file(path("task.tsv"), "good\tthe cat sees\nbad\ta dog forgets\ngood\tmy queen sees\nbad\tthe cat forgets\n");
    const std::string saving = " -q --threads 1 --checkpoint-every 3 --keep 2 --log log.jsonl --log-every 1 ";
    runs_ = {
        {"pretrain",
         "pretrain --train ../train.h5 --valid ../valid.h5 --eval-every 10 --steps 40 --layers 2 --width 32 --heads 2 "
         "--context 16 --batch-size 4 --ema-decay 0.9 -o m.h5" +
             saving,
         {"m.h5", "m.step-39.h5", "m.step-40.h5"}},
        {"finetune",
         "finetune --from ../base.h5 --train ../task.tsv --steps 40 --batch-size 2 -o m.h5" + saving,
         {"m.h5", "m.step-39.h5", "m.step-40.h5"}}};
    for (const Run& run : runs_) must("mkdir whole." + run.name + " && cd whole." + run.name + " && " + run.command);
  }

  const std::vector<Run>& runs() const { return runs_; }

  void check_files_are_whole() const {
    const Outcome outcome =
        run("cd broken && for f in *.h5; do test -e $f || continue; inspect verify $f || exit 1; done");
    CAPTURE(outcome.out);
    CAPTURE(outcome.err);
    REQUIRE(outcome.status == 0);
    if (std::filesystem::exists(path("broken/m.h5"))) {
      REQUIRE(std::ranges::any_of(runs_, [&](const Run& one) {
        return read_file(path("broken/m.h5")) == read_file(path("whole." + one.name + "/m.h5"));
      }));
    }
  }
  void check_ends_alike(const Run& one) const {
    must("cd broken && " + one.command);
    for (const std::string& file : one.files) {
      CAPTURE(file);
      REQUIRE(read_file(path("broken/" + file)) == read_file(path("whole." + one.name + "/" + file)));
    }
    REQUIRE(logged("broken") == logged("whole." + one.name));
    REQUIRE(must("ls broken").out == must("ls whole." + one.name).out);
  }
  // Steps and losses of the log, speeds aside.
  std::vector<std::pair<double, double>> logged(const std::string& folder) const {
    std::vector<std::pair<double, double>> steps;
    for (const auto& line : json_lines(read_file(path(folder + "/log.jsonl")))) {
      steps.emplace_back(line["step"], line.value("loss", line.value("valid_loss", 0.0)));
    }
    return steps;
  }
  Outcome with_fault(const Run& one, const std::string& fault) const {
    return run("cd broken && LD_PRELOAD='" HEDDLE_FAULTS "' HEDDLE_FAULT=" + fault + " sh -c 'exec " + one.command +
               "'");
  }
  // Temporary files and locks.
  long leftovers_in(const std::string& folder) const {
    return lines_in(must("ls -A " + folder + " | sed -n '/^[.]/p'").out);
  }
  void start_anew() const { must("rm -rf broken && mkdir broken"); }

 private:
  std::vector<Run> runs_;
};

}  // namespace

TEST_CASE("crash: killed at random instants, again and again, a run comes to the bytes of one that was never stopped") {
  const Crashes crash;
  const RandomStream random(20, 21);
  std::uint64_t drawn = 0;
  int kills = 0;
  // Each attempt ends the run some microseconds after one of its first calls: a whole run has some more of them, most
  // of its time is writing checkpoints, and the file that the last attempt left goes on.
  for (int attempt = 0; attempt < 10 * crashes() && kills < crashes(); ++attempt) {
    const Run& one = crash.runs()[static_cast<std::size_t>(attempt) % crash.runs().size()];
    CAPTURE(one.name);
    CAPTURE(attempt);
    crash.start_anew();
    for (int again = 0; again < 3; ++again) {
      const int call = 1 + static_cast<int>(60 * random.uniform(drawn++));
      const int later = static_cast<int>(4000 * random.uniform(drawn++));
      const Outcome outcome = crash.with_fault(one, "any:" + std::to_string(call) + ":kill+" + std::to_string(later));
      const bool was_killed = outcome.status == 128 + SIGALRM;
      REQUIRE((was_killed || outcome.status == 0));
      kills += was_killed ? 1 : 0;
      crash.check_files_are_whole();
    }
    crash.check_ends_alike(one);
    CHECK(crash.leftovers_in("broken") == 0);
  }
  CHECK(kills >= crashes());
}

TEST_CASE("crash: killed just before any call that writes, flushes, renames or links") {
  const Crashes crash;
  for (const Run& one : crash.runs()) {
    CAPTURE(one.name);
    const int trials = std::max(3, crashes() / 4);
    int kills = 0;
    for (int i = 0; i < trials; ++i) {
      const int call = 1 + i * 37 % 200;  // a run has some more
      CAPTURE(call);
      crash.start_anew();
      kills += crash.with_fault(one, "any:" + std::to_string(call) + ":kill").status == 137 ? 1 : 0;
      crash.check_files_are_whole();
      crash.check_ends_alike(one);
    }
    CHECK(kills == trials);
  }
}

TEST_CASE("crash: a disk that fails to write, to flush or to rename is an error, and loses nothing") {
  const Crashes crash;
  struct Fault {
    std::string call, error, says;
  };
  const std::vector<Fault> faults{{"fsync-file", "5", "cannot write to the disk: Input/output error"},
                                  {"fsync-directory", "5", "cannot flush the directory: Input/output error"},
                                  {"write", "28", "No space left on device"},
                                  {"rename", "5", "Input/output error"},
                                  {"fsync", "122", "Disk quota exceeded"}};
  for (const Run& one : crash.runs()) {
    for (const Fault& fault : faults) {
      const bool many = crashes() > 50;
      for (const int number : many ? std::vector<int>{0, 1, 2, 5, 7} : std::vector<int>{3}) {
        CAPTURE(one.name);
        CAPTURE(fault.call);
        CAPTURE(number);
        crash.start_anew();
        const Outcome outcome = crash.with_fault(one, fault.call + ":" + std::to_string(number) + ":" + fault.error);
        CAPTURE(outcome.err);
        CHECK(outcome.status == 1);
        CHECK(lines_in(outcome.err) == 1);
        CHECK(contains(outcome.err, fault.says));
        CHECK(crash.leftovers_in("broken") == 0);
        crash.check_files_are_whole();
        crash.check_ends_alike(one);
      }
    }
  }
}

TEST_CASE("crash: a file is on the disk before it gets its name, and the name after that") {
  const Crashes crash;
  const Run& one = crash.runs()[0];
  crash.start_anew();
  // Without its bytes on the disk no file gets a name, the log aside.
  CHECK(crash.with_fault(one, "fsync-file:0:5").status == 1);
  CHECK(crash.must("ls -A broken").out == "log.jsonl\n");
  // The name is given before the folder is flushed, and the run ends there.
  CHECK(crash.with_fault(one, "fsync-directory:0:5").status == 1);
  CHECK(crash.must("ls -A broken").out == "log.jsonl\nm.checkpoint.h5\n");
  crash.check_ends_alike(one);
}

TEST_CASE("crash: where there are no hard links, checkpoints are copied") {
  const Crashes crash;
  crash.start_anew();
  CHECK(crash.with_fault(crash.runs()[0], "link:0:1").status == 0);
  crash.check_ends_alike(crash.runs()[0]);
}

}  // namespace crash_tests
