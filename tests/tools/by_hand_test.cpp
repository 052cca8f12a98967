// Training through the executables, against numbers that are computed here: losses from the probabilities that generate
// and classify print, updates from the weights before and after a step of gradient descent.
#include <algorithm>
#include <cmath>
#include <numeric>
#include <set>

#include "support/json.hpp"
#include "tools/small_corpus.hpp"

using namespace heddle;
using namespace heddle::testing;
using nlohmann::json;

namespace by_hand_tests {

namespace {

using Weights = std::map<std::string, std::vector<float>>;

// A model of three blocks, one of bytes, one task's labelled texts; made once.
struct Prepared : SmallCorpus {
  Prepared() {
    must(
        "pretrain -q --train train.h5 -o model.h5 --steps 20 --layers 3 --width 32 --heads 2 "
        "--context 16 --batch-size 4");
    must("tokenize -q --train --model byte -o byte.h5 train.txt && tokenize -q -t byte.h5 -o bytes.h5 train.txt");
    must(
        "pretrain -q --train bytes.h5 -o wide.h5 --steps 5 --positions learned --layers 1 --width 64 --heads 2 "
        "--context 16 --batch-size 4");
    const std::vector<std::string> subjects{"the cat", "a dog", "the old king", "my queen"};
    for (std::size_t i = 0; i < 12; ++i) {
      labels.push_back(i < 7 ? "many" : i < 10 ? "some" : "few");
      texts += labels.back() + "\t" + subjects[i % 4] + (i % 3 == 0 ? " sees" : " forgets") + " a dog.\n";
    }
    write_file(path("texts.tsv"), texts);
  }

  std::vector<double> losses(const std::string& log) const {
    std::vector<double> list;
    for (const json& line : json_lines(read_file(path(log)))) list.push_back(line["loss"]);
    return list;
  }

  // The log-likelihoods of texts, in nats.
  std::vector<double> scores(const std::string& model, const std::vector<std::string>& lines) const {
    std::string joined;
    for (const std::string& line : lines) joined += line + "\n";
    write_file(path("lines.txt"), joined);
    std::vector<double> list;
    for (const json& line : json_lines(must("generate -q --score --jsonl " + model + " lines.txt").out)) {
      list.push_back(line["log_likelihood"]);
    }
    REQUIRE(list.size() == lines.size());
    return list;
  }

