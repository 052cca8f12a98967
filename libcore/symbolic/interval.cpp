#include "libcore/symbolic/interval.hpp"

#include <mpfr.h>

#include <algorithm>
#include <cmath>
#include <numbers>

#include "libcore/base/error.hpp"
#include "libcore/symbolic/flint.hpp"

namespace heddle::symbolic {

namespace {

using Function = int (*)(mpfr_ptr, mpfr_srcptr, mpfr_rnd_t);

// A function of one number, rounded down or up to a double.
double rounded_function(Function function, double x, mpfr_rnd_t direction) {
  mpfr_t value, result;
  mpfr_init2(value, 53);
  mpfr_init2(result, 53);
  mpfr_set_d(value, x, MPFR_RNDN);
  function(result, value, direction);
  const double rounded = mpfr_get_d(result, direction);
  mpfr_clear(value);
  mpfr_clear(result);
  return rounded;
}

double below(double x) {
  return std::nextafter(x, -HUGE_VAL);
}
double above(double x) {
  return std::nextafter(x, HUGE_VAL);
}

Interval increasing(Function function, const Interval& a) {
  return {rounded_function(function, a.low, MPFR_RNDD), rounded_function(function, a.high, MPFR_RNDU)};
}

// Sine and cosine: with an extremum within, which a margin decides cautiously, the whole range.
Interval periodic(Function function, double first_maximum, const Interval& a) {
  const double width = a.high - a.low;
  if (!(width < 3) || std::abs(a.low) > 1e9) return {-1, 1};
  const auto holds = [&](double offset) {
    const double period = 2 * std::numbers::pi, margin = 1e-6;
    return std::floor((a.high - offset + margin) / period) > std::floor((a.low - offset - margin) / period);
  };
  const Interval at_low{rounded_function(function, a.low, MPFR_RNDD), rounded_function(function, a.low, MPFR_RNDU)};
  const Interval at_high{rounded_function(function, a.high, MPFR_RNDD), rounded_function(function, a.high, MPFR_RNDU)};
  Interval result{std::min(at_low.low, at_high.low), std::max(at_low.high, at_high.high)};
  if (holds(first_maximum)) result.high = 1;
  if (holds(first_maximum + std::numbers::pi)) result.low = -1;
  return result;
}

}  // namespace

Interval interval_of(const Rational& value) {
  mpfr_t rounded;
  mpfr_init2(rounded, 53);
  fmpq_get_mpfr(rounded, flint(value), MPFR_RNDD);
  const double low = mpfr_get_d(rounded, MPFR_RNDD);
  fmpq_get_mpfr(rounded, flint(value), MPFR_RNDU);
  const double high = mpfr_get_d(rounded, MPFR_RNDU);
  mpfr_clear(rounded);
  return {low, high};
}

// The processor rounds to nearest: the next double on either side bounds the exact result.
Interval sum(const Interval& a, const Interval& b) {
  return {below(a.low + b.low), above(a.high + b.high)};
}

Interval product(const Interval& a, const Interval& b) {
  const double products[] = {a.low * b.low, a.low * b.high, a.high * b.low, a.high * b.high};
  if (std::ranges::any_of(products, [](double value) { return std::isnan(value); })) return {-HUGE_VAL, HUGE_VAL};
  return {below(std::ranges::min(products)), above(std::ranges::max(products))};
}

Interval power(const Interval& a, Index exponent) {
  Interval result{1, 1};
  for (Index i = 0; i < exponent; ++i) result = product(result, a);
  if (exponent % 2 == 0) result.low = std::max(result.low, 0.0);
  return result;
}

Interval function_of(Node node, const Interval& a) {
  switch (node) {
    case Node::sine:
      return periodic(mpfr_sin, std::numbers::pi / 2, a);
    case Node::cosine:
      return periodic(mpfr_cos, 0, a);
    case Node::exponential:
      return increasing(mpfr_exp, a);
    case Node::tanh:
      return increasing(mpfr_tanh, a);
    default:
      break;
  }
  check<DataError>(a.low > 0, "a logarithm, root or quotient may be undefined");
  if (node == Node::logarithm) return increasing(mpfr_log, a);
  if (node == Node::root) return increasing(mpfr_sqrt, a);
  return {below(1 / a.high), above(1 / a.low)};
}

Interval value_in(const Polynomial& polynomial, const std::vector<Interval>& variables) {
  Interval total;
  for (const Term& term : polynomial.terms()) {
    Interval value = interval_of(term.coefficient);
    for (std::size_t i = 0; i < term.exponents.size(); ++i)
      if (term.exponents[i] > 0) value = product(value, power(variables[i], term.exponents[i]));
    total = sum(total, value);
  }
  return total;
}

}  // namespace heddle::symbolic
