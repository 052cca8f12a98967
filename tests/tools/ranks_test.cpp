// Training on several ranks, with a real mpirun.
#include <cmath>

#include "support/skips.hpp"
#include "tools/background.hpp"
#include "tools/small_corpus.hpp"

using namespace heddle;
using namespace heddle::testing;

namespace ranks_pipeline_tests {

namespace {

const std::string steps_of_four =
    " --layers 1 --width 16 --heads 2 --context 16 --batch-size 2 --accumulate 4 --dropout 0.1 ";
const std::string command = "pretrain -q --train train.h5 --valid valid.h5 --eval-every 5 " + steps_of_four;

// Root may run it, and more ranks than there are cores.
const std::string allowed =
    "env OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1 OMPI_MCA_rmaps_base_oversubscribe=1 ";

std::string on(int ranks) {
  return ranks == 1 ? "" : allowed + "mpirun -np " + std::to_string(ranks) + " ";
}

// The processes of a tool below one, on this machine.
const std::string ranks_below = R"sh(
ranks_below() {
  local child
  for child in $(cat /proc/$1/task/$1/children); do
    case $(cat /proc/$child/comm) in (pretrain) echo $child ;; (*) ranks_below $child ;; esac
  done
}
)sh";

struct Ranks : SmallCorpus {
  // Whether ranks can be started here; says so where not.
  bool can_start() const {
    if (run("command -v mpirun").status != 0) {
      skipped("no mpirun");
      return false;
    }
    if (contains(run("OMPI_COMM_WORLD_SIZE=2 OMPI_COMM_WORLD_RANK=0 pretrain --version").err,
                 "this build has no MPI")) {
      skipped("a build without MPI");
      return false;
    }
    return true;
  }
  void check_same(const std::string& a, const std::string& b) const {
    CHECK(contains(must("inspect diff " + a + " " + b).out, "have the same content"));
  }
};

}  // namespace

TEST_CASE("ranks: two and four write the file that one writes") {
  const Ranks corpus;
  if (!corpus.can_start()) return;
  for (const int ranks : {1, 2, 4})
    corpus.must(on(ranks) + command + "--steps 12 -o m" + std::to_string(ranks) + ".h5");
  corpus.check_same("m1.h5", "m2.h5");
  corpus.check_same("m1.h5", "m4.h5");
  std::string texts;
  for (int i = 0; i < 30; ++i) texts += i % 2 == 0 ? "animal\tthe cat sees a dog.\n" : "royal\tmy queen forgets.\n";
  write_file(corpus.path("texts.tsv"), texts);
  for (const std::string& task : {std::string(""), std::string(" --lora-rank 2")}) {
    for (const int ranks : {1, 2}) {
      corpus.must(on(ranks) +
                  "finetune -q --from m1.h5 --train texts.tsv --valid texts.tsv --batch-size 3 --accumulate 2 "
                  "--epochs 2 --restart -o t" +
                  std::to_string(ranks) + ".h5" + task);
    }
    corpus.check_same("t1.h5", "t2.h5");
  }
  CHECK(corpus.leftovers() == 0);
}

TEST_CASE("ranks: gradients and updates that are exchanged as bf16 make one file, whichever ranks it is made on") {
  const Ranks corpus;
  if (!corpus.can_start()) return;
  const std::string rounded = command + "--optimizer muon:exchange=bf16 --steps 12 ";
  corpus.must(command + "--steps 12 -o whole.h5");
  corpus.must(rounded + "--checkpoint-every 5 --keep 3 -o m1.h5");
  corpus.must(on(2) + rounded + "-o m2.h5");
  corpus.check_same("m1.h5", "m2.h5");
  CHECK(corpus.run("inspect diff whole.h5 m1.h5").status == 1);
  corpus.must(on(2) + rounded + "--resume m1.step-5.h5 -o resumed.h5");
  corpus.check_same("m1.h5", "resumed.h5");
  corpus.must(command + "--steps 12 --resume m1.step-5.h5 -o taken.h5");  // the setting is that of the checkpoint
  corpus.check_same("m1.h5", "taken.h5");
  corpus.refused(command + "--optimizer muon:exchange=f32 --steps 12 --resume m1.step-5.h5 -o other.h5", 2,
                 "m1.step-5.h5 was trained with; leave it out to resume, or start a new run with another -o");
  corpus.refused(command + "--optimizer muon:exchange=f16 --steps 12 -o other.h5", 2, "--optimizer");
  const auto exchanged_bytes = [&](const std::string& options) {
    const std::string plan = command + "--steps 12 -o plan.h5 --dry-run --ranks 4 --json" + options;
    return nlohmann::json::parse(corpus.must(plan).out)["scaling"]["exchanged_bytes"].get<double>();
  };
  CHECK(exchanged_bytes(" --optimizer muon:exchange=bf16") == exchanged_bytes("") / 2);
  CHECK(corpus.leftovers() == 0);
}

