// pretrain from outside.
#include <csignal>
#include <nlohmann/json.hpp>

#include "support/skips.hpp"
#include "tools/small_corpus.hpp"

using namespace heddle;
using namespace heddle::testing;

namespace {

const std::string data_options = " --train train.h5 --valid valid.h5 --eval-every 10 ";

std::string train_command(const std::string& output, const std::string& rest) {
  return "pretrain" + data_options + tiny_model + "-o " + output + " " + rest;
}

}  // namespace

TEST_CASE("pretrain: a run leaves a model, the best model and a log, and says little") {
  const SmallCorpus corpus;
  const Outcome outcome = corpus.must(train_command("model.h5", "--steps 30 --log log.jsonl"));
  CHECK(outcome.out.empty());
  CHECK(contains(outcome.err, "validation loss"));
  CHECK(corpus.must("inspect --verify model.h5").status == 0);
  CHECK(corpus.must("inspect --verify model.best.h5").status == 0);
  const auto lines = json_lines(read_file(corpus.path("log.jsonl")));
  REQUIRE(lines.size() == 9);  // steps 5 to 30, and 3 evaluations
  for (const char* key :
       {"step", "tokens", "loss", "learning_rate", "gradient_norm", "tokens_per_second", "matmul_fraction",
        "precision"}) {
    CHECK(lines[0].contains(key));
  }
  CHECK(lines[0]["tokens"] == 5 * 4 * 16);
  CHECK(lines[2]["step"] == 10);
  CHECK(lines[2].contains("valid_loss"));
  CHECK(lines[7]["loss"] < lines[0]["loss"]);
  const auto evaluated = nlohmann::json::parse(corpus.must("inspect model.h5 --evaluate valid.h5 --json").out);
  CHECK(evaluated["nats_per_token"].get<double>() == doctest::Approx(lines[8]["valid_loss"].get<double>()).epsilon(1e-5));
  CHECK(corpus.leftovers() == 0);
}

TEST_CASE("pretrain: the same command writes the same bytes with 1, 2 and 3 threads") {
  const SmallCorpus corpus;
  std::string first;
  for (const char* threads : {"1", "2", "3"}) {
    corpus.must(train_command("model.h5", "--steps 12 --dropout 0.1 --threads ") + threads);
    corpus.must("mv model.h5 other" + std::string(threads) + ".h5");
    const auto weights = corpus.weights("other" + std::string(threads) + ".h5");
    CHECK(weights == corpus.weights("other1.h5"));
  }
  corpus.must(train_command("model.h5", "--steps 12 --dropout 0.1 --threads 1"));
  CHECK(read_file(corpus.path("model.h5")) == read_file(corpus.path("other1.h5")));
}

TEST_CASE("pretrain: --precision says what it comes to, and a run in bf16 goes on with the same bits") {
  const SmallCorpus corpus;
  const std::string chosen = corpus.must(train_command("model.h5", "--steps 2 --precision auto")).err;
  CHECK(contains(chosen, contains(chosen, "no bf16") ? "precision f32: " : "matrix products run at"));
  const std::string rest = "--steps 40 --precision bf16";
  const Outcome wanted = corpus.must(train_command("whole.h5", rest));
  if (contains(wanted.err, "computing in f32 instead")) {
    skipped("bf16 is no gain on this machine");
    return;
  }
  CHECK(corpus.weights("whole.h5") != (corpus.must(train_command("single.h5", "--steps 40")), corpus.weights("single.h5")));
  corpus.must(train_command("part.h5", rest + " --checkpoint-every 1 & for i in $(seq 1000); do "
                                              "[ -e part.h5 ] && break; sleep 0.01; done; kill -TERM $!; wait $!; true"));
  corpus.must("pretrain -q --train train.h5 --valid valid.h5 -o part.h5 --resume");
  CHECK(corpus.weights("part.h5") == corpus.weights("whole.h5"));
}

