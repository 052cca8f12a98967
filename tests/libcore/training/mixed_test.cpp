// The mixed objective: its batches, its evaluation, and training with it.
#include "libcore/training/mixed.hpp"

#include <doctest/doctest.h>

#include <cmath>
#include <set>

#include "libcore/training/causal.hpp"
#include "short_training.hpp"
#include "support/models.hpp"

using namespace heddle;
using namespace heddle::training;
using namespace heddle::testing;

namespace {

constexpr Index mixed_vocab = 31, mixed_time = 20;

models::DecoderConfig tiny_mixed() {
  models::DecoderConfig config = testing::decoder(
      {.layers = 2, .width = 32, .heads = 4, .context = mixed_time, .vocab_size = mixed_vocab, .dropout = 0.1});
  config.positions = "rope";
  config.fills_masks = true;
  return config;
}

// The special tokens are the vocabulary's last four.
data::TokensInMemory text_to_mix(Index size, std::uint64_t seed) {
  return noisy_text(size, mixed_vocab, seed, 4);
}

struct MixedRun {
  std::unique_ptr<models::Model> model;
  std::unique_ptr<Objective> objective;
  Trainer trainer;
  MixedRun(std::uint64_t seed, const data::TokenSource& tokens, const data::TokenSource* valid,
           const TrainingConfig& config, const std::string& name = "mixed:causal=0.25")
      : model(models::make_model(tiny_mixed(), seed)),
        objective(
            make_objective(ObjectiveChoice::from(name),
                           {.model = *model, .train = {.text = &tokens}, .valid = {.text = valid}, .config = config})),
        trainer(*objective, config) {}
};

data::MixedWindows windows_of(const data::TokenSource& text, double causal, Index samples) {
  return {text,
          data::MaskVocabulary(mixed_vocab),
          {.time = mixed_time, .causal = causal, .samples_per_step = samples, .masking = {.probability = 0.3}}};
}

}  // namespace

TEST_CASE("mixed: the first samples of each step are causal, in all as many as the fraction says") {
  const auto text = text_to_mix(4000, 1);
  for (const auto& [fraction, samples] : std::vector<std::pair<double, Index>>{{0.0625, 8}, {0.5, 3}, {0.3, 7}}) {
    CAPTURE(fraction);
    const data::MixedWindows windows = windows_of(text, fraction, samples);
    Index causal = 0;
    for (Index step = 0; step < 40; ++step) {
      const data::MixedWindows::Batch batch = windows.batch(step * samples, samples);
      CHECK(batch.causal.batch == windows.causal_of_step(step * samples));
      CHECK(batch.causal.batch + batch.masked.batch == samples);
      causal += batch.causal.batch;
      const double expected = fraction * static_cast<double>((step + 1) * samples);
      CHECK(std::abs(static_cast<double>(causal) - expected) <= 0.5);
    }
  }
  // However the step is cut.
  const data::MixedWindows windows = windows_of(text, 0.4, 5);
  for (Index sample = 0; sample < 25; ++sample) {
    CHECK(windows.batch(sample, 1).causal.batch == (sample % 5 < 2 ? 1 : 0));
  }
}

TEST_CASE("mixed: both halves are windows of the text; of those read as a whole no first token is masked") {
  const auto text = text_to_mix(4000, 1);
  const data::MixedWindows windows = windows_of(text, 0.5, 4);
  const data::TrainingWindows plain(text, mixed_time, 0);
  double predicted = 0, masks = 0;
  for (Index step = 0; step < 40; ++step) {
    const data::TokenBatch whole = plain.batch(4 * step, 4);
    const data::MixedWindows::Batch batch = windows.batch(4 * step, 4);
    const auto half = whole.ids.begin() + 2 * mixed_time;
    CHECK(std::equal(batch.causal.ids.begin(), batch.causal.ids.end(), whole.ids.begin(), half));
    CHECK(std::equal(batch.causal.targets.begin(), batch.causal.targets.end(), whole.targets.begin(),
                     whole.targets.begin() + 2 * mixed_time));
    std::vector<TokenId> restored = batch.masked.ids;
    for (std::size_t i = 0; i < batch.masked.rows.size(); ++i) {
      const Index row = batch.masked.rows[i];
      CHECK(row % mixed_time != 0);
      masks += restored[static_cast<std::size_t>(row)] == mixed_vocab - 2 ? 1 : 0;
      restored[static_cast<std::size_t>(row)] = batch.masked.targets[i];
    }
    CHECK(std::equal(restored.begin(), restored.end(), half, whole.ids.end()));
    predicted += static_cast<double>(batch.masked.targets.size());
  }
  CHECK(predicted / (40 * 2 * (mixed_time - 1)) == doctest::Approx(0.3).epsilon(0.06));
  CHECK(masks / predicted == doctest::Approx(0.8).epsilon(0.1));
}

