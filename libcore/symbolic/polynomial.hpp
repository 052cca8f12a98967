// Polynomials in several variables with rational coefficients, by FLINT, whose headers this one hides.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "libcore/symbolic/tree.hpp"

namespace heddle::symbolic {

using Exponents = std::vector<Index>;

struct Term {
  Exponents exponents;  // one per variable
  Rational coefficient;
};

class Polynomial {
 public:
  // 0 in that many variables. Both operands of a binary operation must have equally many.
  explicit Polynomial(Index variables);
  Polynomial(Index variables, const Rational& constant);
  Polynomial(Index variables, const std::vector<Term>& terms);
  Polynomial(const Polynomial& other);
  Polynomial(Polynomial&& other) noexcept;
  ~Polynomial();
  Polynomial& operator=(const Polynomial& other);
  Polynomial& operator=(Polynomial&& other) noexcept;

  static Polynomial variable(Index variables, Index index);

  // Products and powers throw DataError where a result would have more than most_terms terms, a higher degree than
  // most_degree, or coefficients of more than most_bits.
  Polynomial& operator+=(const Polynomial& other);
  Polynomial& operator-=(const Polynomial& other);
  friend Polynomial operator+(Polynomial a, const Polynomial& b) { return std::move(a += b); }
  friend Polynomial operator-(Polynomial a, const Polynomial& b) { return std::move(a -= b); }
  friend Polynomial operator*(const Polynomial& a, const Polynomial& b) { return a.times(b); }
  friend Polynomial operator*(const Rational& a, const Polynomial& b) { return b.times(a); }
  Polynomial operator-() const { return times(Rational(-1)); }
  Polynomial power(Index exponent) const;
  Polynomial derivative(Index variable) const;
  friend bool operator==(const Polynomial& a, const Polynomial& b) { return a.equals(b); }

  Index variables() const { return variables_; }
  bool is_zero() const { return size() == 0; }
  Index size() const;  // how many terms
  Index degree() const;
  // In FLINT's order of monomials: by degree, then by the variables' exponents, largest first.
  std::vector<Term> terms() const;
  Rational constant() const;  // the value at 0
  Rational at(const std::vector<Rational>& point) const;
  // The number that leaves integers without a common divisor, the first positive, when the polynomial is divided by it.
  Rational content() const;
  // The magnitude of its largest coefficient (Rational::magnitude); 0 for 0.
  Index magnitude() const;

  // c and f_i^e_i, whose product is the polynomial; none where FLINT does not find them.
  struct Factors {
    Rational constant;
    std::vector<std::pair<Polynomial, Index>> powers;
  };
  std::optional<Factors> factors() const;

  // As the data of sequence models has it: terms joined to the right, `c * (x0^a * x1^b)`, single variables before
  // powers.
  Tree tree() const;

  static constexpr Index most_terms = 20'000, most_degree = 1000, most_bits = 50'000;

 private:
  struct State;
  Index bits() const;  // approximate size of the largest coefficient
  Polynomial times(const Polynomial& other) const;
  Polynomial times(const Rational& factor) const;
  bool equals(const Polynomial& other) const;

  Index variables_;
  std::unique_ptr<State> state_;
};

// The polynomial that a tree is, if it is one. Throws DataError for one that is too large, and for 0^0.
std::optional<Polynomial> polynomial_of(const Tree& tree, Index variables);

// The variable that a polynomial is a positive power of, times a number; or -1.
Index only_variable(const Polynomial& polynomial);

// The sum of gradient(V)_i f_i. Precondition: as many fields as variables.
Polynomial derivative_along(const Polynomial& function, const std::vector<Polynomial>& fields);

}  // namespace heddle::symbolic
