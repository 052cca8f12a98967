// Predictions of dry runs, against the runs themselves.
#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <filesystem>

#include "support/json.hpp"
#include "tools/small_corpus.hpp"

using namespace heddle;
using namespace heddle::testing;

namespace dry_run_tests {

namespace {

// Seconds of a step, by the log's rates.
double seconds_of_step(const std::string& log) {
  double tokens = 0, rates = 0, lines = 0;
  for (const auto& line : json_lines(log)) {
    if (!line.contains("tokens_per_second")) continue;
    tokens = line["tokens"].get<double>() / line["step"].get<double>();
    rates += 1 / line["tokens_per_second"].get<double>();
    lines += 1;
  }
  return tokens * rates / lines;
}

struct RealRun {
  double memory, seconds;  // bytes at its peak; of a step
};

bool times_are_compared() {
  return std::getenv("HEDDLE_TIMES") != nullptr;
}

// Memory is at its peak after the first steps and the first evaluation; times take more.
std::string steps(int of_memory, int of_times) {
  return " --steps " + std::to_string(times_are_compared() ? of_times : of_memory);
}

RealRun run_for_real(const SmallCorpus& corpus, const std::string& command) {
  const Outcome run = corpus.must(command + " -v -o m.h5 --restart --log log.jsonl");
  const std::size_t at = run.err.find("most memory: ");
  REQUIRE(at != std::string::npos);
  return {std::stod(run.err.substr(at + 13)) * (1 << 20), seconds_of_step(read_file(corpus.path("log.jsonl")))};
}

double distance(double a, double b) {
  return std::abs(a / b - 1);
}

// The estimate against the real run. Times are compared where HEDDLE_TIMES is set (the slow test dry_run_times), which
// takes a machine that does nothing else: where they differ, the run is repeated, and it takes several in which both
// runs took alike for the estimate to be at fault.
void check_estimate(const SmallCorpus& corpus, const std::string& command) {
  CAPTURE(command);
  const int attempts = times_are_compared() ? 8 : 1;
  int at_fault = 0;
  for (int attempt = 0; attempt < attempts; ++attempt) {
    const auto foreseen = parse_json(corpus.must(command + " --dry-run --json").out);
    const RealRun run = run_for_real(corpus, command);
    CAPTURE(foreseen.dump());
    CAPTURE(run.memory);
    CHECK(distance(foreseen["memory_bytes"], run.memory) <= 0.1);
    CHECK(foreseen["seconds_per_step"] > 0);
    if (attempts == 1) return;
    const double time_error = distance(foreseen["seconds_per_step"], run.seconds);
    MESSAGE("time off by " << time_error);
    if (time_error <= 0.2) return;
    if (distance(run.seconds, run_for_real(corpus, command).seconds) < 0.1) ++at_fault;
  }
  CHECK(at_fault < attempts);
  MESSAGE("the machine was too busy to compare times");
}

// The number behind a text.
double number_after(const std::string& text, const std::string& before) {
  const std::size_t at = text.find(before);
  REQUIRE_MESSAGE(at != std::string::npos, before << " is not in " << text);
  return std::stod(text.substr(at + before.size()));
}

// Memory in MiB or GiB and hours that a dry run prints, and the requests of its Slurm line.
struct Job {
  double memory, minutes, asked_memory, asked_minutes;  // MiB

