// Denoising through the tools: sequence-to-sequence models learn from text alone to restore it.
#include <nlohmann/json.hpp>

#include "support/json.hpp"
#include "tools/small_corpus.hpp"

using namespace heddle;
using namespace heddle::testing;
using nlohmann::json;

namespace denoise_tests {

namespace {

// Lines of seven letters in the order of a circle of nine, forwards or backwards, so that what is missing is certain.
class Circles : public SmallCorpus {
 public:
  Circles() {
    begin_with("circles", [&] {
      std::string text;
      for (std::size_t i = 0; i < 360; ++i) {
        for (std::size_t j = 0, at = i; j < 7; ++j, at += i % 2 == 0 ? 1 : 8) {
          text += "abcdefghi"[at % 9];
          text += j < 6 ? ' ' : '\n';
        }
      }
      write_file(path("lines.txt"), text);
      must("tokenize -q --train --model word --special-tokens '<mask>' --sentinels 8 -o words.h5 lines.txt");
      must("tokenize -q -t words.h5 --documents line -o lines.h5 lines.txt");
    });
  }
};

const std::string shape = "--layers 2 --width 32 --heads 2 ";
const std::string settings = "--batch-size 32 --learning-rate 5e-3 ";
const std::string train = "pretrain -q --train lines.h5 --arch encoder-decoder " + shape + settings;

}  // namespace

TEST_CASE("denoise: a model learns to list what span corruption took out, and generate fills it in") {
  const Circles corpus;
  corpus.must(
      train +
      "--objective denoise:random-roll=true --valid lines.h5 --steps 500 --eval-every 250 --log log.jsonl -o model.h5");
  const auto log = json_lines(read_file(corpus.path("log.jsonl")));
  CHECK(log.front()["loss"].get<double>() > 1);
  CHECK(log.back()["valid_loss"].get<double>() < 0.3);
  write_file(corpus.path("blanks"), "a b c <extra_id_0> e f g\ni h g f<extra_id_0> d c\nb c d e f g h\n");
  const std::string filled = corpus.must("generate -q model.h5 blanks").out;
  CHECK(filled.starts_with("a b c d e f g\ni h g f e d c\n"));
  CHECK(corpus.must("generate -q model.h5 blanks --beam 2").out.starts_with("a b c d e f g\ni h g f e d c\n"));
  const auto objects = json_lines(corpus.must("generate -q model.h5 blanks --jsonl").out);
  REQUIRE(objects.size() == 3);
  CHECK(objects[0]["text"] == "<extra_id_0> d<extra_id_1>");
  CHECK(objects[0]["filled"] == "a b c d e f g");
  CHECK_FALSE(objects[2].contains("filled"));
  // Sentinels of the tokenizer that no target of one span lists remain.
  const std::string partly = corpus.must("generate -q model.h5 -p 'a b c <extra_id_0> e f <extra_id_5>'").out;
  CHECK(partly.starts_with("a b c "));
  CHECK(partly.ends_with(" e f <extra_id_5>\n"));
  CHECK_FALSE(contains(partly, "<extra_id_0>"));
  write_file(corpus.path("gold"), "a b c d e f g\ni h g f e d c\n");
  CHECK(parse_json(corpus.must("head -2 blanks | generate -q model.h5 --evaluate gold --json").out)["exact"] == 1);
  const auto scored = json_lines(
      corpus
          .must("printf 'a b c <extra_id_0> e f g\\t<extra_id_0> d <extra_id_1>\\n' | generate -q model.h5 --score "
                "--jsonl")
          .out);
  CHECK(scored.front()["ids"].size() == 4);
  CHECK(scored.front()["log_likelihood"].get<double>() > -1);
}

TEST_CASE("denoise: a model learns to write the whole text for one with masks, a recurrent one too") {
  const Circles corpus;
  for (const std::string& arch : {"encoder-decoder " + shape, std::string("rnn --width 48 ")}) {
    CAPTURE(arch);
    corpus.must(
        "pretrain -q --train lines.txt -t words.h5 --documents line --objective denoise:noise=infilling --restart "
        "--arch " +
        arch + settings + "--valid lines.h5 --steps 600 --eval-every 300 --log log.jsonl -o model.h5");
    const auto log = json_lines(read_file(corpus.path("log.jsonl")));
    CHECK(log.back()["valid_loss"].get<double>() < 0.5 * log.front()["loss"].get<double>());
    CHECK(corpus.must("printf 'a b c <mask> e f g\\ni h g f<mask> d c\\n' | generate -q model.h5").out ==
          "a b c d e f g\ni h g f e d c\n");
    corpus.must("tokenize -q -t words.h5 --documents line -o held.h5 lines.txt");
    const json loss =
        parse_json(corpus.must("inspect evaluate model.h5 held.h5 --objective denoise:noise=infilling --json").out);
    CHECK(loss["nats_per_token"].get<double>() < 0.5);
  }
}

TEST_CASE("denoise: a resumed run ends with the bits of an uninterrupted one; text and token file are the same") {
  const Circles corpus;
  for (const std::string noise : {"--objective denoise:noise=spans ",
                                  "--objective denoise:noise=infilling,density=0.4,permute-sentences=false "}) {
    const std::string run = train + noise + "--schedule constant --dropout 0.1 --log-every 1 ";
    corpus.must(run + "--steps 30 --log whole.jsonl -o whole.h5 --restart");
    corpus.must(run + "--steps 17 -o parts.h5 --keep 1 --restart");
    corpus.must(run + "--steps 30 -o parts.h5 --resume parts.step-17.h5 --threads 1");
    CHECK(corpus.weights("parts.h5") == corpus.weights("whole.h5"));
    corpus.must("pretrain -q --train lines.txt -t words.h5 --documents line --arch encoder-decoder " + shape +
                settings + noise + "--schedule constant --dropout 0.1 --steps 30 -o text.h5 --restart");
    CHECK(corpus.weights("text.h5") == corpus.weights("whole.h5"));
    corpus.must(run + "--steps 30 --seed 2 -o other.h5 --restart");
    CHECK(corpus.weights("other.h5") != corpus.weights("whole.h5"));
  }
}

TEST_CASE("denoise: validation has the same noise in every run, and inspect evaluate prints its loss") {
  const Circles corpus;
  const std::string noise = "--objective denoise:noise=spans,density=0.3,random-roll=true ";
  const std::string run = train + noise + "--valid lines.h5 --steps 6 --eval-every 3 --select last --eval-tokens all ";
  corpus.must(run + "--log a.jsonl -o a.h5");
  const json loss = parse_json(corpus.must("inspect evaluate a.h5 lines.h5 --json " + noise).out);
  CHECK(
      loss["nats_per_token"].get<double>() ==
      doctest::Approx(json_lines(read_file(corpus.path("a.jsonl"))).back()["valid_loss"].get<double>()).epsilon(1e-5));
  // With a learning rate near 0, only the noise could change the loss, or the seed.
  corpus.must(run + "--learning-rate 1e-12 --log b.jsonl -o b.h5");
  std::vector<double> losses;
  for (const json& line : json_lines(read_file(corpus.path("b.jsonl")))) {
    if (line.contains("valid_loss")) losses.push_back(line["valid_loss"]);
  }
  REQUIRE(losses.size() == 2);
  CHECK(losses[0] == losses[1]);
}

TEST_CASE("denoise: fine-tuning continues it, and teaches such a model another task") {
  const Circles corpus;
  corpus.must(train + "--steps 20 -o model.h5");
  const std::string tuned = "finetune -q --from model.h5 --steps 5 -o tuned.h5 --restart ";
  corpus.must(tuned + "--task lm --train lines.h5 --valid 10%");
  corpus.must(tuned + "--task lm --train lines.txt --objective denoise:noise=infilling,batch-tokens=256");
  corpus.must(tuned + "--task lm --train lines.h5 --lora-rank 2");
  write_file(corpus.path("pairs.tsv"), "a b c\tc b a\nd e\te d\n");
  corpus.must(tuned + "--task translate --train pairs.tsv");
  corpus.refused(tuned + "--task translate --train pairs.tsv --objective denoise:noise=spans", 2,
                 " denoise is trained on text, not on pairs of texts");
  write_file(corpus.path("labelled.tsv"), "x\ta b\ny\tc d\n");
  corpus.refused(tuned + "--task classify --train labelled.tsv --objective denoise:noise=spans", 2,
                 "--objective: is for --task lm");
}

TEST_CASE("denoise: dry runs and profiles foresee it") {
  const Circles corpus;
  CHECK(parse_json(corpus.must(train + "--dry-run --json --steps 10").out)["memory_bytes"] > 0);
  corpus.must(
      "pretrain --dry-run --arch encoder-decoder --objective denoise:noise=infilling --vocab-size 300 --steps 9 " +
      shape);
  corpus.must(train + "--steps 3 -o model.h5");
  CHECK(parse_json(corpus.must("inspect profile model.h5 --json").out)["operations"].size() > 5);
}

TEST_CASE("denoise: weights that are whole numbers repeat files; what cannot work is refused with what to do") {
  const Circles corpus;
  corpus.must("pretrain -q --train lines.h5:2,lines.h5 --arch encoder-decoder " + shape + settings +
              "--epochs 1 -o m.h5");
  corpus.must(
      "tokenize -q --train --model word -o bare.h5 lines.txt && tokenize -q -t bare.h5 -o bare-text.h5 lines.txt");
  corpus.must("tokenize -q --train --model word --sentinels 2 -o few.h5 lines.txt");
  corpus.must("pretrain -q --train train.h5 --steps 2 -o decoder.h5" + tiny_shape);
  const std::string run = "pretrain --arch encoder-decoder --steps 2 -o x.h5 " + shape;
  for (const Refusal& refusal : std::vector<Refusal>{
           {run + "--train bare-text.h5", "bare-text.h5: its tokenizer lacks the sentinels <extra_id_0>", 1},
           {run + "--train bare-text.h5 --objective denoise:noise=infilling",
            "bare-text.h5: its tokenizer lacks a mask token", 1},
           {run + "--train lines.txt -t few.h5", "63 tokens in a piece need 4 sentinels, and the tokenizer has 2", 1},
           {run + "--train lines.h5:0.5", "weight 0.5: the denoise objective reads whole files", 2},
           {run + "--train lines.h5 --objective translate:max-length=9", " is trained on pairs of texts", 2},
           {run + "--train lines.h5 --objective denoise:max-length=9", "no key 'max-length', which is one of translate",
            2},
           {run + "--train lines.h5 --objective denoise:probability=0.3", "denoise has no key 'probability'", 2},
           {run + "--train lines.h5 --objective denoise:permute-sentences=false",
            "permute-sentences is for noise=infilling", 2},
           {run + "--train lines.h5 --objective denoise:noise=infilling,random-roll=true",
            "random-roll is for noise=spans", 2},
           {"inspect evaluate m.h5 lines.h5", "evaluate it on a pairs file, or with --objective denoise", 1},
           {"inspect evaluate m.h5 lines.h5 --objective translate", " is trained on pairs of texts", 2},
           {run + "--train lines.h5 --objective denoise:density=0", "--objective: density: 0 is out of range", 2},
           {run + "--train lines.h5 --sequence-length 2", "no room for text between special tokens", 2},
           {run + "--train lines.h5 --objective causal", " causal needs a model that predicts next tokens", 2},
           {"pretrain --train train.h5 -o x.h5 --objective causal:noise=spans" + tiny_shape,
            "causal has no key 'noise'", 2},
           {"pretrain --train train.h5 -o x.h5 --objective denoise" + tiny_shape, " denoise needs a model", 2},
           {"inspect evaluate decoder.h5 valid.h5 --objective denoise", "; this one supports causal", 2},
           {"inspect evaluate m.h5 lines.h5 --objective denoise --sequence-length 9", ": pairs of texts are read whole",
            2},
           {"tokenize --train --sentinels -1 -o x.h5 lines.txt", "--sentinels", 2},
       }) {
    corpus.refused(refusal);
  }
  write_file(corpus.path("empty"), "a");
  corpus.refused(run + "--train empty -t words.h5 --documents line", 1,
                 "has no document of 2 tokens or more to corrupt");
  corpus.must("tokenize -q -t words.h5 --source-tokenizer bare.h5 --pairs -o two.h5 lines.txt lines.txt");
  corpus.must("pretrain -q --train two.h5 --arch encoder-decoder:share-embeddings=false --steps 2 -o two-model.h5 " +
              shape);
  corpus.refused("finetune --from two-model.h5 --task lm --train lines.h5 --steps 2 -o x.h5", 2, "needs one tokenizer");
}

}  // namespace denoise_tests
