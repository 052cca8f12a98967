// Training at bf16 precision.
#include "libcore/tensor/precision.hpp"

#include <doctest/doctest.h>

#include <cmath>
#include <cstdio>
#include <memory>
#include <sstream>

#include "causal_trainer.hpp"
#include "libcore/tensor/matmul.hpp"
#include "libcore/tensor/pool.hpp"
#include "small_decoder.hpp"
#include "support/on_threads.hpp"
#include "support/skips.hpp"
#include "support/tensors.hpp"

using namespace heddle;
using namespace heddle::testing;

namespace {

bool no_bf16() {
  if (bf16_is_supported()) return false;
  skipped("this processor has no bf16 arithmetic");
  return true;
}

using Gradients = std::map<std::string, std::vector<double>>;

// Result of the same program in double precision.
Gradients gradients_in_double() {
  const std::unique_ptr<FILE, int (*)(FILE*)> pipe(popen(HEDDLE_WRITE_GRADIENTS, "r"), pclose);
  REQUIRE(pipe != nullptr);
  std::string text;
  char buffer[65536];
  while (const std::size_t count = std::fread(buffer, 1, sizeof buffer, pipe.get())) text.append(buffer, count);
  Gradients gradients;
  std::istringstream lines(text);
  for (std::string line; std::getline(lines, line);) {
    std::istringstream words(line);
    std::string name;
    words >> name;
    for (double number = 0; words >> number;) gradients[name].push_back(number);
  }
  return gradients;
}

double distance(const std::vector<double>& a, const std::vector<double>& b) {
  double difference = 0, size = 0;
  for (std::size_t i = 0; i < b.size(); ++i) {
    difference += (a.at(i) - b[i]) * (a.at(i) - b[i]);
    size += b[i] * b[i];
  }
  return std::sqrt(difference / size);
}

const models::DecoderConfig precision_decoder =
    testing::decoder({.layers = 2, .width = 32, .heads = 4, .context = 16, .vocab_size = 40});

data::TokensInMemory precision_text() {
  std::vector<TokenId> tokens{0};
  for (int i = 1; i < 4000; ++i) tokens.push_back(static_cast<TokenId>((5 * tokens.back() + 3 + (i % 7 == 0)) % 40));
  return {tokens, 40};
}

training::TrainingConfig settings(PrecisionChoice precision) {
  training::TrainingConfig settings;
  settings.training.precision = precision;
  settings.training.steps = 60;
  settings.training.batch_size = 4;
  settings.training.learning_rate = 3e-3;
  return settings;
}

struct Trained {
  double loss = 0;
  std::vector<Real> weights;
};
Trained trained(double dropout, PrecisionChoice precision) {
  models::DecoderConfig config = precision_decoder;
  config.dropout = dropout;
  models::Decoder model(config, 3);
  const data::TokensInMemory tokens = precision_text();
  CausalTrainer trainer(model, tokens, nullptr, settings(precision));
  Trained result;
  for (int i = 0; i < 60; ++i) result.loss = trainer.step();
  for (const Parameter& parameter : model.parameters().all()) {
    const std::vector<Real> numbers = parameter.value().elements();
    result.weights.insert(result.weights.end(), numbers.begin(), numbers.end());
  }
  return result;
}

}  // namespace

TEST_CASE("gradients: those of double precision, but for rounding, for every parameter of a small model") {
  const Gradients exact = gradients_in_double(), single = small_decoder_gradients();
  REQUIRE(exact.size() == single.size());
  for (const auto& [name, gradient] : exact) {
    CAPTURE(name);
    // A key's bias moves all scores of a query alike: its gradient is zero but for rounding.
    if (name.ends_with("key/bias")) continue;
    CHECK(distance(single.at(name), gradient) < 2e-5);
  }
  if (no_bf16()) return;
  const PrecisionScope scope(Precision::bf16);
  for (const auto& [name, gradient] : small_decoder_gradients()) {
    CAPTURE(name);
    if (name.ends_with("key/bias")) continue;
    CHECK(distance(gradient, exact.at(name)) < 0.02);
  }
}

TEST_CASE("trainer: bf16 comes to the loss of f32, with and without dropout") {
  if (no_bf16()) return;
  for (const double dropout : {0.0, 0.1}) {
    const double single = trained(dropout, PrecisionChoice::f32).loss;
    CHECK(trained(dropout, PrecisionChoice::bf16).loss == doctest::Approx(single).epsilon(0).scale(1).epsilon(0.02));
  }
}