TEST_CASE("pretrain: threads that cannot be started are an error, not a crash") {
#ifdef HEDDLE_SANITIZED
  skipped("sanitizers need more memory than the limit");
#else
  const SmallCorpus corpus;
  corpus.refused("ulimit -v 3000000; " + train_command("model.h5", "-q --steps 2 --threads 1000"), 1,
                 "cannot start 1000 threads; ask for fewer with --threads");
  CHECK(corpus.leftovers() == 0);
#endif
}

TEST_CASE("pretrain: killed at random steps and resumed, it ends with the weights of the uninterrupted run") {
  const SmallCorpus corpus;
  const std::string rest = "--steps 60 --dropout 0.1 --checkpoint-every 1";
  corpus.must(train_command("whole.h5", rest));
  const auto expected = corpus.weights("whole.h5");
  const std::string expected_history = corpus.must("inspect whole.h5 --history --json").out;
  for (const char* seconds : {"0.25", "0.4", "0.6", "0.9", "1.3"}) {
    CAPTURE(seconds);
    corpus.run("rm -f part.h5; timeout -s KILL " + std::string(seconds) + " " + train_command("part.h5", rest));
    if (std::filesystem::exists(corpus.path("part.h5"))) {
      CHECK(corpus.must("inspect --verify part.h5").status == 0);
      corpus.must(train_command("part.h5", rest + " --resume"));
    } else {
      corpus.must(train_command("part.h5", rest));
    }
    CHECK(corpus.weights("part.h5") == expected);
    const auto history = nlohmann::json::parse(corpus.must("inspect part.h5 --history --json").out);
    CHECK(history["history"] == nlohmann::json::parse(expected_history)["history"]);
    corpus.run("rm -f .part*");  // what SIGKILL may leave
  }
}

TEST_CASE("pretrain: SIGTERM and SIGINT save and leave with 128 + N, and resuming completes the run") {
  const SmallCorpus corpus;
  const std::string rest = "--steps 3000 --checkpoint-every 0 --eval-every 3000";
  for (const auto& [name, status] : std::vector<std::pair<std::string, int>>{{"TERM", 143}, {"INT", 130}}) {
    const Outcome outcome = corpus.run("rm -f part.h5; timeout --preserve-status -s " + name + " 1 " +
                                       train_command("part.h5", rest));
    CHECK(outcome.status == status);
    CHECK(contains(outcome.err, "stopped, --resume goes on"));
    const formats::ModelFile file(corpus.path("part.h5"));
    CHECK(file.has_training());
    CHECK(file.verify().empty());
  }
  const auto log = corpus.must("rm -f part.h5; timeout -s TERM 1 " + train_command("part.h5", "--steps 400 --log log.jsonl") +
                               "; " + train_command("part.h5", "--steps 400 --log log.jsonl --resume || true"));
  corpus.must(train_command("whole.h5", "--steps 400"));
  CHECK(corpus.weights("part.h5") == corpus.weights("whole.h5"));
  long last = 0;
  for (const auto& line : json_lines(read_file(corpus.path("log.jsonl")))) {
    CHECK(line["step"].get<long>() >= last);  // no step twice
    last = line["step"];
  }
  CHECK(last == 400);
}

TEST_CASE("pretrain: resuming refuses what does not fit and allows more steps") {
  const SmallCorpus corpus;
  corpus.must(train_command("model.h5", "--steps 10"));
  corpus.refused(train_command("model.h5", "--steps 10 --resume --beta2 0.5"), 2,
                 "--beta2 differs from what model.h5 was trained with");
  corpus.refused("pretrain --train valid.h5 -o model.h5 --resume", 1, "is not the file that model.h5 was trained on");
  corpus.refused("pretrain --train train.h5 -o none.h5 --resume", 1, "none.h5");
  corpus.must("pretrain --train train.h5 --valid valid.h5 -o model.h5 --resume --steps 15");
  CHECK(contains(corpus.must("inspect model.h5 --history").out, "step 15"));
  corpus.must("cp model.best.h5 best.h5");
  corpus.refused("pretrain --train train.h5 -o best.h5 --resume", 1, "no training state");
}

