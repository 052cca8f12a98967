// pretrain from outside.
#include <nlohmann/json.hpp>

#include "support/json.hpp"
#include "support/skips.hpp"
#include "tools/background.hpp"
#include "tools/small_corpus.hpp"

using namespace heddle;
using namespace heddle::testing;

namespace pretrain_tests {

namespace {

const std::string data_options = " --train train.h5 --valid valid.h5 --eval-every 10 ";

// Without the options of endless runs (background.hpp) and the output.
const std::string endless_command = "pretrain -q" + data_options + tiny_shape;

std::string train_command(const std::string& output, const std::string& rest) {
  return "pretrain" + data_options + tiny_model + "-o " + output + " " + rest;
}

}  // namespace

TEST_CASE("pretrain: a run leaves a model and a log, and says little") {
  const SmallCorpus corpus;
  const Outcome outcome = corpus.must(train_command("model.h5", "--steps 30 --log log.jsonl"));
  CHECK(outcome.out.empty());
  CHECK(contains(outcome.err, "validation loss"));
  CHECK(corpus.must("inspect verify model.h5").status == 0);
  CHECK(corpus.must("ls model.*").out == "model.h5\n");
  const auto lines = json_lines(read_file(corpus.path("log.jsonl")));
  REQUIRE(lines.size() == 9);  // steps 5 to 30, and 3 evaluations
  for (const char* key : {"step", "tokens", "loss", "learning_rate", "gradient_norm", "tokens_per_second",
                          "matmul_fraction", "precision"}) {
    CHECK(lines[0].contains(key));
  }
  CHECK(lines[0]["tokens"] == 5 * 4 * 16);
  CHECK(lines[0]["matmul_fraction"].get<double>() > 0);
  CHECK(lines[0]["matmul_fraction"].get<double>() < 1);
  CHECK(lines[2]["step"] == 10);
  CHECK(lines[2].contains("valid_loss"));
  CHECK(lines[7]["loss"] < lines[0]["loss"]);
  const auto evaluated = parse_json(corpus.must("inspect evaluate model.h5 valid.h5 --json").out);
  CHECK(evaluated["nats_per_token"].get<double>() ==
        doctest::Approx(lines[8]["valid_loss"].get<double>()).epsilon(1e-5));
  // The log's numbers have the digits of single precision.
  const auto history = parse_json(corpus.must("inspect model.h5 --history --json").out)["history"];
  std::size_t row = 0;
  for (const auto& line : lines) {
    if (!line.contains("loss")) continue;
    for (const char* key : {"loss", "learning_rate", "gradient_norm"}) {
      CAPTURE(key);
      CHECK(line[key].get<double>() == doctest::Approx(history[key].at(row).get<double>()).epsilon(1e-6));
    }
    CHECK(line["step"] == history["step"].at(row++));
  }
  CHECK(row == history["step"].size());
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
  // A request that cannot be met is a warning, which -q does not hide.
  const Outcome quiet = corpus.must(train_command("quiet.h5", "-q --steps 5 --log quiet.jsonl --precision bf16"));
  const bool is_f32 = json_lines(read_file(corpus.path("quiet.jsonl"))).front()["precision"] == "f32";
  CHECK(contains(quiet.err, "; computing in f32 instead") == is_f32);
  const Outcome wanted = corpus.must(train_command("half.h5", "--steps 40 --precision bf16"));
  if (contains(wanted.err, "computing in f32 instead")) {
    skipped("this processor has no bf16 arithmetic");
    return;
  }
  corpus.must(train_command("single.h5", "--steps 40"));
  CHECK(corpus.weights("half.h5") != corpus.weights("single.h5"));
  const std::string command = endless_command + "--precision bf16";
  const long steps = stopped_and_resumed(corpus, command, "part", 5, "TERM");
  corpus.must(command + endless_schedule + "-o whole.h5 --steps " + std::to_string(steps));
  CHECK(corpus.weights("part.h5") == corpus.weights("whole.h5"));
}

TEST_CASE("pretrain: threads that cannot be started are an error, not a crash") {
#ifdef HEDDLE_SANITIZED
  skipped("sanitizers need more memory than the limit");
#else
  const SmallCorpus corpus;
  corpus.refused("ulimit -v 3000000; " + train_command("model.h5", "-q --steps 2 --threads 1000"), 1,
                 "cannot start 1000 threads; lower --threads");
  CHECK(corpus.leftovers() == 0);
#endif
}

TEST_CASE("pretrain: killed at any step and resumed, it ends with the weights of the uninterrupted run") {
  const SmallCorpus corpus;
  const std::string command = endless_command + "--dropout 0.1 ";
  for (const int lines : {1, 12, 40}) {
    CAPTURE(lines);
    const std::string steps = " --steps " + std::to_string(stopped_and_resumed(corpus, command, "part", lines));
    corpus.must(command + endless_schedule + "-o whole.h5" + steps);
    CHECK(corpus.weights("part.h5") == corpus.weights("whole.h5"));
    CHECK(parse_json(corpus.must("inspect part.h5 --history --json").out)["history"] ==
          parse_json(corpus.must("inspect whole.h5 --history --json").out)["history"]);
    CHECK(corpus.leftovers() == 0);  // the next run removed the leftovers of the killed one
  }
}

TEST_CASE("pretrain: SIGTERM and SIGINT save and leave with 128 + N") {
  const SmallCorpus corpus;
  const std::string command =
      "pretrain" + data_options + tiny_shape + "--checkpoint-every never --log-every 1 --steps 1000000 ";
  for (const std::string signal : {"TERM", "INT"}) {
    CAPTURE(signal);
    const Outcome outcome = corpus.run(
        "rm -f part.* log\n" + signalled(command + "-o part.h5 --log log", "test $(lines_of log) -gt 2", signal));
    CHECK(outcome.status == status_of(signal));
    CHECK(contains(outcome.err, "stopped; the same command continues"));
    CHECK_FALSE(std::filesystem::exists(corpus.path("part.h5")));
    const formats::ModelFile file(corpus.path("part.checkpoint.h5"));
    CHECK(file.has_training());
    CHECK(contains(corpus.must("inspect part.checkpoint.h5").out, ", a checkpoint of unfinished training\n"));
    CHECK(file.verify().empty());
    CHECK(corpus.leftovers() == 0);
  }
}

TEST_CASE("pretrain: resuming after a signal completes the run and its log") {
  const SmallCorpus corpus;
  const long steps = stopped_and_resumed(corpus, endless_command, "part", 25, "TERM");
  corpus.must(endless_command + endless_schedule + "-o whole.h5 --log whole.jsonl --steps " + std::to_string(steps));
  CHECK(corpus.weights("part.h5") == corpus.weights("whole.h5"));
  const auto logged = [&](const std::string& name) {  // speeds aside
    std::vector<std::pair<long, double>> lines;
    for (const auto& line : json_lines(read_file(corpus.path(name)))) {
      lines.emplace_back(line["step"], line.value("loss", line.value("valid_loss", 0.0)));
    }
    return lines;
  };
  CHECK(logged("part.jsonl") == logged("whole.jsonl"));
}

TEST_CASE("pretrain: resuming refuses what does not fit and allows more steps") {
  const SmallCorpus corpus;
  corpus.must(train_command("model.h5", "--steps 10 --keep 1"));
  const std::string again = "pretrain" + data_options + "-o again.h5 --steps 10 --resume model.step-10.h5 ";
  struct Change {
    std::string option, now, then;
  };
  for (const auto& [option, now, then] : std::vector<Change>{
           {"--optimizer muon:beta1=0.5", "--optimizer muon:beta1=0.5", "0.9"},
           {"--optimizer muon:beta2=0.5", "--optimizer muon:beta2=0.5", "0.95"},
           {"--optimizer muon:epsilon=1e-3", "--optimizer muon:epsilon=0.001", "1e-08"},
           {"--optimizer muon:weight-decay=0.5", "--weight-decay 0.5", "0.1"},
           {"--weight-decay 0.5", "--weight-decay 0.5", "0.1"},
           {"--ema-decay 0.5", "--ema-decay 0.5", "none"},
           {"--optimizer sgd", "--optimizer sgd", "muon"},
           {"--schedule cosine", "--schedule cosine", "linear"},
           {"--batch-size 8", "--batch-size 8", "4"},
           {"--accumulate 2", "--accumulate 2", "1"},
           {"--label-smoothing 0.1", "--label-smoothing 0.1", "0"},
           {"--layers 1", "--layers 1", "2"},
           {"--width 16", "--width 16", "32"},
           {"--heads 4", "--heads 4", "2"},
           {"--context 32", "--context 32", "16"},
           {"--dropout 0.5", "--dropout 0.5", "0"},
           {"--vocab-size 400", "--vocab-size 400", "300"},
           {"--arch decoder:activation=relu", "--arch decoder:activation=relu", "gelu-tanh"},
           {"--positions learned", "--positions learned", "rope"},
           {"--arch decoder:norm=rms", "--arch decoder:norm=rms", "layer"},
           {"--seed 2", "--seed 2", "1"},
       }) {
    CAPTURE(option);
    corpus.refused(again + option, 2,
                   now + " differs from the " + then + " that model.step-10.h5 was trained with; leave it out");
  }
  corpus.refused("pretrain --train valid.h5 -o again.h5 --resume model.step-10.h5", 1,
                 "model.step-10.h5: its run reads train.h5, and valid.h5 is another file");
  corpus.refused("pretrain --train train.h5 -o none.h5 --resume none.checkpoint.h5", 1, "none.checkpoint.h5");
  corpus.must("pretrain --train train.h5 --valid valid.h5 -o again.h5 --resume model.step-10.h5 --steps 15");
  CHECK(contains(corpus.must("inspect again.h5 --history").out, "step 15"));
  corpus.refused(
      "pretrain --train train.h5 --valid valid.h5 -o fewer.h5 --resume model.step-10.h5 --steps 9", 2,
      "model.step-10.h5: has completed 10 steps, more than the 9 of this run; give more --steps or --epochs");
  corpus.refused("pretrain --train train.h5 -o x.h5 --resume model.h5", 1, "no training state");
  corpus.refused("pretrain --train train.h5 -o x.h5 --resume model.best-10.h5", 1, "no training state");
  // Other data make another best model.
  const Outcome other = corpus.must(
      "pretrain --train train.h5 --valid train.h5 -o other.h5 --steps 15 --resume "
      "model.step-10.h5");
  CHECK(contains(other.err,
                 "the validation data are not those of model.step-10.h5; the output will be the best of the "
                 "evaluations after step 10"));
}

TEST_CASE("pretrain: a diverging run ends with 3 and says where") {
  const SmallCorpus corpus;
  const Outcome outcome = corpus.run(train_command(
      "model.h5", "--steps 200 --optimizer sgd:momentum=0 --learning-rate 900 --clip-norm none --warmup 0"));
  CHECK(outcome.status == 3);
  CHECK(contains(outcome.err, "diverged"));
  CHECK(contains(outcome.err, "lower --learning-rate"));
  CHECK(corpus.leftovers() == 0);
}

TEST_CASE("pretrain: bad input is a line that says what, where and what to do, and nothing is written") {
  const SmallCorpus corpus;
  corpus.must(
      "tokenize -q --train --model byte -o bytes.h5 train.txt && tokenize -q -t bytes.h5 -o bytes-valid.h5 valid.txt");
  corpus.must(
      "echo hello > text.h5; : > empty.h5; head -c 3000 train.h5 > cut.h5; printf 'a b' > tiny.txt; "
      "tokenize -q -t tokenizer.h5 -o tiny.h5 tiny.txt; mkdir folder.h5");
  const std::vector<Refusal> cases{
      {"pretrain --train none.h5 -o m.h5", "none.h5: cannot open: No such file", 1},
      {"pretrain --train empty.h5 -o m.h5", "empty.h5", 1},
      {"pretrain --train text.h5 -o m.h5", "text.h5", 1},
      {"pretrain --train cut.h5 -o m.h5", "cut.h5", 1},
      {"pretrain --train tokenizer.h5 -o m.h5", "tokenizer.h5", 1},
      {"pretrain --train train.h5 --valid bytes-valid.h5 -o m.h5", "another tokenizer", 1},
      {"pretrain --train tiny.h5 --context 64 -o m.h5", "a model of a smaller --sequence-length", 1},
      {"pretrain --train train.h5 -o m.h5 --width 30 --heads 4", "--width 30 is not divisible by --heads 4", 2},
      {"pretrain --train train.h5 -o m.h5 --steps 0", "--steps", 2},
      {"pretrain --train train.h5 -o m.h5 --layers x", "--layers", 2},
      {"pretrain --train train.h5 -o m.h5 --learing-rate 1", "--learning-rate", 2},
      {"pretrain --train train.h5 -o m.h5 --preset gpt22", "'gpt22' is not one of nano, gpt1, gpt2", 2},
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
    const Outcome verified = corpus.run("inspect verify bad.h5");
    CHECK((verified.status == 0 || verified.status == 1));
  }
}

TEST_CASE("pretrain: a full disk keeps the last checkpoint and leaves no half-written file") {
  const SmallCorpus corpus;
  REQUIRE(corpus.run(train_command("model.h5", "--steps 20 --max-time 0.001s")).status == 75);
  const std::string before = read_file(corpus.path("model.checkpoint.h5"));
  const Outcome outcome = corpus.run("ulimit -f 100; trap '' XFSZ; " + train_command("model.h5", "--steps 20"));
  CAPTURE(outcome.err);
  CHECK(outcome.status == 1);
  CHECK(contains(outcome.err, "; model.checkpoint.h5 holds step 1"));
  CHECK(read_file(corpus.path("model.checkpoint.h5")) == before);
  CHECK_FALSE(std::filesystem::exists(corpus.path("model.h5")));
  CHECK(corpus.leftovers() == 0);
}

TEST_CASE("pretrain: the dry run foresees parameters and memory, for files and for shapes alone") {
  const SmallCorpus corpus;
  const auto shape = parse_json(corpus.must("pretrain --preset gpt2 --optimizer adamw --dry-run --json").out);
  CHECK(shape["parameters"] == 124439808);
  CHECK(shape["memory_bytes"].get<double>() > 2e9);
  CHECK(shape["memory"]["weights_bytes"] == 4.0 * 124439808);
  CHECK(shape["memory"]["optimizer_bytes"] == 8.0 * 124439808);
  CHECK(shape["memory"]["average_bytes"] == 0);
  CHECK(shape["checkpoint_bytes"].get<double>() == doctest::Approx(12.0 * 124439808).epsilon(0.001));
  CHECK(shape["flops_per_step"].get<double>() > 1e12);
  CHECK(shape["seconds_per_step"].get<double>() > 0);
  const auto file = parse_json(corpus.must(train_command("none.h5", "--dry-run --json --ema-decay 0.9")).out);
  CHECK(file["parameters"].get<long>() > 0);
  CHECK(file["memory"]["average_bytes"] == file["memory"]["weights_bytes"]);
  CHECK_FALSE(std::filesystem::exists(corpus.path("none.h5")));
  CHECK(corpus.leftovers() == 0);
  const Outcome text = corpus.must("pretrain --preset nano --vocab-size 65 --dry-run --threads 2");
  for (const char* part :
       {"parameters", "\n  activations ", "s per step, measured; ", "\ndisk ", "\n#SBATCH --cpus-per-task=2 --mem="}) {
    CAPTURE(part);
    CHECK(contains(text.out, part));
  }
  CHECK(contains(corpus.must("pretrain --preset bert-large --vocab-size 300 --dry-run --batch-size 64").out,
                 "estimated from the machine's rates"));
}

TEST_CASE("pretrain: memory does not grow with the corpus") {
  const SmallCorpus corpus;
  corpus.must("tokenize -q --train --model byte -o bytes.h5 train.txt; tokenize -q -t bytes.h5 -o small.h5 train.txt");
  write_file(corpus.path("large.txt"), repeated(read_file(corpus.path("train.txt")), 6000));
  corpus.must("tokenize -q -t bytes.h5 -o large.h5 large.txt");
  const auto most_memory = [&](const std::string& tokens) {
    const Outcome run = corpus.must("pretrain -v --threads 1 -o m.h5 --steps 30 --train " + tokens + tiny_model);
    return std::stod(run.err.substr(run.err.find("most memory: ") + 13));  // MiB
  };
  CHECK(std::filesystem::file_size(corpus.path("large.h5")) > 100'000'000);
  CHECK(most_memory("large.h5") < most_memory("small.h5") + 16);
}

}  // namespace pretrain_tests
