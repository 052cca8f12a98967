// How training runs start, save, stop and go on.
#include "tools/background.hpp"
#include "tools/small_corpus.hpp"

using namespace heddle;
using namespace heddle::testing;

namespace {

const std::string train = "pretrain --threads 1 --train train.h5 --learning-rate 5e-3" + tiny_model;
// For runs without an end (background.hpp).
const std::string bare_train = "pretrain -q --threads 1 --train train.h5 --learning-rate 5e-3" + tiny_shape;

struct Runs : SmallCorpus {
  bool exists(const std::string& name) const { return std::filesystem::exists(path(name)); }
  double step_of(const std::string& name) const {
    const auto json = nlohmann::json::parse(must("inspect --json " + name).out);
    return json["history"]["step"].back();
  }
};

}  // namespace

TEST_CASE("running: one command line with --resume=auto starts, goes on and knows that it has finished") {
  const Runs corpus;
  const std::string command = "pretrain --threads 1 --train train.h5" + tiny_shape + endless_schedule +
                              "-o auto.h5 --log auto.jsonl --resume=auto --steps ";
  CHECK(corpus.run(signalled(command + "1000000", "test $(lines_of auto.jsonl) -gt 5", "TERM")).status == 143);
  const long done = steps_of(corpus, "auto.h5");
  const std::string steps = std::to_string(done + 7), all = std::to_string(done + 12);
  CHECK(contains(corpus.must(command + steps).err, "auto.h5: step " + steps));
  corpus.must("pretrain -q --threads 1 --train train.h5" + tiny_shape + endless_schedule + "-o whole.h5 --steps " +
              steps);
  CHECK(corpus.weights("auto.h5") == corpus.weights("whole.h5"));
  const std::string before = read_file(corpus.path("auto.h5"));
  CHECK(contains(corpus.must(command + steps).err, "auto.h5: is finished; more --steps or --epochs go on with it"));
  CHECK(read_file(corpus.path("auto.h5")) == before);
  CHECK(contains(corpus.must(command + all).err, "auto.h5: step " + all));

  corpus.must("convert -q auto.h5 -o weights.h5");
  corpus.refused(train + "--steps 40 -o weights.h5 --resume=auto", 1, "weights.h5: holds no training state");
  corpus.refused(train + "--steps 40 -o new.h5 --resume", 1, "new.h5");
  corpus.refused(train + "--steps 40 -o new.h5 --resume=later", 2, "'later' is not one of false, true, auto");
  CHECK_FALSE(corpus.exists("new.h5"));
}

TEST_CASE("running: fine-tuning starts and goes on with one command line, too") {
  const Runs corpus;
  corpus.must(train + "-q --steps 20 -o base.h5");
  write_file(corpus.path("task.tsv"),
             "good\tthe cat sees\nbad\ta dog forgets\ngood\tmy queen sees\nbad\tthe cat forgets\n");
  const std::string command =
      "finetune --threads 1 --from base.h5 --train task.tsv --steps 1000000 --checkpoint-every 5 -o tuned.h5 "
      "--resume=auto";
  CHECK(corpus.run(signalled(command, "test -e tuned.h5", "TERM")).status == 143);
  corpus.refused(command + " --steps 1", 2, "steps already, more than the 1 that it is to do");
  corpus.refused(command + " --max-time 200ms", 2, "is not a length of time");
  const Outcome outcome = corpus.run(command + " --max-time 0.3s");
  CHECK(outcome.status == 75);
  CHECK(contains(outcome.err, "the time is over, --resume goes on"));
  CHECK(corpus.must("inspect tuned.h5 --verify").out == "tuned.h5: no problem found\n");
}

