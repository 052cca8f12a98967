// Probabilities that hold.
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
           {"classify:", "is no setting"}}) {
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

}  // namespace model_choice_tests
