// A search for points where a polynomial is negative: samples, then descents from the lowest of them. Floating point
// finds the point; what is returned is rational and has been evaluated exactly.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "libcore/symbolic/functions.hpp"

namespace heddle::symbolic {

struct Counterexample {
  std::vector<Rational> point;
  Rational value;  // value of the polynomial there; with functions, a negative upper bound of it
};

// Lengths of samples are log-uniform over three decades up to the reach, or to 10 where it is 0 and points are
// anywhere; or those of each coordinate over six decades up to the reach, or to 1000. The same seed finds the same
// point.
struct SearchSettings {
  Index samples = 100'000, descents = 20;
  std::uint64_t seed = 1;
  double reach = 0;  // |x_i| is at most this
};
std::optional<Counterexample> negative_point(const Polynomial& polynomial, const SearchSettings& settings);
// The same of a polynomial in the variables and functions of a problem: intervals that MPFR rounds show that the value
// is negative.
std::optional<Counterexample> negative_point(const Polynomial& polynomial, const FunctionProblem& problem,
                                             const SearchSettings& settings);

// A point other than 0 with coordinates -1, 0 and 1 where the polynomial is 0 or less.
std::optional<Counterexample> zero_on_grid(const Polynomial& polynomial);

// "x = 1, y = -1/2".
std::string point_text(const std::vector<Rational>& point, const std::vector<std::string>& names);

}  // namespace heddle::symbolic
