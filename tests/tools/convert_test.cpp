// convert from outside.
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>
#include <nlohmann/json.hpp>

#include "formats/files/checksum.hpp"
#include "formats/heddle/load_model.hpp"
#include "libcore/base/strings.hpp"
#include "support/json.hpp"
#include "tools/small_corpus.hpp"

using namespace heddle;
using namespace heddle::testing;
using nlohmann::json;

namespace convert_tests {

namespace {

// A corpus with a model trained on it, and the last checkpoint of that training.
struct Trained : SmallCorpus {
  Trained() {
    begin_with("model", [&] {
      must("pretrain -q --train train.h5 -o model.h5 --steps 150 --keep 1 --positions learned" + tiny_model);
      must("mv model.step-150.h5 checkpoint.h5");
    });
  }

  double loss(const std::string& model) const {
    return parse_json(must("inspect evaluate -q " + model + " valid.h5 --json").out)["nats_per_token"];
  }
  json summary(const std::string& model) const { return parse_json(must("inspect " + model + " --json").out); }

  // By how many per cent of its norm the one tensor differs that differs most.
  double largest_difference(const std::string& model, const std::string& other) const {
    const auto changed = weights(other);
    double largest = 0;
    for (const auto& [name, values] : weights(model)) {
      double difference = 0, whole = 0;
      for (std::size_t i = 0; i < values.size(); ++i) {
        difference += std::pow(static_cast<double>(changed.at(name)[i]) - values[i], 2);
        whole += std::pow(static_cast<double>(values[i]), 2);
      }
      if (whole > 0) largest = std::max(largest, std::sqrt(difference / whole));
    }
    return 100 * largest;
  }
};

// Content of a safetensors file after its header, whose length its first eight bytes are.
std::size_t bytes_of_tensors(const std::string& path) {
  const std::string file = read_file(path);
  std::uint64_t header = 0;
  std::memcpy(&header, file.data(), sizeof header);
  return file.size() - sizeof header - header;
}

text::TokenizerModel source_tokenizer(const std::string& model) {
  return formats::read_tokenizer_model(formats::ModelFile(model).file(), formats::Side::source);
}

}  // namespace

TEST_CASE("convert: other weights, the same model") {
  const Trained corpus;
  const json original = corpus.summary("model.h5");
  const double loss = corpus.loss("model.h5");
  const std::string continued = "generate -p 'the cat' --max-tokens 30 --temperature 0 ";
  struct Case {
    std::string option, type;
    double tolerance;  // tolerance of the loss
  };
  for (const Case& one : std::vector<Case>{{"f32", "float32", 1e-9},
                                           {"bf16", "bfloat16", 0.005},
                                           {"int8", "int8", 0.02},
                                           {"q8", "q8", 0.02},
                                           {"q4", "q4", 0.1},
                                           {"keep", "float32", 1e-9}}) {
    CAPTURE(one.option);
    const Outcome outcome = corpus.must("convert model.h5 --dtype " + one.option + " -o new.h5");
    CHECK(outcome.out.empty());
    CHECK_FALSE(contains(outcome.err, "training state"));
    CHECK(contains(outcome.err, "bytes of weights became"));
    if (one.type == "float32") {
      CHECK(contains(outcome.err, "nothing was rounded"));
    } else {
      const std::string before = "; largest rounding error ";
      REQUIRE(contains(outcome.err, before));
      const double error = std::stod(outcome.err.substr(outcome.err.find(before) + before.size()));
      CHECK(error == doctest::Approx(corpus.largest_difference("model.h5", "new.h5")).epsilon(0.01));
    }
    CHECK(corpus.must("inspect verify new.h5").out == "new.h5: no problem found\n");
    const json converted = corpus.summary("new.h5");
    for (const char* part : {"config", "tokenizer", "history", "parameters"}) CHECK(converted[part] == original[part]);
    REQUIRE(converted["weights"].size() == original["weights"].size());
    for (const json& tensor : converted["weights"]) {
      const bool is_fine = contains(tensor["name"], "embedding") || contains(tensor["name"], "head");
      const std::string type = one.type == "q4" && is_fine ? "q8" : one.type;
      CHECK(tensor["type"] == (tensor["shape"].size() == 2 ? type : "float32"));
    }
    CHECK(converted["provenance"].size() == original["provenance"].size() + 1);
    CHECK(converted["provenance"].back()["command_line"] == "convert model.h5 --dtype " + one.option + " -o new.h5");
    CHECK(corpus.loss("new.h5") == doctest::Approx(loss).epsilon(one.tolerance));
    CHECK(corpus.must(continued + "new.h5").out.starts_with("the cat"));
    if (one.type == "bfloat16" || one.type == "float32")
      CHECK(corpus.must(continued + "new.h5").out == corpus.must(continued + "model.h5").out);
    const std::string lines = "printf 'the cat\\na dog sees\\n\\nmy\\n' | generate --max-tokens 20 new.h5 ";
    CHECK(corpus.must(lines + "--batch-size 4").out == corpus.must(lines + "--batch-size 4 --threads 1").out);
  }
}

TEST_CASE("convert: the average of models is the mean of their weights, and of other shapes and kinds there is none") {
  const Trained corpus;
  const auto pretrain = [&](const std::string& more) { corpus.must("pretrain -q --train train.h5 " + more); };
  pretrain("-o other.h5 --steps 20 --seed 3 --positions learned" + tiny_model);
  const Outcome outcome = corpus.must("convert model.h5 other.h5 model.h5 --average -o mean.h5");
  CHECK(contains(outcome.err, "mean.h5: "));
  CHECK(corpus.must("inspect verify mean.h5").out == "mean.h5: no problem found\n");
  const auto mean = corpus.weights("mean.h5"), first = corpus.weights("model.h5"), other = corpus.weights("other.h5");
  REQUIRE(mean.size() == first.size());
  for (const auto& [name, values] : mean) {
    for (std::size_t i = 0; i < values.size(); ++i) {
      CHECK(values[i] == doctest::Approx((2 * first.at(name)[i] + other.at(name)[i]) / 3).epsilon(1e-6));
    }
  }
  CHECK(corpus.must("generate -p 'the cat' --max-tokens 5 mean.h5").out.starts_with("the cat"));
  CHECK(corpus.summary("mean.h5")["provenance"].back()["inputs"].size() == 3);
  corpus.must(
      "convert -q model.h5 model.h5 --average --dtype bf16 -o half.h5 && convert -q model.h5 --dtype bf16 -o "
      "bf16.h5");
  CHECK(corpus.weights("half.h5") == corpus.weights("bf16.h5"));
  corpus.must("convert -q half.h5 half.h5 --average -o back.h5");
  CHECK(corpus.weights("back.h5") == corpus.weights("half.h5"));
  corpus.must("convert -q model.h5 other.h5 --average -o hf/ && convert -q hf other.h5 --average -o mixed.h5");

  pretrain("-o wide.h5 --steps 2 --layers 1 --heads 2 --width 24 --context 32 --learning-rate 1e-3");
  corpus.refused("convert model.h5 wide.h5 --average -o x.h5", 1,
                 "wide.h5: has layers 1, model.h5 2; only models of the same shape");
  // As many pieces, which are others.
  corpus.must(
      "tr a-z b-za < train.txt | tokenize -q --train --vocab-size 300 -o shifted.h5 && tokenize -q -t shifted.h5 -o "
      "shifted_tokens.h5 train.txt && pretrain -q --train shifted_tokens.h5 -o shifted_model.h5 --steps 1 --positions "
      "learned" +
      tiny_model);
  corpus.refused("convert model.h5 shifted_model.h5 --average -o x.h5", 1,
                 "shifted_model.h5: has another tokenizer than model.h5");
  corpus.must("convert -q model.h5 --dtype int8 -o small.h5");
  corpus.refused("convert small.h5 small.h5 --average -o x.h5", 1, "int8 weights");
  corpus.must(
      "tokenize -q --train --vocab-size 270 -o pieces.h5 train.txt && tokenize -q -t pieces.h5 -o t2.h5 train.txt");
  corpus.refused("convert model.h5 pieces.h5 --average -o x.h5", 1, "pieces.h5: is a tokenizer file");
  corpus.refused("convert model.h5 --average -o x.h5", 2, "--average takes at least two models");
  corpus.refused("convert model.h5 other.h5 -o x.h5", 2, "one file at a time");
  corpus.refused("convert model.h5 other.h5 --average -o other.h5", 2,
                 "other.h5: refusing to overwrite the input other.h5");
  corpus.refused("convert model.h5 other.h5 --average -o x.json", 2, "no .json");
}

TEST_CASE("convert: files shrink, and back to f32 they hold the rounded weights") {
  const Trained corpus;
  CHECK(contains(corpus.must("convert checkpoint.h5 -o small.h5").err, "small.h5: without the training state"));
  corpus.must("convert -q model.h5 --dtype bf16 -o half.h5");
  corpus.must("convert -q model.h5 --dtype int8 -o quarter.h5 && convert -q model.h5 --dtype q4 -o eighth.h5");
  const auto size = [&](const char* name) { return std::filesystem::file_size(corpus.path(name)); };
  CHECK(size("small.h5") < size("checkpoint.h5") / 2);
  CHECK(size("half.h5") < size("small.h5"));
  CHECK(size("quarter.h5") < size("half.h5"));
  CHECK(size("eighth.h5") < size("quarter.h5"));
  CHECK(corpus.weights("small.h5") == corpus.weights("model.h5"));
  for (const char* name : {"half.h5", "quarter.h5"}) {
    corpus.must("convert -q " + std::string(name) + " --dtype f32 -o back.h5");
    CHECK(corpus.weights("back.h5") == corpus.weights(name));
  }
  corpus.must("convert -q half.h5 -o again.h5");
  CHECK(corpus.summary("again.h5")["weights"] == corpus.summary("half.h5")["weights"]);
}

TEST_CASE("convert: a converted model cannot be resumed, and pretrain says so") {
  const Trained corpus;
  corpus.must("convert -q checkpoint.h5 --dtype bf16 -o half.h5");
  corpus.refused("pretrain --resume half.h5 --train train.h5 -o x.h5", 1,
                 "half.h5: holds no training state to resume from");
}

TEST_CASE("convert: a trained model becomes a directory of Hugging Face's and comes back the same") {
  const Trained corpus;
  const double loss = corpus.loss("model.h5");
  const Outcome outcome = corpus.must("convert checkpoint.h5 -o hf/");
  CHECK(contains(outcome.err, "hf/: without the training state"));
  CHECK(contains(outcome.err, "nothing was rounded; read back, the logits for a test text differ by 0 of their norm"));
  CHECK(corpus.must("ls -A hf").out ==
        "config.json\nmerges.txt\nmodel.safetensors\ntokenizer.json\ntokenizer_config.json\nvocab.json\n");
  corpus.must("convert hf -o back.h5");
  CHECK(corpus.weights("back.h5") == corpus.weights("model.h5"));
  CHECK(corpus.loss("back.h5") == loss);
  const json original = corpus.summary("model.h5"), back = corpus.summary("back.h5");
  CHECK(back["config"] == original["config"]);
  CHECK(back["tokenizer"] == original["tokenizer"]);
  std::vector<std::string> inputs;
  for (const json& input : back["provenance"].back()["inputs"])
    inputs.push_back(input["role"].get<std::string>() + " " + input["name"].get<std::string>());
  CHECK(inputs == std::vector<std::string>{"model hf/config.json", "model hf/model.safetensors",
                                           "tokenizer hf/tokenizer.json", "tokenizer hf/tokenizer_config.json"});
  struct Case {
    std::string weights;
    double tolerance;  // tolerance of the loss
  };
  for (const Case& one : std::vector<Case>{{"f32", 1e-9}, {"f16", 0.001}, {"bf16", 0.005}}) {
    CAPTURE(one.weights);
    const Outcome written = corpus.must("convert model.h5 --dtype " + one.weights + " -o hf." + one.weights + "/");
    const std::size_t bytes = bytes_of_tensors(corpus.path("hf." + one.weights + "/model.safetensors"));
    CHECK(contains(written.err, " bytes of weights became " + grouped(static_cast<long long>(bytes)) + "; "));
    corpus.must("convert -q hf." + one.weights + " -o back.h5");
    CHECK(corpus.loss("back.h5") == doctest::Approx(loss).epsilon(one.tolerance));
    // From one directory to another, and the same bytes every time.
    corpus.must("rm -rf other && convert -q hf." + one.weights + " --dtype " + one.weights +
                " -o other/ && cmp other/model.safetensors hf." + one.weights + "/model.safetensors");
  }
  corpus.must(
      "convert -q model.h5 --dtype int8 -o int8.h5 && convert -q int8.h5 -o hf.int8/ && convert -q hf.int8 -o "
      "back.h5");
  CHECK(corpus.weights("back.h5") == corpus.weights("int8.h5"));
  CHECK(corpus.leftovers() == 0);
}

TEST_CASE("convert: encoders become directories and come back the same") {
  const SmallCorpus corpus;
  struct Case {
    std::string preset, tokenizer;
  };
  for (const Case& one :
       std::vector<Case>{{"bert-base", "--model wordpiece --vocab-size 200"},
                         {"roberta-base", "--vocab-size 300 --special-tokens '<s>,<pad>,</s>,<mask>'"}}) {
    CAPTURE(one.preset);
    corpus.must("rm -rf hf; tokenize -q --train " + one.tokenizer + " -o pieces.h5 train.txt");
    corpus.must("tokenize -q -t pieces.h5 -o train.h5 train.txt");
    corpus.must("pretrain -q --train train.h5 -o model.h5 --steps 2 --preset " + one.preset +
                " --ffn-width 64 --vocab-size auto" + tiny_model);
    const Outcome outcome = corpus.run("convert model.h5 -o hf/ && convert -q hf -o back.h5");
    if (one.preset == "bert-base") {
      CAPTURE(outcome.err);
      REQUIRE(outcome.status == 0);
      CHECK(corpus.weights("back.h5") == corpus.weights("model.h5"));
      CHECK(parse_json(corpus.must("inspect back.h5 --json").out)["config"] ==
            parse_json(corpus.must("inspect model.h5 --json").out)["config"]);
    } else {  // <pad> is not piece 1 of this tokenizer
      CHECK(outcome.status == 1);
      CHECK(contains(outcome.err, "has no positions = learned:offset=2"));
    }
  }
}

TEST_CASE("convert: directories that cannot be written or read leave nothing behind") {
  const Trained corpus;
  corpus.must("convert -q model.h5 -o hf/; mkdir plain full; touch full/file; cp -r hf broken; cp -r hf nan");
  corpus.must("mkdir empty; convert -q model.h5 -o empty; ls empty/config.json");
  corpus.must("head -c 20000 hf/model.safetensors > broken/model.safetensors");
  // The last four bytes are a number.
  corpus.must("truncate -s -4 nan/model.safetensors; printf '\\xff\\xff\\xff\\x7f' >> nan/model.safetensors");
  corpus.must("pretrain -q --train train.h5 -o window.h5 --steps 1 --positions learned --arch decoder:window=8" +
              tiny_model);
  for (const Refusal& bad :
       std::vector<Refusal>{{"convert plain -o x.h5", "plain: is a directory without config.json", 1},
                            {"convert broken -o x.h5", "broken/model.safetensors: 'transformer.", 1},
                            {"convert nan -o x.h5", "is not finite", 3},
                            {"convert model.h5 -o full", "full: exists and is not an empty directory", 1},
                            {"convert model.h5 -o nowhere/x/", "nowhere/x/: cannot create it: No such file", 1},
                            {"convert model.h5 --dtype int8 -o x/", "--dtype int8 is for model files", 2},
                            {"convert model.h5 --dtype q4 -o x/", "--dtype q4 is for model files", 2},
                            {"convert hf --dtype f16 -o x.h5", "--dtype f16 is for directories and GGUF files", 2},
                            {"convert hf -o hf", "hf: refusing to overwrite the input hf", 2},
                            {"convert window.h5 -o x/", "gpt2 has no window = 8", 1}}) {
    corpus.refused(bad);
    CHECK_FALSE(std::filesystem::exists(corpus.path("x.h5")));
    CHECK_FALSE(std::filesystem::exists(corpus.path("x")));
  }
  CHECK(corpus.must("ls -A full").out == "file\n");
  CHECK(corpus.leftovers() == 0);
}

TEST_CASE("convert: bad input is named, and no file is left behind") {
  const Trained corpus;
  corpus.must(
      "head -c 9000 model.h5 > cut.h5; echo text > text.h5; ln -s model.h5 link.h5; mkdir locked; chmod a-w locked");
  {
    const formats::ModelFile file(corpus.path("model.h5"));
    const formats::LoadedModel loaded = formats::load_model_to_train(file);
    loaded.model->parameters().find("decoder/1/attention/key/weight")->value()[3] =
        std::numeric_limits<Real>::infinity();
    formats::ModelWriter writer(corpus.path("infinite.h5"));
    writer.config(loaded.model->config());
    writer.tokenizer(file.tokenizer_model());
    writer.weights(formats::named_tensors(loaded.model->parameters()));
    writer.commit(formats::start_provenance("test"));
  }
  // A bit of the weights flips.
  std::string bytes = read_file(corpus.path("model.h5"));
  bytes[static_cast<std::size_t>(formats::ModelFile(corpus.path("model.h5")).weights().tensors()[0].offset)] ^= 1;
  write_file(corpus.path("damaged.h5"), bytes);
  bytes = read_file(corpus.path("model.h5"));
  const formats::InputFile model(corpus.path("model.h5"));
  bytes[static_cast<std::size_t>(model.root().group("history").dataset("loss").offset().value())] ^= 1;
  write_file(corpus.path("history.h5"), bytes);
  std::vector<Refusal> cases{
      {"convert none.h5 --dtype bf16 -o x.h5", "none.h5: cannot open: No such file", 1},
      {"convert train.h5 --dtype bf16 -o x.h5", "train.h5: is a token file; a model file is needed", 1},
      {"convert text.h5 --dtype bf16 -o x.h5", "text.h5: is plain text", 1},
      {"convert cut.h5 --dtype bf16 -o x.h5", "cut.h5: is truncated", 1},
      {"convert history.h5 --dtype bf16 -o x.h5", "history.h5: /history/loss: the checksum does not match", 1},
      {"convert damaged.h5 --dtype bf16 -o x.h5", "the checksum does not match", 1},
      {"convert infinite.h5 --dtype int8 -o x.h5", "/weights/decoder/1/attention/key/weight: element 3 is not finite",
       3},
      {"convert model.h5 --dtype bf16 -o nowhere/x.h5", "nowhere", 1},
      {"convert model.h5 --dtype f16 -o x.h5",
       "--dtype f16 is for directories and GGUF files; model files hold f32, bf16, int8, q8 or q4", 2},
      {"convert model.h5 --dtype f8 -o x.h5", "'f8' is not one of keep, f32, f16, bf16, int8, q8, q4", 2},
      {"convert model.h5 --dtype bf16", "-o FILE is missing", 2},
      {"convert model.h5 --dtype bf16 -o -", "cannot go to standard output", 2},
      {"convert model.h5 --dtype bf16 -o model.h5", "model.h5: refusing to overwrite the input model.h5", 2},
      {"convert model.h5 --dtype bf16 -o link.h5", "link.h5: refusing to overwrite the input model.h5", 2},
      {"convert --dtype bf16 -o x.h5", "MODEL", 2},
      {"convert tokenizer.h5 --dtype bf16 -o x.h5", "--dtype is for models", 2},
      {"convert tokenizer.h5 --hide-edges 9 -o x.h5", "--hide-edges: is for graphs", 2},
      {"convert model.h5 --hide-edges 9 -o x.h5", "--hide-edges: is for graphs", 2},
      {"convert text.h5 -o x.json", "is plain text", 1},
      {"convert locked -o x.h5", "is a directory without config.json, and without a tokenizer", 1}};
  if (::geteuid() != 0) cases.push_back({"convert model.h5 --dtype bf16 -o locked/x.h5", "Permission denied", 1});
  for (const Refusal& bad : cases) {
    corpus.refused(bad);
    CHECK_FALSE(std::filesystem::exists(corpus.path("x.h5")));
  }
  CHECK(corpus.leftovers() == 0);
}

TEST_CASE("convert: a tokenizer to tokenizer.json and back") {
  const SmallCorpus corpus;
  CHECK(contains(corpus.must("convert tokenizer.h5 -o tokenizer.json").err, "tokenizer.json: bpe tokenizer with"));
  CHECK(parse_json(read_file(corpus.path("tokenizer.json")))["model"]["type"] == "BPE");
  corpus.must("convert tokenizer.json -o back.h5");
  corpus.must("convert train.h5 -o from-tokens.json && cmp from-tokens.json tokenizer.json");
  const std::string text = "printf 'the cat sat\\n\\n a dög<|endoftext|>\\n' | tokenize -t ";
  const std::string ids = corpus.must(text + "tokenizer.h5").out;
  CHECK(ids.size() > 10);
  CHECK(corpus.must(text + "tokenizer.json").out == ids);
  CHECK(corpus.must(text + "back.h5").out == ids);
  CHECK(corpus.must(text + ".").out == ids);
  CHECK(contains(corpus.must("inspect tokenizer.json").out, "Hugging Face"));
  const json made = parse_json(corpus.must("inspect back.h5 --json").out)["provenance"].back();
  CHECK(made["command_line"] == "convert tokenizer.json -o back.h5");
  REQUIRE(made["inputs"].size() == 1);
  CHECK(made["inputs"][0]["role"] == "tokenizer");
  CHECK(made["inputs"][0]["name"] == "tokenizer.json");
  CHECK(made["inputs"][0]["xxh128"] == formats::checksum_file(corpus.path("tokenizer.json")).xxh128);
}

TEST_CASE("convert: T5, BART and Marian translate as PyTorch does, and return to the directory they were") {
  const SmallCorpus place;
  for (const std::string name :
       {"t5-gated", "bart-scaled", "marian-narrow", "marian-opus", "marian-opus-bpe", "marian-separate"}) {
    CAPTURE(name);
    const std::string directory = std::string(HEDDLE_HUGGINGFACE) + "/" + name;
    place.must("convert '" + directory + "' -o model.h5");
    CHECK(place.must("inspect verify model.h5").out == "model.h5: no problem found\n");
    std::string sources, pairs;
    const json expected = parse_json(read_file(directory + "/expected.json"))["pairs"];
    for (const json& pair : expected) {
      sources += pair["source"].get<std::string>() + "\n";
      pairs += pair["source"].get<std::string>() + "\t" + pair["target"].get<std::string>() + "\n";
    }
    write_file(place.path("sources"), sources);
    write_file(place.path("pairs"), pairs);
    const std::string most = " --jsonl --max-tokens " + expected[0]["max_tokens"].dump();
    const auto greedy = lines_of(place.must("generate model.h5 sources" + most).out);
    const auto beams = lines_of(place.must("generate model.h5 sources --beam 4" + most).out);
    const auto scores = lines_of(place.must("generate model.h5 pairs --score --jsonl").out);
    for (std::size_t i = 0; i < expected.size(); ++i) {
      CHECK(parse_json(greedy.at(i))["ids"] == expected[i]["greedy"]);
      CHECK(parse_json(beams.at(i))["ids"] == expected[i]["beam"]);
      CHECK(parse_json(scores.at(i))["log_likelihood"].get<double>() ==
            doctest::Approx(expected[i]["log_likelihood"].get<double>()).epsilon(1e-4));
    }
    if (contains(name, "opus") || contains(name, "separate")) {
      place.refused("convert model.h5 -o again/", 1, "has a tokenizer of its own for sources");
      CHECK_FALSE(std::filesystem::exists(place.path("again")));
      continue;
    }
    place.must("convert model.h5 -o again/");
    place.must("convert again -o back.h5 && inspect diff model.h5 back.h5");
    std::filesystem::remove_all(place.path("again"));
  }
}

TEST_CASE("convert: a directory of OPUS encodes pairs, trains models and is trained further with both tokenizers") {
  const SmallCorpus place;
  const std::string opus = "'" HEDDLE_HUGGINGFACE "/marian-opus' ",
                    separate = "'" HEDDLE_HUGGINGFACE "/marian-separate' ";
  write_file(place.path("en"), "the cat\nwe sing\n");
  write_file(place.path("de"), "Eine Katze\nsagten wir\n");
  place.must("paste en de > pairs.tsv");
  place.must("tokenize -q -t " + opus + "--pairs en de -o pairs.h5");
  CHECK(place.must("tokenize -q --decode pairs.h5").out == "the cat\tEine Katze\nwe sing\tsagten wir\n");
  // One vocabulary, so one matrix of embeddings.
  const std::string train = "pretrain -q --layers 1 --width 16 --heads 2 --steps 2 --arch encoder-decoder";
  place.must(train + " --train pairs.h5 -o model.h5 && generate -q model.h5 en");
  place.must("tokenize -q -t " + separate + "--pairs en de -o others.h5");
  place.refused(train + " --train others.h5 -o x.h5", 2,
                "have vocabularies of their own, so they cannot share embeddings");
  place.must(train + ":share-embeddings=false --train others.h5 -o others-model.h5");
  place.must("convert " + opus +
             "-o opus.h5 && finetune -q --from opus.h5 --task translate --train pairs.tsv --steps 2 "
             "-o tuned.h5 && generate -q tuned.h5 en");
  // The mean of a model and itself is that model, and an adapter that is merged says what it said on its base.
  place.must("convert -q opus.h5 opus.h5 --average -o mean.h5");
  CHECK(place.weights("mean.h5") == place.weights("opus.h5"));
  place.must(
      "finetune -q --from opus.h5 --task translate --train pairs.tsv --steps 2 --lora-rank 2 -o lora.h5 && convert -q "
      "lora.h5 --merge -o merged.h5");
  const auto answers = [&](const std::string& model) { return place.must("generate -q " + model + " en").out; };
  CHECK(answers("mean.h5") == answers("opus.h5"));
  CHECK(answers("merged.h5") == answers("lora.h5"));
  for (const char* model : {"mean.h5", "merged.h5"}) {
    CHECK(source_tokenizer(place.path(model)) == source_tokenizer(place.path("opus.h5")));
    CHECK(contains(place.must("inspect " + std::string(model)).out, "\nSource tokenizer\n"));
  }
  // A text that is nothing but spaces is empty, and one of the marks that stand for them has no tokens.
  write_file(place.path("empty.tsv"), "the cat\tEine Katze\nwe sing\t\u2581\n");
  const std::string tune = "finetune --from opus.h5 --task translate -o y.h5 --steps 1 --train ";
  place.refused(tune + "empty.tsv", 1,
                "empty.tsv:2: the target has no tokens, since the tokenizer leaves out all of it");
  write_file(place.path("empty.tsv"), "\u00a0\tEine Katze\n");
  place.refused(tune + "empty.tsv", 1, "empty.tsv:1: the source is empty");
  place.refused("generate opus.h5 en --min-tokens 97", 2,
                "--min-tokens 97 is more than the 96 tokens that the model can write; lower it");
  const std::string ids = place.must("generate -q opus.h5 en --min-tokens 80 --jsonl").out;
  for (const json& line : json_lines(ids)) CHECK(line["ids"].size() >= 80);
  write_file(place.path("x.model"), "no model");
  place.refused("tokenize -t x.model en", 1, "x.model: at byte 0: ");
}

}  // namespace convert_tests
