// Prediction of tokens in any order (XLNet) from outside.
#include "support/json.hpp"
#include "tools/background.hpp"
#include "tools/small_corpus.hpp"

using namespace heddle;
using namespace heddle::testing;
using nlohmann::json;

namespace two_stream_tests {

namespace {

const std::string shape = " --arch two-stream --layers 2 --width 32 --heads 2 --sequence-length 16 --batch-size 4 ";
const std::string train = "pretrain --train train.h5 --valid valid.h5 --eval-every 10" + shape;

}  // namespace

TEST_CASE("two-stream: is trained on permutations, evaluated on fixed ones, fine-tuned, and its vectors are used") {
  const EncoderCorpus corpus;
  const Outcome outcome =
      corpus.must(train + "-o model.h5 --steps 60 --learning-rate 5e-3 --objective permute:segment-pairs=true");
  CHECK(contains(outcome.err, ", accuracy "));
  const json answer = corpus.evaluate("model.h5");
  for (const char* key : {"tokens", "nats_per_token", "perplexity", "accuracy"}) CHECK(answer.contains(key));
  CHECK_FALSE(answer.contains("bits_per_byte"));
  CHECK(answer["nats_per_token"].get<double>() < 3);
  CHECK(corpus.evaluate("model.h5") == answer);
  CHECK(corpus.evaluate("model.h5 --sequence-length 16") == answer);
  CHECK(corpus.evaluate("model.h5 --sequence-length 7")["nats_per_token"] != answer["nats_per_token"]);
  const json summary = parse_json(corpus.must("inspect model.h5 --json").out);
  CHECK(summary["config"]["arch"] == "two-stream");
  CHECK(summary["config"]["positions"] == "transformer-xl");
  std::string labelled, pairs;
  for (int i = 0; i < 40; ++i) {
    labelled += i % 2 == 0 ? "royal\tthe old king sees my queen.\n" : "animal\tthe cat follows a dog.\n";
    pairs += i % 2 == 0 ? "same\ta dog\ta dog\n" : "other\tthe cat\tmy queen\n";
  }
  write_file(corpus.path("train.tsv"), labelled);
  write_file(corpus.path("pairs.tsv"), pairs);
  const std::string tune = "finetune -q --from model.h5 --learning-rate 5e-3 --epochs 8 ";
  corpus.must(tune + "--train train.tsv -o tuned.h5");
  CHECK(contains(corpus.must("printf 'a dog follows the cat.\\n' | classify tuned.h5").out, "animal"));
  corpus.must(tune + "--train pairs.tsv --task pair -o pair.h5");
  CHECK(lines_in(corpus.must("printf 'a dog\\ta dog\\n' | classify pair.h5").out) == 1);
  corpus.must(
      "finetune -q --from model.h5 --task lm --train train.h5 --steps 2 --objective permute:partial-prediction=3 -o "
      "more.h5");
  corpus.must("inspect verify model.h5 && inspect embed model.h5 --text 'the cat' -o states.h5");
  corpus.must("inspect neighbours model.h5 cat && convert -q model.h5 --dtype int8 -o half.h5");
  CHECK(corpus.evaluate("half.h5")["nats_per_token"].get<double>() ==
        doctest::Approx(answer["nats_per_token"].get<double>()).epsilon(0.03));
}

TEST_CASE("two-stream: killed at any step and resumed, a run ends with the weights of the uninterrupted one") {
  const EncoderCorpus corpus;
  const std::string command =
      "pretrain -q --train train.h5 --dropout 0.1 --objective permute:segment-pairs=true,whole-words=true" + shape;
  const long steps = stopped_and_resumed(corpus, command, "part", 7);
  corpus.must(command + endless_schedule + "-o whole.h5 --steps " + std::to_string(steps));
  CHECK(corpus.weights("part.h5") == corpus.weights("whole.h5"));
}

TEST_CASE("two-stream: what it cannot do, and what needs another model, is refused with advice") {
  const EncoderCorpus corpus;
  corpus.must(train + "-q -o model.h5 --steps 2");
  corpus.must("pretrain -q --train train.h5 --arch encoder --layers 1 --width 16 --heads 2 --steps 2 -o encoder.h5");
  const std::string start = "pretrain --train train.h5 -o x.h5 ";
  for (const Refusal& c : std::vector<Refusal>{
           {"generate model.h5 -p 'the cat'",
            "model.h5: is of the architecture two-stream, which predicts tokens in any order; generate needs a model "
            "that generates text, of the architecture decoder",
            1},
           {"generate model.h5 -p 'the [MASK]'", "predicts tokens in any order", 1},
           {"echo the cat | generate model.h5 --score", "--score needs a model that predicts next tokens", 1},
           {start + "--arch two-stream --objective masked", "--objective masked needs a model that predicts masked", 2},
           {start + "--arch encoder --objective permute",
            "--objective permute needs a model that predicts tokens in any order: --arch two-stream; this one supports "
            "masked",
            2},
           {start + "--arch two-stream --objective permute:probability=0.3",
            "--objective: permute has no key 'probability', which is one of detect, masked; it has ", 2},
           {start + "--arch encoder --objective masked:partial-prediction=3",
            "--objective: masked has no key 'partial-prediction', which is one of permute; it has ", 2},
           {start + "--arch two-stream --objective permute:partial-prediction=0",
            "--objective: partial-prediction: 0 is out of range; it must be from 1 to ", 2},
           {start + "--arch two-stream:memory=8",
            "--arch: two-stream has no key 'memory', which is one of decoder; it has ", 2},
           {start + "--arch encoder:relative-segments=false",
            "--arch: encoder has no key 'relative-segments', which is one of two-stream; it has ", 2},
           {start + "--arch two-stream --attention additive",
            "--attention: additive computes no products of queries and keys to which positions ", 2},
       }) {
    corpus.refused(c);
    CHECK_FALSE(std::filesystem::exists(corpus.path("x.h5")));
  }
  const json preset = parse_json(corpus.must("inspect --preset xlnet-base --json").out);
  CHECK(preset["parameters"] == 116718336);
}

}  // namespace two_stream_tests
