// Decoders with a memory of earlier windows (Transformer-XL) from outside.
#include "support/json.hpp"
#include "tools/background.hpp"
#include "tools/small_corpus.hpp"

using namespace heddle;
using namespace heddle::testing;
using nlohmann::json;

namespace memory_tests {

namespace {

const std::string shape =
    " --arch decoder:memory=12 --layers 2 --width 32 --heads 2 --sequence-length 8 --positions transformer-xl "
    "--batch-size 4 ";
const std::string train = "pretrain --train train.h5 --valid valid.h5 --eval-every 20 --learning-rate 5e-3" + shape;

double nats(const SmallCorpus& corpus, const std::string& command) {
  return parse_json(corpus.must("inspect evaluate " + command + " --json").out)["nats_per_token"];
}

}  // namespace

TEST_CASE("memory: a decoder is trained with it, is evaluated as with windows of one token, generates and scores") {
  const SmallCorpus corpus;
  const Outcome outcome = corpus.must(train + "-o model.h5 --steps 80 --log log.jsonl");
  CHECK(contains(outcome.err, "a memory of 12 positions: the 4 samples of a step read 4 parts of the text in order"));
  CHECK(parse_json(corpus.must("inspect model.h5 --json").out)["config"]["memory"] == 12);
  const double own = nats(corpus, "model.h5 valid.h5");
  CHECK(own == doctest::Approx(json_lines(read_file(corpus.path("log.jsonl"))).back()["valid_loss"].get<double>())
                   .epsilon(1e-5));
  // The same for all windows, and as when texts are scored.
  CHECK(nats(corpus, "model.h5 valid.h5 --memory 12 --sequence-length 1") == doctest::Approx(own).epsilon(1e-5));
  CHECK(nats(corpus, "model.h5 valid.h5 --sequence-length 500") == doctest::Approx(own).epsilon(1e-5));
  CHECK(nats(corpus, "model.h5 valid.h5 --memory none") > own);
  CHECK(nats(corpus, "model.h5 valid.h5 --memory 40") != own);
  corpus.must("tr '\\n' ' ' < valid.txt > line.txt");
  corpus.must("tokenize -q -t model.h5 -o line.h5 line.txt");
  const json scored = json_lines(corpus.must("generate -q model.h5 --score --jsonl line.txt").out).at(0);
  CHECK(scored["ids"].size() > 200);
  const json evaluated = parse_json(corpus.must("inspect evaluate model.h5 line.h5 --json").out);
  CHECK(-scored["log_likelihood"].get<double>() ==
        doctest::Approx(evaluated["nats_per_token"].get<double>() * evaluated["tokens"].get<double>()).epsilon(0.03));
  // A text may become as long as one likes.
  const std::string prompts = "head -n 3 valid.txt | generate -q model.h5 --max-tokens 200 ";
  const std::string together = corpus.must(prompts + "--temperature 0").out;
  CHECK(corpus.must(prompts + "--temperature 0 --batch-size 1").out == together);
  CHECK(corpus.must(prompts + "--beam 1").out == together);
  CHECK(lines_of(corpus.must(prompts + "--beam 2").out).size() == 3);
  corpus.must("inspect verify model.h5 && convert -q model.h5 --dtype int8 -o small.h5");
  CHECK(nats(corpus, "small.h5 valid.h5") == doctest::Approx(own).epsilon(0.02));
}

TEST_CASE("memory: killed at any step and resumed, a run ends with the weights of the uninterrupted one") {
  const SmallCorpus corpus;
  const std::string command = "pretrain -q --train train.h5 --dropout 0.1 --accumulate 2" + shape;
  for (const int lines : {3, 25}) {
    const long steps = stopped_and_resumed(corpus, command, "part", lines);
    corpus.must(command + endless_schedule + "-o whole.h5 --steps " + std::to_string(steps));
    CHECK(corpus.weights("part.h5") == corpus.weights("whole.h5"));
  }
  corpus.must("finetune -q --from whole.h5 --task lm --train train.txt --steps 3 --batch-size 2 -o more.h5");
  corpus.must("finetune -q --from whole.h5 --task lm --train train.txt --steps 3 --batch-size 2 --lora-rank 2 -o a.h5");
  corpus.must("inspect evaluate a.h5 valid.h5");
}

TEST_CASE("memory: dry runs count it, and what cannot have one is refused with advice") {
  const SmallCorpus corpus;
  const auto planned = [&](const std::string& options) {
    return parse_json(corpus
                          .must("pretrain --dry-run --json --vocab-size 300 --layers 4 --width 64 --positions rope "
                                "--sequence-length 64 --batch-size 8 " +
                                options)
                          .out);
  };
  const json without = planned(""), with = planned("--arch decoder:memory=128");
  CHECK(with["parameters"] == without["parameters"]);
  CHECK(with["flops_per_step"].get<double>() > without["flops_per_step"].get<double>() * 1.1);
  CHECK(with["memory_bytes"].get<double>() > without["memory_bytes"].get<double>() + 4 * 8 * 128 * 64 * 4);
  CHECK(with["checkpoint_bytes"].get<double>() == without["checkpoint_bytes"].get<double>() + 4 * 8 * 128 * 64 * 4);
  CHECK(parse_json(corpus.must("inspect --preset transformer-xl-enwik8 --json").out)["parameters"] == 41066496);
  corpus.must(
      "pretrain -q --train train.h5 -o plain.h5 --steps 2 --layers 1 --width 16 --heads 2 --context 16 --positions "
      "learned");
  const std::string start = "pretrain --train train.h5 -o x.h5 --layers 1 --width 16 --heads 2 ";
  for (const Refusal& c : std::vector<Refusal>{
           {start + "--arch decoder:memory=8 --positions learned", "--positions learned begin anew in each window", 2},
           {start + "--arch decoder:memory=8 --positions sinusoidal",
            "--positions sinusoidal begin anew in each window", 2},
           {start + "--arch decoder:memory=8 --positions rope --context 16",
            "give --context auto, and --sequence-length", 2},
           {start + "--arch decoder:memory=8,window=4 --positions rope",
            "--arch decoder:memory=8 is more than the 4 positions of --arch decoder:window", 2},
           {start + "--arch decoder:memory=0 --positions rope", "--arch: memory: 0 is out of range", 2},
           {start + "--arch encoder:memory=8", "--arch: encoder has no key 'memory', which is one of decoder; ", 2},
           {start + "--arch decoder:memory=8 --positions rope --batch-size 4000",
            "a smaller --batch-size or --sequence-length", 1},
           {"pretrain --train train.h5:2,valid.h5 -o x.h5 --arch decoder:memory=8 --positions rope",
            "train.h5: weight 2 has no effect on text that is read in order", 1},
           {"inspect evaluate plain.h5 valid.h5 --memory 8",
            "--memory: needs positions that are relative and attention that can have a window; plain.h5 reads each "
            "window for "
            "itself",
            2},
       }) {
    corpus.refused(c);
    CHECK_FALSE(std::filesystem::exists(corpus.path("x.h5")));
  }
}

}  // namespace memory_tests