  explicit Job(const std::string& out)
      : memory(number_after(out, "memory            ")),
        minutes(60 * number_after(out, "rates; ")),
        asked_memory(number_after(out, " --mem=")),
        asked_minutes(60 * number_after(out, " --time=")) {
    CAPTURE(out);
    if (contains(out.substr(0, out.find("weights")), "GiB")) memory *= 1024;
    CHECK(contains(out, " h for "));
    const std::size_t hours = out.find(" --time=");
    asked_minutes += std::stod(out.substr(out.find(':', hours) + 1));
  }
};

// Texts of one to a hundred words, each length among any hundred of them.
std::string labelled_texts(int count = 400) {
  std::string texts;
  for (int i = 0; i < count; ++i) {
    texts += i % 2 == 0 ? "cat\tthe" : "king\tthe";
    for (int word = 0; word < i * 7 % 100; ++word) texts += i % 2 == 0 ? " cat" : " old king";
    texts += "\n";
  }
  return texts;
}

}  // namespace

TEST_CASE("dry run: memory of pre-training within 10 % of the real run's; on request, time within 20 %") {
  const SmallCorpus corpus;
  const std::string command = "pretrain --threads 1 --train train.h5 --valid valid.h5 --eval-every 4 ";
  check_estimate(corpus, command + "--layers 4 --width 128 --heads 4 --context 64 --batch-size 16" + steps(6, 60));
  corpus.must("tokenize -q --train --model wordpiece --vocab-size 300 -o tokenizer.h5 train.txt");
  for (const std::string part : {"train", "valid"}) {
    corpus.must("tokenize -q -t tokenizer.h5 -o " + part + ".h5 " + part + ".txt");
  }
  check_estimate(corpus, command +
                             "--arch encoder --layers 2 --width 192 --heads 4 --context 64 --batch-size 32 "
                             "--ema-decay 0.9" +
                             steps(6, 40));
}

TEST_CASE("dry run: memory of fine-tuning within 10 % of the real run's; on request, time within 20 %") {
  const SmallCorpus corpus;
  corpus.must(
      "pretrain -q --train train.h5 -o base.h5 --layers 4 --width 128 --heads 4 --context 128 --batch-size 2 --steps "
      "1");
  write_file(corpus.path("texts.tsv"), labelled_texts(times_are_compared() ? 400 : 48));
  const std::string command = "finetune --threads 1 --from base.h5 --train texts.tsv --valid texts.tsv --epochs 2 ";
  check_estimate(corpus, command + "--batch-size 16 --overlong truncate --log-every 1");
  check_estimate(corpus, command + "--batch-size 16 --overlong truncate --log-every 1 --lora-rank 4");
  check_estimate(corpus, "finetune --threads 1 --from base.h5 --task lm --train train.h5 --batch-size 4 --log-every 1" +
                             steps(8, 30));
  for (const char* part : {"parameters ", "\n#SBATCH --cpus-per-task="}) {
    CHECK(contains(corpus.must("finetune --from base.h5 --train texts.tsv --overlong truncate --dry-run").out, part));
  }
  corpus.refused("finetune --from base.h5 --train texts.tsv --json -o x.h5", 2,
                 "--json has no effect without --dry-run");
}

TEST_CASE("dry run: the line for Slurm asks for the memory, and for the time or what --max-time leaves of it") {
  const SmallCorpus corpus;
  // Too large to be measured; its times are of the machine's rates.
  const std::string command =
      "pretrain --dry-run --vocab-size 20000 --layers 4 --width 512 --heads 8 --context 128 --batch-size 256 --steps "
      "1000000 --threads 1 ";
  const Job whole(corpus.must(command).out);
  CHECK(whole.asked_memory >= 1.14 * whole.memory);
  CHECK(whole.asked_memory <= 1.16 * whole.memory + 100);
  CHECK(whole.asked_minutes >= 1.24 * whole.minutes);
  CHECK(whole.asked_minutes <= 1.26 * whole.minutes + 1);
  const Job part(corpus.must(command + "--max-time 90m").out);
  CHECK(part.asked_minutes >= 91);
  CHECK(part.asked_minutes < 0.1 * part.minutes);
}

TEST_CASE("dry run: a checkpoint more to keep is disk for its file and for that of a best model") {
  const SmallCorpus corpus;
  const std::string command =
      "pretrain --train train.h5 --valid valid.h5 --eval-every 2 --checkpoint-every 2 --steps 4 --eval-tokens 100 "
      "--layers 2 --width 128 --heads 4 --context 32 --batch-size 4 --keep ";
  const auto foreseen = [&](const std::string& kept) {
    return parse_json(corpus.must(command + kept + " --dry-run --json").out)["disk_bytes"].get<double>();
  };
  corpus.must(command + "1 -q -o m.h5");
  const auto bytes = [&](const std::string& name) {
    return static_cast<double>(std::filesystem::file_size(corpus.path(name)));
  };
  const double both = bytes("m.step-4.h5") + bytes("m.best-4.h5");
  CHECK(foreseen("3") - foreseen("1") == doctest::Approx(2 * both).epsilon(0.03));
  CHECK(foreseen("1") >= 2 * both);  // the new ones are written beside those of before
}

TEST_CASE("dry run: evaluations on many examples count whole, though only some are tried") {
  const SmallCorpus corpus;
  corpus.must(
      "pretrain -q --train train.h5 -o base.h5 --layers 1 --width 32 --heads 2 --context 128 --batch-size 2 --steps 1");
  const std::string texts = labelled_texts();
  write_file(corpus.path("texts.tsv"), texts);
  std::string many;
  for (int i = 0; i < 30; ++i) many += texts;
  write_file(corpus.path("many.tsv"), many);
  const auto seconds = [&](const std::string& valid) {
    const auto foreseen = parse_json(
        corpus.must("finetune --from base.h5 --overlong truncate --train texts.tsv --dry-run --json" + valid).out);
    return foreseen["seconds"].get<double>();
  };
  // An evaluation takes a third of the time that as many examples take to learn from; there are three of each.
  const double alone = seconds(""), evaluated = seconds(" --valid many.tsv");
  const std::string tuned = "finetune --from base.h5 --train texts.tsv --valid many.tsv --dry-run ";
  CHECK(corpus.must(tuned + "--overlong truncate --steps 7 --json").out.find("\"steps\":7,") != std::string::npos);
  corpus.refused(tuned + "--overlong truncate --max-time soon", 2, "--max-time: ");
  std::string few;
  for (int i = 0; i < 600; ++i) few += i % 2 == 0 ? "cat\tthe cat\n" : "king\tthe king\n";
  write_file(corpus.path("few.tsv"), few);
  write_file(corpus.path("late.tsv"), few + "cat\t" + std::string(9000, 'x') + "\n");
  corpus.refused("finetune -q --from base.h5 --train few.tsv --valid late.tsv --overlong error --dry-run", 1,
                 "late.tsv:601");
  CHECK(evaluated > 2 * std::min(alone, seconds("")));
  if (times_are_compared()) CHECK(evaluated < 20 * alone);
}

TEST_CASE("dry run: files that cannot be read are errors, without --train too, and an evaluation takes time") {
  const SmallCorpus corpus;
  const std::string shape = "pretrain --dry-run --layers 1 --width 16 --heads 2 --context 16 ",
                    vocab = "--vocab-size 300 ";
  const std::string absent = ": cannot open: No such file or directory";
  corpus.refused(shape + "--train absent.h5", 1, "absent.h5" + absent);
  corpus.refused(shape + "--train train.h5 --valid absent.h5", 1, "absent.h5" + absent);
  corpus.refused(shape + vocab + "--valid absent.h5", 1, "absent.h5" + absent);
  corpus.refused(shape + vocab + "--valid 10%", 2, "--valid 10%: is a part of --train, which is missing");
  corpus.refused(shape + "--vocab-size 299 --valid valid.h5", 1,
                 "valid.h5: a vocabulary of 300 is larger than --vocab-size 299");
  CHECK(contains(corpus.must(shape + vocab + "--valid valid.h5").out, "parameters "));
  // The usual 2,000 steps have an evaluation after every 250.
  CHECK(contains(corpus.must(shape + "--train train.h5 --valid valid.h5").out, "evaluations       8 of "));
  CHECK_FALSE(contains(corpus.must(shape + "--train train.h5").out, "evaluations"));
}

TEST_CASE("dry run: a shape that is clearly worse than the usual one after the same arithmetic is told so") {
  const SmallCorpus corpus;
  const std::string run = "pretrain --dry-run --vocab-size 300 --sequence-length 100 --batch-size 100 ";
  const std::string tiny = corpus.must(run + "--layers 1 --width 16 --heads 2 --steps 10000").err;
  CHECK(contains(tiny, "tokens for each of the "));
  CHECK(contains(tiny, "the model is small for so many"));
  CHECK(contains(corpus.must(run + "--layers 12 --width 768 --heads 12 --steps 60").err, "is large for so many"));
  for (const std::string other :
       {"--steps 2000", "--layers 1 --width 16 --heads 2 --steps 40", "--arch rnn --steps 60"})
    CHECK_FALSE(contains(corpus.must(run + other).err, "for so many"));
}

TEST_CASE("dry run: an encoder that would read too little to be of use is told the number of steps that do") {
  const SmallCorpus corpus;
  const std::string run = "pretrain --dry-run --vocab-size 300 --layers 1 --width 16 --heads 2 --batch-size 10 ";
  const std::string few = corpus.must(run + "--arch encoder --sequence-length 50 --steps 1000").err;
  CHECK(contains(few, "500,000 tokens are a small budget"));
  CHECK(contains(few, "--steps 10000 reads so many"));
  const std::string accumulated =
      corpus.must(run + "--arch encoder --sequence-length 50 --steps 1000 --accumulate 4").err;
  CHECK(contains(accumulated, "2,000,000 tokens are a small budget"));
  CHECK(contains(accumulated, "--steps 2500 reads so many"));
  CHECK_FALSE(contains(corpus.must(run + "--arch encoder --sequence-length 50 --steps 10000").err, "budget"));
  CHECK_FALSE(contains(corpus.must(run + "--steps 10").err, "budget"));
}

}  // namespace dry_run_tests
