// finetune --task lm from outside: further training of decoders and encoders on other text.
#include <cmath>

#include "support/json.hpp"
#include "tools/small_corpus.hpp"

using namespace heddle;
using namespace heddle::testing;
using nlohmann::json;

namespace finetune_lm_tests {

namespace {

// Words that the tokenizer knows, in another order than those the model was trained on.
std::string other_text() {
  std::string text;
  const std::vector<std::string> subjects{"cat", "dog", "king", "queen"};
  for (std::size_t i = 0; i < 200; ++i)
    text += "my old " + subjects[i % 4] + " sings to my " + subjects[(i * i + i / 4) % 4] + ".\n";
  return text;
}

template <class Corpus>
struct WithModel : Corpus {
  explicit WithModel(const std::string& shape) {
    this->begin_with("model of" + shape,
                     [&] { this->must("pretrain -q --train train.h5 -o model.h5 --steps 40" + shape); });
    write_file(this->path("other.txt"), other_text());
    this->must("tokenize -q -t model.h5 -o other.h5 other.txt");
  }
  double loss(const std::string& model) const {
    return parse_json(this->must("inspect evaluate " + model + " other.h5 --json").out)["nats_per_token"];
  }
};
using DecoderAndText = WithModel<SmallCorpus>;
using EncoderAndText = WithModel<EncoderCorpus>;

const std::string quick = " -q --learning-rate 3e-3 --batch-size 4 --epochs 2 ";
const std::string lm = "finetune --task lm --from model.h5 --train ";

}  // namespace

TEST_CASE("finetune lm: a decoder learns other text, of a text or a token file, and is a model like any other") {
  const DecoderAndText corpus(tiny_model);
  corpus.must(lm + "other.txt --valid other.txt -o a.h5" + quick);
  corpus.must(lm + "other.txt --valid other.txt --select last -o last.h5" + quick);
  corpus.must(lm + "other.h5 -o b.h5 --threads 1" + quick);
  CHECK(corpus.weights("last.h5") == corpus.weights("b.h5"));
  CHECK(corpus.loss("a.h5") <= corpus.loss("last.h5"));
  CHECK(corpus.loss("a.h5") < 0.7 * corpus.loss("model.h5"));
  CHECK(corpus.leftovers() == 0);
  CHECK(contains(corpus.must("inspect verify a.h5").out, "no problem"));
  const json summary = parse_json(corpus.must("inspect a.h5 --json").out);
  CHECK(summary["kind"] == "model");
  CHECK(summary["history"].contains("valid_loss"));
  CHECK(summary["weights"].size() == parse_json(corpus.must("inspect model.h5 --json").out)["weights"].size());
  const std::string origin = corpus.must("inspect b.h5 --provenance").out;
  for (const char* command : {"pretrain", "tokenize -q -t model.h5", "finetune --task lm"})
    CHECK(contains(origin, command));
  CHECK(corpus.must("generate a.h5 -p 'my old' --temperature 0 --max-tokens 8").out.starts_with("my old"));
  write_file(corpus.path("texts.tsv"), "a\tthe cat\nb\ta dog\n");
  corpus.must("finetune -q --from a.h5 --train texts.tsv --epochs 1 -o classes.h5");
  corpus.must(lm + "other.txt -o again.h5 --epochs 1 -q --from classes.h5");
  CHECK_FALSE(formats::ModelFile(corpus.path("again.h5")).has_part("task"));
}

TEST_CASE("finetune lm: an encoder learns to fill in the masks of other text") {
  const EncoderAndText corpus(" --arch encoder:pooler=true" + tiny_model);
  const std::string command = lm + "other.h5 --valid other.h5 --patience 3 --log log.jsonl -o ";
  corpus.must(command + "a.h5" + quick);
  CHECK(corpus.loss("a.h5") < 0.9 * corpus.loss("model.h5"));
  CHECK(contains(read_file(corpus.path("log.jsonl")), "valid_accuracy"));
  // The masks of the run are those of an evaluation, with the tokens that the tokenizer has for them.
  double best = HUGE_VAL;
  for (const json& line : json_lines(read_file(corpus.path("log.jsonl")))) {
    if (line.contains("valid_loss")) best = std::min(best, line["valid_loss"].get<double>());
    const std::string loss = line["loss"].dump();
    CHECK(std::ranges::count_if(loss, [](char letter) { return letter != '.'; }) <=
          7 + (loss.starts_with('0') ? 1 : 0));
  }
  CHECK(corpus.loss("a.h5") == doctest::Approx(best).epsilon(1e-4));
  const auto base = corpus.weights("model.h5"), a = corpus.weights("a.h5");
  // Words of several pieces.
  write_file(corpus.path("compounds.txt"),
             repeated("the dogking sees a queencat.\nmy catdog forgets my kingqueen.\n", 60));
  const std::string compounds = "finetune --restart --task lm --from model.h5 --train compounds.txt -o b.h5 " + quick;
  corpus.must(compounds);
  const auto plain = corpus.weights("b.h5");
  for (const std::string option : {"probability=0.6", "whole-words=true", "masking=static"}) {
    CAPTURE(option);
    corpus.must(compounds + "--objective masked:" + option);
    CHECK(corpus.weights("b.h5") != plain);
  }
  CHECK(a.at("head/dense/weight") != base.at("head/dense/weight"));
  CHECK(a.at("encoder/pooler/weight") == base.at("encoder/pooler/weight"));  // the masks tell nothing of it
}

TEST_CASE("finetune lm: an adapter has no head, and merges into a model with its loss") {
  const DecoderAndText corpus(tiny_model);
  corpus.must(lm + "other.txt --valid other.h5 -o adapter.h5 --lora-rank 4 --lora-targets query,value,up,down" + quick);
  CHECK(std::filesystem::file_size(corpus.path("adapter.h5")) <
        std::filesystem::file_size(corpus.path("model.h5")) / 2);
  const formats::ModelFile adapter(corpus.path("adapter.h5"), formats::FileKind::adapter);
  for (const formats::TensorInfo& tensor : adapter.weights().tensors()) CHECK(contains(tensor.name, "/lora/"));
  CHECK(contains(corpus.must("inspect verify adapter.h5").out, "no problem"));
  corpus.must("convert adapter.h5 --merge -o merged.h5");
  CHECK(contains(corpus.must("inspect verify merged.h5").out, "no problem"));
  CHECK_FALSE(formats::ModelFile(corpus.path("merged.h5")).has_part("task"));
  const double metric = adapter.history().find("valid_loss")->back();
  CHECK(corpus.loss("merged.h5") == doctest::Approx(metric).epsilon(1e-4));
  CHECK(metric < 0.97 * corpus.loss("model.h5"));
  corpus.refused("echo x | classify adapter.h5", 1, "language model's adapter");
}

TEST_CASE("finetune lm: inspect evaluates an adapter on its base") {
  const DecoderAndText corpus(tiny_model);
  corpus.must(lm + "other.txt --valid other.h5 -o adapter.h5 --lora-rank 4" + quick);
  const formats::ModelFile adapter(corpus.path("adapter.h5"), formats::FileKind::adapter);
  const double loss = corpus.loss("adapter.h5");
  CHECK(loss == doctest::Approx(adapter.history().find("valid_loss")->back()).epsilon(1e-4));
  write_file(corpus.path("texts.tsv"), "a\tthe cat\nb\ta dog\n");
  corpus.must("finetune -q --from model.h5 --train texts.tsv --epochs 1 --lora-rank 2 -o classes.h5");
  corpus.must("mv model.h5 moved.h5");
  CHECK(corpus.loss("--base moved.h5 adapter.h5") == loss);
  const auto refused = [&](const std::string& command, int status, const std::string& says) {
    corpus.refused("inspect " + command, status, says);
  };
  refused("evaluate adapter.h5 other.h5", 1, "name it with --base");
  refused("evaluate classes.h5 other.h5 --base moved.h5", 1, "use it with classify");
  refused("evaluate moved.h5 other.h5 --base moved.h5", 2, "leave out --base");
  refused("adapter.h5 --base moved.h5", 2,
          "inspect show has no option --base, but inspect surprise, evaluate, embed, neighbours, senses, bias, "
          "explain, attention, "
          "align, positions, kernels have it");
}

TEST_CASE("finetune lm: what makes no sense is refused in one line, before any work") {
  const DecoderAndText corpus(tiny_model);
  corpus.must(
      "tokenize -q --train --model byte -o bytes.h5 train.txt && tokenize -q -t bytes.h5 -o foreign.h5 other.txt");
  corpus.must(
      "tokenize -q --train --model char --no-byte-fallback -o letters.h5 train.txt && tokenize -q -t letters.h5 -o "
      "t.h5 train.txt && "
      "pretrain -q --train t.h5 -o letters.h5 --steps 1" +
      tiny_model + " && printf 'the cat\\nsees \\377' > new.txt");
  corpus.must("printf 'a b' > tiny.txt; gzip -k other.txt");
  write_file(corpus.path("texts.tsv"), "a\tthe cat\nb\ta dog\n");
  for (const Refusal& bad : std::vector<Refusal>{
           {lm + "other.txt --pooling mean", "--pooling has no effect without --task classify", 2},
           {lm + "other.txt --class-weights auto", "--class-weights has no effect without --task classify", 2},
           {lm + "other.txt --metric accuracy", "--metric has no effect without --valid", 2},
           {lm + "other.txt --folds 3", "--folds: is for labelled", 2},
           {lm + "other.txt --overlong split", "--overlong: is for labelled", 2},
           {lm + "other.txt --format tsv", "other.txt:1: the number of columns is 1, not 2", 1},
           {lm + "other.txt --text-column 2", "--text-column: is for labelled", 2},
           {lm + "other.txt,texts.tsv", "texts.tsv: holds prompts and answers, and other.txt is text", 2},
           {lm + "other.txt --valid texts.tsv", "a run reads one of both", 2},
           {lm + "texts.tsv:2", "weights are for texts, not for prompts", 2},
           {lm + "other.txt --objective causal:probability=0.2", "causal has no key 'probability'", 2},
           {lm + "other.txt --objective masked:probability=0.2", "; this one supports causal", 2},
           {lm + "other.txt --freeze body", "--freeze leaves nothing to train", 2},
           {"finetune --from model.h5 --train texts.tsv --objective masked:masking=static",
            "--objective: is for --task lm", 2},
           {"finetune --from model.h5 --train texts.tsv --valid texts.tsv --eval-tokens 9",
            "--eval-tokens: is for --task lm", 2},
           {lm + "foreign.h5", "does not match the model's", 1},
           {lm + "model.h5", "model.h5", 1},
           {lm + "tiny.txt", "tiny.txt: ", 1},
           {lm + "none.txt", "none.txt", 1},
           {lm + "other.txt.gz", "other.txt.gz: is compressed with gzip; decompress it first", 1},
           {lm + "other.txt --valid other.txt.gz", "other.txt.gz: is compressed", 1},
           {"cat other.txt | " + lm + "-", "must be files", 2},
           {"cat other.txt | " + lm + "other.txt --valid -", "must be files", 2},
           {"finetune --task lm --from letters.h5 --train new.txt", "new.txt:2:6: ", 1}}) {
    corpus.refused(bad.command + " -q -o x.h5", bad.status, bad.says);
    CHECK_FALSE(std::filesystem::exists(corpus.path("x.h5")));
  }
}

TEST_CASE("finetune lm: the next sentence is learned by the pooler, too") {
  const EncoderCorpus corpus;
  corpus.must("pretrain -q --train train.h5 -o model.h5 --steps 2" + tiny_model +
              "--arch encoder:segments=2,pooler=true,next-sentence=true");
  corpus.must(lm + "train.txt -o more.h5 -q --steps 2");
  const auto before = corpus.weights("model.h5"), after = corpus.weights("more.h5");
  for (const char* weight : {"encoder/pooler/weight", "encoder/pooler/bias", "head/next_sentence/weight"}) {
    CAPTURE(weight);
    CHECK(before.at(weight) != after.at(weight));
  }
}

TEST_CASE("finetune: the dropout is that of the base, for labels a tenth at least") {
  const SmallCorpus corpus;
  write_file(corpus.path("texts.tsv"), "a\tthe cat\nb\ta dog\n");
  for (const std::string rate : {"0", "0.3"})
    corpus.must("pretrain -q --train train.h5 --steps 1 -o base-" + rate + ".h5 --dropout " + rate + tiny_model);
  const auto dropout = [&](const std::string& options) {
    corpus.must("finetune -q --restart --steps 1 -o x.h5 " + options);
    return parse_json(corpus.must("inspect x.h5 --json").out)["config"]["dropout"].get<double>();
  };
  const std::string texts = " --train texts.tsv", tokens = " --task lm --train train.h5";
  CHECK(dropout("--from base-0.3.h5" + texts) == 0.3);
  CHECK(dropout("--from base-0.3.h5" + tokens) == 0.3);
  CHECK(dropout("--from base-0.h5" + texts) == 0.1);
  CHECK(dropout("--from base-0.h5" + tokens) == 0);
  CHECK(dropout("--from base-0.3.h5 --dropout 0.2" + texts) == 0.2);
  // New models get their architecture's setting, unless another is given.
  const std::string fresh = "--arch encoder:layers=1,width=8,heads=2,dropout=0.3 --task classify -t tokenizer.h5";
  CHECK(dropout(fresh + " --dropout 0" + texts) == 0);
  CHECK(dropout(fresh + " --dropout 0.2" + texts) == 0.2);
  CHECK(dropout(fresh + texts) == 0.3);
}

TEST_CASE("finetune: weight decay leaves a pooler alone that the task does not read") {
  const EncoderAndText corpus(" --arch encoder:pooler=true" + tiny_model);
  write_file(corpus.path("texts.tsv"), "a\tmy old cat\nb\tmy old dog\n");
  const std::string command = "finetune -q --from model.h5 --train texts.tsv --epochs 1 --weight-decay 0.5 --pooling ";
  corpus.must(command + "mean -o mean.h5 && " + command + "first -o first.h5");
  const auto base = corpus.weights("model.h5").at("encoder/pooler/weight");
  CHECK(corpus.weights("mean.h5").at("encoder/pooler/weight") == base);
  CHECK(corpus.weights("first.h5").at("encoder/pooler/weight") != base);
}

}  // namespace finetune_lm_tests
