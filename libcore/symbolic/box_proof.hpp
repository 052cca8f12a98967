// Positivity on a box around 0, proved by branch and bound with intervals (Moore 1966). Where the values near 0 are too
// small for intervals, an interval matrix of second derivatives that is positive definite shows it.
#pragma once

#include "libcore/symbolic/functions.hpp"

namespace heddle::symbolic {

inline constexpr Index most_boxes = 50'000;

// Whether the polynomial in variables and functions of the problem, which is 0 with its first derivatives at 0, is
// positive on |x_i| <= reach but for 0. False proves nothing. Second derivatives as FunctionProblem has them.
bool is_positive_on_box(const Polynomial& polynomial, const std::vector<Polynomial>& second,
                        const FunctionProblem& problem, const Rational& reach);

}  // namespace heddle::symbolic