namespace {

const std::string shared_shape =
    " --layers 2 --width 32 --heads 4 --kv-heads 2 --positions rope --context 16 --batch-size 2 --accumulate 2 "
    "--dropout 0.1 ";
const std::string shared = "pretrain -q --train train.h5 --valid valid.h5 --eval-every 4 --log-every 1" + shared_shape;

// Value in the last line that has one.
double last_of(const Ranks& corpus, const std::string& log, const char* key) {
  double last = NAN;
  for (const nlohmann::json& line : json_lines(read_file(corpus.path(log)))) {
    if (line.contains(key)) last = line[key].get<double>();
  }
  return last;
}

}  // namespace

TEST_CASE("ranks: those that share a model train what one process does, into the same file, which any number resumes") {
  const Ranks corpus;
  if (!corpus.can_start()) return;
  const auto train = [&](int ranks, int sharing, const std::string& name, const std::string& rest) {
    corpus.must(on(ranks) + shared + "--tensor-parallel " + std::to_string(sharing) + " -o " + name + ".h5 --log " +
                name + ".log " + rest);
    return std::pair(last_of(corpus, name + ".log", "loss"), last_of(corpus, name + ".log", "valid_loss"));
  };
  const auto one = train(1, 1, "one", "--steps 12");
  const auto check_as_one = [&](const std::pair<double, double>& losses) {
    CHECK(losses.first == doctest::Approx(one.first).epsilon(1e-5));
    CHECK(losses.second == doctest::Approx(one.second).epsilon(1e-5));
  };
  check_as_one(train(2, 2, "two", "--steps 12 --checkpoint-every 5 --keep 3"));
  check_as_one(train(4, 2, "four", "--steps 12"));
  check_as_one(train(1, 1, "resumed", "--steps 12 --resume two.step-5.h5"));
  check_as_one(train(2, 2, "again", "--steps 12 --resume two.step-10.h5"));
  const auto shapes = [&](const std::string& file) {
    std::map<std::string, std::size_t> sizes;
    for (const auto& [name, values] : corpus.weights(file)) sizes[name] = values.size();
    return sizes;
  };
  CHECK(shapes("two.h5") == shapes("one.h5"));
  corpus.must("inspect verify four.h5 && generate two.h5 -p 'the cat' --max-tokens 4");
  std::string texts;
  for (int i = 0; i < 30; ++i) texts += i % 2 == 0 ? "animal\tthe cat sees a dog.\n" : "royal\tmy queen forgets.\n";
  write_file(corpus.path("texts.tsv"), texts);
  const auto tune = [&](int ranks, const std::string& rest) {
    corpus.must(on(ranks) +
                "finetune -q --from one.h5 --train texts.tsv --valid texts.tsv --batch-size 4 --epochs 2 --restart "
                "--log-every 1 --dropout 0 -o task.h5 --log task.log --tensor-parallel " +
                std::to_string(ranks) + rest);
    return last_of(corpus, "task.log", "loss");
  };
  for (const std::string& rest : {std::string(), std::string(" --lora-rank 2 --lora-targets query,value,output,up,down "
                                                             "--lora-dropout 0.1 --learning-rate 1e-2")}) {
    const auto shapes_of_task = [&] {
      corpus.must("convert -q task.h5 -o whole.h5" + std::string(rest.empty() ? "" : " --merge"));
      return shapes("whole.h5");
    };
    const double alone = tune(1, rest);
    const auto whole = shapes_of_task();
    CHECK(tune(2, rest) == doctest::Approx(alone).epsilon(1e-5));
    CHECK(shapes_of_task() == whole);
    corpus.must("echo 'the cat' | classify task.h5");
  }
  CHECK(corpus.leftovers() == 0);
}

