#include "tools/drawing/ticks.hpp"

#include <cmath>

namespace heddle {

namespace {

constexpr double tolerance = 1e-9;  // relative to distances

double tick_distance(double range, double most) {
  const double power = std::pow(10.0, std::floor(std::log10(range / most)));
  for (const double factor : {1.0, 2.0, 5.0}) {
    if (range / (factor * power) <= most + tolerance) return factor * power;
  }
  return 10 * power;
}

}  // namespace

std::vector<double> ticks_of(double low, double high, double most) {
  const double range = high - low;
  if (!(range > 0) || !std::isfinite(range)) return {};
  const double distance = tick_distance(range, most);
  std::vector<double> ticks;
  // Some multiples of large numbers with a small range are one number.
  for (double count = 0; count <= most + 1; ++count) {
    const double tick = (std::ceil(low / distance - tolerance) + count) * distance;
    if (!(tick <= high + tolerance * distance)) break;
    if (ticks.empty() || tick > ticks.back()) ticks.push_back(tick);
  }
  return ticks;
}

}  // namespace heddle
