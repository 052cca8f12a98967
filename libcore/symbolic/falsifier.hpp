// A search for points where a polynomial is negative: samples, then descents from the lowest of them. Floating point
// finds the point; what is returned is rational and has been evaluated exactly.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "libcore/symbolic/polynomial.hpp"

namespace heddle::symbolic {

struct Counterexample {
  std::vector<Rational> point;
  Rational value;  // of the polynomial there
};

// Radii of samples are log-uniform from 0.01 to 10. The same seed finds the same point.
std::optional<Counterexample> negative_point(const Polynomial& polynomial, Index samples, Index descents,
                                             std::uint64_t seed);

// A point other than 0 with coordinates -1, 0 and 1 where the polynomial is 0 or less.
std::optional<Counterexample> zero_on_grid(const Polynomial& polynomial);

// "x = 1, y = -1/2".
std::string point_text(const std::vector<Rational>& point, const std::vector<std::string>& names);

}  // namespace heddle::symbolic
