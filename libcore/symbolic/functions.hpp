// Systems with sin, cos, exp, log, tanh, roots and quotients: GiNaC differentiates, and each application of a function
// becomes one more variable of polynomials. What holds for all values of these variables holds for the functions.
//
// An exponential is written 1 + e and a cosine 1 - c, so that e and c are 0 where their argument is; a logarithm, a
// root or a quotient is of a polynomial that is a positive number plus a sum of squares seen without a solver.
#pragma once

#include "libcore/symbolic/interval.hpp"

namespace heddle::symbolic {

struct AppliedFunction {
  Node node;            // quotient: 1 / argument; exponential: exp - 1; cosine: 1 - cos
  Polynomial argument;  // in the variables and the earlier functions
  std::string text;     // infix, in brackets where needed
};

struct FunctionProblem {
  // Throws DataError where f(0) is not 0, and for functions that are not defined everywhere, as far as is seen. Second
  // derivatives are computed if asked for.
  FunctionProblem(const System& system, const Tree& function, bool with_second = false);

  Index variables() const { return static_cast<Index>(names.size()); }
  // The values of variables and functions at a point.
  std::vector<double> values_at(const std::vector<double>& point) const;
  std::vector<Interval> intervals_in(const std::vector<Interval>& box) const;

  std::vector<std::string> names;  // names of the variables, then the functions' texts
  std::vector<AppliedFunction> functions;
  Polynomial function, decrease;  // V - V(0), -grad V . f
  std::vector<Polynomial> gradient;
  // The upper triangles of second derivatives, by rows; none unless the gradient of V is 0 at 0.
  std::vector<Polynomial> function_second, decrease_second;
};

// An expression in the variables and functions of a problem. Throws DataError for one with other functions.
Polynomial read_in(const std::string& text, const std::vector<std::string>& variables, const FunctionProblem& problem);

}  // namespace heddle::symbolic
