// The linear algebra of Gram matrices, for squares.cpp alone.
#pragma once

#include <map>
#include <optional>
#include <vector>

#include "libcore/symbolic/squares.hpp"

namespace heddle::symbolic {

using Bases = std::vector<std::vector<Polynomial>>;

std::vector<std::size_t> sizes(const Bases& bases);

// The monomials that may be in a basis, by blocks: those whose square can be cancelled or is there (which leaves those
// in half of the Newton polytope at most), and which the signs of variables that the polynomial does not distinguish
// put in one class. Too many: none.
std::vector<std::vector<Exponents>> gram_monomials(const Polynomial& polynomial);
// Only those whose square is in the polynomial with a positive coefficient: fewer, and often sufficient.
std::vector<std::vector<Exponents>> sparse_gram_monomials(const Polynomial& polynomial);
// A basis for each factor: its products with monomials whose squares are within the polynomial's Newton polytope.
Bases multiples(const std::vector<Polynomial>& factors, const Polynomial& polynomial);
// The bases without the directions in which the matrices are at most `tolerance` times their largest entry:
// combinations that are orthogonal to these, whose coordinates are taken for the simplest fractions within `precision`.
// None where there are no such directions, or nothing else.
std::optional<Bases> reduced_bases(const Bases& bases, const std::vector<std::vector<double>>& matrices,
                                   double tolerance, double precision);

// The equations sum of b' Q b = polynomial, one per monomial.
class GramEquations {
 public:
  GramEquations(const Polynomial& polynomial, const Bases& bases);

  // Whether every monomial of the polynomial occurs in a product of two elements of a basis.
  bool reaches_all() const { return reaches_all_; }
  Index count() const { return static_cast<Index>(right_.size()); }
  SemidefiniteProgram program() const;
  // Whether solutions can be completed in a short time.
  bool is_tractable() const { return is_disjoint_ ? count() <= 1500 : unknowns_.size() <= 500 && count() <= 800; }
  // The matrices rounded to multiples of 2^-bits, then changed by little so that the equations hold exactly; none where
  // they have no solution.
  std::optional<Squares> completed(const std::vector<std::vector<double>>& matrices, int bits) const;

 private:
  struct Unknown {
    Index block, row, column;
    std::vector<std::pair<Index, Rational>> parts;  // equations, and with what it is in them
  };
  std::vector<Rational> corrections(const std::vector<Rational>& residual) const;
  std::vector<Rational> solved(const std::vector<Rational>& residual) const;

  const Bases& bases_;
  std::map<Exponents, Index> equations_;
  std::vector<Rational> right_;
  std::vector<Unknown> unknowns_;
  Index magnitude_ = 0;  // exponent: the program has divided the polynomial by 2 to that
  bool reaches_all_ = true, is_disjoint_ = true;
};

}  // namespace heddle::symbolic
