// Detection of replaced tokens (ELECTRA) from outside.
#include "support/json.hpp"
#include "tools/background.hpp"
#include "tools/small_corpus.hpp"

using namespace heddle;
using namespace heddle::testing;
using nlohmann::json;

namespace detect_tests {

namespace {

const std::string shape = " --objective detect" + tiny_shape;
const std::string train = "pretrain --train train.h5 --valid valid.h5 --eval-every 10 --arch encoder" + shape;

}  // namespace

TEST_CASE("detect: a model learns, is evaluated, fills blanks with its generator, is fine-tuned, and gives vectors") {
  const EncoderCorpus corpus;
  const Outcome outcome = corpus.must(train + "-o model.h5 --log log.jsonl --steps 150 --learning-rate 5e-3");
  CHECK(contains(outcome.err, "detection"));
  json last;
  for (const json& line : json_lines(read_file(corpus.path("log.jsonl")))) {
    if (line.contains("valid_loss")) last = line;
  }
  for (const char* key :
       {"valid_accuracy", "valid_detection_loss", "valid_detection_accuracy", "valid_replaced_fraction"}) {
    CHECK(last.contains(key));
  }
  CHECK(last["valid_loss"].get<double>() < 3.5);
  const json answer = corpus.evaluate("model.h5");
  CHECK(answer["nats_per_token"].get<double>() == doctest::Approx(last["valid_loss"].get<double>()).epsilon(0.3));
  const json summary = parse_json(corpus.must("inspect model.h5 --json").out);
  CHECK(summary["config"]["arch"] == "encoder");
  CHECK(summary["config"]["generator_width"] == 16);
  CHECK(contains(corpus.must("generate model.h5 -p 'the old [MASK] sees my queen.'").out, "the old"));
  std::string labelled;
  for (int i = 0; i < 40; ++i) {
    labelled += i % 2 == 0 ? "royal\tthe old king sees my queen.\n" : "animal\tthe cat follows a dog.\n";
  }
  write_file(corpus.path("train.tsv"), labelled);
  const std::string tune = "finetune -q --from model.h5 --learning-rate 5e-3 ";
  corpus.must(tune + "--task classify --train train.tsv --epochs 16 -o tuned.h5");
  CHECK(contains(corpus.must("printf 'a dog follows the cat.\\n' | classify tuned.h5").out, "animal"));
  const auto before = corpus.weights("model.h5"), after = corpus.weights("tuned.h5");
  for (const auto& [name, values] : before) {
    CAPTURE(name);
    if (name.starts_with("generator/") || name.starts_with("head/")) CHECK(after.at(name) == values);
  }
  CHECK(after.at("encoder/0/attention/query/weight") != before.at("encoder/0/attention/query/weight"));
  corpus.must(tune + "--task lm --train train.h5 --steps 2 --objective detect:weight=10 -o more.h5");
  corpus.must("inspect verify model.h5 && inspect embed model.h5 --text 'the cat' -o states.h5");
  corpus.must("convert -q model.h5 --dtype int8 -o half.h5 && inspect verify half.h5");
}

TEST_CASE("detect: killed at any step and resumed, a run ends with the weights of the uninterrupted one") {
  const EncoderCorpus corpus;
  const std::string command = "pretrain -q --train train.h5 --dropout 0.1 --arch encoder:embedding-width=20" + shape;
  const long steps = stopped_and_resumed(corpus, command, "part", 7);
  corpus.must(command + endless_schedule + "-o whole.h5 --steps " + std::to_string(steps));
  CHECK(corpus.weights("part.h5") == corpus.weights("whole.h5"));
}

TEST_CASE("detect: what it is not for is refused with advice") {
  const EncoderCorpus corpus;
  corpus.must(train + "-q -o model.h5 --steps 2");
  write_file(corpus.path("train.tsv"), "a\tthe cat\nb\tmy queen\na\ta dog\nb\tthe old king\n");
  const std::string begin = "pretrain --train train.h5 -o x.h5 ", start = begin + "--objective detect ",
                    encoder = begin + "--arch encoder ";
  for (const Refusal& c : std::vector<Refusal>{
           {start + "--arch decoder", " detect needs a model that detects replaced tokens: ", 2},
           {start + "--arch decoder", " encoder; this one supports causal", 2},
           {start + "--arch two-stream", "this one supports permute", 2},
           {start + "--arch decoder:generator-width=8", "no key 'generator-width', which is one of encoder", 2},
           {start + "--arch encoder:memory=8", "encoder has no key 'memory', which is one of decoder", 2},
           {encoder + "--objective detect:partial-prediction=3",
            "detect has no key 'partial-prediction', which is one of permute", 2},
           {encoder + "--objective detect:weight=0", "--objective: weight: 0 is out of range", 2},
           {encoder + "--objective detect:weight=nan", "--objective: weight: 'nan'", 2},
           {start + "--arch encoder:generator-width=-3", "--arch: generator-width: -3", 2},
           {start + "--arch encoder:segments=2,pooler=true,next-sentence=true", " is not for models with a generator",
            2},
           {start + "--arch encoder:generator-width=9 --width 32 --heads 2 --positions rope",
            "the head width must be even, not 9", 2},
           {encoder + "--objective masked:weight=3", "masked has no key 'weight', which is one of detect", 2},
           {begin + "--arch encoder:generator-layers=3", "generator-layers=3: the model has no generator", 2},
           {begin + "--arch encoder:generator-width=8 --objective masked", " masked would train the generator alone",
            2},
           {"finetune --from model.h5 --train train.tsv -o x.h5 --auxiliary-weight 1", "--auxiliary-weight: ", 2},
           {"finetune --from model.h5 --train train.tsv -o x.h5 --objective detect:weight=1",
            "--objective: is for --task lm", 2},
       }) {
    const Outcome outcome = corpus.refused(c);
    CHECK(lines_in(outcome.err) == 1);
    CHECK_FALSE(std::filesystem::exists(corpus.path("x.h5")));
  }
  const json preset = parse_json(corpus.must("inspect --preset electra-small --json").out);
  CHECK(preset["config"]["embedding_width"] == 128);
}

}  // namespace detect_tests
