// The list of objectives, and objectives that remember something from step to step.
#include "libcore/training/objectives.hpp"

#include <doctest/doctest.h>

#include <cmath>
#include <limits>

#include "libcore/models/update_rule.hpp"
#include "libcore/training/causal.hpp"
#include "short_training.hpp"
#include "support/models.hpp"
#include "support/tensors.hpp"

using namespace heddle;
using namespace heddle::training;
using namespace heddle::testing;

namespace {

const ModelShape objective_shape{.layers = 1, .width = 16, .heads = 2, .context = 8, .vocab_size = 30};

models::DecoderConfig with_memory() {
  ModelShape shape = objective_shape;
  shape.layers = 2;
  shape.context = 0;
  shape.positions = "transformer-xl";
  shape.dropout = 0.1;
  models::DecoderConfig config = testing::decoder(shape);
  config.sequence_length = 8;
  config.memory = 12;
  return config;
}

// An objective with a state.

struct ObjectiveRun {
  models::Decoder model;
  Causal objective;
  Trainer trainer;
  ObjectiveRun(std::uint64_t seed, const data::TokenSource& tokens, const data::TokenSource& valid,
               const TrainingConfig& config)
      : model(with_memory(), seed), objective(model, tokens, &valid, config), trainer(objective, config) {}
};

}  // namespace