TEST_CASE("ranks: two that share a model need less memory than one process, and what cannot be shared is refused") {
  const Ranks corpus;
  if (!corpus.can_start()) return;
  const std::string run = "pretrain --train train.h5 -o m.h5 --steps 2 --threads 1 --batch-size 1 ";
  const std::string large = run + "--layers 6 --width 512 --heads 4 --context 16 --optimizer adamw ";
  const auto within = [](int mebibytes) { return "ulimit -d " + std::to_string(mebibytes * 1024) + "; "; };
  const std::string limit = within(260);
  corpus.refused(limit + large, 1, "pretrain: out of memory: ");
  corpus.must("rm -f m.*; " + on(2) + "sh -c '" + limit + large + "--tensor-parallel 2'");
  corpus.refused(run + "--tensor-parallel 2", 2,
                 "pretrain: --tensor-parallel 2: this is one process alone; start it as 2 ranks or more, as mpirun -np "
                 "2 and srun do, or leave it out");
  const std::string small = run + "--restart --layers 1 --width 24 --context 16 ";
  const std::vector<Refusal> refusals{
      {on(3) + small + "--heads 2 --tensor-parallel 2", "--tensor-parallel 2 does not divide the 3 ranks", 2},
      {on(2) + small + "--heads 3 --tensor-parallel 2",
       "pretrain: --tensor-parallel 2 does not divide --heads 3; give a number that divides it", 2},
      {on(2) + small + "--heads 2 --positions transformer-xl --tensor-parallel 2",
       "pretrain: --tensor-parallel: ranks do not divide heads with vectors of distances or segments, by which each "
       "head scores or mixes; --positions rope, learned, sinusoidal, alibi, linear, relative-scalar and none can be "
       "divided",
       2},
      {on(2) + "pretrain --arch lstm --train train.h5 -o m.h5 --steps 2 --width 16 --tensor-parallel 2",
       "pretrain: --tensor-parallel: ranks divide heads of attention and feed-forward layers of transformers, which "
       "this model does not have",
       2},
      {small + "--heads 2 --dry-run --tensor-parallel 2",
       "pretrain: --tensor-parallel with --dry-run needs the number of ranks to plan for, which pretrain takes by "
       "--ranks",
       2}};
  for (const Refusal& refusal : refusals) {
    const Outcome outcome = corpus.refused(refusal);
    CHECK(outcome.err.find(refusal.says) == outcome.err.rfind(refusal.says));
  }
}

TEST_CASE("ranks: the first one speaks, and all are told") {
  const Ranks corpus;
  if (!corpus.can_start()) return;
  const std::string run = "pretrain --train train.h5 -o m.h5 --steps 3" + steps_of_four;
  const std::string said = corpus.must(on(2) + run + "--log log").err;
  CHECK(lines_in(said) == 2);
  CHECK(said.starts_with("pretrain: "));
  CHECK(contains(said, "\npretrain: m.h5: step 3, loss "));
  CHECK(lines_in(read_file(corpus.path("log"))) == 1);
  CHECK(contains(corpus.must(on(2) + run).err, "pretrain: m.h5: already trained by this command"));
}

