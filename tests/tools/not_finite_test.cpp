// Models whose numbers are not finite, to every tool that computes with them: status 3 and one line, and no answer.
#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>

#include "libcore/models/config.hpp"
#include "tools/small_corpus.hpp"

using namespace heddle;
using namespace heddle::testing;

namespace not_finite_tests {

namespace {

const std::string tiny = " --layers 1 --width 16 --heads 2 --context 16 --batch-size 4 --steps 3 ";

// A decoder and an encoder, models of every task, and what they are asked.
struct Models : SmallCorpus {
  Models() {
    must("pretrain -q --train train.h5 -o decoder.h5 --arch decoder:tie-embeddings=false --positions learned" + tiny);
    must("tokenize -q --train --model wordpiece --vocab-size 200 -o pieces.h5 train.txt");
    must("tokenize -q -t pieces.h5 -o masked.h5 train.txt");
    must(
        "pretrain -q --train masked.h5 -o encoder.h5 --arch encoder:segments=2,pooler=true,next-sentence=true "
        "--positions learned" +
        tiny);
    write_file(path("texts.tsv"), "a\tthe cat\nb\tthe king\na\tcat\nb\tking\n");
    write_file(path("pairs.tsv"), "a\tthe\tcat\nb\tthe\tking\n");
    write_file(path("numbers.tsv"), "1\tthe cat\n2\tthe king\n");
    write_file(path("tags.conll"), "the\tX\ncat\tY\n\nthe\tX\nking\tY\n");
    write_file(path("spans.jsonl"),
               R"({"question": "who", "context": "the cat sees", "answers": [{"text": "cat", "answer_start": 4}]})"
               "\n");
    const std::string tune = "finetune -q --from encoder.h5 --steps 2 --train ";
    must(tune + "texts.tsv --task classify -o classify.h5");
    must(tune + "pairs.tsv --task pair -o pair.h5");
    must(tune + "numbers.tsv --task regress -o regress.h5");
    must(tune + "tags.conll --task label -o label.h5");
    must(tune + "spans.jsonl --task span -o span.h5");
    write_file(path("senses.tsv"), "x\t1\tthe cat sees\ny\t1\tthe king sees\n");
    write_file(path("bias.txt"),
               "[templates t]\ntemplate = the [ATTRIBUTE] sees [TARGET]\ntarget = cat, king\nattribute = dog\n"
               "neutral = queen\n");
    write_file(path("words.txt"), "[weat w]\nx = cat, dog\ny = king, queen\na = the\nb = my\n");
  }

  // bad.h5: the model with one weight changed, in a file that is whole otherwise. Tools that use models map their
  // weights and compute no checksums.
  void poison(const std::string& model, const std::string& weight, Index element, float value) const {
    std::string bytes = read_file(path(model));
    const formats::ModelFile file(path(model));
    for (const formats::TensorInfo& tensor : file.weights().tensors()) {
      if (tensor.name != weight) continue;
      REQUIRE(element < tensor.shape.size());
      std::memcpy(bytes.data() + tensor.offset + 4 * element, &value, 4);
      return write_file(path("bad.h5"), bytes);
    }
    FAIL(model << " has no weight " << weight);
  }

