#include "libcore/metrics/bootstrap.hpp"

#include <algorithm>
#include <cmath>
#include <vector>

#include "libcore/base/error.hpp"
#include "libcore/base/random.hpp"

namespace heddle::metrics {

namespace {

double quantile(const std::vector<double>& sorted, double fraction) {
  const double place = fraction * static_cast<double>(sorted.size() - 1);
  const auto below = static_cast<std::size_t>(place), above = std::min(below + 1, sorted.size() - 1);
  return std::lerp(sorted[below], sorted[above], place - static_cast<double>(below));
}

}  // namespace

Interval bootstrap_interval(Index examples, const std::function<double(std::span<const Index>)>& metric,
                            const Bootstrap& options) {
  check<UsageError>(options.samples >= 1, "a bootstrap needs at least 1 sample, not ", options.samples);
  check<UsageError>(options.level > 0 && options.level < 1, "the level of an interval must be between 0 and 1, not ",
                    options.level);
  check<DataError>(examples > 0, "no example to draw from");
  static const std::uint64_t site = random_site("metrics/bootstrap");
  std::vector<Index> drawn(static_cast<std::size_t>(examples));
  std::vector<double> values;
  for (Index sample = 0; sample < options.samples; ++sample) {
    const RandomStream random(options.seed, site, static_cast<std::uint64_t>(sample));
    for (std::size_t i = 0; i < drawn.size(); ++i) drawn[i] = static_cast<Index>(random.below(i, drawn.size()));
    values.push_back(metric(drawn));
  }
  std::ranges::sort(values);
  return {quantile(values, (1 - options.level) / 2), quantile(values, (1 + options.level) / 2)};
}

}  // namespace heddle::metrics
