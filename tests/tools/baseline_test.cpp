// Baselines that evaluations print beside a model's metrics: those of the simplest predictions.
#include "tools/labelled_corpus.hpp"

using namespace heddle;
using namespace heddle::testing;

namespace baseline_tests {

namespace {

const std::string bag = "finetune -q --arch bag --task ";

}  // namespace

TEST_CASE("baseline: the most frequent label of the training examples, whatever the evaluated ones have") {
  const Labelled corpus;
  corpus.must(
      "for i in 1 2 3 4 5; do printf 'a\\tred %s\\n' $i; done > train.tsv; for i in 1 2 3; do printf 'b\\tblue %s\\n' "
      "$i; done "
      ">> train.tsv");
  corpus.must("for i in 1 2 3 4; do printf 'a\\tred\\nb\\tblue\\nb\\tblue\\nb\\tblue\\n'; done > test.tsv");
  corpus.must(bag + "classify --train train.tsv -o model.h5");
  const json report = corpus.evaluated("classify model.h5 test.tsv");
  CHECK(report["accuracy"] == 1.0);
  CHECK(report["baseline"]["what"] == "always 'a'");
  CHECK(report["baseline"]["metric"] == "accuracy");
  CHECK(report["baseline"]["value"] == 0.25);
  CHECK(report["baseline"]["difference"] == 0.75);
  CHECK(report["baseline"]["low"] > 0.25);
  CHECK(report["baseline"]["high"] <= 1.0);
  CHECK(report["baseline"]["model_is_better"] == true);
  // The macro F1 of always a: F1 of a is 2 * 4 / (16 + 4), of b 0.
  CHECK(corpus.evaluated("classify model.h5 test.tsv --metric macro_f1")["baseline"]["value"] == doctest::Approx(0.2));
  CHECK(contains(corpus.must("classify model.h5 test.tsv --evaluate").out, "the model is better than the baseline"));
}

TEST_CASE("baseline: a model that says what it says is not better, in text and in JSON") {
  const Labelled corpus;
  corpus.must("printf 'a\\tsame\\na\\tsame\\nb\\tsame\\nb\\tsame\\na\\tsame\\n' > train.tsv");
  corpus.must(bag + "classify --train train.tsv -o model.h5");
  const json report = corpus.evaluated("classify model.h5 train.tsv");
  CHECK(report["baseline"]["difference"] == 0.0);
  CHECK(report["baseline"]["model_is_better"] == false);
  CHECK(
      contains(corpus.must("classify model.h5 train.tsv --evaluate").out, "the model is not better than the baseline"));
}

TEST_CASE("baseline: each word's most frequent tag, and the most frequent one for unknown words") {
  const Labelled corpus;
  write_file(corpus.path("train.conll"), "the\tD\nrun\tN\n\nruns\tV\nrun\tV\nrun\tV\n\na\tD\nthe\tD\na\tD\n\n");
  corpus.must(bag + "label --train train.conll -o tagger.h5");
  // D is the most frequent tag, 4 of 8. Right: the, run as V, the unknown word as D; wrong: run as N.
  write_file(corpus.path("test.conll"), "the\tD\nrun\tV\nrun\tN\nunheard\tD\n\n");
  const json report = corpus.evaluated("classify tagger.h5 test.conll");
  CHECK(report["baseline"]["what"] == "each word's most frequent tag");
  CHECK(report["baseline"]["value"] == 0.75);
}

TEST_CASE("baseline: of numbers the mean of the training examples, by whichever metric; less squared error is better") {
  const Labelled corpus;
  corpus.must("sed 's/^animal/10/; s/^royal/20/' texts.tsv > train.tsv");
  corpus.must("{ grep ^10 train.tsv | head -n 9; grep ^20 train.tsv | head -n 9; echo '18\tqueen'; } > test.tsv");
  corpus.must(bag + "regress --train train.tsv -o model.h5");
  const json correlation = corpus.evaluated("classify model.h5 test.tsv")["baseline"];
  CHECK(correlation["what"] == "always 15, the mean");
  CHECK(correlation["metric"] == "pearson");
  CHECK(correlation["value"] == 0.0);
  CHECK(correlation["model_is_better"] == true);
  // 18 numbers are 5 away from the mean, one 3.
  const json error = corpus.evaluated("classify model.h5 test.tsv --metric mean_squared_error")["baseline"];
  CHECK(error["value"] == doctest::Approx((18 * 25 + 9) / 19.0));
  CHECK(error["high"] < 0);
  CHECK(error["model_is_better"] == true);
  const json itself =
      corpus.evaluated("classify model.h5 test.tsv --metric mean_squared_error --baseline model.h5")["baseline"];
  CHECK(itself["what"] == "model.h5");
  CHECK(itself["difference"] == 0.0);
  CHECK(itself["model_is_better"] == false);
}

TEST_CASE("baseline: less than ten examples that are drawn again and again prove nothing, which is told") {
  const Labelled corpus;
  corpus.must("sed 's/^animal/10/; s/^royal/20/' texts.tsv > numbers.tsv");
  corpus.must(bag + "classify --train texts.tsv -o texts.h5 && " + bag + "regress --train numbers.tsv -o numbers.h5");
  const auto report = [&](int examples, const std::string& model, const std::string& metric) {
    return corpus
        .must("head -n " + std::to_string(examples) + " " + model + ".tsv | classify " + model +
              ".h5 --evaluate --metric " + metric)
        .out;
  };
  const std::string narrow = ", too narrow for so few examples\n", better = "\nthe model is better than the baseline: ",
                    equal = "\nthe model is not better than the baseline: ";
  for (const auto& [model, metric] : std::vector<std::pair<std::string, std::string>>{
           {"texts", "macro_f1"}, {"numbers", "pearson"}, {"numbers", "mean_squared_error"}}) {
    CAPTURE(metric);
    const std::string few = report(9, model, metric), enough = report(10, model, metric);
    CHECK(contains(few, narrow));
    CHECK(contains(few, " with 95 % confidence" + narrow));
    CHECK(contains(few, equal));
    CHECK_FALSE(contains(enough, narrow));
    CHECK(contains(enough, better));
  }
  // The interval of a fraction is exact.
  CHECK_FALSE(contains(report(9, "texts", "accuracy"), narrow));
}

TEST_CASE("baseline: finetune prints it at its end") {
  const Labelled corpus;
  const auto outcome =
      corpus.must("finetune --arch bag --task classify --train texts.tsv --valid texts.tsv -o model.h5");
  CHECK(contains(outcome.err,
                 "the baseline, always 'animal', has a validation accuracy of 0.5, and this model is better, with 1: "
                 "difference of accuracy 0.5000, from 0."));
  CHECK_FALSE(corpus.evaluated("classify model.h5 texts.tsv")["baseline"].is_null());
  // Nothing is better than the most frequent class where there is no other.
  const auto one = corpus.must(
      "grep ^animal texts.tsv > one.tsv && finetune --arch bag --task classify --train texts.tsv --valid one.tsv -o "
      "one.h5");
  CHECK(contains(one.err,
                 "has a validation accuracy of 1, and this model is not better, with 1: difference of "
                 "accuracy 0.0000, from -0.0596 to 0.0596 with 95 % confidence\n"));
}

TEST_CASE("baseline: the interval that finetune prints is that of classify") {
  const Labelled corpus;
  corpus.must("tail -n 60 texts.tsv > valid.tsv && head -n 60 texts.tsv > train.tsv");
  const std::string err = corpus
                              .must(
                                  "finetune --from model.h5 --train train.tsv --valid valid.tsv --seed 7 -o m.h5 "
                                  "--steps 12 --eval-every 2 --learning-rate 0.05 --schedule constant")
                              .err;
  const json steps = parse_json(corpus.must("inspect m.h5 --provenance --json").out)["provenance"];
  std::vector<std::string> read;
  for (const json& input : steps.back()["inputs"]) read.push_back(input["name"]);
  CHECK(read == std::vector<std::string>{"model.h5", "train.tsv", "valid.tsv"});
  const std::string report = corpus.must("classify --seed 7 m.h5 valid.tsv --evaluate").out;
  const std::size_t begin = report.find("difference of accuracy ");
  REQUIRE(begin != std::string::npos);
  CHECK(contains(err, report.substr(begin, report.find('\n', begin) - begin)));
}

TEST_CASE("baseline: a network is compared with the bag that finetune --arch bag would make") {
  const Labelled corpus;
  corpus.must("tail -n 60 texts.tsv > valid.tsv && head -n 60 texts.tsv > train.tsv");
  corpus.must("finetune --arch bag --task classify --train train.tsv --valid valid.tsv -o bag.h5 -q");
  const double of_bag = corpus.evaluated("classify bag.h5 valid.tsv")["accuracy"];
  const std::string start = "finetune --from model.h5 --train train.tsv --valid valid.tsv ";
  const std::string poor = corpus.must(start + "-o poor.h5 --steps 1 --learning-rate 1e-9").err;
  CHECK(of_bag == 1.0);
  // The bag lacks settings that only networks have.
  CHECK(contains(corpus.must(start + "-o mixed.h5 --steps 1 --learning-rate 1e-9 --pooling last --layer-mix").err,
                 "a bag of words and n-grams has a validation accuracy of 1, and this model is worse"));
  CAPTURE(poor);
  CHECK(contains(poor, "a bag of words and n-grams has a validation accuracy of 1, and this model is worse, with 0"));
  CHECK(contains(poor, "finetune --arch bag makes a model of it"));
  // Beside so many examples it would take too long, which is said.
  corpus.must("for i in $(seq 1700); do cat train.tsv; done | head -n 100001 > many.tsv");
  CHECK(contains(corpus.must("finetune --from model.h5 --train many.tsv --valid valid.tsv -o many.h5 --steps 1").err,
                 "skipped the bag-of-words baseline: too much data"));
  // Without validation there is nothing to compare by; a quiet run does not train the bag.
  CHECK(!contains(corpus.must("finetune --from model.h5 --train train.tsv -o no.h5 --steps 1").err, "bag of words"));
  CHECK(!contains(corpus.must(start + "-o quiet.h5 --steps 1 -q").err, "bag of words"));

  const json report = corpus.evaluated("classify poor.h5 valid.tsv --baseline bag.h5");
  CHECK(report["baseline"]["what"] == "bag.h5");
  CHECK(report["baseline"]["value"] == 1.0);
  CHECK(report["baseline"]["model_is_better"] == false);
  CHECK(report["baseline"]["high"] < 0);
  corpus.must("sed 's/^royal/court/' texts.tsv > court.tsv && " + bag + "classify --train court.tsv -o court.h5");
  corpus.refused("classify poor.h5 valid.tsv --evaluate --baseline court.h5", 1,
                 "court.h5: has the labels animal, court");
  corpus.refused("classify poor.h5 valid.tsv --baseline bag.h5", 2, "--baseline");
  corpus.refused("classify poor.h5 valid.tsv --evaluate --baseline bag.h5 -o bag.h5", 2, "bag.h5");
}

}  // namespace baseline_tests
