// Encoders from outside: pretrain --arch encoder, and what the other tools do with what it leaves.
#include <nlohmann/json.hpp>
#include <sstream>

#include "support/json.hpp"
#include "tools/background.hpp"
#include "tools/small_corpus.hpp"

using namespace heddle;
using namespace heddle::testing;
using nlohmann::json;

namespace masked_tests {

namespace {

const std::string read = "pretrain --train train.h5 --valid valid.h5 --eval-every 10" + tiny_model;
const std::string train = read + "--arch encoder ";

}  // namespace

TEST_CASE("pretrain: an encoder learns to fill in masks; inspect evaluates it, convert shrinks it") {
  const EncoderCorpus corpus;
  const Outcome outcome = corpus.must(read + "-o model.h5 --steps 30 --log log.jsonl --arch encoder:pooler=true");
  CHECK(contains(outcome.err, "validation loss"));
  CHECK(contains(outcome.err, ", accuracy "));
  CHECK(contains(outcome.err, "training masks 30 % of the tokens and validation 15 %"));
  CHECK(corpus.must("inspect verify model.h5").status == 0);
  std::istringstream log(read_file(corpus.path("log.jsonl")));
  json last;
  for (std::string line; std::getline(log, line);) last = parse_json(line);
  const json answer = corpus.evaluate("model.h5");
  for (const char* key : {"tokens", "nats_per_token", "perplexity", "accuracy"}) CHECK(answer.contains(key));
  CHECK_FALSE(answer.contains("bits_per_byte"));
  CHECK(answer["nats_per_token"].get<double>() == doctest::Approx(last["valid_loss"].get<double>()).epsilon(1e-5));
  CHECK(answer["accuracy"].get<double>() == doctest::Approx(last["valid_accuracy"].get<double>()).epsilon(1e-5));
  CHECK(contains(corpus.must("inspect evaluate model.h5 valid.h5").out, "\naccuracy "));
  const json summary = parse_json(corpus.must("inspect model.h5 --json").out);
  CHECK(summary["config"]["arch"] == "encoder");
  CHECK(summary["history"].contains("valid_accuracy"));
  CHECK(summary["head_parameters"] == 32 * 32 + 2 * 32 + summary["config"]["vocab_size"].get<long>());
  corpus.must("convert -q model.h5 --dtype bf16 -o half.h5");
  CHECK(corpus.evaluate("half.h5")["nats_per_token"].get<double>() ==
        doctest::Approx(answer["nats_per_token"].get<double>()).epsilon(0.01));
}

TEST_CASE("pretrain: an encoder stopped and resumed ends with the weights of the uninterrupted run") {
  const EncoderCorpus corpus;
  const std::string command = "pretrain -q --train train.h5 --valid valid.h5 --eval-every 10 " + tiny_shape +
                              "--dropout 0.1 --objective masked:whole-words=true --arch "
                              "encoder:segments=2,pooler=true,next-sentence=true ";
  for (const int lines : {3, 20}) {
    const long steps = stopped_and_resumed(corpus, command, "part", lines);
    corpus.must(command + endless_schedule + "-o whole.h5 --steps " + std::to_string(steps));
    CHECK(corpus.weights("part.h5") == corpus.weights("whole.h5"));
    CHECK(corpus.evaluate("part.h5") == corpus.evaluate("whole.h5"));
  }
  CHECK(corpus.evaluate("whole.h5").contains("next_sentence_accuracy"));
  REQUIRE(corpus.run(train + "-q --steps 9 -o m.h5 --max-time 0.001s").status == 75);
  const std::string other = " --objective masked:probability=0.4";
  corpus.refused(train + "-q --steps 9 -o m.h5" + other, 2,
                 "m.checkpoint.h5: --objective masked:probability was 0.3 and is 0.4 now");
  corpus.refused(train + "-o x.h5 --resume m.checkpoint.h5" + other, 2,
                 "probability=0.4 differs from the 0.3 that m.checkpoint.h5 was trained with");
}

TEST_CASE("pretrain: static masking selects the same tokens in each epoch, whole words all of a word or none") {
  const EncoderCorpus corpus;
  const auto losses = [&](const std::string& options) {
    corpus.must("pretrain -q --log log.jsonl --log-every 1 -o x.h5 " + options);
    std::vector<double> result;
    for (const json& step : json_lines(read_file(corpus.path("log.jsonl")))) result.push_back(step["loss"]);
    std::filesystem::remove(corpus.path("log.jsonl"));
    return result;
  };
  write_file(corpus.path("vocab.txt"),
             "[PAD]\n[UNK]\n[CLS]\n[SEP]\n[MASK]\na\nb\nc\nd\ne\nf\ng\nh\n##i\n##j\n##k\n##l\n##m\n##n\n##o\n##p\n");
  // Weights that do not move, and epochs of one step.
  write_file(corpus.path("few.txt"), "a b c d e f\n");
  corpus.must("tokenize -q -t vocab.txt -o few.h5 few.txt");
  const std::string still =
      "--train few.h5 --arch encoder --layers 1 --width 16 --heads 2 --context 8 --steps 6 --batch-size 1 "
      "--learning-rate 1e-12 --objective masked:masking=";
  const std::vector<double> same = losses(still + "static"), others = losses(still + "dynamic");
  REQUIRE(same.size() == 6);
  REQUIRE(others.size() == 6);
  for (const double loss : same) CHECK(loss == doctest::Approx(same[0]).epsilon(1e-6));
  CHECK(std::abs(others[1] - others[0]) > 1e-3);

  // Words of two pieces, of which each says what the other is, unless both are masked.
  std::string words;
  for (unsigned state = 1, i = 0; i < 8000; ++i) {
    state = state * 1664525 + 1013904223;
    const char letter = static_cast<char>('a' + (state >> 24) % 8);
    words += {letter, static_cast<char>(letter + 8), ' '};
  }
  write_file(corpus.path("words.txt"), words + "\n");
  corpus.must("tokenize -q -t vocab.txt -o words.h5 words.txt");
  const std::string learning =
      "--train words.h5 --arch encoder --layers 1 --width 32 --heads 2 --context 16 --steps 400 --batch-size 16 "
      "--optimizer adamw --learning-rate 5e-3 --objective masked:probability=0.2";
  CHECK(losses(learning).back() < 1);
  CHECK(losses(learning + ",whole-words=true").back() > 1.8);
}

TEST_CASE("pretrain: byte-level pieces with RoBERTa's special tokens serve encoders too") {
  const EncoderCorpus corpus("--vocab-size 300 --special-tokens '<s>,<pad>,</s>,<mask>' --end-of-text '</s>'");
  corpus.must(read +
              "-o model.h5 --steps 10 --positions learned:offset=2 --arch encoder:embedding-norm=true,block=post "
              "--objective masked:masking=static");
  CHECK(corpus.must("inspect verify model.h5").status == 0);
  CHECK(corpus.evaluate("model.h5")["tokens"].get<long>() > 0);
}

TEST_CASE("encoders: with one kind of segment, pairs and questions are read as RoBERTa reads them") {
  const EncoderCorpus corpus;
  const std::string pretrain = read + "--steps 4 --objective masked:segment-pairs=true --arch encoder";
  corpus.must(pretrain + ":segments=1 -o one.h5");
  corpus.must(pretrain + " -o none.h5");
  corpus.must(pretrain + ":segments=2 -o two.h5");
  const auto words = [](int count) {
    std::string text = "the";
    for (int i = 1; i < count; ++i) text += " the";
    return text;
  };
  write_file(corpus.path("pairs.tsv"), "a\tthe\tcat\nb\tthe\tking\n");
  write_file(corpus.path("spans.jsonl"),
             R"({"question": "who", "context": "the cat sees", "answers": [{"text": "cat", "answer_start": 4}]})"
             "\n");
  // From 16 positions, [CLS] A [SEP] [SEP] B [SEP] leaves 12 for A and B, [CLS] A [SEP] B [SEP] one more.
  write_file(corpus.path("fits.tsv"), words(6) + "\t" + words(6) + "\n");
  write_file(corpus.path("more.tsv"), words(6) + "\t" + words(7) + "\n");
  for (const std::string model : {"one", "none", "two"}) {
    CAPTURE(model);
    const std::string tune = "finetune -q --steps 2 --from " + model + ".h5 --train ";
    corpus.must(tune + "pairs.tsv --task pair -o pair.h5");
    CHECK(lines_in(corpus.must("classify pair.h5 fits.tsv").out) == 1);
    if (model == "two") {
      CHECK(lines_in(corpus.must("classify pair.h5 more.tsv").out) == 1);
    } else {
      corpus.refused("classify pair.h5 more.tsv --overlong error", 1,
                     "more.tsv:1: 17 tokens are more than the context of 16");
    }
    corpus.must(tune + "spans.jsonl --task span -o span.h5");
    CHECK(lines_in(corpus.must("classify span.h5 spans.jsonl").out) == 1);
  }
}

TEST_CASE("pretrain: what encoders cannot do is refused with advice") {
  const SmallCorpus corpus;
  for (const Refusal& c : std::vector<Refusal>{
           {"--arch encoder",
            "train.h5: its tokenizer lacks the special tokens of an encoder; train one of the kind wordpiece, or with "
            "special-tokens = '[PAD]",
            1},
           {"--arch encoder --objective causal",
            "--objective causal needs a model that predicts next tokens: --arch decoder or lstm; this one supports "
            "masked",
            2},
           {"--objective maksed",
            "--objective: 'maksed' is not one of mixed, causal, detect, masked, bidirectional, permute, translate, "
            "respond, denoise, optimizer; did "
            "you mean "
            "'masked'?",
            2},
           {"--objective masked",
            "--objective masked needs a model that predicts masked tokens: --arch encoder; this one supports causal",
            2},
           {"--arch encoder:next-sentence=true", "--arch encoder:next-sentence needs a pooler and at least 2 segments",
            2},
           {"--arch decoder:pooler=true", "--arch: decoder has no key 'pooler', which is one of encoder; it has ", 2},
           {"--pooler", "unknown option --pooler; write --arch encoder:pooler=", 2},
       }) {
    corpus.refused("pretrain --train train.h5 -o model.h5 " + c.command, c.status, c.says);
    CHECK_FALSE(std::filesystem::exists(corpus.path("model.h5")));
  }
}

TEST_CASE("pretrain: a dry run foresees an encoder, with and without tokens") {
  const EncoderCorpus corpus;
  const json plain = parse_json(
      corpus.must("pretrain --preset bert-base --layers 1 --dry-run --json --batch-size 1 --context 16").out);
  const long layer = 4 * (768 * 768 + 768) + 2 * 768 * 3072 + 3072 + 768 + 4 * 768;
  CHECK(plain["parameters"] == 109482240 - 11 * layer - (512 - 16) * 768 + 622650);
  CHECK(parse_json(corpus.must("pretrain --dry-run --json --train train.h5" + tiny_encoder).out)["memory_bytes"] > 0);
  const Outcome profile = corpus.must("inspect profile --preset nano --json");
  CHECK(parse_json(profile.out)["operations"].size() > 5);
}

TEST_CASE("pretrain: a loss at the level of token frequencies is told once, with what to change") {
  const EncoderCorpus corpus;
  const std::string command = "pretrain --train train.h5 --log-every 5 --steps 520 --layers 1 --width 16 --heads 2 ";
  const auto warned = [](const Outcome& outcome) {
    std::size_t count = 0;
    for (const std::string& line : lines_of(outcome.err))
      count += contains(line, "lower than that of token frequencies alone") ? 1U : 0U;
    return count;
  };
  for (const std::string arch : {"decoder", "encoder"}) {
    CAPTURE(arch);
    // A model whose output is flat: worse than the frequencies.
    CHECK(warned(corpus.must(command + "-o flat.h5 --restart --learning-rate 1e-9 --arch " + arch)) == 1);
    CHECK(warned(corpus.must(command + "-o good.h5 --restart --learning-rate 5e-3 --arch " + arch)) == 0);
    CHECK(warned(corpus.must(command + "-o short.h5 --restart --learning-rate 1e-9 --steps 400 --arch " + arch)) == 1);
    CHECK(warned(corpus.must(command + "-o short.h5 --restart --learning-rate 1e-9 --steps 150 --arch " + arch)) == 0);
  }
}

TEST_CASE("pretrain: of a long run, the level is that after a tenth of the steps") {
  const EncoderCorpus corpus;
  const Outcome stopped = corpus.run(
      signalled("pretrain --train train.h5 --log log.jsonl --log-every 5 --steps 8000 --layers 1 --width 16 --heads 2 "
                "--learning-rate 1e-9 -o long.h5",
                "test $(lines_of log.jsonl) -ge 170", "TERM"));
  CHECK(stopped.status == status_of("TERM"));
  CHECK(contains(stopped.err, "lower than that of token frequencies alone"));
}

}  // namespace masked_tests