TEST_CASE("pretrain: a diverging run ends with 3 and says where") {
  const SmallCorpus corpus;
  const Outcome outcome = corpus.run(
      train_command("model.h5", "--steps 200 --optimizer sgd --learning-rate 900 --clip 0 --warmup 0 --momentum 0"));
  CHECK(outcome.status == 3);
  CHECK(contains(outcome.err, "diverged"));
  CHECK(contains(outcome.err, "lower --learning-rate"));
  CHECK(corpus.leftovers() == 0);
}

TEST_CASE("pretrain: bad input is a line that says what, where and what to do, and nothing is written") {
  const SmallCorpus corpus;
  corpus.must("tokenize -q --train --model byte -o bytes.h5 train.txt && tokenize -q -t bytes.h5 -o bytes-valid.h5 valid.txt");
  corpus.must("echo hello > text.h5; : > empty.h5; head -c 3000 train.h5 > cut.h5; printf 'a b' > tiny.txt; "
              "tokenize -q -t tokenizer.h5 -o tiny.h5 tiny.txt; mkdir folder.h5");
  const std::vector<Refusal> cases{
      {"pretrain --train none.h5 -o m.h5", "none.h5: cannot open: No such file", 1},
      {"pretrain --train empty.h5 -o m.h5", "empty.h5", 1},
      {"pretrain --train text.h5 -o m.h5", "text.h5", 1},
      {"pretrain --train cut.h5 -o m.h5", "cut.h5", 1},
      {"pretrain --train tokenizer.h5 -o m.h5", "tokenizer.h5", 1},
      {"pretrain --train train.h5 --valid bytes-valid.h5 -o m.h5", "another tokenizer", 1},
      {"pretrain --train tiny.h5 --context 64 -o m.h5", "a model of a smaller --context", 1},
      {"pretrain --train train.h5 -o m.h5 --width 30 --heads 4", "--width = 30 is not divisible by --heads = 4", 2},
      {"pretrain --train train.h5 -o m.h5 --steps 0", "--steps", 2},
      {"pretrain --train train.h5 -o m.h5 --layers x", "--layers", 2},
      {"pretrain --train train.h5 -o m.h5 --learing-rate 1", "--learning-rate", 2},
      {"pretrain --train train.h5 -o m.h5 --preset gpt5", "'gpt5' is not one of nano, gpt2", 2},
      {"pretrain --train train.h5 -o m.h5 --attention magic", "'magic' is not one of dot", 2},
      {"pretrain --train train.h5", "-o", 2},
      {"pretrain -o m.h5", "--train", 2},
      {"pretrain --train train.h5 -o nowhere/m.h5 --steps 1" + tiny_model, "nowhere", 1},
      {"pretrain --train train.h5 -o folder.h5 --steps 1" + tiny_model, "folder.h5", 1},
      {"pretrain --train train.h5 --vocab-size 5 -o m.h5 --steps 1", "--vocab-size 5 is less than the 300 pieces", 2},
      {"pretrain --dry-run", "--vocab-size", 2},
  };
  for (const Refusal& bad : cases) {
    CHECK(contains(corpus.refused(bad).err, "pretrain: "));
    CHECK_FALSE(std::filesystem::exists(corpus.path("m.h5")));
  }
  CHECK(corpus.leftovers() == 0);
}

