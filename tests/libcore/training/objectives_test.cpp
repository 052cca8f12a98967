// The list of objectives, and objectives that remember something from step to step.
#include "heddle/training/objectives.hpp"

#include <doctest/doctest.h>

#include <cmath>

#include "remembering.hpp"
#include "short_training.hpp"
#include "support/models.hpp"

using namespace heddle;
using namespace heddle::training;
using namespace heddle::testing;

namespace {

const ModelShape tiny{.layers = 1, .width = 16, .heads = 2, .context = 8, .vocab_size = 30};

struct Run {
  models::Decoder model;
  Remembering objective;
  Trainer trainer;
  Run(std::uint64_t seed, const data::TokenSource& tokens, const data::TokenSource& valid, const TrainingConfig& config)
      : model(testing::decoder(tiny), seed), objective(model, tokens, valid, config), trainer(objective, config) {}
};

}  // namespace

TEST_CASE("objectives: a state is restored with the run, which ends with the same bits wherever it was interrupted") {
  const auto tokens = noisy_text(3000, 30, 1), valid = noisy_text(300, 30, 2);
  TrainingConfig settings = quick_settings(12);
  settings.training.batch_size = 2;
  settings.training.accumulate = 2;
  Run whole(4, tokens, valid, settings);
  whole.trainer.run({});
  CHECK(whole.objective.state()[0].value[0] != 0);
  CHECK(whole.objective.state()[0].value[1] == 12);
  CHECK(whole.trainer.tensors().back().name == "objective/memory");
  for (const int polls : {1, 2, 3, 8, 15, 16, 17, 19}) {  // between micro-batches and in evaluations, too
    CAPTURE(polls);
    Run first(4, tokens, valid, settings), second(999, tokens, valid, settings);
    Hooks hooks;
    int left = polls;
    hooks.stop = [&left] { return left-- <= 0; };
    first.trainer.run(hooks);
    REQUIRE(first.trainer.state().step < 12);
    hand_over(first.trainer, first.model, second.trainer, second.model);
    second.trainer.run({});
    CHECK(weights_of(second.model) == weights_of(whole.model));
    CHECK(second.objective.state()[0].value.elements() == whole.objective.state()[0].value.elements());
  }
}

TEST_CASE("objectives: auto is what the model is for; others are refused by role, unknown ones with the list") {
  models::Decoder decoder(testing::decoder(tiny), 1);
  models::Encoder encoder(testing::encoder(tiny), 1);
  CHECK(objective_names() == std::vector<std::string>{"causal", "masked", "bidirectional", "translate", "denoise"});
  CHECK(objective_of(decoder, "auto") == "causal");
  CHECK(objective_of(encoder, "auto") == "masked");
  CHECK(objective_of(encoder, "masked") == "masked");
  CHECK_THROWS_WITH_AS(objective_of(encoder, "causal"),
                       "--objective causal needs a model that predicts next tokens: --arch decoder or lstm; this one "
                       "supports masked",
                       UsageError);
  CHECK_THROWS_WITH_AS(
      objective_of(decoder, "masked"),
      "--objective masked needs a model that predicts masked tokens: --arch encoder; this one supports "
      "causal",
      UsageError);
  CHECK_THROWS_WITH_AS(
      objective_of(decoder, "casual"),
      "objective: 'casual' is not one of causal, masked, bidirectional, translate, denoise; did you mean 'causal'?",
      UsageError);
  CHECK(takes_options("masked", "masking"));
  CHECK_FALSE(takes_options("causal", "masking"));
}

TEST_CASE("objectives: made by name, each over its model's parameters") {
  models::Decoder decoder(testing::decoder(tiny), 1);
  models::Encoder encoder(testing::encoder(tiny), 1);
  const auto tokens = noisy_text(300, 30, 1);
  const TrainingConfig settings = quick_settings(2);
  for (models::Model* const model : std::initializer_list<models::Model*>{&decoder, &encoder}) {
    const auto objective = make_objective(
        "auto",
        {.model = *model, .train = {.text = &tokens}, .masking = {}, .noise = {}, .pairs = {}, .config = settings});
    CHECK(&objective->parameters() == &model->parameters());
    CHECK_FALSE(objective->can_evaluate());
    const Weights before = weights_of(*model);
    CHECK(std::isfinite(Trainer(*objective, settings).step()));
    CHECK(weights_of(*model) != before);
  }
}
