#include "libcore/models/update_rule.hpp"

#include <cmath>

namespace heddle::models {

Tensor gradient_features(const Tensor& gradients, double precision) {
  const Index count = gradients.size();
  const Tensor features({count, 2});
  const double least = std::exp(-precision);
  for (Index i = 0; i < count; ++i) {
    const auto g = static_cast<double>(gradients[i]);
    const bool is_large = std::abs(g) >= least;
    features[2 * i] = static_cast<Real>(is_large ? std::log(std::abs(g)) / precision : -1);
    features[2 * i + 1] = static_cast<Real>(is_large ? (g > 0 ? 1.0 : -1.0) : g / least);
  }
  return features;
}

}  // namespace heddle::models