TEST_CASE("ranks: a rank that is killed ends the job, which resumes to the same bits with another number of ranks") {
  const Ranks corpus;
  if (!corpus.can_start()) return;
  for (const std::string signal : {"KILL", "TERM"}) {
    CAPTURE(signal);
    corpus.must("rm -f part.* whole.*");
    const Outcome stopped = corpus.run(watching + ranks_below + on(2) + command + endless + "-o part.h5 & run=$!\n" +
                                       "await $run 'test -e part.checkpoint.h5'\nkill -" + signal +
                                       " $(ranks_below $run | tail -n 1)\nwait $run");
    CAPTURE(stopped.err);
    CHECK(stopped.status == status_of(signal));
    CHECK(corpus.must("inspect verify part.checkpoint.h5").status == 0);
    CHECK_FALSE(std::filesystem::exists(corpus.path("part.h5")));
    const long steps = steps_of(corpus, "part.checkpoint.h5") + 5;
    const std::string rest = command + endless_schedule + "--steps " + std::to_string(steps);
    corpus.must("cp part.checkpoint.h5 kept.h5");
    corpus.must(on(4) + rest + " -o part.h5 --resume part.checkpoint.h5");
    corpus.must("cp kept.h5 part.checkpoint.h5");
    corpus.must(rest + " -o whole.h5");
    CHECK(corpus.weights("part.h5") == corpus.weights("whole.h5"));
    CHECK(corpus.leftovers() == 0);
  }
}

TEST_CASE("ranks: one that stalls ends the job, whose checkpoint stays") {
  const Ranks corpus;
  if (!corpus.can_start()) return;
  for (const auto& [ranks, which] : std::vector<std::pair<int, int>>{{2, 0}, {4, 2}}) {
    CAPTURE(which);
    corpus.must("rm -f part.*");
    const Outcome stalled = corpus.run(
        watching + ranks_below + "HEDDLE_STALL_TIMEOUT=8s " + on(ranks) + command + endless + "-o part.h5 & run=$!\n" +
        "await $run 'test -e part.checkpoint.h5'\nfor p in $(ranks_below $run); do grep -qz OMPI_COMM_WORLD_RANK=" +
        std::to_string(which) + " /proc/$p/environ && kill -STOP $p; done\nwait $run");
    CAPTURE(stalled.err);
    CHECK(stalled.status == 1);
    CHECK(contains(stalled.err, concatenate(": rank ", which,
                                            " has not answered for 8 seconds: it may have stalled, or "
                                            "be lost; HEDDLE_STALL_TIMEOUT in the environment says "
                                            "how long ranks wait")));
    CHECK(corpus.must("inspect verify part.checkpoint.h5").status == 0);
    corpus.must(on(2) + command + endless_schedule + "--steps " +
                std::to_string(steps_of(corpus, "part.checkpoint.h5") + 2) + " -o more.h5 --resume part.checkpoint.h5");
    corpus.must("rm more.*");
  }
}

TEST_CASE("ranks: what they cannot share, or do not have in common, is refused once") {
  const Ranks corpus;
  if (!corpus.can_start()) return;
  const std::string run = "pretrain --train train.h5 -o m.h5 --layers 1 --width 16 --heads 2 --context 16 ";
  const auto refused = [&](const std::string& line, int status, const std::string& says) {
    const Outcome outcome = corpus.refused(line, status, says);
    CHECK(outcome.err.find(says) == outcome.err.rfind(says));
    CHECK_FALSE(std::filesystem::exists(corpus.path("m.h5")));
  };
  refused(
      on(2) + run + "--steps 2 --batch-size 12", 2,
      "pretrain: --accumulate 1: the 2 ranks share the micro-batches of a step equally, so it must be a multiple of "
      "2; --accumulate 2 with --batch-size 6 gives the same steps of 12");
  refused(on(2) + run + "--accumulate 2 --budget 1m", 2, "pretrain: --budget plans for one process");
  refused(on(2) + run + "--accumulate 2 --steps 9 --learning-rate 1000 --clip-norm none --optimizer sgd --warmup 0", 3,
          " diverged: ");
  const std::string both = allowed + "mpirun -np 1 " + run + "--accumulate 2 --steps 2 : -np 1 ";
  refused(both + run + "--accumulate 2 --steps 3", 1,
          "pretrain: ranks differ in --steps: rank 0 has 2, and rank 1 has 3; start all ranks with one command");
  refused(
      both + "pretrain --train valid.h5 -o m.h5 --layers 1 --width 16 --heads 2 --context 16 --accumulate 2 --steps 2",
      1, "pretrain: ranks differ in the input train: rank 0 has train.h5 (XXH3-128 ");
  refused(both + "pretrain --train none.h5 -o m.h5 --accumulate 2 --steps 2", 1,
          "pretrain: rank 1: none.h5: cannot open: No such file or directory");
}