TEST_CASE("running: --max-time saves and ends with 75, and the run is completed to the same bits") {
  const Runs corpus;
  const std::string files = "-o timed.h5 --resume=auto ";
  long done = 0;
  for (int run = 0; run < 3; ++run) {
    CHECK(corpus.run(bare_train + endless + files + "--max-time 0.2s").status == 75);
    CHECK(steps_of(corpus, "timed.h5") > done);
    done = steps_of(corpus, "timed.h5");
  }
  const std::string steps = "--steps " + std::to_string(done + 5);
  corpus.must(bare_train + endless_schedule + files + steps);
  // Even where starting takes longer, a step is done.
  const Outcome short_time = corpus.run(train + "--steps 3 --max-time 0.001s --resume=auto -o steps.h5");
  CHECK(short_time.status == 75);
  CHECK(contains(short_time.err, "steps.h5: step 1, "));
  corpus.must(bare_train + endless_schedule + "-o whole.h5 " + steps);
  CHECK(corpus.weights("timed.h5") == corpus.weights("whole.h5"));
  for (const char* wrong : {"soon", "10x", "-5m", "0", "1:2:3:4"}) {
    corpus.refused(train + "-o x.h5 --max-time=" + std::string(wrong), 2, "is not a length of time; write 90m");
  }
}

TEST_CASE("running: SIGUSR1 makes a checkpoint and training goes on, or ends with one") {
  const Runs corpus;
  const std::string command =
      bare_train + "--steps 1000000 --checkpoint-every 0 --log-every 1 --log log.jsonl -o usr.h5 ";
  const std::string going_on = watching + command +
                               "& run=$!\nawait $run 'test -s log.jsonl'\nkill -USR1 $run\n"
                               "await $run 'test -e usr.h5'\ncp usr.h5 first.h5; seen=$(lines_of log.jsonl)\n"
                               "await $run 'test $(lines_of log.jsonl) -gt $seen'\nkill -TERM $run; wait $run";
  CHECK(corpus.run(going_on).status == 143);
  CHECK(corpus.must("inspect first.h5 --verify").out == "first.h5: no problem found\n");
  CHECK(corpus.step_of("first.h5") < corpus.step_of("usr.h5"));

  corpus.must("rm log.jsonl usr.h5");
  CHECK(corpus.run(signalled(command + "--on-usr1 exit", "test -s log.jsonl", "USR1")).status == 138);
  CHECK(corpus.must("inspect usr.h5 --verify").out == "usr.h5: no problem found\n");
}

TEST_CASE("running: the last checkpoints are kept under their own names") {
  const Runs corpus;
  corpus.must(train + "-q --steps 22 --checkpoint-every 5 --keep 2 -o kept.h5");
  CHECK(corpus.must("ls kept*").out == "kept.h5\nkept.step-20.h5\nkept.step-22.h5\n");
  CHECK(corpus.weights("kept.h5") == corpus.weights("kept.step-22.h5"));
  corpus.must(train + "-q --steps 20 -o until20.h5");
  CHECK(corpus.weights("kept.step-20.h5") != corpus.weights("kept.h5"));
  // A kept one is a whole checkpoint, with which training goes on.
  corpus.must("cp kept.step-20.h5 again.h5 && " + train + "-q --steps 22 --resume -o again.h5");
  CHECK(corpus.weights("again.h5") == corpus.weights("kept.h5"));
  // What was saved but not yet kept when the run was killed is kept when it goes on.
  corpus.must("rm kept.step-22.h5 && " + train + "-q --steps 22 --keep 2 --resume -o kept.h5");
  CHECK(corpus.must("ls kept*").out == "kept.h5\nkept.step-20.h5\nkept.step-22.h5\n");
  // Those of an earlier run would be mixed with a new one's; files of like names are nobody's to delete.
  corpus.refused(train + "-q --steps 12 --checkpoint-every 5 --keep 1 -o kept.h5", 2, "was kept by an earlier run");
  corpus.must("rm kept.step-*.h5; touch kept.step-7.h5.txt kept.step-x.h5; " + train +
              "-q --steps 12 --checkpoint-every 5 --keep 1 -o kept.h5");
  CHECK(corpus.must("ls kept*").out == "kept.h5\nkept.step-12.h5\nkept.step-7.h5.txt\nkept.step-x.h5\n");
}