TEST_CASE("objectives: a state is restored with the run, which ends with the same bits wherever it was interrupted") {
  const auto tokens = noisy_text(3000, 30, 1), valid = noisy_text(300, 30, 2);
  TrainingConfig settings = quick_settings(12);
  settings.training.batch_size = 2;
  settings.training.accumulate = 2;
  ObjectiveRun whole(4, tokens, valid, settings);
  whole.trainer.run({});
  CHECK(whole.objective.state()[1].value.shape() == Shape{4, 12, 16});
  CHECK(whole.trainer.tensors().back().name == "objective/memory/1");
  for (const int polls : {1, 2, 3, 8, 15, 16, 17, 19}) {  // between micro-batches and in evaluations, too
    CAPTURE(polls);
    ObjectiveRun first(4, tokens, valid, settings), second(999, tokens, valid, settings);
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

TEST_CASE(
    "objectives: the memory of a step is what its windows gave to the next, however it is cut into micro-batches") {
  const auto tokens = noisy_text(3000, 30, 1), valid = noisy_text(300, 30, 2);
  Weights together;
  for (const Index cut : {1, 2, 4}) {
    CAPTURE(cut);
    TrainingConfig settings = quick_settings(5);
    settings.training.batch_size = 4 / cut;
    settings.training.accumulate = cut;
    settings.optimizer = OptimizerChoice::from("sgd");
    ObjectiveRun run(4, tokens, valid, settings);
    const models::Decoder untrained(with_memory(), 4);
    const Pass pass{.dropout = 0.1, .seed = settings.seed, .training = true};
    // The objective's windows do not depend on how they are cut.
    const data::TrainingWindows windows(tokens, 8, settings.seed, 4);
    const TokenIds ids(Shape{4, 8}, windows.batch(0, 4).ids);
    const auto states = models::hidden_after(untrained, ids, {}, 12, pass).states.layers;
    run.trainer.step();
    for (std::size_t i = 0; i < states.size(); ++i) {
      const Tensor kept = run.objective.state()[i].value;
      CHECK(difference(kept.narrowed(1, 4, 8), states[i]) < 1e-6);
      CHECK(difference(kept.narrowed(1, 0, 4), Tensor({4, 4, 16}, Real(0))) == 0);
    }
    for (int step = 1; step < 5; ++step) run.trainer.step();
    if (together.empty()) together = weights_of(run.model);
    CHECK(largest_difference(weights_of(run.model), together) < 2e-6);
  }
}

TEST_CASE("objectives: an epoch begins with an empty memory, and evaluates with one of its own") {
  const auto tokens = noisy_text(4 * 3 * 8 + 20, 30, 1), valid = noisy_text(300, 30, 2);
  const TrainingConfig settings = quick_settings(5);
  ObjectiveRun run(4, tokens, valid, settings);
  CHECK(run.objective.samples_per_epoch() == 12);
  CHECK(run.objective.note().starts_with("a memory of 12 positions"));
  const double evaluated = run.objective.evaluate({})[0].value;
  for (const StateTensor& layer : run.objective.state()) layer.value.fill(std::numeric_limits<Real>::quiet_NaN());
  CHECK(run.objective.evaluate({})[0].value == evaluated);
  const auto loss = [&](Index step) {
    const MicroBatch batch = run.objective.batch(4 * step, 4);
    return batch.loss({}, batch.counts).value()[0];
  };
  for (const Index step : {0, 3, 6}) CHECK(std::isfinite(loss(step)));
  for (const Index step : {1, 2, 4}) CHECK(std::isnan(loss(step)));
}

TEST_CASE("objectives: a text that is too short for a memory's streams, or has weights, is refused with advice") {
  const auto tokens = noisy_text(4 * 8, 30, 1);
  models::Decoder model(with_memory(), 1);
  CHECK_THROWS_WITH_AS(Causal(model, tokens, nullptr, quick_settings(1)),
                       doctest::Contains("32 tokens are fewer than the 33 of 4 windows of 8"), DataError);
}

TEST_CASE(
    "objectives: the usual one is what the model is for; others are refused by role, unknown ones with the list") {
  models::Decoder decoder(testing::decoder(objective_shape), 1);
  models::Encoder encoder(testing::encoder(objective_shape), 1);
  CHECK(kinds<ObjectiveSettings>().names() == std::vector<std::string>{"mixed", "causal", "detect", "masked",
                                                                       "bidirectional", "permute", "translate",
                                                                       "respond", "denoise", "optimizer"});
  CHECK(objective_for(decoder, DataKind::text).name() == "causal");
  CHECK(objective_for(encoder, DataKind::text).name() == "masked");
  CHECK(objective_for(encoder, std::nullopt).name() == "masked");
  const auto translator = models::make_model(
      models::ModelConfig::from("encoder-decoder:layers=1,width=8,heads=2,vocab-size=30,sequence-length=8"), 1);
  CHECK(objective_for(*translator, DataKind::text).name() == "denoise");
  CHECK(objective_for(*translator, DataKind::pairs).name() == "translate");
  CHECK(objective_for(*translator, std::nullopt).name() == "translate");
  CHECK_NOTHROW(check_suits(ObjectiveChoice::from("masked"), encoder));
  CHECK_THROWS_WITH_AS(check_suits(ObjectiveChoice::from("causal"), encoder),
                       "`objective` causal needs a model that predicts next tokens: `arch` decoder or lstm; this one "
                       "supports masked",
                       UsageError);
  CHECK_THROWS_WITH_AS(
      check_suits(ObjectiveChoice::from("masked"), decoder),
      "`objective` masked needs a model that predicts masked tokens: `arch` encoder; this one supports "
      "causal, respond",
      UsageError);
  CHECK_THROWS_WITH_AS(
      ObjectiveChoice::from("casual"),
      "objective: 'casual' is not one of mixed, causal, detect, masked, bidirectional, permute, translate, respond, "
      "denoise, optimizer; "
      "did you mean 'causal'?",
      UsageError);
}

TEST_CASE("objectives: each takes its own settings, and refuses those of others") {
  for (const char* const taken :
       {"masked:probability=0.4,masking=static,whole-words=true", "permute:whole-words=true,partial-prediction=3",
        "detect:weight=2,probability=0.4", "denoise:noise=infilling,batch-tokens=100", "translate:batch-tokens=100"}) {
    CAPTURE(taken);
    CHECK_NOTHROW(ObjectiveChoice::from(taken).check());
  }
  for (const char* const refused : {"causal:whole-words=true", "permute:probability=0.4", "masked:partial-prediction=3",
                                    "masked:weight=2", "translate:noise=spans"}) {
    CAPTURE(refused);
    CHECK_THROWS_WITH_AS(ObjectiveChoice::from(refused), doctest::Contains(" has no key '"), UsageError);
  }
}

TEST_CASE("objectives: a model is prepared for the horizon at which it is trained, others stay as they are") {
  models::ModelConfig rule = models::ModelConfig::from("lstm-rule:width=4"),
                      decoder = testing::decoder(objective_shape);
  const models::ModelConfig same = decoder;
  prepare(rule, ObjectiveChoice::from("optimizer:horizon=77"));
  REQUIRE(rule.as<models::RuleConfig>() != nullptr);
  CHECK(rule.as<models::RuleConfig>()->horizon == 77);
  prepare(decoder, ObjectiveChoice::from("causal"));
  CHECK(decoder == same);
}

TEST_CASE("objectives: made by name, each over its model's parameters") {
  models::Decoder decoder(testing::decoder(objective_shape), 1);
  models::Encoder encoder(testing::encoder(objective_shape), 1);
  const auto tokens = noisy_text(300, 30, 1);
  const TrainingConfig settings = quick_settings(2);
  for (models::Model* const model : std::initializer_list<models::Model*>{&decoder, &encoder}) {
    const auto objective = make_objective(objective_for(*model, DataKind::text),
                                          {.model = *model, .train = {.text = &tokens}, .config = settings});
    CHECK(&objective->parameters() == &model->parameters());
    CHECK_FALSE(objective->can_evaluate());
    const Weights before = weights_of(*model);
    CHECK(std::isfinite(Trainer(*objective, settings).step()));
    CHECK(weights_of(*model) != before);
  }
}

TEST_CASE("objective: of many origins the first are named, in order and each once, and the others counted") {
  std::vector<Origin> origins{{"examples", 4}, {"examples", 4}};
  std::string expected = "documents of x:";
  for (Index number = 0; number < 70; ++number) {
    origins.push_back({"documents of x", 69 - number});
    if (number < 64) expected += concatenate(number == 0 ? " " : ", ", number);
  }
  CHECK(to_text(origins) == expected + " and 6 more; examples: 4");
  CHECK(to_text(std::vector<Origin>{}).empty());
}

TEST_CASE("objective: the loss of token frequencies alone is their entropy, with the weights of the parts") {
  CHECK(training::token_frequencies(data::TokensInMemory({0, 0, 1, 1}, 5)).entropy == doctest::Approx(std::log(2.0)));
  CHECK(training::token_frequencies(data::TokensInMemory({0, 0, 0, 1}, 5)).agreement == doctest::Approx(0.625));
  CHECK(training::token_frequencies(data::TokensInMemory({3, 3, 3}, 5)).entropy == 0);
  CHECK(training::token_frequencies(data::TokensInMemory({3, 3, 3}, 5)).agreement == 1);
  struct Weighted : data::TokensInMemory {
    using TokensInMemory::TokensInMemory;
    std::vector<Part> parts() const override { return {{0, 2, 3}, {2, 4, 1}}; }
  };
  // Token 0 three times as often as 1: H(3/4, 1/4).
  CHECK(training::token_frequencies(Weighted({0, 0, 1, 1}, 2)).entropy ==
        doctest::Approx(0.75 * std::log(4.0 / 3) + 0.25 * std::log(4.0)));
}