  void check_refused(const std::string& command) const {
    CAPTURE(command);
    const Outcome outcome = run(command);
    CAPTURE(outcome.out);
    CAPTURE(outcome.err);
    CHECK(outcome.status == 3);
    REQUIRE_FALSE(outcome.err.empty());
    CHECK(contains(lines_of(outcome.err).back(), "not finite"));
    for (const char* number : {"nan", "inf", "null"}) CHECK_FALSE(contains(outcome.out, number));
  }
};

constexpr float no_number = std::numeric_limits<float>::quiet_NaN(), infinity = std::numeric_limits<float>::infinity();

const std::vector<std::string> of_decoders{"generate bad.h5 -p 'the cat' --max-tokens 3",
                                           "generate bad.h5 -p 'the cat' --max-tokens 3 --jsonl",
                                           "generate bad.h5 -p 'the cat' --max-tokens 3 --temperature 0",
                                           "generate bad.h5 -p 'the cat' --max-tokens 3 --beam 2",
                                           "generate bad.h5 valid.txt --max-tokens 3 --stream",
                                           "generate bad.h5 -p 'the cat' --score",
                                           "generate bad.h5 -p 'the cat' --score --jsonl",
                                           "echo cat | classify bad.h5 --labels sees,the --template 'the {}'",
                                           "echo cat | classify bad.h5 --labels sees,the --template 'the {}' --jsonl"};
const std::vector<std::string> of_encoders{"generate bad.h5 -p 'the [MASK] sees'",
                                           "generate bad.h5 -p 'the [MASK] sees' --top 2",
                                           "generate bad.h5 -p 'the [MASK] sees' --jsonl"};
const std::vector<std::string> of_vectors{"inspect embed bad.h5 --text 'the cat'",
                                          "inspect embed bad.h5 --text 'the cat' --json",
                                          "inspect embed bad.h5 --text 'the cat' --pooling mean"};

}  // namespace

TEST_CASE("not finite: the weights of attention to a source") {
  const Models corpus;
  corpus.must("tokenize -q -t tokenizer.h5 --pairs -o pairs.h5 train.txt train.txt");
  corpus.must("pretrain -q --train pairs.h5 -o translator.h5 --arch rnn --width 16 --batch-size 4 --steps 2");
  corpus.poison("translator.h5", "encoder/0/forward/input/weight", 0, no_number);
  const std::string command = "inspect align bad.h5 'the cat' 'the king'";
  const std::string says = "bad.h5: the weights of attention to the source in layer 1 are not finite";
  const Outcome shades = corpus.refused(command, 3, says);
  CHECK(contains(shades.out, "??"));
  CHECK(lines_of(shades.out).front().ends_with("| ?"));
  CHECK(contains(corpus.refused(command + " --json", 3, says).out, "null"));
  for (const std::string form : {"svg", "tsv", "h5"}) {
    corpus.refused(command + " -o x." + form, 3, says);
    CHECK(std::filesystem::exists(corpus.path("x." + form)));
  }
  CHECK(contains(read_file(corpus.path("x.tsv")), "\tnan"));
  CHECK_FALSE(contains(read_file(corpus.path("x.tsv")), "-nan"));
  corpus.refused("inspect align bad.h5 'the cat'", 3, "bad.h5: the model's");
}

TEST_CASE("not finite: the weights of attention along a graph") {
  const Models corpus;
  write_file(corpus.path("nodes.csv"), "id,kind,size\n1,a,2\n2,b,3\n3,a,4\n");
  write_file(corpus.path("edges.csv"), "source,target\n1,2\n2,3\n");
  corpus.must("convert -q --nodes nodes.csv --edges edges.csv --label-column kind -o graph.h5");
  corpus.must("finetune -q --arch gat:layers=2,width=8,heads=2 --train graph.h5 --steps 2 -o gat.h5");
  corpus.poison("gat.h5", "gat/1/norm/gain", 0, no_number);
  const std::string command = "inspect attention bad.h5 graph.h5";
  const std::string says = "bad.h5: the weights of self-attention in layer 2 are not finite";
  CHECK(contains(corpus.refused(command, 3, says).out, "nan"));
  CHECK(contains(corpus.refused(command + " --json", 3, says).out, "null"));
  for (const std::string form : {"svg", "png", "html", "tsv", "h5"}) {
    corpus.refused(command + " -o x." + form, 3, says);
    CHECK(std::filesystem::exists(corpus.path("x." + form)));
  }
  CHECK(contains(read_file(corpus.path("x.svg")), "stroke:rgb(86.3%,0%,0%)"));
  CHECK(contains(read_file(corpus.path("x.html")), "\"own\":[null,null,null]"));
}

TEST_CASE("not finite: the line that a model cannot answer is named, and those before it are answered") {
  const Models corpus;
  write_file(corpus.path("lines"), "the cat\nthe cat sees the king and the queen sees my dog\nthe\n");
  corpus.poison("decoder.h5", "decoder/embedding/position/weight", 16 * 10, no_number);
  const Outcome outcome =
      corpus.refused("generate bad.h5 lines --max-tokens 1 --temperature 0", 3, "lines:2: the model's");
  CHECK(lines_of(outcome.out).size() == 1);
  corpus.refused("generate bad.h5 lines --score", 3, "lines:2: ");
}

TEST_CASE("not finite: hidden states, whoever computes them") {
  const Models corpus;
  for (const float value : {no_number, infinity, -infinity}) {
    CAPTURE(value);
    corpus.poison("decoder.h5", "decoder/embedding/position/weight", 3, value);
    for (const auto& list : {of_decoders, of_vectors}) {
      for (const std::string& command : list) corpus.check_refused(command);
    }
    corpus.poison("encoder.h5", "encoder/embedding/position/weight", 3, value);
    for (const auto& list : {of_encoders, of_vectors}) {
      for (const std::string& command : list) corpus.check_refused(command);
    }
    for (const auto& [task, file] : std::vector<std::pair<std::string, std::string>>{{"classify", "texts.tsv"},
                                                                                     {"pair", "pairs.tsv"},
                                                                                     {"regress", "numbers.tsv"},
                                                                                     {"label", "tags.conll"},
                                                                                     {"span", "spans.jsonl"}}) {
      CAPTURE(task);
      corpus.poison(task + ".h5", "encoder/embedding/position/weight", 3, value);
      const std::string input = task == "classify" || task == "pair" || task == "regress"
                                    ? "cut -f2- " + file + " | classify bad.h5"
                                    : "classify bad.h5 " + file;
      for (const char* options : {"", " --jsonl"}) corpus.check_refused(input + options);
      for (const char* options : {"", " --json"}) {
        corpus.check_refused("classify bad.h5 " + file + " --evaluate" + options);
      }
    }
  }
}

TEST_CASE("not finite: evaluations, neighbours, senses, bias") {
  const Models corpus;
  const auto check = [&](const std::string& command) {
    CAPTURE(command);
    const Outcome outcome = corpus.refused(command, 3, "not finite");
    CHECK(outcome.out.empty());
  };
  for (const float value : {no_number, infinity, -infinity}) {
    CAPTURE(value);
    corpus.poison("decoder.h5", "decoder/embedding/position/weight", 3, value);
    check("inspect evaluate bad.h5 train.h5");
    check("inspect evaluate bad.h5 train.h5 --json");
    check("inspect bias bad.h5 bias.txt --json");
    corpus.poison("encoder.h5", "encoder/embedding/position/weight", 3, value);
    check("inspect evaluate bad.h5 masked.h5");
    check("inspect senses bad.h5 senses.tsv --evaluate senses.tsv");
    check("inspect senses bad.h5 senses.tsv --json --evaluate senses.tsv");
    check("inspect bias bad.h5 bias.txt --json");
    // A head that evaluations have besides.
    corpus.poison("encoder.h5", "head/next_sentence/bias", 1, value);
    check("inspect evaluate bad.h5 masked.h5");
    // Embeddings of words: of the word itself, and of a piece that is no neighbour of it.
    const auto row = [&](const std::string& piece) {
      const auto& pieces = formats::ModelFile(corpus.path("encoder.h5")).tokenizer_model().pieces;
      return std::find(pieces.begin(), pieces.end(), piece) - pieces.begin();
    };
    for (const std::string piece : {"cat", "king"}) {
      corpus.poison("encoder.h5", "encoder/embedding/token/weight", 16 * row(piece), value);
      check("inspect neighbours bad.h5 cat");
      check("inspect neighbours bad.h5 cat --json");
      check("inspect bias bad.h5 words.txt --json");
    }
  }
}

TEST_CASE("not finite: one logit of a token that no text has") {
  const Models corpus;
  const Index last =
      formats::ModelFile(corpus.path("decoder.h5")).config<models::ModelConfig>().tokens().vocab_size - 1;
  for (const float value : {no_number, infinity, -infinity}) {
    CAPTURE(value);
    corpus.poison("decoder.h5", "head/weight", 16 * last, value);
    for (const std::string& command : of_decoders) corpus.check_refused(command);
    corpus.refused("inspect evaluate bad.h5 valid.h5", 3, "not finite");
    corpus.refused("inspect surprise bad.h5 'the cat'", 3, "bad.h5: the model's logits are not finite");
  }
}

TEST_CASE("not finite: adapters of a base whose weights have changed are not trained") {
  const Models corpus;
  corpus.poison("decoder.h5", "decoder/embedding/position/weight", 3, no_number);
  for (const std::string task : {"--train texts.tsv --task classify", "--train train.h5 --task lm"}) {
    corpus.refused("finetune --from bad.h5 --lora-rank 2 --steps 3 -o out.h5 " + task, 1, "checksum");
    CHECK_FALSE(std::filesystem::exists(corpus.path("out.h5")));
  }
}

TEST_CASE("not finite: a model of another program is not converted") {
  const Models corpus;
  corpus.must("convert -q decoder.h5 -o hf/");
  std::string bytes = read_file(corpus.path("hf/model.safetensors"));
  std::uint64_t header = 0;
  std::memcpy(&header, bytes.data(), sizeof header);
  std::memcpy(bytes.data() + sizeof header + header, &no_number, sizeof no_number);
  write_file(corpus.path("hf/model.safetensors"), bytes);
  corpus.refused("convert hf -o other.h5", 3, "element 0 is not finite");
  CHECK_FALSE(std::filesystem::exists(corpus.path("other.h5")));
}

TEST_CASE("not finite: numbers whose squares exceed every number are learned") {
  const Models corpus;
  write_file(corpus.path("huge.tsv"), "-1e200\tthe cat sees\n3e200\ta dog sees\n1e200\tthe cat\n");
  corpus.must("finetune -q --threads 1 --from encoder.h5 --task regress --train huge.tsv --steps 2 -o huge.h5");
  for (const std::string& line : lines_of(corpus.must("echo the cat | classify huge.h5").out)) {
    CHECK(std::isfinite(std::stod(line)));
  }
}

TEST_CASE("not finite: a regression that diverges ends, and says at which step") {
  const Models corpus;
  for (const char* options : {"--eval-every 1", "--eval-every 1 --metric spearman", ""}) {
    const std::string command =
        "timeout -k 5 300 finetune --from encoder.h5 --task regress --train numbers.tsv --valid numbers.tsv --steps "
        "200 "
        "--optimizer sgd --clip-norm none --warmup 0 --learning-rate 1000 -o regress2.h5 ";
    corpus.refused(command + options, 3, " diverged: ");
  }
}

}  // namespace not_finite_tests
