// Basis of planning a budget: the law of losses, and the recipes of the architectures.
#include <doctest/doctest.h>

#include <cmath>

#include "libcore/models/architecture.hpp"
#include "libcore/training/optimizer.hpp"
#include "libcore/training/schedule.hpp"

using namespace heddle;
using namespace heddle::models;

TEST_CASE("scaling law: its terms, and what is read again counts less each time") {
  const ScalingLaw law{.floor = 1, .width = 0.5, .width_power = 0.5, .data = 2, .data_power = 1, .repeats = 4};
  CHECK(law.loss({.parameters = 4e6, .units = 2e6, .unique = 1e9}) == doctest::Approx(1 + 0.5 / 2 + 2.0 / 2));
  // Two passes over 1 million: 1 + 4 (1 - exp(-1 / 4)).
  const double worth = 1 + 4 * (1 - std::exp(-0.25));
  CHECK(law.loss({.parameters = 1e6, .units = 2e6, .unique = 1e6}) == doctest::Approx(1 + 0.5 + 2 / worth));
  // However often, no more than five passes' worth.
  CHECK(law.loss({.parameters = 1e6, .units = 1e12, .unique = 1e6}) == doctest::Approx(1 + 0.5 + 2.0 / 5));
}

TEST_CASE("recipes name rules and schedules, and shapes that models have, from small to large") {
  for (const Architecture& architecture : architectures()) {
    CAPTURE(architecture.name);
    training::OptimizerChoice::from(architecture.recipe.optimizer).check();
    training::ScheduleChoice::from(architecture.recipe.schedule).check();
    std::size_t before = 0;
    for (const auto& [settings, batch_size] : architecture.recipe.shapes) {
      ModelConfig config = ModelConfig::from(architecture.name + ":" + settings);
      config.tokens().fit_vocabularies({100, 100});
      config.check();
      const auto count = static_cast<std::size_t>(outline_of(config)->parameters().count());
      CHECK(count > before);
      before = count;
      CHECK(batch_size > 0);
    }
    const ScalingLaw& law = architecture.recipe.law;
    CHECK((architecture.recipe.shapes.empty() || (law.floor > 0 && law.data > 0 && law.error > 0)));
  }
}
