// generate from outside.
#include <nlohmann/json.hpp>
#include "support/json.hpp"
#include "support/skips.hpp"
#include "tools/small_corpus.hpp"

using namespace heddle;
using namespace heddle::testing;
using nlohmann::json;

namespace generate_tests {

namespace {

// A corpus with a model trained on it.
struct Trained : SmallCorpus {
  Trained() {
    begin_with("model", [&] { must("pretrain -q --train train.h5 -o model.h5 --steps 150" + tiny_model); });
  }
};

}  // namespace

TEST_CASE("generate: continues a prompt; the same seed gives the same text, another seed another") {
  const Trained corpus;
  const std::string command = "generate model.h5 -p 'the cat' --max-tokens 40 ";
  const std::string text = corpus.must(command).out;
  CHECK(text.starts_with("the cat"));
  CHECK(text.ends_with("\n"));
  CHECK(text.size() > 20);
  CHECK(corpus.must(command).out == text);
  CHECK(corpus.must(command + "--threads 1").out == text);
  CHECK(corpus.must(command + "--seed 2").out != text);
  const std::string greedy = corpus.must(command + "--temperature 0").out;
  CHECK(corpus.must(command + "--top-k 1 --seed 3").out == greedy);
  CHECK(contains(greedy, "."));
}

TEST_CASE("generate: as many lines out as in, in order, whatever the batch") {
  const Trained corpus;
  write_file(corpus.path("prompts"), "the cat\na dog sees\nmy queen\r\nthe old king forgets\na\nthe cat");
  const std::string one = corpus.must("generate model.h5 prompts --batch-size 1 --max-tokens 30").out;
  for (const char* size : {"2", "4", "100"}) {
    CHECK(corpus.must("generate model.h5 --max-tokens 30 --batch-size " + std::string(size) + " < prompts").out == one);
  }
  CHECK(corpus.must("cat prompts | generate model.h5 - --max-tokens 30").out == one);
  const auto lines = lines_of(one);
  REQUIRE(lines.size() == 6);
  CHECK(lines[1].starts_with("a dog sees"));
  CHECK(lines[3].starts_with("the old king forgets"));
  CHECK(lines[0] != lines[5]);  // the same prompt at another place
  CHECK(contains(one, "\\n"));  // a new line in a text is written as such
}

TEST_CASE("generate: --jsonl has prompt, text, ids and the log-likelihood") {
  const Trained corpus;
  const auto lines =
      lines_of(corpus.must("printf 'the cat\\na dog\\n' | generate model.h5 --jsonl --max-tokens 9").out);
  REQUIRE(lines.size() == 2);
  const auto first = parse_json(lines[0]);
  CHECK(first["prompt"] == "the cat");
  CHECK(first["ids"].size() == 9);
  CHECK(first["log_likelihood"].get<double>() < 0);
  CHECK_FALSE(first["text"].get<std::string>().empty());
  CHECK(parse_json(corpus.must("generate model.h5 -p a --jsonl --max-tokens 3").out)["ids"].size() == 3);
}

TEST_CASE("generate: stops before a stop string, also when it is spread over tokens") {
  const Trained corpus;
  const std::string whole = corpus.must("generate model.h5 -p 'the cat' --max-tokens 60 --temperature 0").out;
  const std::size_t gap = whole.find(' ', 8);  // after a second word; no token is of two
  REQUIRE(gap < whole.size() - 2);
  for (const std::string& stop : std::vector<std::string>{".", "s", "\n", whole.substr(gap - 2, 4)}) {
    CAPTURE(stop);
    const std::string text = corpus
                                 .must("generate model.h5 -p 'the cat' --max-tokens 60 --temperature 0 --stop $'" +
                                       std::string(stop == "\n" ? "\\n" : stop) + "'")
                                 .out;
    const std::size_t end = whole.find(stop, 7);
    REQUIRE(end != std::string::npos);
    CHECK(text == whole.substr(0, end) + "\n");
  }
}

TEST_CASE("generate: --kv-cache bf16 keeps keys and values in half the memory and says nearly the same") {
  const Trained corpus;
  const auto log_likelihood = [&](const std::string& options) {
    const std::string command = "generate model.h5 -p 'the cat' --jsonl --max-tokens 12 --temperature 0 " + options;
    return parse_json(corpus.must(command).out)["log_likelihood"].get<double>();
  };
  CHECK(log_likelihood("--kv-cache f32") == log_likelihood(""));
  CHECK(log_likelihood("--kv-cache bf16") != log_likelihood(""));
  CHECK(log_likelihood("--kv-cache bf16") == doctest::Approx(log_likelihood("")).epsilon(0.02));
  CHECK(corpus.must("generate model.h5 -p 'the cat' --max-tokens 100 --kv-cache bf16").out.size() > 100);
}

TEST_CASE("precision: scores, losses and vectors in bf16 are nearly those in f32, with the same bits on any threads") {
  const Trained corpus;
  corpus.must("(for i in $(seq 40); do echo \"the old king $i forgets the cat\"; done) > lines");
  const Outcome chosen = corpus.must("generate model.h5 lines --score --precision auto");
  if (contains(chosen.err, "no bf16 arithmetic")) {
    CHECK(contains(corpus.must("generate model.h5 lines --score --precision bf16").err, "computing in f32 instead"));
    return skipped("this processor has no bf16 arithmetic");
  }
  CHECK(contains(chosen.err, "precision "));
  for (const std::string command : {"generate -q model.h5 lines --score", "inspect evaluate model.h5 valid.h5 --json",
                                    "inspect embed model.h5 lines --pooling mean"}) {
    CAPTURE(command);
    const std::string single = corpus.must(command + " --precision f32").out;
    CHECK(single == corpus.must(command).out);
    const Outcome half = corpus.must(command + " --precision bf16");
    CHECK_FALSE(contains(half.err, "computing in f32"));
    CHECK(half.out != single);
    CHECK(half.out == corpus.must(command + " --precision bf16 --threads 1").out);
    const auto numbers = [](const std::string& text) {
      std::vector<double> found;
      std::stringstream words(replaced(replaced(text, ",", " "), ":", " "));
      for (std::string word; words >> word;) {
        char* end = nullptr;
        const double number = std::strtod(word.c_str(), &end);
        if (end != word.c_str()) found.push_back(number);
      }
      return found;
    };
    const std::vector<double> of_single = numbers(single), of_half = numbers(half.out);
    REQUIRE(of_single.size() == of_half.size());
    REQUIRE(!of_single.empty());
    for (std::size_t i = 0; i < of_single.size(); ++i)
      CHECK(std::abs(of_half[i] - of_single[i]) <= 0.02 * std::max(1.0, std::abs(of_single[i])));
  }
}

TEST_CASE("generate: goes on beyond the context, to 256 tokens where no number is given") {
  const Trained corpus;
  const auto object = parse_json(corpus.must("generate model.h5 -p 'the cat' --max-tokens 100 --jsonl").out);
  CHECK(object["ids"].size() == 100);
  CHECK(parse_json(corpus.must("generate model.h5 -p 'the cat' --temperature 0 --jsonl").out)["ids"].size() == 256);
}

TEST_CASE("generate: what follows the end of a long prompt follows the whole, truncated") {
  const Trained corpus;
  write_file(corpus.path("prompt"), "the old king forgets the cat. a dog follows my queen. my queen sings to a dog.\n");
  // Writes the text of those 16 of its tokens that `part` (head or tail) takes.
  const auto keep = [&](const std::string& name, const std::string& part) {
    corpus.must("tokenize -t tokenizer.h5 prompt | tr ' ' '\\n' | " + part +
                " -n 16 | tr '\\n' ' ' | tokenize -t tokenizer.h5 --decode > " + name);
  };
  keep("begin", "head");
  keep("end", "tail");
  const auto continued = [&](const std::string& prompt) {
    json line = parse_json(corpus.must("generate model.h5 --temperature 0 --max-tokens 10 --jsonl " + prompt).out);
    line.erase("prompt");
    return line;
  };
  const json whole = continued("prompt --overlong truncate");
  CHECK(whole["ids"].size() == 10);
  CHECK(whole == continued("end"));
  CHECK(whole != continued("begin"));
}

TEST_CASE("generate: bad input is a line with its place, and earlier lines are not lost") {
  const Trained corpus;
  std::string overlong;
  for (int i = 0; i < 40; ++i) overlong += "the cat sees ";
  write_file(corpus.path("prompts"), "the cat\n" + overlong + "\na dog\n");
  const Outcome outcome = corpus.run("generate model.h5 prompts --max-tokens 5");
  CHECK(outcome.status == 1);
  CHECK(contains(outcome.err, "prompts:2: the prompt has"));
  CHECK(lines_of(outcome.out).size() == 1);
  const Outcome cut = corpus.run("generate model.h5 prompts --max-tokens 5 --overlong truncate");
  CHECK(cut.status == 0);
  CHECK(lines_of(cut.out).size() == 3);
  CHECK(contains(cut.err, "generate: 1 prompt was longer than the context, and truncated\n"));
  corpus.must("head -c 9000 model.h5 > cut.h5; : > empty.h5");
  for (const Refusal& bad :
       std::vector<Refusal>{{"generate none.h5 -p a", "none.h5: cannot open", 1},
                            {"generate cut.h5 -p a", "cut.h5", 1},
                            {"generate empty.h5 -p a", "empty.h5", 1},
                            {"generate train.h5 -p a", "train.h5", 1},
                            {"generate -p a", "MODEL", 2},
                            {"generate model.h5 -p a --top-p 0", "--top-p", 2},
                            {"generate model.h5 -p a --max-tokens 0", "--max-tokens", 2},
                            {"generate model.h5 -p a --kv-cache int8", "--kv-cache", 2},
                            {"generate model.h5 -p a prompts", "cannot be combined", 2},
                            {"generate model.h5 none.txt", "none.txt", 1},
                            {"generate model.h5 -p a --max-tokens 50 > /dev/full", "No space left", 1},
                            {"generate model.h5 -p a -o nowhere/out", "nowhere", 1}}) {
    corpus.refused(bad);
  }
  CHECK(corpus.leftovers() == 0);
}

TEST_CASE("generate: an adapter writes as the model that it merges into; its base is found or named") {
  const Trained corpus;
  write_file(corpus.path("other.txt"), [] {
    std::string text;
    for (int i = 0; i < 200; ++i) text += "my old queen sings to my old king.\n";
    return text;
  }());
  corpus.must(
      "finetune -q --from model.h5 --task lm --train other.txt -o adapter.h5 --lora-rank 4 --lora-targets "
      "query,value,up,down --learning-rate 1e-2 --epochs 3 --batch-size 4");
  corpus.must("convert -q adapter.h5 --merge -o merged.h5");
  const std::string options = " -p 'my' --temperature 0 --max-tokens 20";
  const std::string text = corpus.must("generate adapter.h5" + options).out;
  CHECK(contains(text, "my old queen sings"));
  CHECK(corpus.must("generate merged.h5" + options).out == text);
  CHECK(corpus.must("generate model.h5" + options).out != text);
  corpus.must("mkdir elsewhere && mv model.h5 elsewhere/base.h5");
  CHECK(contains(corpus.run("generate adapter.h5" + options).err, "--base"));
  CHECK(corpus.must("generate adapter.h5 --base elsewhere/base.h5" + options).out == text);
  CHECK(contains(corpus.run("generate merged.h5 --base elsewhere/base.h5 -p a").err, "leave out --base"));
  write_file(corpus.path("texts.tsv"), "a\tthe cat\nb\ta dog\n");
  corpus.must("finetune -q --from elsewhere/base.h5 --train texts.tsv --epochs 1 --lora-rank 1 -o classes.h5");
  const Outcome refused = corpus.run("generate classes.h5 --base elsewhere/base.h5 -p a");
  CHECK(refused.status == 1);
  CHECK(contains(refused.err, "is an adapter for the task classify"));
  CHECK(contains(corpus.run("generate merged.h5 -p a --top 3").err, "--top: is for models that fill in masks"));
}

TEST_CASE("generate: a closed pipe ends it quietly") {
  const Trained corpus;
  const Outcome outcome = corpus.run("yes 'the cat' | generate model.h5 --max-tokens 5 --batch-size 2 | head -n 2");
  CHECK(lines_of(outcome.out).size() == 2);
  CHECK(outcome.err.empty());
}

TEST_CASE("generate: a model with more tokens than its tokenizer has pieces writes pieces") {
  const SmallCorpus corpus;
  corpus.must("pretrain -q --train train.h5 -o padded.h5 --vocab-size 3000 --steps 1" + tiny_model);
  for (const char* how : {"--temperature 5", "--temperature 5 --jsonl", "--beam 3 --n-best 3"}) {
    CAPTURE(how);
    CHECK(lines_in(corpus.must("generate padded.h5 -p 'the cat' --max-tokens 50 " + std::string(how)).out) >= 1);
  }
}

TEST_CASE("generate: an empty prompt begins a text") {
  const Trained corpus;
  CHECK(corpus.must("generate model.h5 -p '' --max-tokens 8").out.size() > 1);
  CHECK(lines_of(corpus.must("printf '\\n\\n' | generate model.h5 --max-tokens 8").out).size() == 2);
}

}  // namespace generate_tests