TEST_CASE("running: minutes between checkpoints are minutes, from one to the next") {
  const Runs corpus;
  // 0.01 minutes lie between the times of two checkpoints, however slow the machine is.
  const std::string often =
      bare_train + "--steps 1000000 --checkpoint-every 0 --checkpoint-minutes 0.01 --keep 9 -o clock.h5";
  const std::string seen = "test $(ls clock.step-* 2> /dev/null | wc -l) -ge 3";
  CHECK(corpus.run(signalled(often, seen, "KILL")).status == 137);
  std::vector<double> times;
  for (const std::string& time : lines_of(corpus.must("stat -c %.Y clock.step-*").out))
    times.push_back(std::stod(time));
  std::ranges::sort(times);
  REQUIRE(times.size() >= 3);
  for (std::size_t i = 1; i < times.size(); ++i) CHECK(times[i] - times[i - 1] > 0.58);  // clocks of files are coarse
  CHECK(corpus.must("inspect clock.h5 --verify").out == "clock.h5: no problem found\n");
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

  corpus.must("pretrain --train a.h5,b.h5:2.5 -o part.h5 --max-time 0.001s --resume=auto" + rest + "|| test $? = 75");
  corpus.must("pretrain --train a.h5,b.h5:2.5 -o part.h5 --resume=auto" + rest);
  CHECK(corpus.weights("part.h5") == corpus.weights("weighted.h5"));
  const std::string more = " -o weighted.h5 --resume --steps 40";
  corpus.refused("pretrain --train a.h5,b.h5" + more, 1,
                 "b.h5: is given as 'train', and weighted.h5 was trained with "
                 "'train, weight 2.5'");
  corpus.refused("pretrain --train a.h5" + more, 1, "weighted.h5: was trained on b.h5 too");
  corpus.refused("pretrain --train b.h5:2.5,a.h5" + more, 1,
                 "b.h5: is not the file that weighted.h5 was trained on (a.h5)");
  corpus.refused("pretrain --train a.h5:0 -o x.h5", 2, "a.h5:0: the weight must be more than 0");
  corpus.refused("pretrain --train a.h5,none.h5 -o x.h5", 1, "none.h5");
  corpus.refused("pretrain --train a.h5,b.h5 -o b.h5", 2, "b.h5: would be written over b.h5");
  // A colon may be part of a name.
  corpus.must("cp b.h5 b:2 && pretrain --train a.h5,b:2 -o colon.h5" + rest);
  CHECK(corpus.weights("colon.h5") == corpus.weights("two.h5"));
}

TEST_CASE("running: patience ends pre-training when evaluations bring nothing better") {
  const Runs corpus;
  const Outcome outcome = corpus.must(train + "--valid valid.h5 --steps 4000 --eval-every 5 --patience 2 -o m.h5");
  CHECK(contains(outcome.err, "; best validation loss"));
  CHECK(contains(outcome.err, "; 2 evaluations in a row brought nothing better (--patience)"));
  CHECK(corpus.step_of("m.h5") < 4000);
  corpus.must("cp m.h5 first.h5");
  const std::string again = train + "--valid valid.h5 --steps 4000 --eval-every 5 -o m.h5 --resume=auto ";
  CHECK(contains(corpus.must(again + "--patience 2").err, "a higher --patience goes on with it"));
  const double stopped = corpus.step_of("m.h5");
  corpus.must(again + "--patience 3");
  CHECK(corpus.step_of("m.h5") > stopped);
  // It stopped at the second evaluation without anything better, and no earlier.
  const auto history = nlohmann::json::parse(corpus.must("inspect --json first.h5").out)["history"];
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
}

TEST_CASE("running: a divergence names the operation, the step, the rate, the documents and the last checkpoint") {
  const Runs corpus;
  const std::string wild = "pretrain --threads 1 --train train.h5" + tiny_model +
                           "-q --optimizer sgd --clip-norm none --warmup 0 --learning-rate 900 --steps 500 -o wild.h5 ";
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
  // What was saved before stays, and the message says what that is.
  corpus.must(
      train +
      "-q --optimizer sgd --clip-norm none --steps 20 --schedule constant --warmup 0 --learning-rate 1e-3 -o good.h5");
  const std::string before = read_file(corpus.path("good.h5"));
  const Outcome overflow =
      corpus.run(bare_train + "--resume --steps 500 --checkpoint-every 0 -o good.h5 --learning-rate 900");
  CHECK(overflow.status == 3);
  CHECK(contains(overflow.err, "good.h5 holds step 20"));
  CHECK(read_file(corpus.path("good.h5")) == before);
}

