// Bootstrap confidence intervals of a metric: percentiles over samples of the examples with replacement.
// Source: Efron and Tibshirani 1993, "An introduction to the bootstrap", section 13.3.
#pragma once

#include <cstdint>
#include <functional>
#include <span>

#include "libcore/base/visit.hpp"

namespace heddle::metrics {

struct Bootstrap {
  Index samples = 1000;
  double level = 0.95;
  std::uint64_t seed = 1;
};

struct Interval {
  double low = 0, high = 0;

  template <class Self, class Visitor>
  static void visit(Self& self, Visitor& visitor) {
    visitor(Field("low", "where the interval begins"), self.low);
    visitor(Field("high", "where the interval ends"), self.high);
  }
};

// The metric is a function of the indices of the sampled examples, with repetitions; it is called once a sample. The
// same seed gives the same samples to every metric. Quantiles are interpolated between neighbours. Throws UsageError
// for fewer than 1 sample or a level outside (0, 1), and DataError where there is no example.
Interval bootstrap_interval(Index examples, const std::function<double(std::span<const Index>)>& metric,
                            const Bootstrap& options);

}  // namespace heddle::metrics
