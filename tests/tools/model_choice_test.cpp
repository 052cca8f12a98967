// Probabilities that hold, and finetune --ensemble auto: from a table to a model.
#include <cmath>
#include <filesystem>

#include "formats/heddle/task_file.hpp"
#include "tools/labelled_corpus.hpp"

using namespace heddle;
using namespace heddle::testing;

namespace model_choice_tests {

namespace {

// Texts of two classes whose words say the class, but for every fourth, which says the other one.
std::string noisy(int first, int count) {
  std::string table;
  for (int i = first; i < first + count; ++i) {
    const bool animal = i % 2 == 0, says = i % 4 == 1 ? (i / 4) % 2 == 0 : true;
    table += std::string(animal ? "animal" : "royal") + "\t" + (animal == says ? "the cat" : "my queen") + " sees " +
             std::string(static_cast<std::size_t>(i % 89 + 1), 'a') + " " + std::to_string(i) + "\n";
  }
  return table;
}

struct Noisy : Labelled {
  Noisy() {
    write_file(path("train.tsv"), noisy(0, 160));
    write_file(path("valid.tsv"), noisy(160, 160));
  }
};

}  // namespace

TEST_CASE("calibration: a temperature from the validation data, in the head, that changes no answer") {
  const Noisy corpus;
  const std::string command = "finetune --arch bag --train train.tsv --valid valid.tsv --steps 60 --select last ";
  const Outcome calibrated = corpus.must(command + "-o warm.h5");
  CHECK(contains(calibrated.err, "calibrated with temperature "));
  CHECK_FALSE(contains(corpus.must(command + "--task classify:calibrate=none -o cold.h5").err, "calibrated"));
  const formats::LoadedTask warm = formats::load_task(corpus.path("warm.h5")),
                            cold = formats::load_task(corpus.path("cold.h5"));
  const double temperature = warm.model->task().temperature;
  CHECK(temperature > 1.1);
  CHECK(cold.model->task().temperature == 1);
  for (const char* const name : {"task/weight", "task/bias"}) {
    const Tensor &own = warm.model->parameters().find(name)->value(),
                 &other = cold.model->parameters().find(name)->value();
    for (Index i = 0; i < own.size(); ++i) CHECK(own[i] * temperature == doctest::Approx(other[i]).epsilon(1e-5));
  }
  const json after = corpus.evaluated("classify warm.h5 valid.tsv"),
             before = corpus.evaluated("classify cold.h5 valid.tsv");
  CHECK(after["accuracy"] == before["accuracy"]);
  CHECK(after["confusion"] == before["confusion"]);
  CHECK(after["log_loss"].get<double>() < before["log_loss"].get<double>());
  CHECK(after["ece"].get<double>() < before["ece"].get<double>());
  // The same command finds its model finished; one with other settings replaces it.
  CHECK_FALSE(contains(corpus.must(command + "-o warm.h5").err, "calibrated"));
  for (const auto& [task, message] : std::vector<std::pair<std::string, std::string>>{
           {"classify:calibrate=maybe", "--task: classify:calibrate: 'maybe' is not one of temperature, none"},
           {"classify:calibrat=none", "--task: classify has no setting 'calibrat'; it has calibrate"},
           {"regress:calibrate=none", "--task: regress has no setting 'calibrate' (it has none)"},
           {"classify:", "is not a setting"}}) {
    CAPTURE(task);
    const Outcome refused = corpus.run("finetune --arch bag --train train.tsv -o x.h5 --task " + task);
    CHECK(refused.status == 2);
    CHECK(lines_in(refused.err) == 1);
    CHECK(contains(refused.err, message));
  }
}

TEST_CASE("calibration: an adapter's head has the temperature, and so has what it is merged into") {
  const Noisy corpus;
  corpus.must("finetune -q --from model.h5 --train train.tsv --valid valid.tsv --lora-rank 2 --steps 20 -o adapter.h5");
  CHECK(formats::load_task(corpus.path("adapter.h5")).model->task().temperature != 1);
  corpus.must("convert adapter.h5 --merge -o merged.h5");
  check_alike(corpus.answers("adapter.h5", "train.tsv"), corpus.answers("merged.h5", "train.tsv"), 1e-4);
}

TEST_CASE("choice: a bag by folds, with a page whose numbers lead to the texts") {
  const Noisy corpus;
  const Outcome outcome = corpus.must("finetune --ensemble auto:report=page.html --train train.tsv -o chosen.h5");
  CHECK(contains(outcome.err, "160 examples, 2 classes; compared by cross-validation: 5 folds"));
  CHECK(contains(outcome.err, "it is better than the baseline"));
  CHECK(lines_in(outcome.out) == 2);
  CHECK(outcome.out.starts_with("model"));
  const std::string page = read_file(corpus.path("page.html"));
  for (const std::string part :
       {"<h2>Data</h2>", "<h2>Warnings</h2>", "<h2>Candidates</h2>", ">Confusion</h2>", "href=\"#c1-0\"", "id=\"c1-0\"",
        "<h2>Most confident errors</h2>", "<svg", "queen ", "<h2>Words that decide</h2>"}) {
    CHECK_MESSAGE(contains(page, part), part);
  }
  // A sixteenth, an eighth, a quarter, half and all of the 128 examples of four folds.
  for (const int examples : {8, 16, 32, 64, 128}) {
    CHECK(contains(page, "<tr><td class=\"n\">" + std::to_string(examples) + "</td>"));
  }
  CHECK_FALSE(contains(page, "<script"));
  CHECK_FALSE(contains(page, "://"));
  // All examples train it, and the temperature is that of the folds.
  const formats::LoadedTask chosen = formats::load_task(corpus.path("chosen.h5"));
  CHECK(chosen.model->task().label_counts == std::vector<Index>{80, 80});
  CHECK(chosen.model->task().temperature != 1);
  CHECK(corpus.evaluated("classify chosen.h5 valid.tsv")["accuracy"] > 0.7);
  // Texts are text, not markup.
  corpus.must("sed 's/my queen/<b>queen/' train.tsv > markup.tsv");
  corpus.must("finetune -q --ensemble auto:report=markup.html --train markup.tsv --folds 3 -o markup.h5");
  CHECK(contains(read_file(corpus.path("markup.html")), "&lt;b&gt;queen"));
  CHECK_FALSE(contains(read_file(corpus.path("markup.html")), "<b>queen"));
  // Too few examples for a curve.
  corpus.must("head -n 8 train.tsv > few.tsv");
  corpus.must("finetune -q --ensemble auto:report=few.html --train few.tsv --folds 2 -o few.h5");
  CHECK_FALSE(contains(read_file(corpus.path("few.html")), "Learning curve"));
}

TEST_CASE("choice: a network that is missing is noticed before bags are trained, and slips are printed once") {
  const Noisy corpus;
  const Outcome missing =
      corpus.refused("finetune --ensemble auto --train train.tsv --from no.h5 -o x.h5", 1, "no.h5: cannot open");
  CHECK_FALSE(contains(missing.err, "log-loss"));
  std::string table = read_file(corpus.path("train.tsv"));
  for (int i = 0; i < 60; ++i) table += "rare " + std::to_string(i) + "\tthe bird " + std::to_string(i) + "\n";
  write_file(corpus.path("rare.tsv"), table);
  const std::string said = corpus.must("finetune --ensemble auto --train rare.tsv --valid 30% -o rare.h5").err;
  const auto first = said.find("only one example each of");
  REQUIRE(first != std::string::npos);
  CHECK(said.find("only one example each of", first + 1) == std::string::npos);
}

TEST_CASE("choice: of more labels than a table has room for, the page has the most frequent") {
  const Noisy corpus;
  std::string table;
  for (int i = 0; i < 350; ++i)
    table += "label" + std::to_string(i % 35) + "\tword" + std::to_string((i % 8 == 0 ? i + 1 : i) % 35) + " " +
             std::to_string(i) + "\n";
  write_file(corpus.path("many.tsv"), table);
  corpus.must("finetune -q --ensemble auto:report=many.html --train many.tsv --folds 2 -o many.h5");
  const std::string page = read_file(corpus.path("many.html"));
  CHECK(contains(page, "5 rarer labels"));
  CHECK(contains(page, "The most frequent confusions"));
  CHECK_FALSE(contains(page, "confusion matrix"));
}

TEST_CASE("choice: of a bag, a network and both the simplest that none is better than") {
  const Noisy corpus;
  for (const std::string by : {"--folds 2", "--valid valid.tsv"}) {
    CAPTURE(by);
    const Outcome outcome = corpus.must("finetune --ensemble auto --train train.tsv --from model.h5 -o one.h5 " + by);
    CHECK(lines_in(outcome.out) == 4);
    CHECK(contains(outcome.err, "network is "));
    CHECK(contains(outcome.err, "bag and network is "));
    CHECK(formats::load_task(corpus.path("one.h5")).model->task().labels ==
          std::vector<std::string>{"animal", "royal"});
    CHECK_FALSE(std::filesystem::exists(corpus.path("one.bag.h5")));
    CHECK_FALSE(std::filesystem::exists(corpus.path("one.network.h5")));
  }
  for (const auto& [options, message] : std::vector<std::pair<std::string, std::string>>{
           {"auto:page=a.html", "--ensemble auto: has no setting 'page'; it has report"},
           {"auto:report=a.txt", "the page is a file NAME.html"},
           {"auto:report=one.html --valid one.html", "refusing to overwrite the input"},
           {"auto --batch-size 4", "--batch-size: --ensemble auto decides this itself"},
           {"auto --task label", "--task label: --ensemble auto chooses models of classify, pair and multilabel"},
           {"auto --folds 3 --valid valid.tsv", "--folds and --valid are both to compare by"}}) {
    CAPTURE(options);
    const Outcome refused =
        corpus.run("cp valid.tsv one.html && finetune --train train.tsv -o x.h5 --ensemble " + options);
    CHECK(refused.status == 2);
    CHECK(lines_in(refused.err) == 1);
    CHECK(contains(refused.err, message));
  }
  corpus.refused(
      "printf 'a\\tone\\nb\\ttwo\\na\\tthree\\n' > 3.tsv && finetune -q --ensemble auto --train 3.tsv -o x.h5", 1,
      "has 3 different examples, and models are compared by 5 folds, which need 5; give more examples, or --folds 3");
  corpus.refused("printf 'a\\tone\\na\\ttwo\\n' > 1.tsv && finetune -q --ensemble auto --train 1.tsv -o x.h5", 1,
                 "all examples have the label 'a'");
}

}  // namespace model_choice_tests
