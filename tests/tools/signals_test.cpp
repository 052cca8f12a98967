// Signals at moments that are hard to hit: while a program starts, reads its files, or saves.
#include "tools/background.hpp"
#include "tools/small_corpus.hpp"

using namespace heddle;
using namespace heddle::testing;

namespace signals_tests {

namespace {

const std::string train = "pretrain -q --threads 1 --train train.h5 --log-every 1 --log log -o m.h5" + tiny_shape;

struct Signals : SmallCorpus {
  bool exists(const std::string& name) const { return std::filesystem::exists(path(name)); }

  // Starts the command, which the fault stops (faults.cpp), and runs the script while it stands there; ends as it does.
  Outcome stopped_at(const std::string& fault, const std::string& command, const std::string& script) const {
    return run(watching + interruptible + "LD_PRELOAD='" HEDDLE_FAULTS "' HEDDLE_FAULT=" + fault + " " + command +
               " & run=$!\nawait $run 'has_stopped $run'\n" + script + "\nwait $run");
  }
};

}  // namespace

TEST_CASE("signals: SIGUSR1 while options are read asks for a checkpoint as soon as there is something to save") {
  const Signals corpus;
  // The program reads its options from a pipe: it has begun when the shell has it open, and goes on when that is
  // closed.
  const auto asked = [&](const std::string& how, const std::string& then) {
    return corpus.run("rm -f log m.*; mkfifo options; " + watching + train +
                      " --checkpoint-every never --config options " + how +
                      " & run=$!\nexec 3> options; kill -USR1 $run; echo steps = 1000000 >&3; exec 3>&-; rm options\n" +
                      then + "wait $run");
  };
  CHECK(asked("", "await $run 'test -e m.checkpoint.h5'; kill -KILL $run; ").status == 137);
  CHECK(corpus.must("inspect verify m.checkpoint.h5").status == 0);
  CHECK(asked("--on-usr1 exit", "").status == 138);
}

TEST_CASE("signals: one that ends a program while it reads its files leaves nothing") {
  const Signals corpus;
  for (const std::string signal : {"TERM", "INT", "HUP"}) {
    for (const int call : {1, 2, 3}) {
      CAPTURE(signal);
      CAPTURE(call);
      const Outcome outcome =
          corpus.stopped_at("open:" + std::to_string(call) + ":stop HEDDLE_FAULT_FILE=train.h5",
                            train + " --steps 1000000", "kill -" + signal + " $run; kill -CONT $run");
      CHECK(outcome.status == status_of(signal));
      CHECK(corpus.must("ls m.*; true").out.empty());
      CHECK_FALSE(corpus.exists("log"));
      CHECK(corpus.leftovers() == 0);
    }
  }
}

TEST_CASE("signals: a model that is cut while it is in use is an error, and the output that there was stays") {
  const Signals corpus;
  corpus.must("pretrain -q --train train.h5 -o cut.h5" + tiny_shape + " --steps 1; mkfifo prompts; echo before > text");
  const Outcome outcome =
      corpus.run(watching + "generate -q cut.h5 prompts -o text & run=$!\nexec 3> prompts; " +
                 "await $run 'grep -q cut.h5 /proc/$run/maps'; : > cut.h5; echo the >&3; exec 3>&-; wait $run");
  CHECK(outcome.status == 1);
  CHECK(outcome.err.starts_with("generate: a file that was in use became shorter, or its disk cannot be read"));
  CHECK(read_file(corpus.path("text")) == "before\n");
  CHECK(corpus.leftovers() == 0);
}

TEST_CASE("signals: SIGUSR1 while files are read ends nothing") {
  const Signals corpus;
  const Outcome outcome =
      corpus.stopped_at("open:1:stop HEDDLE_FAULT_FILE=train.h5", train + " --steps 1000000 --checkpoint-every never",
                        "kill -USR1 $run; kill -CONT $run; await $run 'test -e m.checkpoint.h5'; kill -KILL $run");
  CHECK(outcome.status == 137);
  CHECK(corpus.must("inspect verify m.checkpoint.h5").status == 0);
}

TEST_CASE("signals: the second one ends training in the midst of saving, and the last checkpoint stands") {
  const Signals corpus;
  const std::string on = train + " --checkpoint-every never --steps 1000000";
  REQUIRE(corpus.run(on + " --max-time 0.001s").status == 75);
  const std::string before = read_file(corpus.path("m.checkpoint.h5"));
  // The first makes it save, which it comes to a stop in: there are no other checkpoints. Signals within a quarter of a
  // second are one request.
  const std::string twice =
      "await $run 'test $(lines_of log) -gt 3'; kill -TERM $run; await $run 'has_stopped $run'; "
      "sleep 0.3; kill -TERM $run; kill -CONT $run; wait $run";
  const Outcome outcome = corpus.run(watching + "LD_PRELOAD='" HEDDLE_FAULTS "' HEDDLE_FAULT=fsync-file:2:stop " + on +
                                     " & run=$!\n" + twice);
  CHECK(outcome.status == 143);
  CHECK(read_file(corpus.path("m.checkpoint.h5")) == before);
  CHECK(corpus.leftovers() == 0);
  // One alone, at the same place, has it save.
  corpus.must("head -n 1 log > shorter && mv shorter log");
  const std::string once =
      "await $run 'test $(lines_of log) -gt 3'; kill -TERM $run; await $run 'has_stopped $run'; "
      "kill -CONT $run; wait $run";
  CHECK(
      corpus
          .run(watching + "LD_PRELOAD='" HEDDLE_FAULTS "' HEDDLE_FAULT=fsync-file:2:stop " + on + " & run=$!\n" + once)
          .status == 143);
  CHECK(steps_of(corpus, "m.checkpoint.h5") > 1);
  CHECK(read_file(corpus.path("m.checkpoint.h5")) != before);
}

TEST_CASE("signals: programs under test have signals' own effects, though the test may have them ignored") {
  void (*const before)(int) = std::signal(SIGHUP, SIG_IGN);
  const Outcome outcome = run_command("kill -HUP $$; echo survived");
  const Outcome ignoring = run_command("trap '' HUP; kill -HUP $$; echo survived");
  std::signal(SIGHUP, before);
  CHECK(outcome.out.empty());
  CHECK(ignoring.out == "survived\n");
}

TEST_CASE("signals: under nohup SIGHUP ends neither training nor filters") {
  const Signals corpus;
  const std::string seen = "seen=$(lines_of log); await $run 'test $(lines_of log) -gt $seen'\n";
  const Outcome outcome =
      corpus.run(watching + "nohup " + train + " --steps 1000000 2> /dev/null & run=$!\n" +
                 "await $run 'test -s log'; kill -HUP $run\n" + seen + "kill -TERM $run; wait $run");
  CHECK(outcome.status == 143);
  write_file(corpus.path("texts.tsv"), "a\tthe cat\nb\tthe king\n");
  corpus.must("finetune -q --arch bag --task classify --train texts.tsv -o bag.h5");
  for (const std::string command : {"tokenize -t tokenizer.h5", "classify bag.h5"}) {
    const Outcome filter = corpus.run("coproc nohup " + command + " 2> /dev/null; run=$COPROC_PID\n" +
                                      "exec {to}>&${COPROC[1]}- {from}<&${COPROC[0]}-\n"
                                      "echo the cat >&$to; read -ru $from; kill -HUP $run\n"
                                      "echo the cat >&$to; read -ru $from && echo answered; exec {to}>&-; wait $run");
    CHECK(filter.status == 0);
    CHECK(filter.out == "answered\n");
  }
}

}  // namespace signals_tests
