// Two models that are trained at once by one program.
#include <doctest/doctest.h>

#include "libcore/tensor/matmul.hpp"
#include "libcore/training/causal_trainer.hpp"
#include "libcore/training/short_training.hpp"
#include "side_by_side.hpp"

using namespace heddle;
using namespace heddle::testing;

namespace {

struct Outcome {
  Weights weights;
  std::vector<double> evaluations;
  double flops = 0;

  bool operator==(const Outcome&) const = default;
};

Outcome train(const Context& context, PrecisionChoice precision, std::uint64_t seed) {
  const ContextScope scope(context);
  const auto tokens = noisy_text(3000, 50, seed), valid = noisy_text(1000, 50, seed + 1);
  models::Decoder model(
      decoder({.layers = 2, .width = 32, .heads = 4, .context = 16, .vocab_size = 50, .dropout = 0.1}), seed);
  training::TrainingConfig settings = quick_settings(20);
  settings.training.precision = precision;
  Outcome outcome;
  const double before = matmul_flops();
  CausalTrainer trainer(model, tokens, &valid, settings);
  training::Hooks hooks;
  hooks.on_step = [&](const training::StepRecord& record) {
    for (const training::Metric& metric : record.valid) outcome.evaluations.push_back(metric.value);
  };
  trainer.run(hooks);
  outcome.flops = matmul_flops() - before;
  outcome.weights = weights_of(model);
  return outcome;
}

PrecisionChoice other_choice() {
  return bf16_is_supported() ? PrecisionChoice::bf16 : PrecisionChoice::f32;
}

void check_at_once(const Context& one, const Context& two) {
  const Outcome first = train(one, PrecisionChoice::f32, 4), second = train(two, other_choice(), 5);
  REQUIRE(first.evaluations.size() > 1);
  REQUIRE(first.weights != second.weights);
  Outcome first_at_once, second_at_once;
  side_by_side({[&] { first_at_once = train(one, PrecisionChoice::f32, 4); },
                [&] { second_at_once = train(two, other_choice(), 5); }});
  CHECK(first_at_once == first);
  CHECK(second_at_once == second);
}

}  // namespace

TEST_CASE("training: two models at once, each in its own context, get the bits that they get one after the other") {
  check_at_once(Context(2), Context(2));
}

TEST_CASE("training: two models at once in one context get the bits that they get one after the other") {
  const Context shared(3);
  check_at_once(shared, shared);
}
