// Every architecture and position scheme through the tools: what makes a decoder usable makes all of them usable.
#include <nlohmann/json.hpp>

#include "tools/small_corpus.hpp"

using namespace heddle;
using namespace heddle::testing;
using nlohmann::json;

namespace {

double nats(const SmallCorpus& corpus, const std::string& command) {
  return json::parse(corpus.must(command + " --json").out)["nats_per_token"];
}

}  // namespace

TEST_CASE("positions: schemes without a limit train short and are evaluated and generate long") {
  const SmallCorpus corpus;
  for (const std::string scheme : {"rope", "alibi", "sinusoidal", "none"}) {
    CAPTURE(scheme);
    corpus.must("pretrain -q --layers 1 --width 16 --heads 2 --positions " + scheme +
                " --sequence-length 8 --train train.h5 --valid valid.h5 -o model.h5 --steps 20 --learning-rate 5e-3");
    CHECK(nats(corpus, "inspect model.h5 --evaluate valid.h5") ==
          nats(corpus, "inspect model.h5 --evaluate valid.h5 --sequence-length 8"));
    CHECK(nats(corpus, "inspect model.h5 --evaluate valid.h5 --sequence-length 32") < 7);
    // A prompt of many windows, as a text and scored.
    std::string prompt = "the cat";
    for (int i = 0; i < 20; ++i) prompt += " sees a dog";
    const auto lines = json_lines(corpus.must("generate -q model.h5 -p '" + prompt + "' --max-tokens 4 --jsonl").out);
    CHECK(lines.at(0)["prompt"] == prompt);
    corpus.must("echo '" + prompt + "' | generate -q model.h5 --score");
  }
}

TEST_CASE("positions: what a model cannot hold is refused, with what to do") {
  const SmallCorpus corpus;
  corpus.must("pretrain -q" + tiny_model + "--train train.h5 -o model.h5 --steps 2");
  corpus.refused({"inspect model.h5 --evaluate valid.h5 --sequence-length 32", "--sequence-length 32 is more than the 16", 2});
  const std::string train = "pretrain --train train.h5 -o x.h5 --layers 1 --width 12 ";
  corpus.refused({train + "--context 16 --sequence-length 32", "--sequence-length = 32 is more than the 16 positions", 2});
  corpus.refused({train + "--heads 4 --kv-heads 3", "--heads = 4 is not a multiple of --kv-heads = 3", 2});
  corpus.refused({train + "--heads 4 --positions rope", "an even width, not 3", 2});
  corpus.refused({train + "--positions ropes", "did you mean 'rope'", 2});
  corpus.refused({train + "--heads 2 --positions rope:base=x", "rope:base=x is not a number", 2});
  corpus.refused({train + "--pooler", "--arch encoder", 2});
  CHECK(corpus.leftovers() == 0);
}

TEST_CASE("shapes: grouped heads, gates and parallel blocks train, generate and keep their configuration") {
  const SmallCorpus corpus;
  corpus.must("pretrain -q --train train.h5 -o model.h5 --layers 2 --width 32 --heads 4 --kv-heads 2 --head-width 12 --gated "
              "--activation silu --block parallel --norm rms --positions rope --no-bias --sequence-length 16 --steps 10");
  const json config = json::parse(corpus.must("inspect model.h5 --json").out)["config"];
  CHECK(config["kv_heads"] == 2);
  CHECK(config["block"] == "parallel");
  CHECK(config["gated"] == true);
  CHECK(corpus.must("generate -q model.h5 -p 'the cat' --max-tokens 8 --temperature 0").status == 0);
  corpus.must("pretrain -q --train train.h5 -o model.h5 --steps 12 --resume");
  corpus.refused({"pretrain -q --train train.h5 -o model.h5 --steps 14 --resume --kv-heads 4", "--kv-heads", 2});
}