  std::vector<std::string> labels;
  std::string texts;
};

const Prepared& prepared() {
  static const Prepared corpus;
  return corpus;
}

// The rate is the same in every step, whatever their number.
const std::string steady = " -q --schedule constant --warmup 0 --log-every 1 --log log.jsonl ";
// Steps of w -= rate g, and nothing else.
std::string descent(int steps = 1, int rate = 1) {
  return steady + "--optimizer sgd:momentum=0 --clip-norm none --learning-rate " + std::to_string(rate) + " --steps " +
         std::to_string(steps) + " ";
}

std::vector<double> change(const Weights& before, const Weights& after, const std::string& name) {
  const std::vector<float>&a = before.at(name), &b = after.at(name);
  std::vector<double> difference;
  for (std::size_t i = 0; i < a.size(); ++i) difference.push_back(static_cast<double>(b[i]) - a[i]);
  return difference;
}

double largest(const std::vector<double>& values) {
  double most = 0;
  for (const double value : values) most = std::max(most, std::abs(value));
  return most;
}

}  // namespace

TEST_CASE(
    "by hand: label smoothing of pretrain is (1 - p) of the target's loss and p of the mean over the vocabulary's") {
  const Prepared& corpus = prepared();
  // As many letters as a window and its last target need: every step reads the same.
  const std::string text = "abcad", letters = "abcd";
  write_file(corpus.path("letters.txt"), text);
  corpus.must(
      "tokenize -q --train --model char --no-byte-fallback --end-of-text none -o letters.h5 letters.txt && "
      "tokenize -q -t letters.h5 -o window.h5 letters.txt");
  for (const double smoothing : {0.0, 0.1, 0.7}) {
    CAPTURE(smoothing);
    const std::string train =
        "pretrain --train window.h5 --layers 1 --width 16 --heads 2 --context 8 --sequence-length 4 "
        "--batch-size 1 --learning-rate 0.02 --label-smoothing " +
        std::to_string(smoothing) + steady;
    corpus.must(train + "--steps 5 -o five.h5");
    corpus.must(train + "--steps 6 -o six.h5");
    std::vector<std::string> lines;  // each beginning of the text, and that with each letter
    for (std::size_t t = 1; t < text.size(); ++t) {
      lines.push_back(text.substr(0, t));
      for (const char letter : letters) lines.push_back(text.substr(0, t) + letter);
    }
    const std::vector<double> score = corpus.scores("five.h5", lines);
    double loss = 0;
    for (std::size_t t = 1; t < text.size(); ++t) {
      const double* const here = &score[5 * (t - 1)];
      for (std::size_t k = 0; k < 4; ++k) {
        const double probability = smoothing / 4 + (letters[k] == text[t] ? 1 - smoothing : 0);
        loss -= probability * (here[1 + k] - here[0]) / 4;
      }
    }
    CHECK(corpus.losses("log.jsonl").at(5) == doctest::Approx(loss).epsilon(2e-6));
  }
}

TEST_CASE(
    "by hand: label smoothing of masked training is linear in p, and adds at least the entropy of the vocabulary") {
  const EncoderCorpus corpus;
  corpus.must("pretrain -q --train train.h5 -o encoder.h5 --steps 40 --optimizer adamw --learning-rate 5e-3" +
              tiny_encoder);
  const Index vocabulary =
      parse_json(corpus.must("inspect encoder.h5 --json").out)["config"]["vocab_size"].get<Index>();
  std::vector<double> losses;  // same masks, for p = 0, 0.25, 0.5
  for (const double smoothing : {0.0, 0.25, 0.5}) {
    corpus.must("finetune --task lm --from encoder.h5 --train train.h5 -o x.h5 --learning-rate 1e-30 --steps 1 " +
                ("--batch-size 16 --label-smoothing " + std::to_string(smoothing)) + steady);
    losses.push_back(json_lines(read_file(corpus.path("log.jsonl"))).at(0)["loss"]);
  }
  CHECK(losses[2] - losses[0] == doctest::Approx(2 * (losses[1] - losses[0])).epsilon(1e-4));
  // For p = 1 it is the mean over the vocabulary of -log q, which is least, log V, where all q are alike.
  const double limit = losses[0] + 2 * (losses[2] - losses[0]);
  CHECK(losses[0] < 0.8 * std::log(vocabulary));
  CHECK(limit > std::log(vocabulary));
}

TEST_CASE("by hand: class weights and label smoothing of finetune") {
  const Prepared& corpus = prepared();
  const std::map<std::string, double> balanced{
      {"many", 12 / (3 * 7.0)}, {"some", 12 / (3 * 3.0)}, {"few", 12 / (3 * 2.0)}};
  for (const auto& [options, weighs, smoothing] : {std::tuple("", false, 0.0),
                                                   {"--class-weights auto", true, 0.0},
                                                   {"--label-smoothing 0.2", false, 0.2},
                                                   {"--class-weights auto --label-smoothing 0.2", true, 0.2}}) {
    CAPTURE(options);
    const std::string train =
        "finetune --from model.h5 --train texts.tsv --dropout 0 --batch-size 12 --learning-rate 0.01 " +
        std::string(options) + steady;
    corpus.must(train + "--steps 2 -o two.h5");
    corpus.must(train + "--steps 3 -o three.h5");
    const auto answers = json_lines(corpus.must("cut -f2 texts.tsv | classify two.h5 --jsonl --top 3").out);
    REQUIRE(answers.size() == 12);
    double loss = 0;
    for (std::size_t i = 0; i < 12; ++i) {
      for (const json& answer : answers[i]["top"]) {
        const bool is_target = answer[0] == corpus.labels[i];
        const double probability = smoothing / 3 + (is_target ? 1 - smoothing : 0);
        const double weight = weighs ? balanced.at(corpus.labels[i]) : 1;
        loss -= weight * probability * std::log(answer[1].get<double>()) / 12;
      }
    }
    CHECK(corpus.losses("log.jsonl").at(2) == doctest::Approx(loss).epsilon(2e-6));
  }
}

TEST_CASE("by hand: what is frozen stays, bit for bit, and the rest learns as it would") {
  const Prepared& corpus = prepared();
  const Weights base = corpus.weights("model.h5");
  const auto is_frozen = [](const std::string& name) {
    return name.starts_with("decoder/embedding/") || name.starts_with("decoder/0/");
  };
  for (const std::string task : {"--task lm --train train.h5 --batch-size 4", "--train texts.tsv --batch-size 12"}) {
    CAPTURE(task);
    const std::string train = "finetune --from model.h5 " + task + descent();
    corpus.must(train + "-o plain.h5");
    corpus.must(train + "-o frozen.h5 --freeze embeddings,decoder/0");
    const Weights plain = corpus.weights("plain.h5"), frozen = corpus.weights("frozen.h5");
    int moved = 0;
    for (const auto& [name, before] : base) {
      CAPTURE(name);
      moved += largest(change(base, plain, name)) > 1e-4 ? 1 : 0;
      CHECK(frozen.at(name) == (is_frozen(name) ? before : plain.at(name)));
    }
    CHECK(moved > 30);
  }
}

TEST_CASE("by hand: dropout drops its fraction of the embeddings' elements") {
  const Prepared& corpus = prepared();
  write_file(corpus.path("long.tsv"), "x\tabcdefghijklmno\ny\tbcdefghijklmnop\n");
  const Weights base = corpus.weights("wide.h5");
  // One example of 16 tokens: an element of a position's embedding moves but where it was dropped.
  for (const double dropout : {0.0, 0.25, 0.75}) {
    CAPTURE(dropout);
    corpus.must("finetune --from wide.h5 --train long.tsv --batch-size 1 -o dropped.h5 --dropout " +
                std::to_string(dropout) + descent());
    const auto moves = change(base, corpus.weights("dropped.h5"), "decoder/embedding/position/weight");
    REQUIRE(moves.size() == 16 * 64);
    const double still = static_cast<double>(std::ranges::count(moves, 0.0)) / (16 * 64);
    CHECK(std::abs(still - dropout) < (dropout == 0 ? 0.002 : 0.06));  // a standard deviation is 0.014
  }
}

TEST_CASE("by hand: an adapter's dropout drops its fraction of the adapter's input, and nothing of the base's") {
  const Prepared& corpus = prepared();
  write_file(corpus.path("short.tsv"), "x\ta\ny\tb\n");  // two tokens each, with the end of text
  double undropped = 0;
  for (const double dropout : {0.0, 0.5, 0.9}) {
    CAPTURE(dropout);
    const std::string train =
        "finetune --from wide.h5 --train short.tsv --batch-size 1 --lora-rank 2 --lora-targets value "
        "--lora-dropout " +
        std::to_string(dropout);
    corpus.must(train + descent(1, 10) + "-o first.h5");
    corpus.must(train + descent(2, 10) + "-o second.h5");
    // Before the first step B is zero, and what goes through A changes nothing.
    const double loss = corpus.losses("log.jsonl").at(0);
    if (dropout == 0) undropped = loss;
    CHECK(loss == undropped);
    // In the second, column i of A moves unless input i was dropped of both tokens.
    const auto moves =
        change(corpus.weights("first.h5", formats::FileKind::adapter),
               corpus.weights("second.h5", formats::FileKind::adapter), "decoder/0/attention/value/lora/a");
    REQUIRE(moves.size() == 2 * 64);
    int still = 0;
    for (std::size_t i = 0; i < 64; ++i) {
      CHECK((moves[i] == 0) == (moves[64 + i] == 0));
      still += moves[i] == 0 ? 1 : 0;
    }
    const double expected = 64 * dropout * dropout, stddev = std::sqrt(expected * (1 - dropout * dropout));
    CHECK(std::abs(still - expected) <= 4 * stddev);
  }
}

TEST_CASE(
    "by hand: pretrain reads every window once in an epoch, from another place and in another order in the next") {
  const Prepared& corpus = prepared();
  const std::string alphabet = "abcdefghijklmnopqrstuvwxyzABC";  // 29 letters: 6 windows of 4, and room to move them
  write_file(corpus.path("alphabet.txt"), alphabet);
  corpus.must(
      "tokenize -q --train --model char --no-byte-fallback --end-of-text none -o letters.h5 alphabet.txt && "
      "tokenize -q -t letters.h5 -o alphabet.h5 alphabet.txt");
  // Steps of 1e-30 leave the model as it is, so that a window's loss says which one it was.
  corpus.must(
      "pretrain --train alphabet.h5 -o still.h5 --layers 1 --width 16 --heads 2 --context 8 --sequence-length 4 "
      "--batch-size 1 --epochs 6 --learning-rate 1e-30" +
      steady);
  std::vector<std::string> windows;
  for (std::size_t i = 0; i + 5 <= alphabet.size(); ++i) windows.push_back(alphabet.substr(i, 5));
  const std::vector<double> scores = corpus.scores("still.h5", windows), losses = corpus.losses("log.jsonl");
  REQUIRE(losses.size() == 6 * 6);
  std::set<std::size_t> shifts;
  std::set<std::vector<std::size_t>> orders;
  for (std::size_t epoch = 0; epoch < 6; ++epoch) {
    std::vector<std::size_t> begins;
    for (std::size_t i = 0; i < 6; ++i) {
      const auto is_it = [&](double score) { return std::abs(-score / 4 - losses[6 * epoch + i]) < 2e-6; };
      REQUIRE(std::ranges::count_if(scores, is_it) == 1);
      begins.push_back(static_cast<std::size_t>(std::ranges::find_if(scores, is_it) - scores.begin()));
    }
    const std::size_t shift = *std::ranges::min_element(begins);
    std::vector<std::size_t> order = begins, sorted = begins;
    for (std::size_t& begin : order) begin = (begin - shift) / 4;
    std::ranges::sort(sorted);
    for (std::size_t i = 0; i < 6; ++i) CHECK(sorted[i] == shift + 4 * i);
    shifts.insert(shift);
    orders.insert(order);
  }
  CHECK(*shifts.rbegin() <= 4);
  CHECK(shifts.size() >= 2);
  CHECK(orders.size() == 6);
}

TEST_CASE("by hand: finetune reads every example once in an epoch, in other batches in each") {
  const Prepared& corpus = prepared();
  const std::vector<double> numbers{1, 2, 4, 8, 16, 32};
  std::string lines;
  for (const double number : numbers) lines += std::to_string(number) + "\tthe cat sees\n";
  write_file(corpus.path("numbers.tsv"), lines);
  corpus.must(
      "finetune --from model.h5 --task regress --train numbers.tsv --dropout 0 --batch-size 2 --epochs 4 -o still.h5 "
      "--learning-rate 1e-30" +
      steady);
  // The squared error, in standard deviations of the numbers: their mean is 10.5, the mean of their squares 227.5.
  const double answer = parse_json(corpus.must("echo 'the cat sees' | classify still.h5 --jsonl").out)["value"];
  const auto loss_of = [&](double number) { return std::pow(number - answer, 2) / (227.5 - 10.5 * 10.5); };
  using Pair = std::set<double>;
  std::map<double, Pair> pairs;  // by the loss of their batch
  for (const double a : numbers) {
    for (const double b : numbers) {
      if (a < b) pairs[(loss_of(a) + loss_of(b)) / 2] = {a, b};
    }
  }
  const std::vector<double> losses = corpus.losses("log.jsonl");
  REQUIRE(losses.size() == 4 * 3);
  std::set<std::set<Pair>> batches;
  for (std::size_t epoch = 0; epoch < 4; ++epoch) {
    std::set<Pair> found;
    std::set<double> read;
    for (std::size_t i = 0; i < 3; ++i) {
      const auto is_it = [&](const auto& pair) {
        return losses[3 * epoch + i] == doctest::Approx(pair.first).epsilon(2e-5);
      };
      REQUIRE(std::ranges::count_if(pairs, is_it) == 1);
      found.insert(std::ranges::find_if(pairs, is_it)->second);
    }
    for (const Pair& pair : found) read.insert(pair.begin(), pair.end());
    CHECK(read.size() == 6);
    batches.insert(found);
  }
  CHECK(batches.size() == 4);
}

}  // namespace by_hand_tests
