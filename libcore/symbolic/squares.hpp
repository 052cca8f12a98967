// Proofs that a polynomial is nowhere negative: p = sum over blocks of b' Q b, with polynomials b and positive
// semidefinite matrices Q (sums of squares; Parrilo 2003). A solver of semidefinite programs finds Q in floating point;
// what is returned is rational and has been checked exactly (Peyrl and Parrilo 2008; for singular Q the basis is first
// reduced to the face that Q lies in: Permenter and Parrilo 2014).
#pragma once

#include <functional>
#include <optional>
#include <vector>

#include "libcore/symbolic/polynomial.hpp"

namespace heddle::symbolic {

struct SquaresBlock {
  std::vector<Polynomial> basis;
  RationalMatrix gram;  // its order is that of the basis
};
using Squares = std::vector<SquaresBlock>;

// The sum of b' Q b. Throws DataError for matrices of another order than their basis.
Polynomial expanded(const Squares& squares, Index variables);
// Whether the sum is exactly this polynomial, and every Q positive semidefinite: a proof that it is nowhere negative.
bool proves(const Squares& squares, const Polynomial& polynomial);
// Zeros of a sum of squares: for each variable whether it must be 0, since a block with a positive definite Q has a
// power of it, times a number, in its basis.
std::vector<bool> forced_zeros(const Squares& squares, Index variables);

// max tr(C X) subject to tr(A_k X) = a_k, X positive semidefinite with diagonal blocks of these orders.
struct SemidefiniteProgram {
  struct Entry {
    Index constraint, block, row, column;  // row <= column; constraint 0 is C, k is A_k
    double value;
  };
  std::vector<Index> orders;
  std::vector<double> right;  // a_1, ...
  std::vector<Entry> entries;
};
// X by blocks, each by rows, or none. What it returns is not trusted.
using SemidefiniteSolver = std::function<std::optional<std::vector<std::vector<double>>>(const SemidefiniteProgram&)>;
// The solver's result; none if the program or the answer is not finite.
std::optional<std::vector<std::vector<double>>> solution(const SemidefiniteSolver& solver,
                                                         const SemidefiniteProgram& program);

class SquaresProver {
 public:
  // If there is no solver, proves only what needs none. most_order bounds the order of a Gram matrix.
  explicit SquaresProver(SemidefiniteSolver solver = {}, Index most_order = 100)
      : solver_(std::move(solver)), most_order_(most_order) {}

  // Proofs that proves() accepts; none does not mean that there is none. `factors` may divide squares that the
  // polynomial is a sum of, times sums of squares.
  std::optional<Squares> nonnegative(const Polynomial& polynomial, const std::vector<Polynomial>& factors = {}) const;
  // The same, and forced_zeros() has a variable of each of these groups: the polynomial is 0 only where these are.
  std::optional<Squares> positive(const Polynomial& polynomial, const std::vector<std::vector<Index>>& groups) const;

 private:
  std::optional<Squares> solve(const Polynomial& polynomial, std::vector<std::vector<Polynomial>> bases,
                               int reductions) const;

  SemidefiniteSolver solver_;
  Index most_order_;
};

}  // namespace heddle::symbolic