TEST_CASE("ranks: a time that is none is refused") {
  const Ranks corpus;
  if (!corpus.can_start()) return;
  corpus.refused("HEDDLE_STALL_TIMEOUT=soon " + on(2) + "pretrain --train train.h5 -o m.h5 --accumulate 2", 2,
                 "HEDDLE_STALL_TIMEOUT=soon in the environment: ");
}

TEST_CASE("ranks: answers, scores, texts and vectors are those of one, in order") {
  const Ranks corpus;
  if (!corpus.can_start()) return;
  corpus.must("pretrain -q --train train.h5 --steps 8 -o lm.h5" + tiny_shape +
              "&& tokenize -q --train --model wordpiece --vocab-size 200 -o pieces.h5 train.txt"
              "&& tokenize -q -t pieces.h5 -o w.h5 train.txt && tokenize -q -t pieces.h5 -o v.h5 valid.txt"
              "&& pretrain -q --arch encoder --train w.h5 --steps 8 -o bert.h5" +
              tiny_shape);
  std::string lines, labelled;
  for (int i = 0; i < 70; ++i) {
    const std::string text = std::string(i % 7 == 0 ? "a dog " : "") + "my queen forgets the cat" +
                             std::string(static_cast<std::size_t>(i % 5), '.');
    lines += text + "\n";
    labelled += (i % 2 == 0 ? "animal\t" : "royal\t") + text + "\n";
  }
  write_file(corpus.path("lines"), lines);
  write_file(corpus.path("texts.tsv"), labelled);
  corpus.must("finetune -q --from bert.h5 --train texts.tsv --epochs 1 -o task.h5");
  for (const std::string& command :
       {std::string("classify task.h5 lines --batch-tokens 64"), std::string("cat lines | classify task.h5 --top 2"),
        std::string("classify task.h5 texts.tsv --evaluate"), std::string("generate lm.h5 lines --max-tokens 5"),
        std::string("cat lines | generate lm.h5 --max-tokens 4 --beam 2 --n-best 2 --jsonl"),
        std::string("head -n 3 lines | generate lm.h5 --num-samples 3 --max-tokens 3 --batch-size 2"),
        std::string("generate lm.h5 lines --score"), std::string("generate lm.h5 lines --stream --max-tokens 3"),
        std::string("generate lm.h5 -p 'the cat' --max-tokens 9"), std::string("inspect evaluate lm.h5 valid.h5"),
        std::string("inspect evaluate bert.h5 v.h5 --json"),
        std::string("cat lines | inspect embed bert.h5 --pooling mean"),
        std::string("classify lm.h5 lines --labels animal,royal --template '{} is'")}) {
    CAPTURE(command);
    const std::size_t tool = contains(command, "| ") ? command.find("| ") + 2 : 0;
    const Outcome one = corpus.must(command);
    for (const int ranks : {2, 3}) {
      const Outcome several = corpus.must(command.substr(0, tool) + on(ranks) + command.substr(tool));
      CHECK(several.out == one.out);
      CHECK(several.err == one.err);
    }
  }
  corpus.must(on(2) + "inspect embed bert.h5 lines -o two.h5 && inspect embed bert.h5 lines -o one.h5");
  corpus.must("h5diff one.h5 two.h5 /hidden");
  CHECK(corpus.leftovers() == 0);
}

TEST_CASE("ranks: a text that cannot be answered ends all after those before it, as it ends one") {
  const Ranks corpus;
  if (!corpus.can_start()) return;
  corpus.must("pretrain -q --train train.h5 --steps 2 -o lm.h5" + tiny_shape);
  std::string lines;
  for (int i = 0; i < 9; ++i) lines += "the cat sees\n";
  write_file(corpus.path("lines"), lines + std::string(600, 'a') + "\nthe cat\n");
  const std::string command = "generate lm.h5 --max-tokens 2 --batch-size 2 lines";
  const Outcome one = corpus.refused(command, 1, "lines:10: "), two = corpus.refused(on(2) + command, 1, "lines:10: ");
  CHECK(two.out == one.out);
  CHECK(lines_of(one.out).size() == 9);
  CHECK(two.err.find("lines:10: ") == two.err.rfind("lines:10: "));
}

