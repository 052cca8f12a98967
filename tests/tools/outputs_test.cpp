// Outputs of programs: never over their inputs, one run at a time, and no leftovers of killed runs.
#include "support/json.hpp"
#include "tools/background.hpp"
#include "tools/small_corpus.hpp"

using namespace heddle;
using namespace heddle::testing;

namespace outputs_tests {

namespace {

const std::string quick = "pretrain -q --threads 1 --train train.h5 --positions learned" + tiny_shape;

// Ends after step 10, since the evaluation after step 5 was better.
const std::string best_is_early =
    "pretrain -q --threads 1 --train train.h5 --valid valid.h5 --eval-every 5 --patience 1 --steps 30 "
    "--optimizer adamw --learning-rate 0.5" +
    tiny_shape;

struct Outputs : SmallCorpus {
  bool exists(const std::string& name) const { return std::filesystem::exists(path(name)); }
  // Refuses with wrong usage and this message, and the file stays as it is.
  void kept(const std::string& file, const std::string& command, const std::string& says) const {
    CAPTURE(command);
    const std::string before = read_file(path(file));
    REQUIRE(!before.empty());
    refused(command, 2, says);
    CHECK(read_file(path(file)) == before);
  }
  nlohmann::json history(const std::string& file) const {
    return parse_json(must("inspect --history --json " + file).out)["history"];
  }
  // Steps and losses of a log, speeds aside.
  std::vector<std::pair<long, double>> logged(const std::string& name) const {
    std::vector<std::pair<long, double>> lines;
    for (const auto& line : json_lines(read_file(path(name)))) {
      lines.emplace_back(line["step"], line.value("loss", line.value("valid_loss", 0.0)));
    }
    return lines;
  }
  Outcome with_fault(const std::string& command, const std::string& fault, const std::string& file = "") const {
    return run("LD_PRELOAD='" HEDDLE_FAULTS "' HEDDLE_FAULT=" + fault +
               (file.empty() ? "" : " HEDDLE_FAULT_FILE=" + file) + " sh -c 'exec " + command + "'");
  }
  std::string files(const std::string& pattern) const { return must("LC_ALL=C ls -d " + pattern).out; }
};

}  // namespace

TEST_CASE("outputs: the base of an adapter is an input, though only the adapter names it") {
  const Outputs corpus;
  corpus.must(quick + "--steps 2 -o base.h5");
  write_file(corpus.path("task.tsv"), "good\tthe cat sees\nbad\ta dog forgets\n");
  const std::string tune = "finetune -q --threads 1 --from base.h5 --steps 2 --lora-rank 2 ";
  corpus.must(tune + "--task lm --train train.h5 -o lora.h5 && " + tune + "--train task.tsv -o task.h5");
  const std::string says = "refusing to overwrite the input ";
  corpus.kept("base.h5", "generate lora.h5 -p the -o base.h5", says);
  corpus.kept("base.h5", "generate lora.h5 -p the -o ./base.h5", says);
  corpus.kept("base.h5", "echo the cat | classify task.h5 -o base.h5", says);
  corpus.kept("base.h5", "convert lora.h5 --merge -o base.h5", says);
  // Where the adapter has moved with its base, that one is read.
  corpus.must("mkdir moved && mv base.h5 lora.h5 moved");
  corpus.kept("moved/base.h5", "generate moved/lora.h5 -p the -o moved/base.h5", says);
  corpus.must("cp train.txt base.txt && generate moved/lora.h5 -p the -o base.txt");
}

TEST_CASE("outputs: what standard input reads is an input") {
  const Outputs corpus;
  corpus.must(quick + "--steps 2 -o base.h5");
  write_file(corpus.path("lines.txt"), "the cat\n");
  const std::string says = "refusing to overwrite the input, which is read from standard input";
  corpus.kept("lines.txt", "generate base.h5 -o lines.txt < lines.txt", says);
  corpus.kept("lines.txt", "tokenize -t base.h5 -o ./lines.txt < lines.txt", says);
  corpus.must("generate base.h5 -o other.txt < lines.txt && cat lines.txt | generate base.h5 -o lines.txt");
}

TEST_CASE("outputs: the models of an ensemble and their bases are inputs, though only the ensemble names them") {
  const Outputs corpus;
  corpus.must(quick + "--steps 2 -o base.h5");
  write_file(corpus.path("task.tsv"), "good\tthe cat sees\nbad\ta dog forgets\n");
  corpus.must("finetune -q --threads 1 --from base.h5 --steps 2 --lora-rank 2 --train task.tsv -o lora.h5");
  corpus.must("finetune -q --arch bag --task classify --train task.tsv --steps 2 -o bag.h5");
  corpus.must("finetune -q --ensemble lora.h5,bag.h5 --valid task.tsv -o both.h5");
  for (const std::string member : {"lora.h5", "bag.h5", "base.h5"}) {
    corpus.kept(member, "echo the cat | classify both.h5 -o " + member, "refusing to overwrite the input ");
  }
}

TEST_CASE("outputs: all files of a directory that are read are inputs, and no others") {
  const Outputs corpus;
  corpus.must(quick + "--steps 2 -o model.h5 && convert -q model.h5 -o hf/");
  const std::string files = corpus.must("ls hf").out;
  CHECK(lines_in(files) >= 5);
  for (const std::string& file : lines_of(files)) {
    corpus.kept("hf/" + file, "convert hf -o hf/" + file, "hf/" + file + ": refusing to overwrite the input ");
    corpus.kept("hf/" + file, "tokenize -t hf train.txt -o hf/" + file,
                "hf/" + file + ": refusing to overwrite the input ");
  }
  corpus.must("convert -q hf -o hf/model.h5 && convert -q hf -o hf/model.h5");
}

TEST_CASE("outputs: the file that options come from is an input") {
  const Outputs corpus;
  corpus.must(quick + "--steps 2 -o model.h5");
  write_file(corpus.path("run.ini"), "max-tokens = 3\n");
  const std::string says = "run.ini: refusing to overwrite the input run.ini";
  corpus.kept("run.ini", "generate model.h5 -p the --config run.ini -o run.ini", says);
  corpus.kept("run.ini", "HEDDLE_CONFIG=run.ini generate model.h5 -p the -o run.ini", says);
  write_file(corpus.path("run.ini"), "steps = 3\n");
  corpus.kept("run.ini", "pretrain --train train.h5 --config run.ini --log run.ini -o m.h5", says);
  corpus.kept("run.ini", "finetune --from model.h5 --task lm --train train.h5 --config run.ini -o run.ini", says);
  corpus.must("cp run.ini m.step-2.h5");
  corpus.kept("m.step-2.h5", "pretrain --train train.h5 --config m.step-2.h5 --keep 1 -o m.h5",
              "is named like a checkpoint");
}

TEST_CASE("outputs: a log that is named like a kept checkpoint or a lock is refused") {
  const Outputs corpus;
  corpus.refused(quick + "--steps 4 --keep 1 -o m.h5 --log m.step-2.h5", 2,
                 "m.step-2.h5: is named like a checkpoint that this run writes");
  corpus.refused(quick + "--steps 4 --keep 1 -o m.h5 --log ./m.step-2.h5", 2,
                 "m.step-2.h5: is named like a checkpoint that this run writes");
  for (const std::string lock : {".m.h5.lock", ".m.checkpoint.h5.lock"}) {
    corpus.refused(quick + "--steps 4 -o m.h5 --log " + lock, 2, lock + ": is named as two different outputs");
  }
  CHECK_FALSE(corpus.exists("m.h5"));
  corpus.must(quick + "--steps 4 -o m.h5 --log m.step-2.h5");  // nothing is kept
}

TEST_CASE("outputs: a second run to the same output, or the same log, is refused while the first one writes") {
  const Outputs corpus;
  corpus.must("mkdir elsewhere && ln -s ../m.h5 elsewhere/link.h5");
  const std::string first =
      quick + "--steps 1000000 --checkpoint-every 1 --keep 3 --log-every 1 -o m.h5 --log log.jsonl";
  const std::string second = "pretrain -q --train train.h5 --steps 3" + tiny_shape;
  // The commands that are tried meanwhile, their statuses, and whether the first run goes on as if nothing had been.
  const Outcome outcome = corpus.run(watching + first + " & run=$!\nawait $run 'test -e m.checkpoint.h5'\n" +
                                     "tried() { \"$@\" || echo $?; }\n"
                                     "tried " +
                                     second +
                                     "-o m.h5\n"
                                     "tried " +
                                     second +
                                     "-o elsewhere/link.h5\n"
                                     "tried " +
                                     second +
                                     "-o m.h5 --resume m.checkpoint.h5\n"
                                     "tried " +
                                     second +
                                     "-o other.h5 --log log.jsonl\n"
                                     "tried finetune -q --from train.h5 --task lm --train train.h5 -o m.h5\n"
                                     "tried inspect verify m.checkpoint.h5\n"
                                     "tried " +
                                     second +
                                     "-o other.h5\n"
                                     "seen=$(lines_of log.jsonl); await $run 'test $(lines_of log.jsonl) -gt $seen'\n"
                                     "ls -A | grep lock; kill -KILL $run; wait $run");
  CHECK(outcome.status == 137);
  CHECK(outcome.out ==
        "1\n1\n1\n1\n1\nm.checkpoint.h5: no problem found\n.log.jsonl.lock\n.m.checkpoint.h5.lock\n.m.h5.lock\n");
  std::vector<std::string> refusals;
  for (const std::string& line : lines_of(outcome.err)) {
    if (contains(line, "another run is writing this file (process "))
      refusals.push_back(line.substr(0, line.find(" another")));
  }
  CHECK(refusals == std::vector<std::string>{"pretrain: m.h5:", "pretrain: elsewhere/link.h5:", "pretrain: m.h5:",
                                             "pretrain: log.jsonl:", "finetune: m.h5:"});
  long last = 0;
  for (const auto& line : json_lines(read_file(corpus.path("log.jsonl")))) CHECK(line["step"] == ++last);
  // Leftovers of a killed run lock nothing, and the next run removes them.
  CHECK(corpus.exists(".m.h5.lock"));
  corpus.must(first + " --max-time 0.001s || test $? = 75");
  CHECK(corpus.leftovers() == 0);
}

TEST_CASE(
    "outputs: a log that cannot be written ends training with the last step saved, and nothing is missing later") {
  const Outputs corpus;
  const std::string command = "pretrain -q --threads 1 --train train.h5 --valid valid.h5 --eval-every 10" + tiny_shape +
                              "--log-every 7 --checkpoint-every never --steps 30 ";
  corpus.must(command + "-o whole.h5 --log whole.jsonl");
  const Outcome full = corpus.refused(command + "-o m.h5 --log /dev/full", 1, "/dev/full: cannot write: No space left");
  CHECK(lines_in(full.err) == 1);
  CHECK(contains(full.err, "; m.checkpoint.h5 holds step 7"));
  CHECK(corpus.leftovers() == 0);
  CHECK_FALSE(corpus.exists("m.h5"));
  corpus.must(command + "-o m.h5 --log log.jsonl");
  CHECK(corpus.weights("m.h5") == corpus.weights("whole.h5"));
  CHECK(corpus.logged("log.jsonl") == corpus.logged("whole.jsonl"));
  corpus.refused(command + "-o x.h5 --log none/log", 1, "none/log: cannot open for writing: No such file");
  corpus.refused(command + "-o x.h5 --log .", 1, ".: cannot open for writing: Is a directory");
  CHECK_FALSE(corpus.exists("x.h5"));
}

TEST_CASE("outputs: a best model that cannot be written ends training with the last step saved, and is written later") {
  const Outputs corpus;
  const std::string command =
      "pretrain -q --threads 1 --train train.h5 --valid valid.h5 --eval-every 10 --ema-decay 0.9" + tiny_shape +
      "--log-every 5 --checkpoint-every never --steps 30 ";
  corpus.must(command + "-o whole.h5 --log whole.jsonl");
  // The first file to get its name is the best model, at the first evaluation; the error is that of a folder in its
  // place.
  const Outcome failed = corpus.with_fault(command + "-o m.h5 --log log.jsonl", "rename:1:21");
  CHECK(failed.status == 1);
  CHECK(lines_in(failed.err) == 1);
  CHECK(contains(failed.err, "m.best-10.h5: cannot replace: Is a directory; m.checkpoint.h5 holds step 10"));
  CHECK(corpus.must("inspect verify m.checkpoint.h5").status == 0);
  CHECK(corpus.must("ls m.*").out == "m.checkpoint.h5\n");
  corpus.must(command + "-o m.h5 --log log.jsonl");
  CHECK(corpus.weights("m.h5") == corpus.weights("whole.h5"));
  CHECK(corpus.history("m.h5") == corpus.history("whole.h5"));
  CHECK(corpus.logged("log.jsonl") == corpus.logged("whole.jsonl"));
}

TEST_CASE("outputs: an output that cannot be written leaves a checkpoint, and the same command writes it") {
  const Outputs corpus;
  const std::string command = best_is_early + "--checkpoint-every never ";
  corpus.must(command + "-o whole.h5");
  corpus.must(command + "--keep 1 -o kept.h5");
  const nlohmann::json history = corpus.history("whole.h5");
  REQUIRE(history["step"].back() == 10);
  bool is_written = false;
  for (int call = 1; !is_written; ++call) {
    REQUIRE(call < 12);
    corpus.must("rm -f m.*");
    const Outcome failed = corpus.with_fault(command + "-o m.h5", "rename:" + std::to_string(call) + ":28");
    CHECK(failed.status == 1);
    CHECK(lines_in(failed.err) == 1);
    is_written = contains(failed.err, "m.h5: cannot replace: No space left on device; m.checkpoint.h5 holds step 10") &&
                 !contains(failed.err, "best-");
    CHECK_FALSE(corpus.exists("m.h5"));
    CHECK(corpus.exists("m.checkpoint.h5"));
    CHECK(corpus.leftovers() == 0);
    // The checkpoint is of the last step, not of the best one.
    if (is_written) CHECK(corpus.weights("m.checkpoint.h5") == corpus.weights("kept.step-10.h5"));
    corpus.must(command + "-o m.h5");
    CHECK(corpus.weights("m.h5") == corpus.weights("whole.h5"));
    CHECK(corpus.history("m.h5") == history);
    CHECK(corpus.files("m.*") == "m.h5\n");
  }
}

TEST_CASE("outputs: fine-tuning that cannot write its output leaves a checkpoint, too") {
  const Outputs corpus;
  corpus.must(quick + "--steps 2 -o base.h5");
  write_file(corpus.path("task.tsv"), "good\tthe cat sees\nbad\ta dog forgets\n");
  const std::string command = "finetune -q --threads 1 --from base.h5 --train task.tsv --steps 4 ";
  corpus.must(command + "-o whole.h5");
  const Outcome failed = corpus.with_fault(command + "-o m.h5", "rename:1:28");
  CHECK(failed.status == 1);
  CHECK(contains(failed.err, "m.h5: cannot replace: No space left on device; m.checkpoint.h5 holds step 4"));
  corpus.must(command + "-o m.h5");
  CHECK(corpus.weights("m.h5") == corpus.weights("whole.h5"));
  CHECK(corpus.files("m.*") == "m.h5\n");
}

TEST_CASE("outputs: while a checkpoint cannot be read, nothing that it may refer to is removed") {
  const Outputs corpus;
  const std::string command = best_is_early + "--checkpoint-every 5 ";
  corpus.must(command + "-o whole.h5");
  // Every moment at which the run opens its checkpoint, with too many open files (EMFILE) or an error of the disk.
  for (int open = 1; open <= 9; ++open) {
    CAPTURE(open);
    corpus.must("rm -f m.*");
    const Outcome outcome = corpus.with_fault(
        command + "-o m.h5", "open:" + std::to_string(open) + (open % 2 == 0 ? ":5" : ":24"), "m.checkpoint.h5");
    CAPTURE(outcome.err);
    REQUIRE((outcome.status == 0 || outcome.status == 1));
    if (outcome.status == 1) corpus.must(command + "-o m.h5");
    CHECK(corpus.weights("m.h5") == corpus.weights("whole.h5"));
    CHECK(corpus.files("m.*") == "m.h5\n");
  }
  // An output that cannot be read may be the finished model.
  const std::string bytes = read_file(corpus.path("m.h5"));
  const Outcome unread = corpus.with_fault(command + "-o m.h5", "open:0:13", "m.h5");
  CHECK(unread.status == 1);
  CHECK(contains(unread.err, "m.h5: cannot "));
  CHECK(read_file(corpus.path("m.h5")) == bytes);
}

TEST_CASE("outputs: files that are named like a run's own, and are not, stay") {
  const Outputs corpus;
  const std::string command =
      "pretrain -q --threads 1 --train train.h5 --valid valid.h5 --eval-every 10 --steps 20 -o m.h5 " + tiny_shape;
  corpus.must(quick + "--steps 2 -o other.h5");
  corpus.must("cp other.h5 m.best-7.h5; cp train.txt m.best-400.h5; cp train.h5 m.step-3.h5; mkdir m.best-8.h5");
  corpus.must(command);
  corpus.must(command + "--restart --keep 1 --steps 10 || rm m.step-3.h5");
  corpus.must("cmp other.h5 m.best-7.h5 && cmp train.txt m.best-400.h5 && test -d m.best-8.h5");
  corpus.must("cp train.txt m.step-3.h5");
  corpus.kept("m.step-3.h5", command + "--restart --keep 2", "m.step-3.h5: is named like a checkpoint that this run");
  corpus.must("rm m.step-3.h5; cp train.txt m.best-10.h5; rm m.h5");
  corpus.kept("m.best-10.h5", command, "m.best-10.h5: is named like a best model of this run, but is not one");
  corpus.must(command + "--select last");
  // The next run removes leftovers of a killed one.
  corpus.must("rm -r m.*");
  CHECK(corpus.with_fault(command, "rename:2:kill").status == 137);
  CHECK(corpus.files("m.*") == "m.best-10.h5\n");
  corpus.must(command + "--eval-every 20");
  CHECK(corpus.files("m.*") == "m.h5\n");
}

TEST_CASE("outputs: the checkpoint that --resume names is an input, and the best model that goes with it") {
  const Outputs corpus;
  const std::string command = "pretrain -q --threads 1 --train train.h5 --valid valid.h5 --eval-every 10" + tiny_shape;
  corpus.must(command + "--steps 20 --keep 1 -o m.h5");
  const std::string checkpoint = "m.step-20.h5", best = corpus.must("ls m.best-*").out;
  const std::string says = "refusing to overwrite the input ";
  for (const std::string& file : {checkpoint, best.substr(0, best.size() - 1)}) {
    corpus.kept(file, command + "--steps 30 --resume " + checkpoint + " -o other.h5 --log " + file, says + file);
    corpus.kept(file, command + "--steps 30 --resume " + checkpoint + " -o " + file, says + file);
  }
  corpus.must(command + "--steps 30 --resume " + checkpoint + " --keep 1 -o m.h5");
}

TEST_CASE("outputs: an input that is named like a temporary file of the output is not removed") {
  const Outputs corpus;
  corpus.must("cp train.txt .t.h5.tmp.123; mkdir .t.h5.tmp.45; cp train.txt .t.h5.tmp.45/text; mkdir sub");
  const std::string tokenize = "tokenize -q -t tokenizer.h5 -o t.h5 ";
  const std::string says = ": is named like a temporary file of t.h5, which writing removes; rename it";
  corpus.kept(".t.h5.tmp.123", tokenize + ".t.h5.tmp.123", ".t.h5.tmp.123" + says);
  corpus.kept(".t.h5.tmp.45/text", tokenize + ".t.h5.tmp.45/text", ".t.h5.tmp.45/text" + says);
  corpus.kept(".t.h5.tmp.45/text", "cd .t.h5.tmp.45 && tokenize -q -t ../tokenizer.h5 -o ../t.h5 text",
              "text: is named like a temporary file of ../t.h5");
  corpus.must("mv .t.h5.tmp.123 sub && " + tokenize + "sub/.t.h5.tmp.123");
  corpus.must("cp train.h5 .m.best-3.h5.tmp.9; cp train.h5 .m.h5.tmp.9");
  corpus.kept(".m.best-3.h5.tmp.9", "pretrain --train .m.best-3.h5.tmp.9 --steps 2 -o m.h5" + tiny_shape,
              ".m.best-3.h5.tmp.9: is named like a checkpoint");
  corpus.kept(".m.h5.tmp.9", "pretrain --train .m.h5.tmp.9 --steps 2 -o m.h5" + tiny_shape, "like a temporary file of");
}

TEST_CASE("outputs: a lock that another user made holds, too") {
  const Outputs corpus;
  const std::string command = quick + "--steps 1000000 --checkpoint-every 1 -o m.h5";
  // Opening the lock of another user is refused, first with O_CREAT, then in any way.
  const std::string second = "LD_PRELOAD='" HEDDLE_FAULTS "' HEDDLE_FAULT_FILE=.m.h5.lock HEDDLE_FAULT=open:";
  const Outcome outcome =
      corpus.run(watching + command + " & run=$!\nawait $run 'test -e m.checkpoint.h5'\nstat -c %a .m.h5.lock; " +
                 second + "1:13 sh -c '" + quick + "--steps 2 -o m.h5'; echo $?; " + second + "0:13 sh -c '" + quick +
                 "--steps 2 -o m.h5'; echo $?; kill -KILL $run; wait $run");
  CHECK(outcome.out == "666\n1\n1\n");
  CHECK(contains(outcome.err, "m.h5: another run is writing this file"));
  CHECK(contains(outcome.err, "m.h5: .m.h5.lock belongs to another user, whose run may be writing this file"));
}

TEST_CASE("outputs: what is beside an output has its permissions, and no more") {
  const Outputs corpus;
  const std::string command =
      "umask 022; pretrain -q --threads 1 --train train.h5 --valid valid.h5 --eval-every 2 --checkpoint-every 1 "
      "--keep 2 --steps 1000000 --max-time 0.5s --restart -o m.h5" +
      tiny_shape;
  CHECK(corpus.run(command).status == 75);
  CHECK(corpus.must("stat -c %a m.* | sort -u").out == "644\n");
  corpus.must("rm m.*; cp train.h5 m.h5; chmod 600 m.h5");
  CHECK(corpus.run(command).status == 75);
  CHECK(lines_in(corpus.files("m.*")) >= 4);
  CHECK(corpus.must("stat -c %a m.* | sort -u").out == "600\n");
}

TEST_CASE("outputs: a piece with a tab is one field of a table") {
  const Outputs corpus;
  corpus.must(
      "tokenize -q --train --vocab-size 300 --special-tokens $'[A\\tB]' -o t.h5 train.txt && "
      "tokenize -q -t t.h5 -o t.tokens.h5 train.txt && pretrain -q --threads 1 --train t.tokens.h5 --steps 1 -o "
      "t.m.h5" +
      tiny_shape);
  corpus.must("inspect embed t.m.h5 --text $'a[A\\tB]' -o x.tsv");
  for (const std::string& line : lines_of(read_file(corpus.path("x.tsv")))) {
    if (!line.empty()) CHECK(std::ranges::count(line, '\t') == 32);
  }
  CHECK(contains(read_file(corpus.path("x.tsv")), "[A\\tB]\t"));
}

TEST_CASE("outputs: a run reads more files than programs may usually have open") {
  const Outputs corpus;
  corpus.must("for i in $(seq 80); do ln train.h5 part.$i.h5; done");
  const std::string command =
      "pretrain -q --threads 1 --train $(ls part.* | paste -sd,) --steps 2 -o m.h5" + tiny_shape;
  corpus.must("ulimit -Sn 64; " + command);
  corpus.refused("ulimit -n 64; rm m.h5; " + command, 1, "Too many open files; raise the limit (ulimit -n)");
}

TEST_CASE("outputs: options given very often, and files of options without an end, are read in no time") {
  const Outputs corpus;
  std::string lines;
  for (int i = 0; i < 20'000; ++i) lines += "train = train.h5\n";
  write_file(corpus.path("long.ini"), lines);
  corpus.must("ulimit -t 10; pretrain --config long.ini --print-config > /dev/null");
  corpus.refused("ulimit -v 4000000; pretrain --config /dev/zero", 1, "/dev/zero: larger than ");
}

TEST_CASE("outputs: without a free descriptor, what was begun is removed") {
  const Outputs corpus;
  corpus.must(quick + "--steps 2 -o model.h5");
  const Outcome folder = corpus.with_fault("convert -q model.h5 -o hf/", "open:1:24", ".hf.tmp");
  CHECK(folder.status == 1);
  CHECK(contains(folder.err, "hf/: cannot open the new directory: Too many open files"));
  CHECK(corpus.leftovers() == 0);
}

TEST_CASE("outputs: a folder in the place of the checkpoint is found before the first step") {
  const Outputs corpus;
  corpus.must(quick + "--steps 2 -o base.h5 && mkdir m.checkpoint.h5");
  corpus.refused(quick + "--steps 1000000 -o m.h5", 1, "m.checkpoint.h5");
  corpus.refused(quick + "--steps 1000000 -o m.h5 --restart", 1, "m.checkpoint.h5: is a directory");
  write_file(corpus.path("task.tsv"), "good\tthe cat sees\nbad\ta dog forgets\n");
  corpus.refused("finetune -q --from base.h5 --train task.tsv --valid task.tsv --epochs 1000000 -o m.h5", 1,
                 "m.checkpoint.h5");
  CHECK_FALSE(corpus.exists("m.h5"));
  CHECK(corpus.leftovers() == 0);
}

TEST_CASE("outputs: a run that was killed between its output and the end only removes what is left") {
  const Outputs corpus;
  const std::string run =
      "pretrain -q --threads 1 --train train.h5 --valid valid.h5 --eval-every 2 --steps 6 "
      "--checkpoint-every 2 --log-every 1 " +
      tiny_shape;
  corpus.must(run + "-o whole.h5");
  // Best models and checkpoints are renamed before the output, after which the folder is flushed.
  for (int call = 1;; ++call) {
    REQUIRE(call < 40);
    corpus.must("rm -f m.*");
    const Outcome outcome = corpus.with_fault(run + "-o m.h5", "fsync-directory:" + std::to_string(call) + ":kill");
    REQUIRE(outcome.status == 137);
    if (!corpus.exists("m.h5")) continue;
    CHECK(corpus.exists("m.checkpoint.h5"));
    break;
  }
  const std::string bytes = read_file(corpus.path("m.h5"));
  CHECK(corpus.weights("m.h5") == corpus.weights("whole.h5"));
  corpus.must(run + "-o m.h5");
  CHECK(read_file(corpus.path("m.h5")) == bytes);
  CHECK(corpus.must("ls m.*").out == "m.h5\n");
  CHECK(corpus.leftovers() == 0);
}

TEST_CASE("outputs: an open stream is written to, and the file behind it stays what it is") {
  const Outputs corpus;
  corpus.must(quick + "--steps 2 -o model.h5");
  const std::string generate = "generate model.h5 -q -p the --max-tokens 4 --temperature 0 ";
  const std::string text = corpus.must(generate).out;
  for (const std::string name : {"/dev/stdout", "/dev/fd/1", "/proc/self/fd/1", "link"}) {
    CAPTURE(name);
    corpus.must("ln -sf /dev/stdout link; echo before > out; ln -f out second; { " + generate + "-o " + name +
                "; echo after; } >> out");
    CHECK(read_file(corpus.path("out")) == "before\n" + text + "after\n");
    CHECK(read_file(corpus.path("second")) == read_file(corpus.path("out")));
  }
  corpus.must("echo before > out; " + generate + "-o /dev/fd/3 3>> out");
  CHECK(read_file(corpus.path("out")) == "before\n" + text);
  corpus.refused("exec 7>&-; " + generate + "-o /dev/fd/7", 1, "/dev/fd/7: cannot open: Bad file descriptor");
  // Files that are not written from beginning to end have no place there.
  corpus.must("echo before > out");
  for (const std::string& command :
       {quick + "--steps 2", std::string("tokenize -t tokenizer.h5 train.txt"), std::string("convert model.h5")}) {
    corpus.refused(command + " -o /dev/stdout >> out", 1, "/dev/stdout: is an open stream");
  }
  CHECK(read_file(corpus.path("out")) == "before\n");
  corpus.must("echo before > log; " + quick + "--steps 2 --log-every 1 -o m.h5 --log /dev/fd/3 3>> log");
  const std::string log = read_file(corpus.path("log"));
  CHECK(log.starts_with("before\n{"));
  CHECK(lines_in(log) == 3);
}

TEST_CASE("outputs: what killed runs left goes with the next run of the same output, and what is in use stays") {
  const Outputs corpus;
  const std::string command = "tokenize -q -t tokenizer.h5 -o tokens.h5 ";
  const std::string temporaries = "ls -A | grep -c ^.tokens.h5.tmp";
  // Each waits for its standard input to end.
  const std::string waiting = "mkfifo text; sleep 1000 > text & keep=$!\n" + command + "text & run=$!\nawait $run '" +
                              temporaries + " > /dev/null'\n";
  corpus.must(watching + waiting + "kill -KILL $run; wait $run; kill $keep; rm text; " + temporaries);
  CHECK(corpus.leftovers() == 1);
  corpus.must("touch .tokens.h5.tmp.x .tokens.h5.tmp .other.h5.tmp.77 tokens.h5.tmp.77");
  // A second program of the same output, beside one that is at work: only the first's is left meanwhile.
  const Outcome beside =
      corpus.must(watching + waiting + command + "train.txt; " + temporaries +
                  "; kill $keep; wait $run; kill -0 $run 2> /dev/null || LC_ALL=C ls -A | grep tokens.h5");
  CHECK(beside.out == "3\n.tokens.h5.tmp\n.tokens.h5.tmp.x\ntokens.h5\ntokens.h5.tmp.77\n");
  CHECK(corpus.must("inspect verify tokens.h5").status == 0);
  CHECK(corpus.exists(".other.h5.tmp.77"));
  // Files of all kinds that a training run was killed in the midst of.
  corpus.must("rm .tokens* .other*");
  const std::string run =
      "pretrain -q --threads 1 --train train.h5 --valid valid.h5 --eval-every 2 --steps 6 "
      "--checkpoint-every 1 --keep 2 --log log --log-every 1 --positions learned -o m.h5" +
      tiny_shape;
  for (int call = 1; call < 12; ++call) {
    CAPTURE(call);
    corpus.must("rm -f m.* log");
    CHECK(corpus.with_fault(run, "rename:" + std::to_string(call) + ":kill").status == 137);
    CHECK(corpus.leftovers() >= 4);  // three locks, and the file that was to get its name
    corpus.must(run);
    CHECK(corpus.leftovers() == 0);
  }
  // And folders.
  CHECK(corpus.with_fault("convert -q m.h5 -o hf/", "rename:1:kill").status == 137);
  CHECK(corpus.leftovers() == 1);
  corpus.must("convert -q m.h5 -o hf/");
  CHECK(corpus.leftovers() == 0);
}

TEST_CASE("outputs: a folder is on the disk before it gets its name, and its name before the program ends") {
  const Outputs corpus;
  corpus.must(quick + "--steps 2 -o model.h5");
  write_file(corpus.path("task.tsv"), "a\tone\na\ttwo\na\tthree\nb\tfour\nb\tfive\nb\tsix\n");
  struct Case {
    std::string command;
    int files;
  };
  for (const Case& one :
       {Case{"convert -q model.h5 -o folder/", 6}, Case{"convert -q task.tsv --split 50,25,25 -o folder/", 3}}) {
    CAPTURE(one.command);
    // It is flushed after each of its files got its name, then all of it, and after it has its own the one around it.
    const auto fails = [&](int number) {
      const Outcome outcome = corpus.with_fault(one.command, "fsync-directory:" + std::to_string(number) + ":5");
      CHECK(outcome.status == 1);
      CHECK(contains(outcome.err, "cannot flush the directory: Input/output error"));
      CHECK_FALSE(contains(outcome.err, ".tmp."));
      CHECK(corpus.leftovers() == 0);
    };
    fails(one.files + 1);
    CHECK_FALSE(corpus.exists("folder"));
    fails(one.files + 2);
    CHECK(lines_in(corpus.must("ls folder").out) == one.files);
    corpus.must("mv folder first && " + one.command + " && diff -r first folder && rm -r first folder");
  }
}

TEST_CASE("outputs: little address space is enough to answer, or is said to be too little") {
#ifdef HEDDLE_SANITIZED
  MESSAGE("sanitizers need more addresses than the limit");
#else
  const Outputs corpus;
  for (int kilobytes = 60'000; kilobytes <= 300'000; kilobytes += 30'000) {
    CAPTURE(kilobytes);
    // Where it hangs, timeout ends it with 124.
    const Outcome outcome =
        corpus.run("ulimit -v " + std::to_string(kilobytes) + "; exec timeout 600 generate --version");
    CHECK((outcome.status == 0 || !outcome.err.empty()));
    CHECK(outcome.status != 124);
    if (kilobytes >= 150'000) CHECK(outcome.status == 0);
  }
#endif
}

TEST_CASE("outputs: a dry run needs no more addresses than any program") {
#ifdef HEDDLE_SANITIZED
  MESSAGE("sanitizers need more addresses than the limit");
#else
  const Outputs corpus;
  const std::string dry = "pretrain --preset gpt2 --dry-run --json --threads 2";
  const auto free = parse_json(corpus.must(dry).out);
  const auto bounded = parse_json(corpus.must("ulimit -v 1000000; " + dry).out);
  CHECK(bounded["parameters"] == 124439808);
  for (const std::string part : {"weights_bytes", "gradients_bytes", "optimizer_bytes", "activations_bytes"}) {
    CHECK(bounded["memory"][part] == free["memory"][part]);
  }
  CHECK(bounded["measured"] == false);
  // Where steps would be tried, they are not for want of addresses.
  const std::string small = "pretrain --preset nano --vocab-size 65 --dry-run --json --threads 2";
  CHECK(parse_json(corpus.must(small).out)["measured"] == true);
  CHECK(parse_json(corpus.must("ulimit -v 700000; " + small).out)["parameters"].get<long>() > 0);
#endif
}

TEST_CASE("outputs: a dry run is of what is left of the run that the command would continue") {
  const Outputs corpus;
  const auto dry = [&](const std::string& command) {
    return parse_json(corpus.must(command + " --dry-run --json").out);
  };
  const std::string run = quick + "--steps 30 --valid valid.h5 --checkpoint-every 5 --log-every 1 ";
  CHECK(dry(run + "-o m.h5")["steps"] == 30);
  REQUIRE(corpus.run(run + "-o m.h5 --max-time 0.001s").status == 75);
  const auto rest = dry(run + "-o m.h5");
  const long left = 30 - steps_of(corpus, "m.checkpoint.h5");
  CHECK(rest["steps"] == left);
  CHECK(rest["parameters"] == parse_json(corpus.must("inspect --json m.checkpoint.h5").out)["parameters"]);
  CHECK(dry(run + "-o m.h5 --restart")["steps"] == 30);
  const std::string resumed = "pretrain --train train.h5 --resume m.checkpoint.h5 --steps 50 ";
  CHECK(dry(resumed + "-o m.h5")["steps"] == left + 20);
  CHECK(dry(resumed)["parameters"] == rest["parameters"]);
  corpus.refused(run + "-o m.h5 --dry-run --layers 3", 2, "m.checkpoint.h5: --layers was 2 and is 3 now");
  corpus.refused(resumed + "--dry-run --layers 3", 2,
                 "--layers 3 differs from the 2 that m.checkpoint.h5 was trained with");
  corpus.refused("pretrain --dry-run --resume none.h5 --train train.h5 -o m.h5", 1, "none.h5: cannot open");
  corpus.refused("pretrain --dry-run --resume none.h5 --train train.h5 -o none.h5", 1, "none.h5");
  // Two checkpoints and two best models, for a moment; or the checkpoint, the best model and the output.
  const double checkpoint = rest["checkpoint_bytes"], last = dry(run + "-o other.h5 --select last")["disk_bytes"];
  CHECK(last == doctest::Approx(2 * checkpoint));
  CHECK(rest["disk_bytes"].get<double>() > 2 * checkpoint + 2 * rest["memory"]["weights_bytes"].get<double>());

  corpus.must(run + "-o m.h5");
  write_file(corpus.path("task.tsv"), "good\tthe cat sees\nbad\ta dog forgets\n");
  const std::string tune = "finetune --from m.h5 --train task.tsv --lora-rank 2 --steps 3 -o t.h5 ";
  REQUIRE(corpus.run("" + tune + "-q --max-time 0.001s").status == 75);
  CHECK(dry(tune)["steps"] == 2);
  const std::string further = "finetune --from m.h5 --train task.tsv -o t.h5 --resume t.checkpoint.h5 --steps 21";
  const auto tuning = dry(further);
  CHECK(tuning["steps"] == 20);
  CHECK(tuning["parameters"].get<long>() < rest["parameters"].get<long>() / 4);  // the adapter's, as the file says
  corpus.refused(further + " --dry-run --lora-rank 3", 2,
                 "--lora-rank 3 differs from the 2 that t.checkpoint.h5 was trained with");
}

}  // namespace outputs_tests