TEST_CASE("trainer: steps and evaluations are in the settings' precision, whatever the context has") {
  if (no_bf16()) return;
  const data::TokensInMemory tokens = precision_text();
  std::vector<std::vector<double>> runs;
  for (const Precision outside : {Precision::f32, Precision::bf16}) {
    for (const PrecisionChoice inside : {PrecisionChoice::f32, PrecisionChoice::bf16}) {
      const PrecisionScope scope(outside);
      models::Decoder model(precision_decoder, 3);
      training::TrainingConfig short_settings = settings(inside);
      short_settings.training.steps = 3;
      CausalTrainer trainer(model, tokens, &tokens, short_settings);
      std::vector<double>& run = runs.emplace_back();
      training::Hooks hooks;
      hooks.on_step = [&](const training::StepRecord& record) { run = {record.loss, record.valid.at(0).value}; };
      trainer.run(hooks);
      CHECK(precision() == outside);
      const training::Causal objective(model, tokens, &tokens, short_settings);
      const PrecisionScope evaluated(chosen(inside));
      CHECK(objective.evaluate({}).at(0).value == run.at(1));
    }
  }
  CHECK(runs[0] == runs[2]);
  CHECK(runs[1] == runs[3]);
  CHECK(runs[0] != runs[1]);
}

TEST_CASE("trainer: a precision that is still to be measured is refused") {
  models::Decoder model(precision_decoder, 3);
  const data::TokensInMemory tokens = precision_text();
  CHECK_THROWS_AS(CausalTrainer(model, tokens, nullptr, settings(PrecisionChoice::automatic)), UsageError);
}

TEST_CASE("trainer: bf16 gives the same bits for any number of threads") {
  if (no_bf16()) return;
  std::vector<Real> first;
  for (const int threads : {1, 2, 3}) {
    const OnThreads scope(threads);
    const std::vector<Real> weights = trained(0.1, PrecisionChoice::bf16).weights;
    if (first.empty()) first = weights;
    CHECK(weights == first);
  }
}

TEST_CASE("trainer: at bf16 a simulation foresees memory and arithmetic, and steps ask for no more") {
  if (no_bf16()) return;
  const OnThreads scope(1);
  const data::TokensInMemory tokens = precision_text();
  std::size_t bytes = 0;
  double flops = 0;
  {
    const Simulation simulation;
    models::Decoder model(precision_decoder, 3);
    CausalTrainer trainer(model, tokens, nullptr, settings(PrecisionChoice::bf16));
    const double before = matmul_flops();
    trainer.step();
    flops = matmul_flops() - before;
    trainer.step();
    bytes = pool().statistics().peak_bytes_in_use;
  }
  const std::size_t in_use = pool().statistics().bytes_in_use;
  models::Decoder model(precision_decoder, 3);
  CausalTrainer trainer(model, tokens, nullptr, settings(PrecisionChoice::bf16));
  const double before = matmul_flops();
  trainer.step();
  CHECK(matmul_flops() - before == flops);
  const Index allocations = static_cast<Index>(pool().statistics().system_allocations);
  for (int i = 0; i < 5; ++i) trainer.step();
  CHECK(static_cast<Index>(pool().statistics().system_allocations) == allocations);
  CHECK(pool().statistics().bytes_in_use - in_use <= bytes);
}

TEST_CASE("precision: Muon moves every direction alike in bfloat16 too, matrices that are long as well") {
  if (no_bf16()) return;
  for (const Shape& shape : {Shape{32, 32}, Shape{32, 48}, Shape{32, 128}, Shape{128, 32}}) {
    CAPTURE(shape);
    const auto moved = [&](Precision precision) {
      Parameters parameters{1};
      const Variable weight =
          Scope(parameters, "decoder").parameter("0/feed_forward/up/weight", shape, Initializer::zeros(), Decay::yes);
      parameters.clear_gradients();
      // Directions of very different sizes: row i has 1 / (1 + i)^2 of the first's.
      const Tensor gradient = weight.gradient()->target().tensor, noise = normal_tensor(shape, 5);
      for (Index i = 0; i < gradient.size(); ++i) {
        const auto row = static_cast<double>(1 + i / shape[1]);
        gradient[i] = static_cast<Real>(noise[i] / (row * row));
      }
      const PrecisionScope scope(precision);
      training::OptimizerChoice::from("muon")->make(parameters)->update({.step = 0, .learning_rate = 1});
      return parameters.all().front().value().copy();
    };
    const Tensor expected = moved(Precision::f32), found = moved(Precision::bf16);
    double apart = 0, size = 0;
    for (Index i = 0; i < expected.size(); ++i) {
      apart += std::pow(expected[i] - found[i], 2);
      size += std::pow(expected[i], 2);
    }
    CHECK(std::sqrt(apart / size) < 0.1);
  }
}
