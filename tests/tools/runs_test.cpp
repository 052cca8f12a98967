// Comparison, resumption and names of training runs.
#include <doctest/doctest.h>

#include "tools/training/checkpoints.hpp"
#include "tools/training/evaluation_sample.hpp"
#include "tools/training/plan_budget.hpp"
#include "tools/training/run_spec.hpp"

using namespace heddle;

namespace runs_tests {

namespace {

RunSpec decoder_run(const std::string& sizes) {
  RunSpec spec;
  spec.tool = "pretrain";
  spec.model = models::ModelConfig::from("decoder:" + sizes);
  spec.budget = {.seconds = 60};
  return spec;
}

std::string differing(const RunSpec& now, const RunSpec& then) {
  std::string fields;
  for (const Difference& difference : differences(now, then)) {
    fields += difference.field + " " + difference.then + " " + difference.now + ";";
  }
  return fields;
}

}  // namespace

TEST_CASE("budgets: a run that goes on has each thing that was chosen for it, and nothing else") {
  const RunSpec defaults = decoder_run("layers=2");
  RunSpec then = decoder_run("layers=3,width=48,heads=3,sequence-length=24");
  then.training.precision = PrecisionChoice::bf16;
  then.training.steps = 123;
  then.training.batch_size = 5;
  then.training.eval_every = 17;
  then.training.eval_tokens = 8192;
  CHECK(differing(with_choices(defaults, then), then).empty());
  RunSpec by_epochs = defaults;
  by_epochs.training.epochs = 4;
  CHECK(differing(with_choices(by_epochs, then), then).empty());
  RunSpec another = then;
  another.training.label_smoothing = 0.1;
  CHECK(differing(with_choices(defaults, another), another) == "label_smoothing 0.1 0;");
  // For a model that is tuned, only the length is chosen.
  RunSpec tuned = defaults, longer = then;
  tuned.tuning.emplace();
  longer.tuning.emplace();
  CHECK(differing(with_choices(tuned, longer), tuned) == "precision f32 bf16;steps 2000 123;");
}

TEST_CASE("runs: fields of one name in two sections are two fields") {
  const auto run = [](double of_model, double of_task) {
    RunSpec spec = decoder_run("layers=2");
    spec.model->dropout = of_model;
    spec.tuning.emplace();
    spec.tuning->dropout = of_task;
    return spec;
  };
  CHECK(differing(run(0.1, 0.2), run(0.1, 0.2)).empty());
  CHECK(differing(run(0.3, 0.2), run(0.1, 0.2)) == "dropout 0.1 0.3;");
  CHECK(differing(run(0.1, 0.3), run(0.1, 0.2)) == "dropout 0.2 0.3;");
  CHECK(differing(run(0.2, 0.1), run(0.1, 0.2)) == "dropout 0.2 0.1;dropout 0.1 0.2;");
}

TEST_CASE("checkpoints: a best model has the name of its run, also where that is like a checkpoint's") {
  CHECK(best_of_checkpoint("m.checkpoint.h5", 7) == "m.best-7.h5");
  CHECK(best_of_checkpoint("a/m.step-10.h5", 7) == "a/m.best-7.h5");
  CHECK(best_of_checkpoint("m.step-x.h5", 7) == "m.step-x.best-7.h5");
  for (const std::string run : {"m.step-3.tuned", "m.step-3.step-4", "m.checkpoint", "m.best-2"}) {
    CAPTURE(run);
    CHECK(best_of_checkpoint(checkpoint_path(run + ".h5"), 7) == best_path(run + ".h5", 7));
    CHECK(best_of_checkpoint(run + ".step-12.h5", 7) == best_path(run + ".h5", 7));
  }
}

TEST_CASE("dry run: an evaluation reads the tokens that there are, or as many as it may") {
  const auto sample = [](Index tokens, Index limit) {
    training::TrainingConfig config;
    config.training.batch_size = 4;
    config.training.eval_tokens = limit;
    const EvaluationSample all = sample_tokens(config, tokens, 10);
    CHECK(config.training.eval_tokens == 40);
    CHECK(all.batches == 1);
    return all.parts;
  };
  CHECK(sample(400, 0) == 10);
  CHECK(sample(400, 80) == 2);
  CHECK(sample(400, 4000) == 10);
}

}  // namespace runs_tests
