// generate from outside: beam search, samples, scores, streams.
#include <cmath>

#include "support/json.hpp"
#include "tools/small_corpus.hpp"

using namespace heddle;
using namespace heddle::testing;
using nlohmann::json;

namespace generate_modes_tests {

namespace {

struct Trained : SmallCorpus {
  Trained() {
    begin_with("model", [&] { must("pretrain -q --train train.h5 -o model.h5 --steps 150" + tiny_model); });
    write_file(path("prompts"), "the cat\na dog sees\nmy queen\r\n\nthe old king forgets the\nthe cat");
  }

  // Output of a command, which must not depend on batches and threads.
  std::string steady(const std::string& command) const {
    const std::string out = must(command).out;
    for (const char* options : {" --batch-size 1", " --batch-size 2 --threads 1", " --batch-size 100 --threads 3"}) {
      CAPTURE(options);
      CHECK(must(command + options).out == out);
    }
    return out;
  }
};

// The number before these words.
double number_before(const std::string& words, const std::string& text) {
  const std::string before = text.substr(0, text.find(words));
  return std::stod(before.substr(before.rfind(' ') + 1));
}

}  // namespace

TEST_CASE("generate: greedy, sampled, searched and scored lines are the same bytes in any batch, with any threads") {
  const Trained corpus;
  for (const char* options :
       {"--temperature 0", "--num-samples 3 --min-p 0.05 --repetition-penalty 1.2", "--beam 4 --n-best 2"}) {
    CAPTURE(options);
    const auto lines =
        json_lines(corpus.steady("generate model.h5 prompts --jsonl --max-tokens 12 " + std::string(options)));
    CHECK(lines.size() % 6 == 0);
    for (std::size_t i = 0; i < lines.size(); ++i) {
      const json& line = lines[i];
      CHECK(line["prompt"] == std::vector<std::string>{"the cat", "a dog sees", "my queen", "",
                                                       "the old king forgets the", "the cat"}[i / (lines.size() / 6)]);
      double sum = 0;
      for (const json& each : line["log_probabilities"]) sum += each.get<double>();
      CHECK(line["log_likelihood"].get<double>() == doctest::Approx(sum).epsilon(1e-12));
      CHECK(line["log_probabilities"].size() == line["ids"].size());
    }
  }
  corpus.steady("generate -q model.h5 prompts --score --jsonl");
}

TEST_CASE("generate: a beam of 1 is greedy; wider ones give more likely texts, best first, N lines an input") {
  const Trained corpus;
  const std::string prompts = "generate model.h5 prompts --max-tokens 12 ";
  const std::string greedy = corpus.must(prompts + "--temperature 0").out;
  CHECK(corpus.must(prompts + "--beam 1").out == greedy);
  CHECK(corpus.must("generate model.h5 -p 'the cat' --max-tokens 12 --beam 1").out ==
        corpus.must("generate model.h5 -p 'the cat' --max-tokens 12 --temperature 0").out);
  const auto lines = json_lines(corpus.must(prompts + "--beam 5 --n-best 3 --jsonl --length-penalty 0").out);
  REQUIRE(lines.size() == 18);
  const auto plain = lines_of(corpus.must(prompts + "--beam 5 --n-best 3 --length-penalty 0").out);
  REQUIRE(plain.size() == 18);
  const auto best = lines_of(corpus.must(prompts + "--beam 5 --length-penalty 0").out);
  const auto alone = json_lines(corpus.must(prompts + "--temperature 0 --jsonl").out);
  double searched = 0, drawn = 0;
  for (std::size_t i = 0; i < 18; ++i) {
    CHECK(lines[i]["rank"] == i % 3 + 1);
    if (i % 3 > 0) CHECK(lines[i]["score"].get<double>() <= lines[i - 1]["score"].get<double>());
    if (i % 3 > 0) CHECK(lines[i]["ids"] != lines[i - 1]["ids"]);
    CHECK(plain[i].starts_with(lines[i]["prompt"].get<std::string>()));
    if (i % 3 > 0) continue;
    CHECK(plain[i] == best[i / 3]);
    searched += lines[i]["score"].get<double>();
    drawn += alone[i / 3]["log_likelihood"].get<double>();
  }
  CHECK(searched >= drawn);
  // The score of a text that is cut is its log-likelihood over the penalty.
  const json cut = parse_json(corpus.must("generate model.h5 -p 'the cat' --beam 3 --max-tokens 7 --jsonl").out);
  REQUIRE(cut["ids"].size() == 7);
  CHECK(cut["score"].get<double>() ==
        doctest::Approx(cut["log_likelihood"].get<double>() / std::pow(2, 0.6)).epsilon(1e-9));
}

TEST_CASE("generate: what is searched or drawn has the likelihood that --score gives it, with rows to spare, too") {
  const Trained corpus;
  corpus.must("pretrain -q --train train.h5 -o spare.h5 --vocab-size 3000 --steps 60" + tiny_model);
  for (const std::string model : {"model.h5", "spare.h5"}) {
    for (const std::string how : {"--beam 4", "--temperature 0"}) {
      CAPTURE(model);
      CAPTURE(how);
      const json found = parse_json(corpus.must("generate " + model + " -p '' --max-tokens 11 --jsonl " + how).out);
      write_file(corpus.path("text"), found["text"]);
      const json scored = parse_json(
          corpus.must("text=$(cat text; echo _); generate " + model + " -p \"${text%_}\" --score --jsonl").out);
      REQUIRE(scored["ids"] == found["ids"]);
      CHECK(scored["log_likelihood"].get<double>() ==
            doctest::Approx(found["log_likelihood"].get<double>()).epsilon(1e-5));
      for (std::size_t i = 0; i < found["ids"].size(); ++i) {
        CHECK(scored["log_probabilities"][i].get<double>() ==
              doctest::Approx(found["log_probabilities"][i].get<double>()).epsilon(1e-4));
      }
    }
  }
}

TEST_CASE("generate: --score gives one number per line, empty ones too, and what is needed to compare models") {
  const Trained corpus;
  const Outcome outcome = corpus.must("generate model.h5 prompts --score");
  const auto numbers = lines_of(outcome.out);
  REQUIRE(numbers.size() == 6);
  CHECK(numbers[3] == "0");
  CHECK(numbers[0] == numbers[5]);
  CHECK(std::stod(numbers[0]) > std::stod(corpus.must("generate -q model.h5 -p 'cat the' --score").out));
  CHECK(contains(outcome.err, "6 texts, "));
  CHECK(contains(outcome.err, " nats per token, "));
  CHECK(contains(outcome.err, " bits per byte"));
  const auto lines = json_lines(corpus.must("generate -q model.h5 prompts --score --jsonl").out);
  double nats = 0, tokens = 0;
  for (const json& line : lines) {
    for (const json& each : line["log_probabilities"]) nats -= each.get<double>();
    tokens += line["tokens"].get<double>();
  }
  CHECK(number_before(" nats per token", outcome.err) == doctest::Approx(nats / tokens).epsilon(1e-4));
  CHECK(lines[2]["text"] == "my queen");
  CHECK(lines[2]["tokens"] == lines[2]["ids"].size());
  CHECK(lines[3]["tokens"] == 0);
  CHECK(std::stod(numbers[2]) == doctest::Approx(lines[2]["log_likelihood"].get<double>()));
  CHECK(corpus.must("printf 'the cat\\0\\377' | generate -q model.h5 --score").out.size() > 2);
}

TEST_CASE("generate: several models give each token the mean of their log-probabilities") {
  const Trained corpus;
  corpus.must("pretrain -q --train train.h5 -o longer.h5 --seed 7 --steps 20" + tiny_model);
  const auto scores = [&](const std::string& models) {
    return json_lines(corpus.steady("generate -q " + models + " prompts --score --jsonl"));
  };
  const auto first = scores("model.h5"), second = scores("longer.h5"), both = scores("longer.h5,model.h5");
  REQUIRE(both.size() == 6);
  for (std::size_t i = 0; i < both.size(); ++i) {
    REQUIRE(both[i]["ids"] == first[i]["ids"]);
    const double mean = (first[i]["log_likelihood"].get<double>() + second[i]["log_likelihood"].get<double>()) / 2;
    CHECK(both[i]["log_likelihood"].get<double>() == doctest::Approx(mean).epsilon(1e-9));
  }
  corpus.must(
      "tokenize -q --train --vocab-size 290 -o other.h5 train.txt && tokenize -q -t other.h5 -o o.h5 train.txt && "
      "pretrain -q --train o.h5 -o stranger.h5 --steps 1" +
      tiny_model);
  corpus.refused("generate model.h5,stranger.h5 prompts --score", 1,
                 "stranger.h5: has another tokenizer than model.h5; models that score texts together need the same");
  corpus.refused("generate model.h5,longer.h5 prompts", 2,
                 "model.h5,longer.h5: several models score texts together (--score); text is written by one");
  corpus.refused("generate model.h5,longer.h5 prompts --score --base model.h5", 2, "--base: is for one adapter");
  corpus.refused("generate model.h5,none.h5 prompts --score", 1, "none.h5");
}

TEST_CASE("generate: texts that are too long to score are refused, cut, or read in parts, as told") {
  const Trained corpus;
  std::string longer;
  for (int i = 0; i < 12; ++i) longer += "the cat sees a dog. ";
  write_file(corpus.path("lines"), "the cat\n" + longer + "\na dog\n");
  const Outcome refused = corpus.run("generate model.h5 lines --score");
  CHECK(refused.status == 1);
  CHECK(contains(refused.err, "lines:2: "));
  CHECK(contains(refused.err, "--overlong split"));
  CHECK(lines_of(refused.out).size() == 1);
  const Outcome cut = corpus.must("generate model.h5 lines --score --jsonl --overlong truncate");
  CHECK(json_lines(cut.out)[1]["tokens"] == 16);  // the context; the last of them is not read
  CHECK(contains(cut.err, "1 text was longer than the context, and truncated\n"));
  const Outcome split = corpus.must("generate model.h5 lines --score --jsonl --overlong split");
  const auto lines = json_lines(split.out);
  CHECK(lines[1]["tokens"] == lines[1]["ids"].size());
  CHECK(lines[1]["ids"].size() > 60);
  CHECK(contains(split.err, "1 text was longer than the context, and split\n"));
  for (std::size_t i = 0; i < 16; ++i) {
    CHECK(lines[1]["log_probabilities"][i] == json_lines(cut.out)[1]["log_probabilities"][i]);
  }
  CHECK(corpus.must("generate -q model.h5 lines --score --overlong split --batch-size 1").out ==
        corpus.must("generate -q model.h5 lines --score --overlong split").out);
  corpus.refused("generate model.h5 lines --overlong split", 2, "--overlong split: is for --score");
}

TEST_CASE("generate: texts as long as the context are scored, and longer ones as their explicit parts are") {
  // Tokens are bytes, and none begins a text, so that parts of a text are texts.
  const SmallCorpus corpus;
  corpus.must(
      "tokenize -q --train --model byte --end-of-text none -o bytes.h5 && "
      "tokenize -q -t bytes.h5 -o bytes_train.h5 train.txt && "
      "pretrain -q --train bytes_train.h5 -o bytes_model.h5 --steps 60" +
      tiny_model);
  const std::string text = "my queen forgets the old king; a dog follows the cat";  // 52 bytes
  REQUIRE(text.size() == 52);
  const auto scores_of = [&](const std::string& line, const std::string& options = "") {
    write_file(corpus.path("line"), line + "\n");
    return json_lines(corpus.must("generate -q bytes_model.h5 line --score --jsonl " + options).out)
        .front()["log_probabilities"];
  };
  // 16 positions read 16 bytes, of which each but the first is scored, and so is the one after them.
  CHECK(scores_of(text.substr(0, 17)).size() == 17);
  corpus.refused("printf '%s' '" + text.substr(0, 18) + "' | generate bytes_model.h5 --score", 1,
                 "the text has 18 tokens, more than the 17 that fit the context");
  CHECK(scores_of(text.substr(0, 18), "--overlong truncate") == scores_of(text.substr(0, 17)));
  // Bytes 0 to 16 first, then 8 at a time after the 9 before them, and what is left.
  json expected = scores_of(text.substr(0, 17));
  for (const std::size_t end : {25, 33, 41, 49, 52}) {
    const json part = scores_of(text.substr(end - 17, 17));
    while (expected.size() < end) expected.push_back(part[17 - (end - expected.size())]);
  }
  const json split = scores_of(text, "--overlong split");
  REQUIRE(split.size() == 52);
  CHECK(split[0].is_null());
  for (std::size_t i = 1; i < 52; ++i) {
    CAPTURE(i);
    CHECK(split[i].get<double>() == doctest::Approx(expected[i].get<double>()).epsilon(1e-6));
  }
}

TEST_CASE("generate, inspect: bits per byte are of the text as it is written, which WordPiece does not give back") {
  const EncoderCorpus corpus;
  corpus.must("pretrain -q --train train.h5 -o words.h5 --steps 20" + tiny_model);
  const std::string first = "The  Cat SEES a dog.", second = "a dog,  a CAT...";
  write_file(corpus.path("text.txt"), first + "\n" + second + "\n");
  corpus.must("tokenize -q -t pieces.h5 -o text.h5 text.txt");
  CHECK(parse_json(corpus.must("inspect text.h5 --json").out)["text_bytes"] == 38);
  const json whole = parse_json(corpus.must("inspect evaluate words.h5 text.h5 --json").out);
  const double nats = whole["nats_per_token"].get<double>() * whole["tokens"].get<double>();
  CHECK(whole["bits_per_byte"].get<double>() == doctest::Approx(nats / std::log(2) / 38));
  // Lines have no ends; all their words are scored, after the token that begins texts.
  const auto check_bits = [&](const std::string& options, double bytes) {
    const Outcome outcome = corpus.must("generate words.h5 text.txt --score " + options);
    double sum = 0;
    for (const std::string& line : lines_of(outcome.out)) sum -= std::stod(line);
    CHECK(number_before(" bits per byte", outcome.err) == doctest::Approx(sum / std::log(2) / bytes).epsilon(1e-4));
  };
  check_bits("", 20 + 16);
  write_file(corpus.path("text.txt"), first + " " + first + " " + first + " " + first + "\n");
  // 16 tokens: the whole text twice, which is 6 each, and "The  Cat SEES a" of the third.
  check_bits("--overlong truncate", 20 + 1 + 20 + 1 + 15);
}

TEST_CASE("generate: without a token that begins texts, the first token of each has no score") {
  const Trained corpus;
  corpus.must(
      "tokenize -q --train --vocab-size 280 --end-of-text none -o plain.h5 train.txt && "
      "tokenize -q -t plain.h5 -o plain_train.h5 train.txt && "
      "pretrain -q --train plain_train.h5 -o plain_model.h5 --steps 5" +
      tiny_model);
  const auto lines =
      json_lines(corpus.must("printf 'the cat\\n\\nt\\n' | generate -q plain_model.h5 --score --jsonl").out);
  REQUIRE(lines.size() == 3);
  CHECK(lines[0]["tokens"] == lines[0]["ids"].size() - 1);
  CHECK(lines[0]["log_probabilities"][0].is_null());
  CHECK(lines[0]["log_probabilities"].size() == lines[0]["ids"].size());
  CHECK(lines[1]["tokens"] == 0);
  CHECK(lines[2]["tokens"] == 0);
}

TEST_CASE("generate: several samples a line, of which the first is what one alone would be") {
  const Trained corpus;
  const std::string command = "generate model.h5 prompts --max-tokens 15 ";
  const auto one = lines_of(corpus.must(command).out), three = lines_of(corpus.must(command + "--num-samples 3").out);
  REQUIRE(three.size() == 18);
  for (std::size_t i = 0; i < 6; ++i) CHECK(three[3 * i] == one[i]);
  CHECK(three[0] != three[1]);
  const auto lines = json_lines(corpus.must("generate model.h5 -p 'the cat' --num-samples 3 --jsonl").out);
  REQUIRE(lines.size() == 3);
  CHECK(lines[2]["sample"] == 3);
  CHECK(lines_of(corpus.must("generate model.h5 -p 'the cat' --num-samples 3").out).size() == 3);
  const std::string greedy = "generate model.h5 -p 'the cat' --temperature 0 --max-tokens 40 ";
  CHECK(corpus.must(greedy + "--repetition-penalty 1.0").out == corpus.must(greedy).out);
  CHECK(corpus.must(greedy + "--repetition-penalty 5").out != corpus.must(greedy).out);
  CHECK(corpus.must("generate model.h5 -p 'the cat' --min-p 1 --max-tokens 40").out == corpus.must(greedy).out);
}

TEST_CASE("generate: every way of decoding stops before stop strings") {
  const Trained corpus;
  for (const std::string options : {"--temperature 0", "--num-samples 2", "--beam 3 --n-best 3", "--stream"}) {
    CAPTURE(options);
    const std::string command = "generate model.h5 prompts --max-tokens 60 --stop . --stop sings " + options;
    for (const std::string& line : lines_of(corpus.must(command).out)) {
      CHECK_FALSE(contains(line, "."));
      CHECK_FALSE(contains(line, "sings"));
      CHECK(line.size() < 60);
    }
  }
}

TEST_CASE("generate: --stream writes what it would write without, as it is made; answers do not wait for more lines") {
  const Trained corpus;
  const std::string command = "generate model.h5 prompts --max-tokens 40 ";
  CHECK(corpus.must(command + "--stream").out == corpus.must(command).out);
  CHECK(corpus.must("generate model.h5 -p 'the cat' --stream").out ==
        corpus.must("generate model.h5 -p 'the cat'").out);
  for (const char* options : {"", "--stream", "--beam 2", "--score"}) {
    CAPTURE(options);
    const Outcome outcome = corpus.must("coproc generate -q model.h5 " + std::string(options) +
                                        "\necho 'the cat' >&${COPROC[1]}\nread -t 600 answer <&${COPROC[0]}\n"
                                        "echo \"got $answer\"\nexec {COPROC[1]}>&-\nwait");
    CHECK(lines_of(outcome.out).front().size() > 5);
  }
}

TEST_CASE("generate: options that contradict each other are refused, and the message says what to do") {
  const Trained corpus;
  for (const auto& [options, says] : std::vector<std::pair<std::string, std::string>>{
           {"--beam 4 --temperature 0.5", "--temperature has no effect with --beam"},
           {"--beam 4 --top-k 5", "--top-k has no effect with --beam"},
           {"--beam 4 --top-p 0.5", "--top-p has no effect with --beam"},
           {"--beam 4 --min-p 0.5", "--min-p has no effect with --beam"},
           {"--beam 4 --repetition-penalty 2", "a beam search ranks texts by the model's unchanged probabilities"},
           {"--beam 4 --num-samples 2", "--num-samples has no effect with --beam"},
           {"--beam 4 --n-best 5", "--n-best 5 is more than --beam 4; raise --beam or lower --n-best"},
           {"--beam 4 --stream", "leave out --stream or --beam"},
           {"--n-best 2", "--n-best has no effect without --beam"},
           {"--length-penalty 1", "--length-penalty has no effect without --beam"},
           {"--beam 4 --length-penalty -1", "--length-penalty"},
           {"--stream --jsonl", "leave out --stream or --jsonl"},
           {"--stream --num-samples 2", "leave out --stream or --num-samples"},
           {"--stream --batch-size 2", "--batch-size has no effect with --stream"},
           {"--score --beam 2", "--beam has no effect with --score"},
           {"--score --max-tokens 2", "--max-tokens has no effect with --score"},
           {"--score --stop x", "--stop has no effect with --score"},
           {"--score --temperature 1", "--temperature has no effect with --score"},
           {"--score --top 3", "--top: is for models that fill in masks"},
           {"--temperature 0 --num-samples 2", "all samples are equal"},
           {"--temperature 0 --min-p 0.1", "--min-p has no effect with --temperature 0"},
           {"--num-samples 0", "--num-samples"},
           {"--min-p 2", "from 0 to 1"},
           {"--min-tokens 8 --max-tokens 7",
            "--min-tokens 8 is more than --max-tokens 7; lower it or raise --max-tokens"},
           {"--score --min-tokens 2", "--min-tokens has no effect with --score"},
           {"--score --no-repeat-ngram-size 2", "--no-repeat-ngram-size has no effect with --score"},
           {"--repetition-penalty 0", "more than 0"}}) {
    corpus.refused("generate model.h5 -p 'the cat' " + options, 2, says);
  }
}

TEST_CASE("generate: no n-gram of tokens comes twice, prompt included, however the text is decoded") {
  const Trained corpus;
  write_file(corpus.path("prompts"), "the cat sees the cat\nthe old king\n");
  for (const std::string options : {"--temperature 0", "--num-samples 2 --temperature 0.3", "--beam 3 --n-best 2"}) {
    CAPTURE(options);
    const std::string command = "generate model.h5 prompts --jsonl --max-tokens 40 " + options;
    const auto repeats = [&](const std::string& more) {
      int count = 0;
      for (const json& line : json_lines(corpus.steady(command + more))) {
        auto ids =
            parse_json(corpus.must("tokenize -t tokenizer.h5 --jsonl <<< '" + line["prompt"].get<std::string>() + "'")
                           .out)["ids"]
                .get<std::vector<int>>();
        const std::size_t prompt = ids.size();
        for (const json& id : line["ids"]) ids.push_back(id.get<int>());
        for (std::size_t i = std::max<std::size_t>(prompt, 2); i < ids.size(); ++i) {
          for (std::size_t k = 2; k < i; ++k) {
            count += std::equal(ids.begin() + static_cast<long>(i) - 2, ids.begin() + static_cast<long>(i) + 1,
                                ids.begin() + static_cast<long>(k) - 2)
                         ? 1
                         : 0;
          }
        }
      }
      return count;
    };
    CHECK(repeats("") > 0);
    CHECK(repeats(" --no-repeat-ngram-size 3") == 0);
  }
}

TEST_CASE("generate: neither the end of a text nor a stop string ends it before --min-tokens") {
  const Trained corpus;
  for (const std::string options : {"--temperature 0", "--num-samples 3", "--beam 3"}) {
    CAPTURE(options);
    const std::string command = "generate model.h5 -p 'the cat' --jsonl --max-tokens 20 --stop e --stop a " + options;
    for (const json& line : json_lines(corpus.must(command).out)) CHECK(line["ids"].size() < 12);
    for (const json& line : json_lines(corpus.must(command + " --min-tokens 12").out)) {
      CHECK(line["ids"].size() >= 12);
      CHECK(line["ids"].size() <= 20);
      // The stop string follows the first twelve tokens, and is no part of the text.
      const auto text = line["text"].get<std::string>();
      CHECK(text.find_first_of("ea") != std::string::npos);
      if (line["ids"].size() < 20) CHECK(line["ids"].size() > 12);
    }
  }
  // The tokens are those of a text without any stop string.
  const std::string greedy = "generate model.h5 -p 'the cat' --jsonl --temperature 0 --max-tokens 30";
  const json free = parse_json(corpus.must(greedy).out);
  const json stopped = parse_json(corpus.must(greedy + " --stop e --min-tokens 9").out);
  REQUIRE(stopped["ids"].size() > 9);
  for (std::size_t i = 0; i < stopped["ids"].size(); ++i) CHECK(stopped["ids"][i] == free["ids"][i]);
  CHECK(free["text"].get<std::string>().starts_with(stopped["text"].get<std::string>()));
  const std::string stream = "generate model.h5 -p 'the cat' --temperature 0 --max-tokens 30 --stop e --min-tokens 9";
  CHECK(corpus.must(stream).out == "the cat" + stopped["text"].get<std::string>() + "\n");
}

TEST_CASE("generate: a text without a prompt is what its tokens stand for, spaces within it included") {
  const SmallCorpus corpus;
  corpus.must(
      "tokenize -q --train --model unigram --vocab-size 300 -o unigram.h5 train.txt && "
      "pretrain -q --train train.txt -t unigram.h5 -o u.h5 --steps 60" +
      tiny_model);
  const json written = parse_json(corpus.must("generate u.h5 -p '' --jsonl --temperature 0 --max-tokens 12").out);
  std::string ids;
  for (const json& id : written["ids"]) ids += (ids.empty() ? "" : " ") + id.dump();
  const std::string text = written["text"];
  CHECK(std::ranges::count(text, ' ') > 1);
  CHECK(corpus.must("echo " + ids + " | tokenize -t unigram.h5 --decode").out == text + "\n");
}

}  // namespace generate_modes_tests