TEST_CASE("running: an evaluation that is not finite ends the run, and no file has it") {
  const Runs corpus;
  const std::string wild =
      "pretrain -q --threads 1 --train train.h5 --valid valid.h5 --layers 1 --width 16 --heads 2 "
      "--context 16 --batch-size 4 --optimizer sgd --clip-norm none --warmup 0 --learning-rate 900 "
      "--eval-every 2 --checkpoint-every 2 --steps ";
  for (const char* steps : {"2", "500"}) {
    CAPTURE(steps);
    const Outcome outcome = corpus.run(wild + steps + " -o wild.h5");
    CHECK(outcome.status == 3);
    CHECK(contains(outcome.err, " diverged: "));
    CHECK_FALSE(contains(outcome.err, "-nan"));
    for (const std::string file : {"wild.h5", "wild.best.h5"}) {
      if (!corpus.exists(file)) continue;
      CHECK(corpus.must("inspect " + file + " --verify").out == file + ": no problem found\n");
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
  corpus.refused(train + "-q --steps 5 -o loop.h5", 1, "loop.h5: is a symbolic link that leads nowhere");
}

TEST_CASE("running: the log outlives whatever ends a run that goes on") {
  const Runs corpus;
  const std::string command = train + "-q --log log.jsonl --log-every 1 --resume=auto -o m.h5 ";
  corpus.must(command + "--steps 30");
  const std::string before = read_file(corpus.path("log.jsonl"));
  CHECK(lines_in(before) == 30);
  const std::string on =
      bare_train + "--log log.jsonl --log-every 1 --checkpoint-every 0 --resume -o m.h5 --steps 1000000";
  CHECK(corpus.run(signalled(on, "test $(lines_of log.jsonl) -gt 32", "KILL")).status == 137);
  CHECK(read_file(corpus.path("log.jsonl")).starts_with(before));
}

TEST_CASE("running: a run that diverged can go on from its last checkpoint, with a lower rate") {
  const Runs corpus;
  corpus.must(train + "-q --steps 10 --optimizer sgd --schedule constant -o m.h5");
  const std::string on = "pretrain --threads 1 --train train.h5 --resume --steps 40 -q -o m.h5 --learning-rate ";
  corpus.must(on + "1e-4 --warmup 0 --clip-norm 0.5 --log log.jsonl --log-every 1");
  CHECK(corpus.step_of("m.h5") == 40);
  const auto log = json_lines(read_file(corpus.path("log.jsonl")));
  REQUIRE(log.size() == 30);
  for (const auto& line : log) CHECK(line["learning_rate"].get<double>() == doctest::Approx(1e-4));
  corpus.must(train + "-q --steps 5 --final-learning-rate 1e-3 -o f.h5");
  corpus.refused("pretrain --threads 1 --train train.h5 --resume --steps 9 -q -o f.h5 --learning-rate 1e-5", 2,
                 "--learning-rate 1e-05 is less than the --final-learning-rate 0.001 that f.h5 was trained with");
}

TEST_CASE("running: a new run tells which earlier one it replaces") {
  const Runs corpus;
  const std::string told = "m.h5: holds an earlier run, which this one will replace";
  CHECK_FALSE(contains(corpus.must(train + "--steps 5 -o m.h5").err, told));
  CHECK(contains(corpus.must(train + "--steps 5 -o m.h5").err, told));
  CHECK_FALSE(contains(corpus.must(train + "--steps 8 --resume=auto -o m.h5").err, told));
}

TEST_CASE("running: an input that is named like a kept checkpoint is not lost") {
  const Runs corpus;
  corpus.must("cp train.h5 m.step-5.h5");
  corpus.refused("pretrain --train m.step-5.h5 --steps 10 --checkpoint-every 5 --keep 1 -o m.h5" + tiny_model, 2,
                 "m.step-5.h5: is named like a checkpoint that --keep writes");
  CHECK(read_file(corpus.path("m.step-5.h5")) == read_file(corpus.path("train.h5")));
}

TEST_CASE("running: SIGHUP saves and ends the run, too") {
  const Runs corpus;
  CHECK(corpus.run(signalled(train + "-q --steps 1000000 -o m.h5", "test -e m.h5", "HUP")).status == 129);
  CHECK(corpus.must("inspect m.h5 --verify").out == "m.h5: no problem found\n");
}

TEST_CASE("running: options that would lose something, or come to nothing, are refused") {
  const Runs corpus;
  corpus.refused(train + "-o m.h5 --log m.h5", 2, "m.h5: is to be two things");
  corpus.refused(train + "-o m.h5 --log ./m.h5", 2, "m.h5: is to be two things");
  corpus.refused(train + "-o m.h5 --valid valid.h5 --log m.best.h5", 2, "m.best.h5: is to be two things");
  corpus.refused(train + "-o -", 1, "cannot go to standard output");
  corpus.refused("pretrain --train - -o m.h5", 1, "cannot come from standard input");
  corpus.refused("pretrain --train= -o m.h5", 2, "--train: the list is empty");
  corpus.refused(train + "-o m.h5 --warmup 101%", 2,
                 "--warmup: '101%' is neither a number of steps, such as 2000, nor");
  corpus.refused(train + "-o m.h5 --final-learning-rate -0.5", 2, "it must be from 0 to 1000, or auto");
  corpus.refused("pretrain --train train.h5:much -o m.h5", 2, "train.h5:much: the weight 'much' is not a number");
  corpus.refused("pretrain --train train.h5 -o m.h5 --preset gtp2", 2, "did you mean 'gpt2'?");
  corpus.must("printf cat > tiny.txt && tokenize -q -t tokenizer.h5 -o tiny.h5 tiny.txt");
  corpus.refused(train + "--train tiny.h5:1000 -o m.h5", 1, "tiny.h5: weight 1000 of 0 windows of ");
  CHECK_FALSE(corpus.exists("m.h5"));
  CHECK(contains(corpus.must(train + "-o m.h5 --steps 5 --warmup 100").err, "never passes its peak"));
  const std::string shape = " --layers 1 --context 16 --batch-size 2";
  corpus.must("pretrain -q --train train.h5 -o nano.h5 --preset nano --steps 2" + shape);
  corpus.must("pretrain -q --train train.h5 -o nano.h5 --preset nano --steps 3 --resume" + shape);
  corpus.refused("pretrain -q --train train.h5 -o nano.h5 --preset gpt2 --steps 4 --resume" + shape, 2,
                 "differs from what nano.h5 was trained with");
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
  corpus.refused(command + "--train first.tsv -o two.h5 --resume --epochs 5", 1,
                 "two.h5: was trained on second.tsv too");
  corpus.refused(command + "--train first.tsv,second.tsv:2 -o x.h5", 2, "second.tsv: weights are for --task lm");
  corpus.refused(command + "--train first.tsv,absent.tsv -o x.h5", 1, "absent.tsv: cannot open");
  corpus.refused(command + "--train first.tsv,second.tsv -o second.tsv", 2, "second.tsv: would be written over");
  write_file(corpus.path("second.tsv"), second + "good\t" + std::string(200, 'x') + "\n");
  corpus.refused(command + "--train first.tsv,second.tsv -o x.h5", 1, "second.tsv:3: ");

  const std::string more = "finetune -q --threads 1 --from base.h5 --task lm --steps 10 --batch-size 2 ";
  corpus.must(more + "--train train.h5 -o one.h5");
  corpus.must(more + "--train train.h5,valid.h5:3 -o joined.h5");
  CHECK(corpus.weights("joined.h5") != corpus.weights("one.h5"));
  CHECK(contains(corpus.must("inspect joined.h5 --provenance").out, "train, weight 3: valid.h5"));
}
