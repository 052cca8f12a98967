#include "libcore/metrics/proportion.hpp"

#include <cmath>

#include "libcore/base/error.hpp"

namespace heddle::metrics {

namespace {

double log_choose(double n, double k) {
  return std::lgamma(n + 1) - std::lgamma(k + 1) - std::lgamma(n - k + 1);
}

// The probability of k hits or more in n trials, for p <= k / n, where each count is less likely than the one before.
double at_least(double n, double k, double p) {
  double term = std::exp(log_choose(n, k) + k * std::log(p) + (n - k) * std::log1p(-p)), sum = 0;
  for (double hits = k; hits <= n && term > 1e-17 * sum; ++hits) {
    sum += term;
    term *= (n - hits) / (hits + 1) * p / (1 - p);
  }
  return sum;
}

// The probability with which k hits or more in n trials are as likely as `tail`, by bisection.
double lower_end(double n, double k, double tail) {
  if (k == 0) return 0;
  double low = 0, high = k / n;
  for (int halving = 0; halving < 60; ++halving) {
    const double middle = (low + high) / 2;
    (at_least(n, k, middle) < tail ? low : high) = middle;
  }
  return low;
}

}  // namespace

Interval proportion_interval(Index hits, Index examples) {
  check<DataError>(examples > 0 && hits >= 0 && hits <= examples, "no fraction: ", hits, " of ", examples, " examples");
  constexpr double tail = 0.025;
  const auto n = static_cast<double>(examples), k = static_cast<double>(hits);
  return {lower_end(n, k, tail), 1 - lower_end(n, n - k, tail)};
}

Interval difference_interval(Index gained, Index lost, Index examples) {
  check<DataError>(gained >= 0 && lost >= 0 && gained + lost <= examples, "no fractions: ", gained, " and ", lost,
                   " of ", examples, " examples");
  const Index differ = gained + lost;
  if (differ == 0) {
    const double most = proportion_interval(0, examples).high;
    return {-most, most};
  }
  const Interval of_gained = proportion_interval(gained, differ);
  const double scale = static_cast<double>(differ) / static_cast<double>(examples);
  return {scale * (2 * of_gained.low - 1), scale * (2 * of_gained.high - 1)};
}

}  // namespace heddle::metrics
