// Every architecture and position scheme through the tools: what makes a decoder usable makes all of them usable.
#include <cmath>
#include <nlohmann/json.hpp>

#include "support/json.hpp"
#include "tools/small_corpus.hpp"

using namespace heddle;
using namespace heddle::testing;
using nlohmann::json;

namespace architectures_tests {

namespace {

const std::string lstm =
    "pretrain -q --arch lstm --layers 2 --width 24 --sequence-length 16 --train train.h5 --valid valid.h5 "
    "--batch-size 8 --learning-rate 1e-2 --warmup 0 --eval-every 20 ";

double nats(const SmallCorpus& corpus, const std::string& command) {
  return parse_json(corpus.must(command + " --json").out)["nats_per_token"];
}

}  // namespace

TEST_CASE("lstm: pre-trains, is evaluated, resumes to the same bits, and its file says what it is") {
  const SmallCorpus corpus;
  corpus.must(lstm + "-o whole.h5 --steps 60 --dropout 0.1");
  corpus.must(lstm + "-o parts.h5 --steps 20 --schedule constant --dropout 0.1 --keep 1");
  corpus.must(lstm + "-o other.h5 --steps 40 --schedule constant --dropout 0.1");
  corpus.must(lstm + "-o parts.h5 --steps 40 --schedule constant --dropout 0.1 --resume parts.step-20.h5");
  CHECK(corpus.weights("parts.h5") == corpus.weights("other.h5"));
  CHECK(nats(corpus, "inspect evaluate whole.h5 valid.h5") < 3.5);
  const json about = parse_json(corpus.must("inspect whole.h5 --json").out);
  CHECK(about["config"]["arch"] == "lstm");
  CHECK(about["config"]["sequence_length"] == 16);
  corpus.must("inspect verify whole.h5");
}

TEST_CASE("recurrent models: learn with the defaults, whose rate suits their width, and say how they began") {
  const SmallCorpus corpus;
  const std::string train =
      "pretrain -q --sequence-length 16 --train train.h5 --valid valid.h5 --batch-size 8 --steps 100 --eval-every 100 ";
  for (const std::string cell : {"lstm", "gru", "tanh"}) {
    CAPTURE(cell);
    corpus.must(train + "--arch lstm:cell=" + cell + " --layers 1 --width 24 --restart -o model.h5");
    corpus.must(train + "--arch lstm:embedding-init=0.02,cell=" + cell +
                " --layers 1 --width 24 --restart -o small.h5");
    CHECK(nats(corpus, "inspect evaluate model.h5 valid.h5") < nats(corpus, "inspect evaluate small.h5 valid.h5"));
  }
  const json config = parse_json(corpus.must("inspect model.h5 --json").out)["config"];
  CHECK(config["embedding_init"] == 0.3);
  CHECK(config["forget_bias"] == 0);
  const auto rate = [&](const std::string& options) -> double {
    corpus.must("pretrain -q --train train.h5 --steps 1 --warmup 0 --restart -o x.h5 --log x.jsonl " + options);
    return json_lines(corpus.must("cat x.jsonl").out).at(0)["learning_rate"];
  };
  CHECK(rate("--arch lstm --width 256") == doctest::Approx(1e-2));
  CHECK(rate("--arch bilm --width 16") == doctest::Approx(2e-2));
  CHECK(rate("--arch lstm --width 256 --optimizer adadelta") == doctest::Approx(1));
  CHECK(rate("--arch decoder --width 16 --heads 2") == doctest::Approx(2e-2));
  CHECK(rate("--arch decoder --width 16 --heads 2 --optimizer adamw") == doctest::Approx(1e-3));
  corpus.refused(
      {"pretrain --arch lstm:embedding-init=0 --train train.h5 -o x.h5", "embedding-init: 0 is out of range", 2});
  corpus.refused(
      {"pretrain --arch bilm:forget-bias=200 --train train.h5 -o x.h5", "forget-bias: 200 is out of range", 2});
  const std::string bias = " --train train.h5 -o x.h5";
  corpus.refused({"pretrain --arch lstm:cell=tanh,forget-bias=1" + bias,
                  "--arch lstm:forget-bias=1: the cell tanh has no gate that keeps the state; leave it out, or choose "
                  "another --arch lstm:cell",
                  2});
  corpus.refused({"pretrain --arch bilm:cell=tanh,forget-bias=1" + bias, "the cell tanh has no gate", 2});
  corpus.refused({"pretrain --arch rnn:cell=tanh,forget-bias=1" + bias, "the cell tanh has no gate", 2});
  corpus.refused({"pretrain --arch rnn:bias=false,forget-bias=1" + bias,
                  "--arch rnn:forget-bias=1: there are no biases with --arch rnn:bias=false; leave one of them out",
                  2});
  CHECK(contains(corpus.must("pretrain --help=arch:rnn").out, "auto: 0.3, which suits translation with any cell"));
  CHECK(contains(corpus.must("pretrain --help=arch:lstm").out, "auto: what suits the cell"));
  corpus.refused(
      {"pretrain --arch decoder:orthogonal=true --train train.h5 -o x.h5", "decoder has no key 'orthogonal'", 2});
}

TEST_CASE("lstm: generates greedily, by sampling and by beam search, and scores as it generates") {
  const SmallCorpus corpus;
  corpus.must(lstm + "-o model.h5 --steps 60");
  const std::string prompts = "printf 'the cat\\nmy queen sings to a\\n' | generate -q model.h5 --max-tokens 5 ";
  const std::string greedy = corpus.must(prompts + "--temperature 0").out;
  CHECK(lines_of(greedy).size() == 2);
  CHECK(corpus.must(prompts + "--beam 1").out == greedy);
  CHECK(corpus.must(prompts + "--temperature 0 --batch-size 1").out == greedy);
  CHECK(lines_of(corpus.must(prompts + "--beam 3 --n-best 2").out).size() == 4);
  CHECK(corpus.must(prompts + "--temperature 1 --seed 3").out == corpus.must(prompts + "--temperature 1 --seed 3").out);
  const auto scored =
      json_lines(corpus.must("printf 'the cat sees a dog.\\n' | generate -q model.h5 --score --jsonl").out);
  CHECK(scored.at(0)["log_likelihood"].get<double>() < 0);
  // Nothing limits how long a text may become.
  const auto longer =
      json_lines(corpus.must("generate -q model.h5 -p 'the cat' --max-tokens 100 --temperature 1 --jsonl").out);
  CHECK(longer.at(0)["ids"].size() >= 100);
}

TEST_CASE("lstm: is fine-tuned as a classifier, converted to bf16, embedded, and refuses what it cannot do") {
  const SmallCorpus corpus;
  corpus.must(lstm + "-o model.h5 --steps 30");
  std::string labelled;
  for (int i = 0; i < 40; ++i)
    labelled += i % 2 == 0 ? "royal\tthe old king sees my queen.\n" : "animal\tthe cat follows a dog.\n";
  write_file(corpus.path("train.tsv"), labelled);
  corpus.must(
      "finetune -q --from model.h5 --task classify --train train.tsv -o tuned.h5 --epochs 12 --learning-rate 1e-2");
  CHECK(contains(corpus.must("printf 'a dog follows the cat.\\n' | classify tuned.h5").out, "animal"));
  corpus.must("convert -q model.h5 --dtype bf16 -o half.h5");
  CHECK(nats(corpus, "inspect evaluate half.h5 valid.h5") ==
        doctest::Approx(nats(corpus, "inspect evaluate model.h5 valid.h5")).epsilon(5e-3));
  corpus.must("inspect embed model.h5 --text 'the cat' -o states.h5");
  corpus.must("inspect neighbours model.h5 cat");
  corpus.refused({"convert model.h5 -o foreign/",
                  "can be written; this model is of the architecture lstm; write a heddle file: -o NAME.h5", 1});
  corpus.refused({"pretrain --arch lstm --heads 2 --train train.h5 -o x.h5", "--heads", 2});
  corpus.refused({"pretrain --arch lstm --objective masked --train train.h5 -o x.h5",
                  " masked needs a model that predicts masked tokens", 2});
  corpus.refused({"pretrain --arch lstn --train train.h5 -o x.h5", "did you mean 'lstm'", 2});
}

TEST_CASE("bilm: pre-trains, resumes to the same bits, is evaluated in both directions, and generates nothing") {
  const SmallCorpus corpus;
  const std::string bilm =
      "pretrain -q --arch bilm:projection=24 --width 32 --sequence-length 16 --train train.h5 --valid valid.h5 "
      "--batch-size 8 --learning-rate 1e-2 --warmup 0 --eval-every 20 ";
  corpus.must(bilm + "-o model.h5 --steps 60");
  corpus.must(bilm + "-o parts.h5 --steps 20 --schedule constant --dropout 0.1 --keep 1");
  corpus.must(bilm + "-o other.h5 --steps 40 --schedule constant --dropout 0.1");
  corpus.must(bilm + "-o parts.h5 --steps 40 --schedule constant --dropout 0.1 --resume parts.step-20.h5");
  CHECK(corpus.weights("parts.h5") == corpus.weights("other.h5"));
  const json result = parse_json(corpus.must("inspect evaluate model.h5 valid.h5 --json").out);
  CHECK(result["nats_per_token"].get<double>() < 3.5);
  const double forward = result["forward_perplexity"], backward = result["backward_perplexity"];
  CHECK(result["perplexity"].get<double>() == doctest::Approx(std::sqrt(forward * backward)).epsilon(1e-6));
  CHECK(parse_json(corpus.must("inspect model.h5 --json").out)["config"]["arch"] == "bilm");
  corpus.must("inspect verify model.h5 && inspect embed model.h5 --text 'the cat' --layer 0 -o states.h5");
  corpus.must("inspect neighbours model.h5 cat && convert -q model.h5 --dtype bf16 -o half.h5");
  corpus.must(
      "inspect evaluate half.h5 valid.h5 && finetune -q --from model.h5 --task lm --train train.h5 --steps 2 -o "
      "more.h5");
  corpus.refused(
      {"generate model.h5 -p 'the cat'", "which predicts each token from those before it and from those", 1});
  corpus.refused({"echo the cat | generate model.h5 --score", "--score needs a model that predicts next tokens", 1});
  corpus.refused({"pretrain --arch bilm --objective causal --train train.h5 -o x.h5",
                  " causal needs a model that predicts next tokens", 2});
  corpus.refused(
      {"pretrain --arch bilm:projection=8,cell=cho --train train.h5 -o x.h5", ": the cell cho has a gate before", 2});
  corpus.refused({"pretrain --arch lstm:projection=8 --train train.h5 -o x.h5", "lstm has no key 'projection'", 2});
}

TEST_CASE("layer mix: a classifier learns on a frozen model's layers, or trains it too, and its file says so") {
  const SmallCorpus corpus;
  const std::string shape = " --width 24 --layers 2 --train train.h5 --steps 30 --learning-rate 1e-2 -o model.h5 ";
  std::string labelled;
  for (int i = 0; i < 40; ++i)
    labelled += i % 2 == 0 ? "royal\tthe old king sees my queen.\n" : "animal\tthe cat follows a dog.\n";
  write_file(corpus.path("train.tsv"), labelled);
  for (const std::string model : {"--arch bilm --sequence-length 16", "--arch decoder --heads 2 --context 32"}) {
    CAPTURE(model);
    corpus.must("pretrain -q " + model + shape);
    const std::string tune = "finetune -q --from model.h5 --task classify --train train.tsv --pooling mean ";
    corpus.must(
        tune + "--layer-mix --freeze embeddings,body --epochs 40 --learning-rate 3e-1 --schedule constant -o tuned.h5");
    CHECK(contains(corpus.must("printf 'a dog follows the cat.\\n' | classify tuned.h5").out, "animal"));
    CHECK(parse_json(corpus.must("classify tuned.h5 --evaluate --json train.tsv").out)["accuracy"] == 1.0);
    const auto before = corpus.weights("model.h5"), after = corpus.weights("tuned.h5");
    for (const auto& [name, values] : before) CHECK((!after.contains(name) || after.at(name) == values));
    REQUIRE(after.at("task/mix/score").size() == 3);
    CHECK(after.at("task/mix/score") != std::vector<float>(3, 0.0f));
    CHECK(after.at("task/mix/scale") != std::vector<float>(1, 1.0f));
    corpus.must(tune + "--layer-mix --epochs 1 -o whole.h5");
    CHECK(corpus.weights("whole.h5") != after);
    corpus.must(tune + "--epochs 1 -o plain.h5");
    CHECK_FALSE(corpus.weights("plain.h5").contains("task/mix/score"));
  }
  corpus.refused({"finetune --from model.h5 --task lm --layer-mix --train train.h5 -o x.h5", "--layer-mix", 2});
}

TEST_CASE("positions: schemes without a limit train short and are evaluated and generate long") {
  const SmallCorpus corpus;
  for (const std::string scheme : {"rope", "alibi", "sinusoidal", "none"}) {
    CAPTURE(scheme);
    corpus.must("pretrain -q --layers 1 --width 16 --heads 2 --positions " + scheme +
                " --sequence-length 8 --train train.h5 --valid valid.h5 -o model.h5 --steps 20 --learning-rate 5e-3");
    CHECK(nats(corpus, "inspect evaluate model.h5 valid.h5") ==
          nats(corpus, "inspect evaluate model.h5 valid.h5 --sequence-length 8"));
    CHECK(nats(corpus, "inspect evaluate model.h5 valid.h5 --sequence-length 32") < 7);
    // A prompt of many windows, as a text and scored.
    std::string prompt = "the cat";
    for (int i = 0; i < 20; ++i) prompt += " sees a dog";
    const auto lines = json_lines(corpus.must("generate -q model.h5 -p '" + prompt + "' --max-tokens 4 --jsonl").out);
    CHECK(lines.at(0)["prompt"] == prompt);
    corpus.must("echo '" + prompt + "' | generate -q model.h5 --score");
  }
}

TEST_CASE("variants: the help has a table of what goes together for every architecture of transformers") {
  const SmallCorpus corpus;
  std::string names;
  for (const std::string& line : lines_of(corpus.must("pretrain --help=variants").out)) {
    if (line.starts_with("Together, with --arch ")) names += line.substr(line.rfind("--arch ") + 7);
  }
  for (const std::string arch : {"decoder", "encoder-decoder", "encoder:", "two-stream:"}) {
    CAPTURE(arch);
    CHECK(contains(names, arch));
  }
}

TEST_CASE("positions: what a model cannot hold is refused, with what to do") {
  const SmallCorpus corpus;
  corpus.must("pretrain -q" + tiny_model + "--train train.h5 -o model.h5 --steps 2");
  corpus.refused(
      {"inspect evaluate model.h5 valid.h5 --sequence-length 32", "--sequence-length 32 is more than the 16", 2});
  const std::string train = "pretrain --train train.h5 -o x.h5 --layers 1 --width 12 ";
  corpus.refused(
      {train + "--context 16 --sequence-length 32", "--sequence-length 32 is more than the 16 positions", 2});
  corpus.refused({train + "--heads 4 --kv-heads 3", "--heads 4 is not a multiple of --kv-heads 3", 2});
  corpus.refused({train + "--heads 4 --positions rope", "so the head width must be even, not 3", 2});
  corpus.refused({train + "--positions ropes", "did you mean 'rope'", 2});
  corpus.refused({train + "--heads 2 --positions rope:base=x", "rope:base=x is not a number", 2});
  corpus.refused({train + "--arch decoder:pooler=true", "decoder has no key 'pooler', which is one of encoder", 2});
  CHECK(corpus.leftovers() == 0);
}

TEST_CASE("shapes: grouped heads, gates and parallel blocks train, generate and keep their configuration") {
  const SmallCorpus corpus;
  corpus.must(
      "pretrain -q --train train.h5 -o model.h5 --layers 2 --width 32 --heads 4 --kv-heads 2 --arch "
      "decoder:head-width=12,gated=true,activation=silu,block=parallel,norm=rms,bias=false --positions rope "
      "--sequence-length 16 --steps 10 --keep "
      "1");
  const json config = parse_json(corpus.must("inspect model.h5 --json").out)["config"];
  CHECK(config["kv_heads"] == 2);
  CHECK(config["block"] == "parallel");
  CHECK(config["gated"] == true);
  CHECK(corpus.must("generate -q model.h5 -p 'the cat' --max-tokens 8 --temperature 0").status == 0);
  corpus.must("pretrain -q --train train.h5 -o model.h5 --steps 12 --resume model.step-10.h5");
  corpus.refused({"pretrain -q --train train.h5 -o model.h5 --steps 14 --resume model.step-10.h5 --kv-heads 4",
                  "--kv-heads 4 differs from the 2 that model.step-10.h5 was trained with", 2});
}

}  // namespace architectures_tests
