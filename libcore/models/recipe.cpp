#include "libcore/models/recipe.hpp"

#include <algorithm>
#include <cmath>

namespace heddle::models {

double ScalingLaw::loss(const TrainingScale& of) const {
  constexpr double million = 1e6;
  const double again = std::max(0.0, of.units / of.unique - 1);
  const double worth = std::min(of.units, of.unique) + of.unique * repeats * (1 - std::exp(-again / repeats));
  return floor + width * std::pow(of.parameters / million, -width_power) +
         data * std::pow(worth / million, -data_power);
}

}  // namespace heddle::models
