// Models that predict together: classify a.h5,b.h5, and finetune --ensemble.
#include <cmath>
#include <filesystem>
#include <map>

#include "formats/heddle/task_file.hpp"
#include "support/json.hpp"
#include "tools/labelled_corpus.hpp"

using namespace heddle;
using namespace heddle::testing;

namespace ensemble_tests {

namespace {

const std::string bag = "finetune -q --arch bag --task ";

// The probability of the class `animal` for each line of texts.txt.
std::vector<double> animals(const Labelled& corpus, const std::string& models) {
  std::vector<double> all;
  for (const json& answer : json_lines(corpus.must("classify --jsonl --top 2 " + models + " texts.txt").out)) {
    for (const json& entry : answer["top"]) {
      if (entry[0] == "animal") all.push_back(entry[1].get<double>());
    }
  }
  REQUIRE(all.size() == 120);
  return all;
}

// The same model, whose labels have other names.
void name_labels(const std::string& path, const std::vector<std::string>& labels) {
  const formats::LoadedTask loaded = formats::load_task(path);
  models::TaskConfig task = loaded.model->task();
  task.labels = labels;
  const ParameterSource weights = ParameterSource::given([&](const Declaration& declaration) {
    return loaded.model->parameters().find(declaration.names.front())->value();
  });
  const models::TaskModel named(models::make_model(loaded.model->body().config(), weights), task);
  formats::save_task(path + ".named", {named, &loaded.tokenizer->model(), {}, {}});
  std::filesystem::rename(path + ".named", path);
}

double logit(double p) {
  return std::log(p / (1 - p));
}

}  // namespace

TEST_CASE("ensemble: a network and a bag, by the mean of their log-probabilities or by weights that a file has") {
  const Labelled corpus;
  corpus.must(bag + "classify --train texts.tsv -o bag.h5 --steps 3");
  corpus.must("finetune --from model.h5 --train texts.tsv -o net.h5 -q --steps 3 --learning-rate 1e-3");
  const std::vector<double> of_bag = animals(corpus, "bag.h5"), of_net = animals(corpus, "net.h5"),
                            mean = animals(corpus, "bag.h5,net.h5");
  const std::string made = corpus.must("finetune --ensemble bag.h5,net.h5 --valid texts.tsv -o both.h5").out;
  CHECK(lines_in(made) == 4);
  CHECK(contains(made, "both.h5"));
  const json members = parse_json(corpus.must("inspect both.h5 --json").out)["ensemble"];
  std::vector<std::string> read;
  const json steps = parse_json(corpus.must("inspect both.h5 --provenance --json").out)["provenance"];
  for (const json& input : steps.back()["inputs"]) read.push_back(input["name"]);
  CHECK(read == std::vector<std::string>{"bag.h5", "net.h5", "texts.tsv"});
  CHECK(members["names"] == json({"bag.h5", "net.h5"}));
  const double w = members["shares"][0], v = members["shares"][1];
  CHECK(w + v > 0);
  const std::vector<double> together = animals(corpus, "both.h5");
  for (std::size_t i = 0; i < mean.size(); ++i) {
    CHECK(logit(mean[i]) == doctest::Approx((logit(of_bag[i]) + logit(of_net[i])) / 2).epsilon(1e-3));
    CHECK(logit(together[i]) == doctest::Approx(w * logit(of_bag[i]) + v * logit(of_net[i])).epsilon(1e-3));
  }
  const json judged = corpus.evaluated("classify both.h5 texts.tsv");
  CHECK(judged["accuracy"] >= 0.9);
  CHECK(judged["baseline"]["what"].is_string());
  CHECK(contains(corpus.must("inspect verify both.h5").out, "no problem"));
  corpus.must("classify both.h5 texts.tsv --evaluate -o predictions.tsv");
  CHECK(lines_in(read_file(corpus.path("predictions.tsv"))) == 121);
}

TEST_CASE("ensemble: a model may have the same labels in another order") {
  const Labelled corpus;
  corpus.must("sed 's/^animal/x/; s/^royal/animal/; s/^x/royal/' texts.tsv > turned.tsv");
  corpus.must(bag + "classify --train texts.tsv -o a.h5 --steps 3 && " + bag +
              "classify --train turned.tsv -o b.h5 --steps 9");
  // With their names exchanged, the second model's classes are royal and animal.
  name_labels(corpus.path("b.h5"), {"royal", "animal"});
  REQUIRE(parse_json(corpus.must("inspect b.h5 --json").out)["task"]["labels"] == json({"royal", "animal"}));
  const std::vector<double> a = animals(corpus, "a.h5"), b = animals(corpus, "b.h5");
  REQUIRE(std::abs(logit(b[0])) > std::abs(logit(a[0])) + 0.1);
  for (const std::string models : {"a.h5,b.h5", "b.h5,a.h5"}) {
    const std::vector<double> mean = animals(corpus, models);
    for (std::size_t i = 0; i < mean.size(); ++i) {
      CHECK(logit(mean[i]) == doctest::Approx((logit(a[i]) + logit(b[i])) / 2).epsilon(1e-3));
    }
  }
}

TEST_CASE("ensemble: three labels in an order that is not its own inverse") {
  const Labelled corpus;
  corpus.must("for i in {1..40}; do printf 'a\\tcat\\nb\\tking\\nc\\tsees\\n'; done > three.tsv");
  corpus.must("tr abc bca < <(cut -f 1 three.tsv) | paste - <(cut -f 2 three.tsv) > turned.tsv");
  corpus.must(bag + "classify --train three.tsv -o a.h5 --steps 3 && " + bag +
              "classify --train turned.tsv -o b.h5 --steps 9");
  // Its class a was that of `sees`, which is c, and so on.
  name_labels(corpus.path("b.h5"), {"c", "a", "b"});
  write_file(corpus.path("words"), "cat\nking\nsees\n");
  const auto logs = [&](const std::string& models) {
    std::vector<std::map<std::string, double>> all;
    for (const json& answer : json_lines(corpus.must("classify --jsonl --top 3 " + models + " words").out)) {
      all.emplace_back();
      for (const json& entry : answer["top"]) all.back()[entry[0]] = std::log(entry[1].get<double>());
    }
    REQUIRE(all.size() == 3);
    return all;
  };
  auto a = logs("a.h5"), b = logs("b.h5");
  for (const std::string models : {"a.h5,b.h5", "b.h5,a.h5"}) {
    auto mean = logs(models);
    for (std::size_t i = 0; i < 3; ++i) {
      CAPTURE(i);
      for (const std::string other : {"b", "c"}) {
        CAPTURE(other);
        const double expected = (a[i]["a"] - a[i][other] + b[i]["a"] - b[i][other]) / 2;
        CHECK(mean[i]["a"] - mean[i][other] == doctest::Approx(expected).epsilon(1e-3));
      }
    }
    CHECK(mean[0]["a"] > mean[0]["b"]);
    CHECK(mean[1]["b"] > mean[1]["c"]);
    CHECK(mean[2]["c"] > mean[2]["a"]);
  }
}

TEST_CASE("ensemble: tags in an order that is not its own inverse") {
  const Labelled corpus;
  corpus.must("for i in {1..40}; do printf 'cat\\ta\nking\\tb\nsees\\tc\n\n'; done > three.conll");
  corpus.must("cut -f 2 three.conll | tr abc bca | paste <(cut -f 1 three.conll) - | sed 's/^\\t$//' > turned.conll");
  corpus.must(bag + "label --train three.conll -o a.h5 --steps 3 && " + bag +
              "label --train turned.conll -o b.h5 --steps 9");
  name_labels(corpus.path("b.h5"), {"c", "a", "b"});
  write_file(corpus.path("words.txt"), "cat\nking\nsees\n\n");
  // The second model, which is surer, has the same tags by its own names; together they say what each says.
  for (const std::string models : {"a.h5", "b.h5", "a.h5,b.h5", "b.h5,a.h5"}) {
    CAPTURE(models);
    CHECK(corpus.must("classify " + models + " words.txt").out == "cat\ta\nking\tb\nsees\tc\n\n");
    CHECK(corpus.evaluated("classify " + models + " three.conll")["accuracy"] == 1.0);
  }
}

TEST_CASE("ensemble: it is compared with the best of its models") {
  const Labelled corpus;
  corpus.must("finetune -q --arch bag --task classify --train texts.tsv -o good.h5");
  corpus.must("sed 's/^animal/x/; s/^royal/animal/; s/^x/royal/' texts.tsv > turned.tsv");
  corpus.must("finetune -q --arch bag --task classify --train turned.tsv -o bad.h5");
  const std::string err = corpus.must("finetune --ensemble bad.h5,good.h5 --valid texts.tsv -o both.h5").err;
  CHECK(contains(err, "the ensemble is not better than good.h5 alone: difference of accuracy 0.0000, from -0."));
  CHECK_FALSE(contains(err, "longer than the context"));
  // Two models that each know half of the words.
  corpus.must("for i in {1..40}; do printf 'a\\tcat\\nb\\tking\\n'; done > one.tsv");
  corpus.must("for i in {1..40}; do printf 'a\\tdog\\nb\\tqueen\\n'; done > two.tsv; cat one.tsv two.tsv > all.tsv");
  for (const std::string name : {"one", "two"}) {
    corpus.must("finetune -q --arch bag --task classify --train " + name + ".tsv -o " + name + ".h5");
  }
  CHECK(contains(corpus.must("finetune --ensemble one.h5,two.h5 --valid all.tsv -o all.h5").err,
                 "the ensemble is better than one.h5 alone: difference of accuracy 0.25"));
}

TEST_CASE("ensemble: tags and numbers") {
  const Labelled corpus;
  corpus.must(bag + "label --train tags.conll -o t.h5 --steps 4");
  corpus.must("finetune --from model.h5 --task label --train tags.conll -o u.h5" + quick);
  corpus.must("finetune --ensemble t.h5,u.h5 --valid tags.conll -o tags.h5");
  CHECK(corpus.evaluated("classify tags.h5 tags.conll")["accuracy"] == 1.0);
  CHECK(corpus.evaluated("classify t.h5,u.h5 tags.conll")["accuracy"] > 0.5);
  // Weights are from words that both models read, with tags that they know.
  const std::string ending = repeated("cat\tNOUN\n", 60) + "\nmy\tOTHER\nqueen\tNOUN\n\n";
  write_file(corpus.path("more.conll"), read_file(corpus.path("tags.conll")) + ending);
  corpus.must("finetune --ensemble t.h5,u.h5 --valid more.conll --overlong truncate -o more.h5");
  const json shares = parse_json(corpus.must("inspect tags.h5 --json").out)["ensemble"]["shares"],
             others = parse_json(corpus.must("inspect more.h5 --json").out)["ensemble"]["shares"];
  for (std::size_t m = 0; m < 2; ++m) CHECK(std::abs(shares[m].get<double>() - others[m].get<double>()) < 0.3);
  CHECK(corpus.evaluated("classify more.h5 more.conll --overlong truncate")["accuracy"] > 0.9);
  corpus.must("awk -F'\\t' '{print ($1 == \"animal\" ? 10 : 20) + NR % 3 \"\\t\" $2}' texts.tsv > numbers.tsv");
  corpus.must(bag + "regress --train numbers.tsv -o a.h5 --steps 9 && " + bag +
              "regress --train numbers.tsv -o b.h5 --steps 2");
  const auto error = [&](const std::string& models) {
    return corpus.evaluated("classify " + models + " numbers.tsv")["mean_squared_error"].get<double>();
  };
  const std::string make = "finetune --ensemble a.h5,b.h5 --valid numbers.tsv --metric mean_squared_error -o n.h5";
  CHECK(contains(corpus.must(make).err, "better than a.h5 alone: difference of mean_squared_error "));
  REQUIRE(error("a.h5") < error("b.h5"));
  CHECK(error("n.h5") <= std::min(error("a.h5"), error("b.h5")) + 1e-6);
  CHECK(error("a.h5,b.h5") < std::max(error("a.h5"), error("b.h5")));
}

TEST_CASE("ensemble: texts that are too long count once, whatever their number of models") {
  const Labelled corpus;
  for (const std::string name : {"a", "b"})
    corpus.must("finetune -q --from model.h5 --train texts.tsv --steps 1 -o " + name + ".h5");
  const std::string long_text = repeated("the cat sees a dog ", 10) + "\n";
  write_file(corpus.path("texts"), "a dog\n" + long_text + "the cat\n" + long_text);
  for (const auto& [how, what] : {std::pair<std::string, std::string>{"truncate", "truncated"}, {"split", "split"}}) {
    CHECK(corpus.must("classify a.h5,b.h5 texts --overlong " + how).err ==
          "classify: 2 texts were longer than the context, and " + what + "\n");
  }
}

TEST_CASE("ensemble: its models are in its own directory, and are those that it was made of") {
  const Labelled corpus;
  corpus.must(bag + "classify --train texts.tsv -o a.h5 --steps 3 && " + bag +
              "classify --train texts.tsv -o b.h5 --steps 5");
  const std::string make = "finetune --ensemble a.h5,b.h5 --valid texts.tsv -o ";
  corpus.refused("mkdir -p sub && " + make + "sub/both.h5", 1, "write it beside its models");
  CHECK(!std::filesystem::exists(corpus.path("sub/both.h5")));
  corpus.must(make + "both.h5");
  corpus.must("mkdir moved && cp a.h5 b.h5 both.h5 moved/ && classify moved/both.h5 texts.txt");
  corpus.refused("rm moved/b.h5 && classify moved/both.h5 texts.txt", 1, "'b.h5', which is not in the same directory");
  corpus.refused("cp a.h5 moved/b.h5 && classify moved/both.h5 texts.txt", 1, "another 'b.h5'");
  CHECK(corpus.run("inspect verify moved/both.h5").status == 1);
}

TEST_CASE("ensemble: commas of names are escaped") {
  const Labelled corpus;
  corpus.must(bag + "classify --train texts.tsv -o 'a,b.h5' --steps 3 && cp a,b.h5 c.h5");
  corpus.must("classify 'a\\,b.h5,c.h5' texts.txt && classify a,b.h5 texts.txt");
  corpus.must("finetune --ensemble 'a\\,b.h5,c.h5' --valid texts.tsv -o both.h5 && classify both.h5 texts.txt");
}

TEST_CASE("ensemble: what does not go together is refused in one line") {
  const Labelled corpus;
  corpus.must(bag + "classify --train texts.tsv -o a.h5 --steps 3 && cp a.h5 b.h5");
  corpus.must(bag + "label --train tags.conll -o t.h5 --steps 1");
  corpus.must("sed 's/^royal/court/' texts.tsv > court.tsv && " + bag + "classify --train court.tsv -o c.h5 --steps 1");
  corpus.must("finetune --ensemble a.h5,b.h5 --valid texts.tsv -o both.h5");
  const std::string valid = " --valid texts.tsv -o x.h5";
  const Refusal refusals[] = {
      {"classify a.h5,t.h5 texts.txt", "t.h5: is for the task label, and a.h5 for classify", 1},
      {"classify a.h5,c.h5 texts.txt", "c.h5: has the labels animal, court, and a.h5 has animal, royal", 1},
      {"classify a.h5,a.h5 texts.txt", "a.h5 is named twice", 2},
      {"classify a.h5, texts.txt", "has an empty element", 2},
      {"classify a.h5,both.h5 texts.txt", "both.h5: is an ensemble itself", 1},
      {"classify a.h5,./a.h5 texts.txt", "./a.h5 is named twice", 2},
      {"classify a.h5,no.h5 texts.txt", "no.h5: cannot open", 1},
      {"classify \"$NOT_SET\" texts.txt", "the MODEL is empty (classify --help", 2},
      {"tokenize -t both.h5 texts.txt", "both.h5: is an ensemble file without a tokenizer", 1},
      {"inspect both.h5 --weights", "both.h5: has no weights; it is an ensemble file, ", 1},
      {"classify a.h5,b.h5 texts.txt --base model.h5", "--base: is for one adapter", 2},
      {"classify a.h5,b.h5 texts.txt -o b.h5", "refusing to overwrite the input", 2},
      {"finetune --ensemble a.h5" + valid, "takes two models or more", 2},
      {"finetune --ensemble a.h5,b.h5 -o x.h5", "--valid FILE is missing", 2},
      {"finetune --ensemble a.h5,b.h5 --valid 10% -o x.h5", "--valid FILE is missing", 2},
      {"finetune --ensemble a.h5,b.h5 --valid texts.tsv", "-o FILE is missing", 2},
      {"finetune --ensemble a.h5,b.h5 --epochs 3" + valid, "--epochs: is for training", 2},
      {"finetune --ensemble a.h5,b.h5 --from model.h5" + valid, "--from: is for training", 2},
      {"finetune --ensemble a.h5,b.h5 --valid texts.tsv -o a.h5", "refusing to overwrite the input", 2},
      {"generate both.h5 -p x", "both.h5: is an ensemble file; a model file is needed", 1},
      {"convert both.h5 -o dir/", "both.h5: is an ensemble file", 1},
      {"finetune --from both.h5 --train texts.tsv -o x.h5", "both.h5: is an ensemble file", 1},
  };
  for (const Refusal& refusal : refusals) {
    CHECK(lines_in(corpus.refused(refusal).err) == 1);
    CHECK(!std::filesystem::exists(corpus.path("x.h5")));
  }
}

}  // namespace ensemble_tests
