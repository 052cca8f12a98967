// Training under make, as examples/ have it: whatever ends make or a run, make begins where that stood, and takes
// nothing for finished that is not.
#include "support/skips.hpp"
#include "tools/small_corpus.hpp"
#include "tools/watching.hpp"

using namespace heddle;
using namespace heddle::testing;

namespace make_tests {

namespace {

// Two models and what is made of them. A recipe notes its process, which runs until it is stopped by HEDDLE_FAULT.
const std::string makefile =
    ".DELETE_ON_ERROR:\n"
    "TIME =\n"
    "report.txt: a.h5 b.h5\n"
    "\tcksum $^ > $@\n"
    "a.h5: SEED = 1\n"
    "b.h5: SEED = 2\n"
    "a.h5 b.h5: train.h5 valid.h5\n"
    "\techo $$$$ > $@.pid; exec pretrain -q --threads 1 --train train.h5 --valid valid.h5 --eval-every 4 --steps 24 "
    "\\\n"
    "\t  --checkpoint-every 3 --learning-rate 0.05 --dropout 0.1 --seed $(SEED) --log $@.log --log-every 1 \\\n"
    "\t  --layers 2 --width 32 --heads 2 --context 16 --batch-size 4 $(TIME) -o $@\n";

struct Made : SmallCorpus {
  Made() {
    write_file(path("Makefile"), makefile);
    must("mkdir whole && cp Makefile train.h5 valid.h5 whole");
  }
  static bool has_make() { return run_command("make --version").status == 0; }
  bool exists(const std::string& name) const { return std::filesystem::exists(path(name)); }
  std::string bytes(const std::string& name) const { return read_file(path(name)); }

  // Starts make, whose two runs stop just before they rename their n-th file; when both stand, runs the script, has the
  // runs continue, and ends as make does. $make is make, which leads a group of processes.
  Outcome interrupted(int rename, const std::string& script) const {
    return run(watching + "rm -f *.pid; set -m\nLD_PRELOAD='" HEDDLE_FAULTS "' HEDDLE_FAULT=rename:" +
               std::to_string(rename) + ":stop env --default-signal=INT make -s -j2 & make=$!\n" +
               "for model in a b; do\n"
               "  await $make \"test -s $model.h5.pid\"; await $make \"has_stopped $(cat $model.h5.pid)\"\n"
               "done\n" +
               script + "\nkill -CONT $(cat a.h5.pid b.h5.pid) 2> /dev/null\nwait $make");
  }
  void check_nothing_is_finished() const {
    CHECK_FALSE(exists("a.h5"));
    CHECK_FALSE(exists("b.h5"));
    CHECK_FALSE(exists("report.txt"));
    for (const char* model : {"a", "b"}) {
      CHECK(must("inspect verify " + std::string(model) + ".checkpoint.h5").status == 0);
    }
  }
};

}  // namespace

TEST_CASE("make: interrupted and run again, it ends with the files of an undisturbed run") {
  if (!Made::has_make()) return skipped("there is no make");
  const Made corpus;
  corpus.must("cd whole && make -s -j2");
  CHECK(corpus.must("ls whole").out ==
        "Makefile\na.h5\na.h5.log\na.h5.pid\nb.h5\nb.h5.log\nb.h5.pid\nreport.txt\n"
        "train.h5\nvalid.h5\n");
  CHECK(corpus.interrupted(2, "kill -TERM $make").status != 0);
  corpus.check_nothing_is_finished();
  CHECK(corpus.interrupted(3, "kill -INT -- -$make").status != 0);
  corpus.check_nothing_is_finished();
  CHECK(corpus.interrupted(3, "kill -KILL $(cat a.h5.pid b.h5.pid)").status != 0);
  corpus.check_nothing_is_finished();
  const Outcome timed = corpus.run("make -s -j2 -k TIME='--max-time 0.001s'");
  CHECK(timed.status == 2);
  CHECK(contains(timed.err, "Error 75"));
  corpus.check_nothing_is_finished();
  corpus.must("make -s -j2");
  for (const std::string file : {"a.h5", "b.h5", "report.txt"})
    CHECK(corpus.bytes(file) == corpus.bytes("whole/" + file));
  CHECK(corpus.must("ls *checkpoint* *best* 2> /dev/null; true").out.empty());
  CHECK(corpus.leftovers() == 0);
  CHECK(corpus.must("make -q").status == 0);
}

TEST_CASE(
    "make: what is newer, but the same, is not trained on again; what has changed replaces the model in the end") {
  if (!Made::has_make()) return skipped("there is no make");
  const Made corpus;
  corpus.must("make -s -j2 && touch -d 2001-01-01 *.h5 && touch -d 2002-01-01 train.h5");
  const std::string former = corpus.bytes("a.h5");
  CHECK(corpus.run("make -q").status == 1);
  corpus.must("make -s -j2");
  CHECK(corpus.bytes("a.h5") == former);
  CHECK(corpus.must("make -q").status == 0);

  corpus.must("tokenize -q -t tokenizer.h5 -o train.h5 valid.txt && touch -d 2001-01-01 a.h5 b.h5");
  CHECK(corpus.interrupted(3, "kill -KILL $(cat a.h5.pid b.h5.pid)").status != 0);
  CHECK(corpus.bytes("a.h5") == former);  // until there is another
  CHECK(corpus.exists("a.checkpoint.h5"));
  corpus.must("make -s -j2");
  CHECK(corpus.bytes("a.h5") != former);
  CHECK_FALSE(corpus.exists("a.checkpoint.h5"));
  CHECK(corpus.must("make -q").status == 0);
}

}  // namespace make_tests
