#include "libcore/training/moving_average.hpp"

#include <doctest/doctest.h>

#include <cmath>

#include "causal_trainer.hpp"
#include "short_training.hpp"

using namespace heddle;
using namespace heddle::training;
using namespace heddle::testing;

namespace {

constexpr double average_decay = 0.8;

models::DecoderConfig averaged_decoder() {
  return testing::decoder({.layers = 1, .width = 16, .heads = 2, .context = 16, .vocab_size = 30});
}

// The average as its definition has it, of the weights at first and after each step.
Weights average_of(const std::vector<Weights>& course) {
  Weights average = course.front();
  for (std::size_t n = 1; n < course.size(); ++n) {
    const double d = std::min(average_decay, (1 + static_cast<double>(n)) / (10 + static_cast<double>(n)));
    for (auto& [name, values] : average) {
      const std::vector<Real>& now = course[n].at(name);
      for (std::size_t i = 0; i < values.size(); ++i) {
        values[i] = static_cast<Real>(d * static_cast<double>(values[i]) + (1 - d) * static_cast<double>(now[i]));
      }
    }
  }
  return average;
}

TrainingConfig settings_of(Index steps, double ema) {
  TrainingConfig settings = quick_settings(steps);
  settings.training.ema_decay = ema;
  return settings;
}

}  // namespace

TEST_CASE(
    "moving average: what is left in the model, saved and evaluated is the average of what training went through") {
  const auto tokens = noisy_text(3000, 30, 1), valid = noisy_text(500, 30, 2);
  models::Decoder plain(averaged_decoder(), 4), averaged(averaged_decoder(), 4);
  std::vector<Weights> course{weights_of(plain)};
  Hooks watch;
  watch.on_progress = [&](const TrainingState&) { course.push_back(weights_of(plain)); };
  CausalTrainer(plain, tokens, &valid, settings_of(40, 0)).run(watch);

  std::vector<Weights> saved;
  double evaluated = 0;
  Hooks hooks;
  hooks.save_last = [&] { saved.push_back(weights_of(averaged)); };
  hooks.on_step = [&](const StepRecord& record) {
    if (!record.valid.empty()) evaluated = record.valid.front().value;
  };
  CausalTrainer trainer(averaged, tokens, &valid, settings_of(40, average_decay));
  trainer.run(hooks);
  REQUIRE(saved.size() == 8);  // every five steps, and at the end
  CHECK(largest_difference(saved.front(), average_of({course.begin(), course.begin() + 6})) < 1e-6);
  CHECK(largest_difference(saved.back(), average_of(course)) < 1e-6);
  CHECK(weights_of(averaged) == saved.back());
  CHECK(largest_difference(saved.back(), weights_of(plain)) > 1e-4);

  // The last evaluation was of these weights, and training itself went on from the others.
  const Causal objective(averaged, tokens, &valid, settings_of(40, 0));
  CHECK(objective.evaluate({}).front().value == evaluated);
  for (const StateTensor& moment : trainer.tensors()) {
    const std::string prefix = "trained/";
    if (!moment.name.starts_with(prefix)) continue;
    CHECK(moment.value.elements() == weights_of(plain).at(moment.name.substr(prefix.size())));
  }
}

TEST_CASE("moving average: each element of a large parameter approaches its own weight") {
  Parameters parameters(ParameterSource(1));
  const Variable table = Scope(parameters, "toy").parameter("table", {5, 20001}, Initializer::zeros(), Decay::no);
  const MovingAverage average(average_decay, parameters);
  const Tensor weights = table.value();
  for (Index i = 0; i < weights.size(); ++i) weights[i] = static_cast<Real>(i % 1009);
  average.update(0);  // d = (1 + 1) / (10 + 1)
  const Tensor kept = average.kept().front().value;
  Index wrong = 0;
  for (Index i = 0; i < weights.size(); ++i) {
    wrong += std::abs(static_cast<double>(kept[i]) - 9.0 / 11 * static_cast<double>(i % 1009)) < 1e-3 ? 0 : 1;
  }
  CHECK(wrong == 0);
}

TEST_CASE("moving average: none is kept unless asked for, nor of weights that stay as they are") {
  models::Decoder model(averaged_decoder(), 4);
  CHECK(MovingAverage(0, model.parameters()).kept().empty());
  CHECK(MovingAverage(0.5, model.parameters()).kept().size() == model.parameters().all().size());
  const auto rate = [](std::string_view name) {
    return name.find("/attention/") == std::string_view::npos ? 1.0 : 0.0;
  };
  models::Decoder frozen(averaged_decoder(), ParameterSource(4).trained_at(rate));
  const auto kept = MovingAverage(0.5, frozen.parameters()).kept();
  CHECK(kept.size() < frozen.parameters().all().size());
  for (const StateTensor& moment : kept) CHECK(moment.name.find("/attention/") == std::string::npos);
}
