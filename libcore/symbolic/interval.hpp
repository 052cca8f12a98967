// Intervals whose ends are rounded outwards by MPFR, which rounds every function correctly: a value lies within, for
// certain.
#pragma once

#include "libcore/symbolic/polynomial.hpp"

namespace heddle::symbolic {

struct Interval {
  double low = 0, high = 0;

  friend bool operator==(const Interval&, const Interval&) = default;
};

Interval interval_of(const Rational& value);
Interval sum(const Interval& a, const Interval& b);
Interval product(const Interval& a, const Interval& b);
Interval power(const Interval& a, Index exponent);
// The function of a node with one part, or a quotient's 1 / a. Throws DataError where a logarithm, a root or a quotient
// may be undefined.
Interval function_of(Node node, const Interval& a);
// One interval for each variable.
Interval value_in(const Polynomial& polynomial, const std::vector<Interval>& variables);

}  // namespace heddle::symbolic
