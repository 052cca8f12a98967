// When a run evaluates, what it calls best, and metrics that are not finite.
#include <doctest/doctest.h>

#include <cmath>
#include <limits>

#include "causal_trainer.hpp"
#include "libcore/training/objectives.hpp"
#include "short_training.hpp"

using namespace heddle;
using namespace heddle::training;
using namespace heddle::testing;

namespace {

const data::TokensInMemory evaluated_text = noisy_text(600, 20, 1);

// Training as it is, with evaluations that come out as a list says, from the front.
class Scripted : public Causal {
 public:
  Scripted(models::Decoder& model, std::vector<double> values, Better better)
      : Causal(model, evaluated_text, &evaluated_text, quick_settings(1)),
        values_(std::move(values)),
        better_(better) {}

  std::vector<Metric> evaluate(const Evaluators&) const override {
    return {{"scripted", values_.at(evaluations_++)}, {"other", -values_.front()}};
  }
  Better better() const override { return better_; }

 private:
  std::vector<double> values_;
  Better better_;
  mutable std::size_t evaluations_ = 0;
};

struct EvaluatedRun {
  std::vector<Index> evaluated, saved_best;  // steps
  TrainingState state;
};

EvaluatedRun run(Index steps, Index eval_every, const std::vector<double>& values, Better better = Better::lower) {
  models::Decoder model(decoder({.layers = 1, .width = 8, .heads = 2, .context = 8, .vocab_size = 20}), 3);
  Scripted objective(model, values, better);
  TrainingConfig config = quick_settings(steps);
  config.training.eval_every = eval_every;
  Trainer trainer(objective, config);
  EvaluatedRun result;
  Hooks hooks;
  hooks.on_step = [&](const StepRecord& record) {
    if (!record.valid.empty()) result.evaluated.push_back(record.step);
  };
  hooks.save_best = [&] { result.saved_best.push_back(trainer.state().step); };
  trainer.run(hooks);
  result.state = trainer.state();
  return result;
}

using Steps = std::vector<Index>;

}  // namespace

TEST_CASE("evaluation: at every interval and at the end, but not at both where they are a tenth of one apart") {
  const std::vector<double> falling{9, 8, 7, 6, 5, 4, 3, 2, 1};
  CHECK(run(40, 10, falling).evaluated == Steps{10, 20, 30, 40});
  CHECK(run(41, 10, falling).evaluated == Steps{10, 20, 30, 41});
  CHECK(run(42, 10, falling).evaluated == Steps{10, 20, 30, 40, 42});
  CHECK(run(49, 10, falling).evaluated == Steps{10, 20, 30, 40, 49});
  CHECK(run(42, 20, falling).evaluated == Steps{20, 42});
  CHECK(run(43, 20, falling).evaluated == Steps{20, 40, 43});
  CHECK(run(4, 1, falling).evaluated == Steps{1, 2, 3, 4});
  CHECK(run(5, 50, falling).evaluated == Steps{5});
}

TEST_CASE("evaluation: the best is the lowest where lower is better, else the highest, and of equal ones the first") {
  const std::vector<double> values{5, 3, 4, 3, 6};
  const EvaluatedRun lower = run(10, 2, values, Better::lower), higher = run(10, 2, values, Better::higher);
  CHECK(lower.saved_best == Steps{2, 4});
  CHECK(lower.state.best_step == 4);
  CHECK(lower.state.best_metric == 3);
  CHECK(lower.state.metric == "scripted");
  CHECK(higher.saved_best == Steps{2, 10});
  CHECK(higher.state.best_step == 10);
  CHECK(higher.state.best_metric == 6);
}

TEST_CASE("evaluation: a metric that is not finite, the first or another, ends the run, and nothing is saved as best") {
  for (const double value : {std::nan(""), std::numeric_limits<double>::infinity()}) {
    for (const std::vector<double>& values : {std::vector<double>{1, value}, std::vector<double>{value}}) {
      try {
        run(6, 2, values);
        FAIL("it did not end");
      } catch (const NumericError& error) {
        CAPTURE(error.what());
        CHECK(std::string(error.what()).starts_with(values.size() == 2 ? "step 4 diverged: " : "step 2 diverged: "));
        CHECK(std::string(error.what()).find("learning rate") != std::string::npos);
      }
    }
  }
}

namespace {

// The first evaluation finds an answer that is not finite.
class Diverging : public Causal {
 public:
  using Causal::Causal;
  std::vector<Metric> evaluate(const Evaluators&) const override { throw NumericError("an answer is not finite"); }
};

}  // namespace

TEST_CASE("evaluation: what cannot be computed is told with the step and the learning rate") {
  models::Decoder model(decoder({.layers = 1, .width = 8, .heads = 2, .context = 8, .vocab_size = 20}), 3);
  Diverging objective(model, evaluated_text, &evaluated_text, quick_settings(3));
  Trainer trainer(objective, quick_settings(3));
  try {
    trainer.run({});
    FAIL("it did not end");
  } catch (const NumericError& error) {
    const std::string message = error.what();
    CAPTURE(message);
    CHECK(message.starts_with("step 3 diverged: validation: an answer is not finite, learning rate "));
    CHECK(message.find("lower `learning_rate`") != std::string::npos);
  }
}

TEST_CASE("evaluation: an infinite logit that is no target's is an error") {
  // No text has token 9, whose logits are infinite. A NaN would show in the loss, this does not.
  const data::TokensInMemory few({0, 1, 2, 3, 0, 1, 2, 3, 0, 1, 2, 3, 0, 1, 2, 3, 0, 1, 2, 3}, 20);
  models::DecoderConfig config = decoder({.layers = 1, .width = 8, .heads = 2, .context = 8, .vocab_size = 20});
  config.tie_embeddings = false;
  models::Decoder model(config, 3);
  CHECK_NOTHROW(evaluate(model, few, {}));
  model.parameters().find("head/weight")->value()[9 * 8] = -std::numeric_limits<Real>::infinity();
  CHECK_THROWS_AS(evaluate(model, few, {}), NumericError);
}

TEST_CASE("evaluation: answers that are not finite are an error, of every objective and head") {
  const data::TokensInMemory text = noisy_text(300, 30, 1, 4);
  const std::string sizes = ":layers=1,width=16,heads=2,vocab-size=30,sequence-length=8";
  for (const auto& [model_text, objective] :
       {std::pair{"decoder", "causal"}, std::pair{"decoder", "mixed"}, std::pair{"encoder", "masked"},
        std::pair{"encoder", "detect"}, std::pair{"two-stream", "permute"}}) {
    const ObjectiveChoice choice = ObjectiveChoice::from(objective);
    models::ModelConfig config = models::ModelConfig::from(model_text + sizes);
    prepare(config, choice);
    const auto model = models::make_model(config, 4);
    const TrainingConfig settings = quick_settings(1);
    const auto made = make_objective(
        choice, {.model = *model, .train = {.text = &text}, .valid = {.text = &text}, .config = settings});
    CHECK(made->evaluate({}).size() > 0);
    for (const Parameter& parameter : model->parameters().all()) {
      if (parameter.name.find("head") == std::string::npos) continue;
      CAPTURE(objective);
      CAPTURE(parameter.name);
      const Real kept = parameter.value()[0];
      parameter.value()[0] = std::numeric_limits<Real>::quiet_NaN();
      CHECK_THROWS_AS(made->evaluate({}), NumericError);
      parameter.value()[0] = kept;
    }
  }
}
