// Contributions of words to answers, from outside: inspect explain.
#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>

#include "libcore/base/random.hpp"
#include "libcore/base/strings.hpp"
#include "support/json.hpp"
#include "tools/small_corpus.hpp"

using namespace heddle;
using namespace heddle::testing;
using nlohmann::json;

namespace inspect_explain_tests {

namespace {

const std::vector<std::string> fillers{"the", "a",  "film", "plot", "actor", "scene", "music", "story", "was",  "is",
                                       "and", "of", "in",   "long", "short", "new",   "old",   "day",   "city", "road"};

// 6 to 12 words, one of which is the given one.
std::string text_with(const std::string& word, std::uint64_t number) {
  const RandomStream stream(7, number);
  const auto below = [&](std::uint64_t index, std::size_t count) {
    return static_cast<std::size_t>(stream.uniform(index) * static_cast<double>(count));
  };
  const std::size_t count = 6 + below(0, 7), place = below(1, count);
  std::string text;
  for (std::size_t i = 0; i < count; ++i) {
    text += (i > 0 ? " " : "") + (i == place ? word : fillers[below(2 + i, fillers.size())]);
  }
  return text;
}

// A bag, a network, a tagger and translators, of texts in which one word decides.
class DecidedCorpus : public SmallCorpus {
 public:
  DecidedCorpus() {
    begin_with("decided texts", [&] { train(); });
  }
  json explain(const std::string& words) const { return parse_json(must("inspect explain -q --json " + words).out); }