TEST_CASE(
    "ranks: those that were started to do other things than the first are refused, and idle texts are waited for") {
  const Ranks corpus;
  if (!corpus.can_start()) return;
  corpus.must("pretrain -q --train train.h5 --steps 2 -o lm.h5" + tiny_shape);
  write_file(corpus.path("text.0"), "the cat\n");
  write_file(corpus.path("text.1"), "the cat\na dog\n");
  const std::string each = "sh -c 'generate lm.h5 --max-tokens 2 text.$OMPI_COMM_WORLD_RANK'";
  corpus.refused(on(2) + each, 1, "ranks differ in the command: rank 0 has generate lm.h5 --max-tokens 2 text.0");
  CHECK(lines_of(corpus.must("HEDDLE_RANKS=1 " + on(2) + each).out).size() == 3);
  CHECK(lines_of(corpus.must("(cat text.1; sleep 1; cat text.0) | " + on(2) + "generate lm.h5 --max-tokens 2").out)
            .size() == 3);
}

TEST_CASE("ranks: tools that would do all of their work in each are refused") {
  const Ranks corpus;
  if (!corpus.can_start()) return;
  write_file(corpus.path("text"), "the cat\n");
  for (const std::string& command : {std::string("tokenize -t tokenizer.h5 text"), std::string("inspect show train.h5"),
                                     std::string("convert train.h5 x")}) {
    const std::string tool = command.substr(0, command.find(' ', command.starts_with("inspect") ? 8 : 0));
    corpus.refused(on(2) + command, 2, "several of " + tool + " were started, and each repeats the whole work");
  }
  CHECK(corpus.must("HEDDLE_RANKS=1 " + on(2) + "inspect show train.h5").out.size() > 20);
}

TEST_CASE("ranks: each may be a run of its own, and what all are asked is answered once") {
  const Ranks corpus;
  if (!corpus.can_start()) return;
  corpus.must("HEDDLE_RANKS=1 " + on(2) + "sh -c 'pretrain -q --train train.h5 --steps 1 -o m$OMPI_COMM_WORLD_RANK.h5" +
              tiny_shape + "'");
  CHECK(std::filesystem::exists(corpus.path("m0.h5")));
  CHECK(std::filesystem::exists(corpus.path("m1.h5")));
  const std::string settings = "pretrain --train train.h5 --steps 7 --print-config";
  CHECK(corpus.must(on(2) + settings).out == corpus.must(settings).out);
}

TEST_CASE("ranks: a log that cannot be written is what the run reports, and its checkpoint stays") {
  const Ranks corpus;
  if (!corpus.can_start()) return;
  const Outcome outcome = corpus.refused(
      on(2) + "pretrain --train train.h5 --steps 20 --accumulate 2 --log-every 5 --log /dev/full -o m.h5" + tiny_shape,
      1, "No space left on device");
  CHECK_FALSE(contains(outcome.err, "another rank"));
  corpus.must("inspect verify m.checkpoint.h5");
}

TEST_CASE("ranks: one that was started without the others is refused, and no MPI starts for a process alone") {
  const Ranks corpus;
  if (!corpus.can_start()) return;
  corpus.refused("OMPI_COMM_WORLD_SIZE=2 OMPI_COMM_WORLD_RANK=0 pretrain --train train.h5 -o m.h5", 1,
                 "pretrain: OMPI_COMM_WORLD_SIZE=2, but MPI finds 1 rank: ");
  const Outcome alone =
      corpus.must(watching + "mkfifo options\npretrain -q --train train.h5 -o m.h5 --steps 1" + tiny_shape +
                  "--config options & run=$!\nexec 3> options\ngrep -c libmpi /proc/$run/maps; "
                  "exec 3>&-; wait $run");
  CHECK(alone.out == "0\n");
}

}  // namespace ranks_pipeline_tests