TEST_CASE("mixed: it learns both, with the same result however a step is cut, and evaluates both") {
  const auto text = text_to_mix(3000, 1), valid = text_to_mix(500, 2);
  TrainingConfig settings = quick_settings(400);
  settings.training.batch_size = 8;
  MixedRun run(4, text, &valid, settings);
  const auto evaluated = [&] { return run.objective->evaluate({}); };
  const auto before = evaluated();
  CHECK(evaluated()[2].value == before[2].value);
  for (std::size_t i = 0; i < 3; ++i) CHECK(before[i].value == doctest::Approx(std::log(31.0)).epsilon(0.1));
  run.trainer.run({});
  const std::vector<Metric> after = evaluated();
  CHECK(after[1].value < 1.3);
  CHECK(after[2].value < 1.3);
  CHECK(after[3].value > 0.7);
  CHECK(after[0].value == doctest::Approx(0.25 * after[1].value + 0.75 * after[2].value));
  const Evaluation next = evaluate(*run.model->as<models::TokenLoss>(), valid, {.limit = 200});
  CHECK(after[1].value == doctest::Approx(next.nats_per_token()));
  Weights together;
  for (const Index cut : {1, 2, 8}) {
    TrainingConfig few = quick_settings(5);
    few.training.batch_size = 8 / cut;
    few.training.accumulate = cut;
    few.optimizer = OptimizerChoice::from("sgd");
    MixedRun one(4, text, nullptr, few);
    one.trainer.run({});
    if (together.empty()) together = weights_of(*one.model);
    CHECK(largest_difference(weights_of(*one.model), together) < 2e-6);
  }
}

TEST_CASE("mixed: an evaluation masks the same tokens however its windows are cut into batches, others in each") {
  const auto text = text_to_mix(400, 3);
  const auto model = models::make_model(tiny_mixed(), 5);
  const auto& role = *model->as<models::MixedPredictor>();
  const data::MaskVocabulary vocabulary(mixed_vocab);
  const auto evaluated = [&](Index batch_size) { return evaluate(role, text, vocabulary, {.batch_size = batch_size}); };
  const MixedEvaluation whole = evaluated(64);
  for (const Index batch_size : {1, 3, 8}) {
    CAPTURE(batch_size);
    const MixedEvaluation cut = evaluated(batch_size);
    CHECK(cut.tokens == whole.tokens);
    CHECK(cut.masked.tokens == whole.masked.tokens);
    CHECK(cut.nats == doctest::Approx(whole.nats));
    CHECK(cut.masked.nats == doctest::Approx(whole.masked.nats).epsilon(1e-5));
  }
  // Windows of the same tokens, each masked in its own way.
  const data::TokensInMemory same(std::vector<TokenId>(10 * mixed_time + 1, 2), mixed_vocab);
  std::set<std::vector<Index>> masks;
  data::for_each_evaluation_batch(same, {.time = mixed_time, .batch = 4}, [&](const data::TokenBatch& windows) {
    for (Index i = 0; i < windows.batch; ++i) {
      const data::TokenBatch one{1, mixed_time, std::vector<TokenId>(mixed_time, 2), {}};
      masks.insert(data::masked_copy(one, vocabulary, {.probability = 0.3}, 0, std::ssize(masks)).rows);
    }
    const data::MaskedBatch all = data::masked_copy(windows, vocabulary, {.probability = 0.3}, 0, 0);
    for (const Index row : all.rows) CHECK(row % windows.time != 0);
  });
  CHECK(masks.size() >= 8);
}

TEST_CASE("mixed: stopped at any step and resumed, it ends with the same bits") {
  const auto text = text_to_mix(3000, 1), valid = text_to_mix(500, 2);
  const TrainingConfig settings = quick_settings(12);
  MixedRun whole(4, text, &valid, settings);
  whole.trainer.run({});
  for (const int polls : {1, 5, 9}) {
    CAPTURE(polls);
    MixedRun first(4, text, &valid, settings), second(999, text, &valid, settings);
    Hooks hooks;
    int left = polls;
    hooks.stop = [&left] { return left-- <= 0; };
    first.trainer.run(hooks);
    hand_over(first.trainer, *first.model, second.trainer, *second.model);
    second.trainer.run({});
    CHECK(weights_of(*second.model) == weights_of(*whole.model));
  }
}

TEST_CASE("mixed: what cannot work is refused") {
  const auto text = text_to_mix(3000, 1);
  const TrainingConfig settings = quick_settings(1);
  for (const char* const name : {"mixed:causal=0", "mixed:causal=1", "mixed:masked=0", "mixed:masked=1.5"}) {
    CAPTURE(name);
    CHECK_THROWS_AS(ObjectiveChoice::from(name).check(), UsageError);
  }
  CHECK_THROWS_WITH_AS(MixedRun(1, text, nullptr, settings, "masked"), doctest::Contains("choose mixed"), UsageError);
  const data::TokensInMemory special(std::vector<TokenId>(200, mixed_vocab - 1), mixed_vocab);
  MixedRun nothing(1, special, nullptr, settings);
  CHECK_THROWS_WITH_AS(nothing.objective->batch(0, 4), doctest::Contains("nothing to mask"), DataError);
  models::DecoderConfig config = tiny_mixed();
  config.sequence_length = 1;
  const auto model = models::make_model(config, 1);
  CHECK_THROWS_WITH_AS(
      make_objective(ObjectiveChoice::from("mixed"), {.model = *model, .train = {.text = &text}, .config = settings}),
      doctest::Contains("`sequence_length` = 1"), UsageError);
}