TEST_CASE("pretrain: a bit flipped anywhere in the token file is found or harmless") {
  const SmallCorpus corpus;
  const std::string bytes = read_file(corpus.path("train.h5"));
  for (std::size_t i = 0; i < 12; ++i) {
    std::string damaged = bytes;
    const std::size_t at = (i * 2654435761u) % bytes.size();
    damaged[at] = static_cast<char>(damaged[at] ^ (1 << i % 8));
    write_file(corpus.path("bad.h5"), damaged);
    const Outcome outcome = corpus.run("pretrain --train bad.h5 -o m.h5 --steps 1" + tiny_model);
    CAPTURE(outcome.err);
    CHECK((outcome.status == 0 || outcome.status == 1));
    const Outcome verified = corpus.run("inspect --verify bad.h5");
    CHECK((verified.status == 0 || verified.status == 1));
  }
}

TEST_CASE("pretrain: a full disk keeps the last checkpoint and leaves no half-written file") {
  const SmallCorpus corpus;
  corpus.must(train_command("model.h5", "--steps 10"));
  const std::string before = read_file(corpus.path("model.h5"));
  const Outcome outcome =
      corpus.run("ulimit -f 100; trap '' XFSZ; " + train_command("model.h5", "--steps 20 --resume"));
  CAPTURE(outcome.err);
  CHECK(outcome.status == 1);
  CHECK(contains(outcome.err, "model"));
  CHECK(read_file(corpus.path("model.h5")) == before);
  CHECK(corpus.leftovers() == 0);
}

TEST_CASE("pretrain: the dry run foresees parameters and memory, for files and for shapes alone") {
  const SmallCorpus corpus;
  const auto shape = nlohmann::json::parse(corpus.must("pretrain --preset gpt2 --dry-run --json").out);
  CHECK(shape["parameters"] == 124439808);
  CHECK(shape["memory_bytes"].get<double>() > 2e9);
  CHECK(shape["memory"]["weights_bytes"] == 4.0 * 124439808);
  CHECK(shape["memory"]["optimizer_bytes"] == 8.0 * 124439808);
  CHECK(shape["memory"]["average_bytes"] == 0);
  CHECK(shape["checkpoint_bytes"].get<double>() == doctest::Approx(12.0 * 124439808).epsilon(0.001));
  CHECK(shape["flops_per_step"].get<double>() > 1e12);
  CHECK(shape["seconds_per_step"].get<double>() > 0);
  const auto file = nlohmann::json::parse(corpus.must(train_command("none.h5", "--dry-run --json --ema 0.9")).out);
  CHECK(file["parameters"].get<long>() > 0);
  CHECK(file["memory"]["average_bytes"] == file["memory"]["weights_bytes"]);
  CHECK_FALSE(std::filesystem::exists(corpus.path("none.h5")));
  CHECK(corpus.leftovers() == 0);
  const Outcome text = corpus.must("pretrain --preset nano --vocab-size 65 --dry-run --threads 2");
  for (const char* part : {"parameters", "\n  activations ", "s a step, measured; ", "\ndisk ", "\n#SBATCH --cpus-per-task=2 --mem="}) {
    CAPTURE(part);
    CHECK(contains(text.out, part));
  }
  CHECK(contains(corpus.must("pretrain --preset bert-large --vocab-size 300 --dry-run --batch-size 64").out,
                 "estimated from the machine's rates"));
}

TEST_CASE("pretrain: memory does not grow with the corpus") {
  const SmallCorpus corpus;
  corpus.must("tokenize -q --train --model byte -o bytes.h5 train.txt; tokenize -q -t bytes.h5 -o small.h5 train.txt");
  corpus.must("for i in $(seq 6000); do cat train.txt; done | tokenize -q -t bytes.h5 -o large.h5");
  const auto most_memory = [&](const std::string& tokens) {
    const Outcome run = corpus.must("pretrain -v --threads 1 -o m.h5 --steps 30 --train " + tokens + tiny_model);
    return std::stod(run.err.substr(run.err.find("most memory: ") + 13));  // MiB
  };
  CHECK(std::filesystem::file_size(corpus.path("large.h5")) > 100'000'000);
  CHECK(most_memory("large.h5") < most_memory("small.h5") + 16);
}
