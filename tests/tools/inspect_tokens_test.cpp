// Tokens of texts and their probabilities, from outside: inspect tokens and inspect surprise.
#include <cmath>
#include <nlohmann/json.hpp>

#include "support/json.hpp"
#include "support/skips.hpp"
#include "tools/small_corpus.hpp"

using namespace heddle;
using namespace heddle::testing;
using nlohmann::json;

namespace inspect_tokens_tests {

namespace {

// Decoder, encoder, recurrent models and a model of pairs; their weights are drawn, and trained for a moment.
class ModelCorpus : public EncoderCorpus {
 public:
  ModelCorpus() {
    begin_with("models of surprise", [&] {
      must("tokenize -q -t tokenizer.h5 -o train.h5 train.txt");
      must("pretrain -q --train train.h5 -o decoder.h5 --steps 20" + tiny_shape);
      must("pretrain -q --arch lstm --layers 1 --width 16 --train train.h5 -o lstm.h5 --steps 3 --batch-size 4");
      must("tokenize -q -t pieces.h5 -o pieces-train.h5 train.txt");
      must("pretrain -q --arch encoder --train pieces-train.h5 -o encoder.h5 --steps 20" + tiny_shape);
      must("tokenize -q -t tokenizer.h5 --pairs -o pairs.h5 train.txt train.txt");
      must("pretrain -q --arch rnn --train pairs.h5 -o rnn.h5 --width 16 --steps 3 --batch-size 4");
    });
  }
  json surprise(const std::string& words) const { return parse_json(must("inspect surprise -q --json " + words).out); }
};

double sum_of(const json& text) {
  double sum = 0;
  for (const json& token : text["scores"]) sum += token.value("log_probability", 0.0);
  return sum;
}

// The data of a page, which is the only element of type application/json.
json data_of(const std::string& page) {
  const std::string begin = "<script type=\"application/json\" id=\"data\">";
  const std::size_t at = page.find(begin) + begin.size();
  return parse_json(page.substr(at, page.find("</script>", at) - at));
}

}  // namespace

TEST_CASE("inspect diff: the first token that differs, near the beginning of a file and far from it") {
  const SmallCorpus corpus;
  corpus.must("tokenize -q --train --model byte -o bytes.h5 train.txt");
  std::string text(200'000, 'a');
  const auto write = [&](const std::string& name) {
    write_file(corpus.path(name + ".txt"), text);
    corpus.must("tokenize -q -t bytes.h5 -o " + name + ".h5 " + name + ".txt");
  };
  write("a");
  for (const auto& [at, said] : {std::pair(3, "3"), {65'535, "65,535"}, {65'536, "65,536"}, {150'001, "150,001"}}) {
    text[static_cast<std::size_t>(at)] = 'b';
    write("b");
    text[static_cast<std::size_t>(at)] = 'a';
    const Outcome found = corpus.run("inspect diff a.h5 b.h5");
    CHECK(found.status == 1);
    CHECK(contains(found.out, concatenate("differ from token ", said, " on, counted from 0")));
  }
  text += "a";
  write("b");
  CHECK(parse_json(corpus.run("inspect diff --json a.h5 b.h5").out)["first_token"].get<long>() >= 200'000);
}

TEST_CASE("inspect tokens: bars between tokens, ids and offsets in bytes and characters as tokenize has them") {
  const SmallCorpus corpus;
  const std::string text = "the cat sees € a dög.";
  write_file(corpus.path("text"), text + "\n");
  const Outcome plain = corpus.must("inspect tokens tokenizer.h5 text");
  CHECK(contains(plain.out, "the│ cat│ sees│ │€│‥│‥│ a│"));
  CHECK(contains(plain.out, "24 bytes, 21 characters"));
  CHECK(!contains(plain.out, "\033"));
  const json found = parse_json(corpus.must("inspect tokens tokenizer.h5 text --json").out);
  const json wanted = parse_json(corpus.must("tokenize -t tokenizer.h5 --offsets --jsonl text").out);
  const json& tokens = found["texts"][0]["tokens"];
  REQUIRE(tokens.size() == wanted["ids"].size());
  CHECK(found["tokens"] == tokens.size());
  for (std::size_t i = 0; i < tokens.size(); ++i) {
    CHECK(tokens[i]["id"] == wanted["ids"][i]);
    CHECK(json{tokens[i]["begin"], tokens[i]["end"]} == wanted["offsets"][i]);
    // Every byte before the euro sign is a character; after it there are two fewer.
    const auto begin = tokens[i]["begin"].get<std::size_t>();
    if (begin <= 13) CHECK(tokens[i]["begin_character"] == begin);
    if (begin >= 16 && begin <= 20) CHECK(tokens[i]["begin_character"] == begin - 2);
  }
  CHECK(corpus.must("inspect tokens tokenizer.h5 < text").out == plain.out);
  CHECK(corpus.must("inspect tokens tokenizer.h5 --text '" + text + "'").out == plain.out);
  CHECK(corpus.must("inspect tokens tokenizer.h5 '" + text + "'").out == plain.out);
}

TEST_CASE("inspect tokens: words of wordpiece are the text's own, and what no token stands for stays") {
  const EncoderCorpus corpus;
  const std::string table = corpus.must("inspect tokens pieces.h5 'The  KING sees' --table").out;
  CHECK(contains(table, "the "));
  CHECK(contains(table, "5:9"));
  CHECK(contains(table, "KING"));
  CHECK(contains(corpus.must("inspect tokens pieces.h5 'The  KING sees'").out, "The  │KING │sees\n"));
}

TEST_CASE("inspect tokens: a terminal gets colours unless NO_COLOR is set") {
  const SmallCorpus corpus;
  if (run_command("command -v script").status != 0) {
    skipped("there is no script(1)");
    return;
  }
  const std::string on_terminal = "TERM=xterm script -qec \"inspect tokens tokenizer.h5 'the cat'\" /dev/null";
  CHECK(contains(corpus.must(on_terminal).out, "\033[38;5;16;48;5;"));
  const std::string plain = corpus.must("NO_COLOR=1 " + on_terminal).out;
  CHECK(!contains(plain, "\033"));
  CHECK(contains(plain, "the│ cat"));
}

TEST_CASE("inspect tokens: lines and paragraphs are texts of their own") {
  const SmallCorpus corpus;
  const auto texts = [&](const std::string& documents) {
    std::vector<std::string> found;
    const std::string command =
        "printf 'a cat\\nsees\\n\\nthe dog\\n' | inspect tokens tokenizer.h5 --jsonl --documents ";
    for (const json& text : json_lines(corpus.must(command + documents).out)) found.push_back(text["text"]);
    return found;
  };
  CHECK(texts("file") == std::vector<std::string>{"a cat\nsees\n\nthe dog"});
  CHECK(texts("line") == std::vector<std::string>{"a cat", "sees", "the dog"});
  CHECK(texts("blank") == std::vector<std::string>{"a cat\nsees", "the dog"});
}

TEST_CASE("inspect tokens: a page and a table have the same tokens, and markup in a text stays text") {
  const SmallCorpus corpus;
  const std::string text = R"(the </script><img src=x onerror=alert(1)> \0 )"
                           "\xe2\x80\xae cat";
  write_file(corpus.path("text"), text);
  corpus.must("printf '\\0' >> text; inspect tokens tokenizer.h5 text -o page.html");
  const std::string page = read_file(corpus.path("page.html"));
  CHECK(!contains(page, "<img"));
  CHECK(contains(page, "default-src 'none'"));
  const json data = data_of(page);
  std::string shown;
  for (const json& token : data["texts"][0]["texts"]) shown += token.get<std::string>();
  CHECK(contains(shown, "the </script><img src=x onerror=alert(1)> \\0 "));
  CHECK(!contains(shown, "\xe2\x80\xae"));
  CHECK(!contains(shown, std::string(1, '\0')));
  corpus.must("inspect tokens tokenizer.h5 text -o table.tsv");
  const std::string table = read_file(corpus.path("table.tsv"));
  CHECK(table.starts_with("text_number\ttoken\tid\tpiece\tbegin\tend\tbegin_character\tend_character\ttext\n"));
  CHECK(lines_in(table) == 1 + static_cast<long>(data["texts"][0]["ids"].size()));
}

TEST_CASE("inspect tokens: bad input") {
  const EncoderCorpus corpus;
  corpus.must(
      "tokenize -q --train --model char --no-byte-fallback -o char.h5 train.txt; printf 'a c\\377t' > bytes; : > "
      "empty");
  corpus.must("printf 'the cat\\nsees a \\342\\202\\254' > euro");
  corpus.refused("inspect tokens tokenizer.h5 nothere.txt", 1, "inspect: nothere.txt: there is no such file; --text");
  corpus.refused("inspect tokens tokenizer.h5 ''", 2, "the TEXT is empty");
  corpus.refused("inspect tokens tokenizer.h5 empty", 1, "inspect: empty: has no text");
  corpus.refused("inspect tokens tokenizer.h5 --text ''", 2, "--text: the TEXT is empty");
  corpus.refused("inspect tokens tokenizer.h5 empty --text cat", 2, "--text gives the text; leave out 'empty'");
  corpus.refused("inspect tokens tokenizer.h5 cat -o x.txt", 2,
                 "x.txt: tokens are written into files that end in .html, .svg");
  corpus.must("inspect tokens tokenizer.h5 'the cat' -o x.svg");
  CHECK(contains(read_file(corpus.path("x.svg")), "<svg"));
  corpus.refused("inspect tokens tokenizer.h5 cat -o x.html --json", 2, "leave --json and --table out");
  corpus.refused("inspect tokens tokenizer.h5 train.txt -o tokenizer.h5", 2, "tokens are written into");
  corpus.refused("cp train.txt x.tsv; inspect tokens tokenizer.h5 x.tsv -o x.tsv", 2, "x.tsv");
  corpus.refused("inspect tokens nothere.h5 cat", 1, "nothere.h5");
  corpus.refused("inspect tokens pieces.h5 bytes", 1, "inspect: bytes:1:4: invalid UTF-8");
  corpus.refused("inspect tokens char.h5 euro", 1, "inspect: euro:2:8: ");
  corpus.refused("yes 'the cat' | head -n 30000 | inspect tokens tokenizer.h5 -o x.html", 1,
                 "tokens are more than the 50,000 that a page shows");
  CHECK(corpus.leftovers() == 0);
}

TEST_CASE("inspect surprise: next tokens, targets and texts in parts sum to what generate --score prints") {
  const ModelCorpus corpus;
  write_file(corpus.path("lines"), "the cat sees a dog.\nmy queen forgets the old king\n");
  write_file(corpus.path("pairs"), "the cat sees\ta dog sees\n");
  write_file(corpus.path("long"), std::string(40, 'q') + " the cat sees a dog\n");
  const std::vector<std::pair<std::string, std::string>> cases{
      {"decoder.h5", "lines"}, {"lstm.h5", "lines"}, {"rnn.h5", "pairs"}, {"decoder.h5", "long --overlong split"}};
  for (const auto& [model, words] : cases) {
    CAPTURE(words);
    const std::string lines = contains(words, "lines") ? " --documents line" : "";
    const auto scores = json_lines(corpus.must("generate -q --score --jsonl " + model + " " + words).out);
    const json found = corpus.surprise(model + " " + words + lines);
    REQUIRE(found["texts"].size() == scores.size());
    double sum = 0;
    for (std::size_t i = 0; i < scores.size(); ++i) {
      const json& text = found["texts"][i];
      CHECK(std::abs(sum_of(text) - scores[i]["log_likelihood"].get<double>()) < 1e-5);
      CHECK(text["tokens"] == scores[i]["tokens"]);
      for (std::size_t t = 0; t < text["scores"].size(); ++t) {
        CHECK(text["scores"][t]["id"] == scores[i]["ids"][t]);
        CHECK(text["scores"][t]["log_probability"] == scores[i]["log_probabilities"][t]);
      }
      sum += sum_of(text);
    }
    const double nats = -sum / found["tokens"].get<double>();
    CHECK(found["nats_per_token"].get<double>() == doctest::Approx(nats));
    CHECK(found["perplexity"].get<double>() == doctest::Approx(std::exp(nats)));
  }
  const json one = corpus.surprise("decoder.h5 'the cat sees a dog'");
  write_file(corpus.path("returns"), "the cat sees a dog\r\n");
  CHECK(corpus.surprise("decoder.h5 returns")["texts"][0]["tokens"] == one["texts"][0]["tokens"]);
  CHECK(one["bits_per_byte"].get<double>() == doctest::Approx(-sum_of(one["texts"][0]) / std::log(2) / 18));
}

TEST_CASE("inspect surprise: ranks, alternatives and bits agree with each other") {
  const ModelCorpus corpus;
  for (const std::string model : {"decoder.h5", "encoder.h5"}) {
    const json found = corpus.surprise(model + " 'the cat sees a dog' --top 400");
    for (const json& token : found["texts"][0]["scores"]) {
      double sum = 0, above = 1, entropy = 0;
      for (const json& other : token["top"]) {
        sum += other["probability"].get<double>();
        above = std::min(above, other["probability"].get<double>());
        entropy -= other["probability"].get<double>() * std::log2(other["probability"].get<double>());
      }
      CHECK(sum == doctest::Approx(1));
      CHECK(token["entropy"].get<double>() == doctest::Approx(entropy).epsilon(1e-3));
      const json& own = token["top"][token["rank"].get<std::size_t>() - 1];
      CHECK(own["id"] == token["id"]);
      CHECK(std::log2(own["probability"].get<double>()) == doctest::Approx(-token["surprise"].get<double>()));
      CHECK(token["log_probability"].get<double>() == doctest::Approx(-token["surprise"].get<double>() * std::log(2)));
    }
  }
}

TEST_CASE("inspect surprise: an encoder predicts each token from all others, as fill-in does") {
  const ModelCorpus corpus;
  const json found = corpus.surprise("encoder.h5 'the cat sees a dog' --top 3");
  CHECK(found["probabilities_of"] == "masked tokens");
  CHECK(found.contains("pseudo_perplexity"));
  CHECK(!found.contains("bits_per_byte"));
  const json filled = parse_json(corpus.must("generate -q encoder.h5 -p 'the [MASK] sees a dog' --top 3 --jsonl").out);
  const json& top = found["texts"][0]["scores"][1]["top"];
  for (std::size_t i = 0; i < 3; ++i) {
    CHECK(top[i]["piece"] == filled["masks"][0]["top"][i][0]);
    CHECK(top[i]["probability"].get<double>() ==
          doctest::Approx(filled["masks"][0]["top"][i][1].get<double>()).epsilon(1e-4));
  }
}

TEST_CASE("inspect surprise: text for people, a page and a table") {
  const ModelCorpus corpus;
  const std::string text = corpus.must("inspect surprise decoder.h5 'the cat sees a dog'").out;
  const auto lines = lines_of(text);
  CHECK(lines[0].starts_with("the "));
  CHECK(contains(lines[0], "␣cat"));
  CHECK(contains(lines[1], "."));
  CHECK(contains(text, "nats per token"));
  CHECK(contains(corpus.must("inspect surprise decoder.h5 'the cat' --table").out, "most probable\n"));
  // Tokens and their numbers go on in other lines where they are too many for one.
  const std::string many = "'" + repeated("the old king forgets my queen ", 5) + "'";
  const auto wrapped = lines_of(corpus.must("inspect surprise --overlong split decoder.h5 " + many).out);
  int words = 0;
  for (const std::string& line : wrapped) {
    CHECK(std::ranges::count_if(line, [](char letter) { return (letter & 0xC0) != 0x80; }) <= 96);
    words += contains(line, "queen") || contains(line, "forgets") ? 1 : 0;
  }
  CHECK(words > 1);
  CHECK(contains(corpus.must("inspect surprise encoder.h5 'the cat'").out, "pseudo-perplexity"));
  corpus.must("inspect surprise decoder.h5 'the cat sees a dog' -o page.html");
  const json data = data_of(read_file(corpus.path("page.html")));
  const json found = corpus.surprise("decoder.h5 'the cat sees a dog'");
  CHECK(data["scored"]["nats_per_token"] == found["nats_per_token"]);
  for (std::size_t i = 0; i < data["texts"][0]["ids"].size(); ++i) {
    const json& token = found["texts"][0]["scores"][i];
    CHECK(data["texts"][0]["surprise"][i].get<double>() ==
          doctest::Approx(token["surprise"].get<double>()).epsilon(1e-4));
    CHECK(data["texts"][0]["rank"][i] == token["rank"]);
    const json& top = data["texts"][0]["top"][i];
    REQUIRE(top.size() == token["top"].size());
    for (std::size_t k = 0; k < top.size(); ++k) {
      CHECK(top[k][0] == token["top"][k]["piece"]);
      CHECK(top[k][2] == token["top"][k]["id"]);
    }
  }
  corpus.must("inspect surprise rnn.h5 --text \"$(printf 'the cat\\ta dog')\" -o table.tsv");
  CHECK(contains(read_file(corpus.path("table.tsv")), "log_probability\tsurprise\trank\tentropy\ttop\n"));
}

TEST_CASE("inspect surprise: bad input") {
  const ModelCorpus corpus;
  write_file(corpus.path("long"), std::string(100, 'q'));
  corpus.must("pretrain -q --arch bilm --layers 1 --width 16 --train train.h5 -o bilm.h5 --steps 1 --batch-size 4");
  corpus.refused("inspect surprise decoder.h5 long", 1, "inspect: long:1: the text has ");
  corpus.refused("inspect surprise encoder.h5 --text 'a a a a a a a a a a a a a a a a a a' --overlong split", 2,
                 "--overlong split: masked tokens need all of their text");
  corpus.refused("inspect surprise rnn.h5 'the cat'", 1, "is not SOURCE, tab, TARGET");
  corpus.refused("inspect surprise rnn.h5 'the cat' --documents file", 2, "--documents: this model scores pairs");
  corpus.refused("inspect surprise bilm.h5 'the cat'", 1, "bilm.h5: inspect surprise needs a model that predicts");
  corpus.refused("inspect surprise tokenizer.h5 'the cat'", 1, "tokenizer.h5");
  corpus.refused("inspect surprise decoder.h5 'the cat' -o x.h5", 2,
                 "x.h5: surprise is written into files that end in");
  corpus.refused("inspect surprise decoder.h5 'the cat' --top -1", 2, "--top");
  for (const std::string answer : {"", " -o x.svg"}) {
    corpus.refused("inspect surprise decoder.h5 'the cat' --top 2" + answer, 2, "--top has no effect without --table");
  }
  corpus.must("inspect surprise decoder.h5 'the cat' --top 2 --table");
}

}  // namespace inspect_tokens_tests