 private:
  void train() const {
    std::string labelled = "label,text\n", plain, asked, tags, pairs;
    for (std::uint64_t i = 0; i < 400; ++i) {
      const std::string text = text_with(i % 2 == 0 ? "splendid" : "dreadful", i);
      labelled += (i % 2 == 0 ? "good," : "bad,") + text + "\n";
      plain += text + "\n";
      if (i < 60) asked += text_with(i % 2 == 0 ? "splendid" : "dreadful", 1000 + i) + "\n";
      for (const std::string& word : split(text, ' ')) {
        tags += word + (word == "splendid" ? " YES\n" : word == "dreadful" ? " NO\n" : " O\n");
      }
      tags += "\n";
      pairs += text + "\t" + text + "\n";
    }
    for (const auto& [name, content] : std::vector<std::pair<std::string, std::string>>{{"reviews.csv", labelled},
                                                                                        {"plain.txt", plain},
                                                                                        {"asked.txt", asked},
                                                                                        {"tags.txt", tags},
                                                                                        {"pairs.tsv", pairs}}) {
      write_file(path(name), content);
    }
    const std::string shape = " --layers 1 --width 32 --heads 2 --context 32 --batch-size 16 --steps ";
    must("tokenize -q --train --model wordpiece --vocab-size 90 -o pieces.h5 plain.txt");
    must("pretrain -q --train plain.txt -t pieces.h5 --arch encoder -o encoder.h5" + shape + "200");
    must("pretrain -q --train plain.txt -t pieces.h5 --arch decoder -o decoder.h5" + shape + "20");
    must("finetune -q --from encoder.h5 --task classify --train reviews.csv --epochs 3 -o network.h5");
    must("finetune -q --from encoder.h5 --task label --train tags.txt --epochs 5 -o tagger.h5");
    must("finetune -q --arch bag --task classify --train reviews.csv -o bag.h5");
    must("finetune -q --arch bag --task label --train tags.txt -o tags.h5");
    must("tokenize -q --train --vocab-size 300 -o bpe.h5 plain.txt");
    must("tokenize -q -t bpe.h5 --pairs -o pairs.h5 pairs.tsv");
    must("pretrain -q --train pairs.h5 --arch encoder-decoder -o translator.h5" + shape + "3");
  }
};

double sum_of(const json& answer) {
  double sum = 0;
  for (const json& word : answer["contributions"]) sum += word.get<double>();
  return sum;
}

// In what part of the texts the word that decides contributes most.
double first_in(const json& found) {
  double first = 0;
  for (const json& text : found["texts"]) {
    const auto contributions = text["answers"][0]["contributions"].get<std::vector<double>>();
    const auto best = std::ranges::max_element(contributions) - contributions.begin();
    const auto word = text["words"][static_cast<std::size_t>(best)].get<std::string>();
    first += word == "splendid" || word == "dreadful" ? 1 : 0;
  }
  return first / static_cast<double>(found["texts"].size());
}

}  // namespace

TEST_CASE("inspect explain: the word that decides comes first, of bags and of networks") {
  const DecidedCorpus corpus;
  for (const std::string model : {"bag.h5", "network.h5", "network.h5 --method leave-out"}) {
    CAPTURE(model);
    const json found = corpus.explain(model + " asked.txt --documents line");
    CHECK(found["texts"].size() == 60);
    CHECK(first_in(found) >= 0.95);
  }
}

TEST_CASE("inspect explain: contributions sum to the answer that classify gives") {
  const DecidedCorpus corpus;
  for (const std::string model : {"bag.h5", "network.h5"}) {
    CAPTURE(model);
    const json found = corpus.explain(model + " asked.txt --documents line --class all");
    CHECK(found["method"] == (model == "bag.h5" ? "exact" : "integrated"));
    const std::vector<std::string> predicted =
        lines_of(corpus.must("classify -q " + model + " asked.txt --top 2 --jsonl").out);
    for (std::size_t t = 0; t < found["texts"].size(); ++t) {
      const json& answers = found["texts"][t]["answers"];
      const json probabilities = parse_json(predicted[t])["top"];
      for (const json& answer : answers) {
        const double left = answer["value"].get<double>() - answer["base"].get<double>() - sum_of(answer);
        const double change = std::abs(sum_of(answer));
        CHECK(std::abs(left) <= (model == "bag.h5" ? 1e-6 : 1e-3 * std::max(1.0, change) * 1.01));
        CHECK(answer.contains("steps") == (model == "network.h5"));
        for (const json& each : probabilities) {
          if (each[0] != answer["answer"]) continue;
          CHECK(each[1].get<double>() == doctest::Approx(answer["probability"].get<double>()).epsilon(1e-4));
        }
      }
    }
  }
}

TEST_CASE("inspect explain: of tags and tokens, each has contributions of its own") {
  const DecidedCorpus corpus;
  for (const std::string tagger : {"tags.h5", "tagger.h5"}) {
    CAPTURE(tagger);
    const json all = corpus.explain(tagger + " 'the splendid film'");
    REQUIRE(all["texts"][0]["answers"].size() == 3);
    CHECK(all["texts"][0]["answers"][1]["answer"] == "YES");
    const json one = corpus.explain(tagger + " 'the splendid film' --place 2");
    CHECK(one["texts"][0]["answers"] == json::array({all["texts"][0]["answers"][1]}));
    const auto words = one["texts"][0]["answers"][0]["contributions"].get<std::vector<double>>();
    CHECK(std::ranges::max_element(words) - words.begin() == 1);
    const json no = corpus.explain(tagger + " 'the splendid film' --place 2 --class NO");
    CHECK(no["texts"][0]["answers"][0]["contributions"][1].get<double>() < words[1]);
  }
  const json next = corpus.explain("decoder.h5 'the film was long'")["texts"][0]["answers"];
  for (std::size_t i = 0; i < next.size(); ++i) {  // a later word contributes nothing
    CHECK(next[i]["contributions"].back().get<double>() == 0);
    CHECK(std::exp(next[i]["value"].get<double>()) == doctest::Approx(next[i]["probability"].get<double>()));
  }
  const json own = corpus.explain("translator.h5 'the film'")["texts"][0];
  CHECK(own["words"] == json::array({"the", "film"}));
  const json given = corpus.explain("translator.h5 --text 'the film\tthe film'")["texts"][0];
  CHECK(given["target"] == "the film");
  CHECK(given["answers"].size() > 2);
}

TEST_CASE("inspect explain: the forms of the answer") {
  const DecidedCorpus corpus;
  const std::string printed = corpus.must("inspect explain network.h5 'the splendid film'").out;
  CHECK(printed.starts_with("integrated gradients\ngood  logit "));
  CHECK(printed.find(" steps leave ") != printed.npos);
  corpus.must("inspect explain bag.h5 asked.txt --documents line -o words.tsv");
  const std::vector<std::string> rows = lines_of(read_file(corpus.path("words.tsv")));
  CHECK(rows[0] == "text_number\tplace\tanswer\tvalue\tword_number\tword\tcontribution");
  CHECK(rows[1].starts_with("1\t\tgood\t"));
  for (const std::string name : {"one.svg", "one.png", "one.html"}) {
    corpus.must("inspect explain bag.h5 'the splendid film' --class all -o " + name);
    CHECK(read_file(corpus.path(name)).size() > 1000);
  }
  corpus.must("inspect explain tagger.h5 'the splendid film of the day' -o many.svg");
}

TEST_CASE("inspect explain: what has no explanation is refused in one line") {
  const DecidedCorpus corpus;
  corpus.refused("inspect explain bag.h5 text --class nicer", 2, "--class nicer: the model has the classes bad, good");
  corpus.refused("inspect explain bag.h5 text --method gradient", 2, "--method: the contributions of a bag of words");
  corpus.refused("inspect explain bag.h5 text --place 2", 2, "--place: is for tags and tokens");
  corpus.refused("inspect explain tagger.h5 text --place 2", 2, "--place 2: the text has 1 word");
  corpus.refused("inspect explain decoder.h5 text --class good", 2, "--class: the model predicts tokens");
  corpus.refused("inspect explain encoder.h5 text", 1, "inspect explain needs a fine-tuned model");
  corpus.refused("inspect explain network.h5 plain.txt", 1, "tokens are more than the model's context of 32");
  corpus.refused("inspect explain bag.h5 asked.txt --documents line -o x.svg", 2, "a picture shows one text");
  corpus.refused("inspect explain bag.h5 text -o x.txt", 2, "explanations can be written to");
}

}  // namespace inspect_explain_tests
