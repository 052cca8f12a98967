#include "libcore/symbolic/squares.hpp"

#include <algorithm>
#include <cmath>
#include <map>

#include "libcore/base/error.hpp"
#include "libcore/symbolic/gram.hpp"

namespace heddle::symbolic {

Polynomial expanded(const Squares& squares, Index variables) {
  Polynomial sum(variables);
  for (const SquaresBlock& block : squares) {
    const auto order = static_cast<Index>(block.basis.size());
    check<DataError>(block.gram.order == order, "a Gram matrix of order ", block.gram.order, " for a basis of ", order);
    for (Index i = 0; i < order; ++i) {
      Polynomial row(variables);
      for (Index j = 0; j < order; ++j)
        if (!block.gram.at(i, j).is_zero()) row += block.gram.at(i, j) * block.basis[static_cast<std::size_t>(j)];
      sum += row * block.basis[static_cast<std::size_t>(i)];
    }
  }
  return sum;
}

bool proves(const Squares& squares, const Polynomial& polynomial) {
  for (const SquaresBlock& block : squares)
    if (definiteness(block.gram) == Definiteness::neither) return false;
  return expanded(squares, polynomial.variables()) == polynomial;
}

std::vector<bool> forced_zeros(const Squares& squares, Index variables) {
  std::vector<bool> zeros(static_cast<std::size_t>(variables));
  for (const SquaresBlock& block : squares) {
    if (definiteness(block.gram) != Definiteness::positive) continue;
    for (const Polynomial& element : block.basis) {
      const Index base = only_variable(element);
      if (base >= 0) zeros[static_cast<std::size_t>(base)] = true;
    }
  }
  return zeros;
}

namespace {

Polynomial monomial(const Exponents& exponents) {
  return Polynomial(static_cast<Index>(exponents.size()), std::vector<Term>{{exponents, Rational(1)}});
}

std::vector<Polynomial> monomials(const std::vector<Exponents>& all) {
  std::vector<Polynomial> polynomials;
  for (const Exponents& exponents : all) polynomials.push_back(monomial(exponents));
  return polynomials;
}

Bases with_blocks(Bases bases, const std::vector<std::vector<Exponents>>& blocks) {
  for (const auto& block : blocks) bases.push_back(monomials(block));
  return bases;
}

// A sum of even monomials with positive coefficients.
std::optional<Squares> obvious_squares(const Polynomial& polynomial) {
  Squares squares;
  for (const Term& term : polynomial.terms()) {
    if (term.coefficient.sign() < 0) return std::nullopt;
    Exponents half = term.exponents;
    for (Index& exponent : half) {
      if (exponent % 2 != 0) return std::nullopt;
      exponent /= 2;
    }
    SquaresBlock block{.basis = {monomial(half)}, .gram = RationalMatrix(1)};
    block.gram.at(0, 0) = term.coefficient;
    squares.push_back(std::move(block));
  }
  return squares;
}

// One block of all variables, of a form of degree 2.
std::optional<Squares> quadratic_squares(const Polynomial& polynomial) {
  const Index n = polynomial.variables();
  SquaresBlock block{.basis = {}, .gram = RationalMatrix(n)};
  for (Index i = 0; i < n; ++i) block.basis.push_back(Polynomial::variable(n, i));
  for (const Term& term : polynomial.terms()) {
    std::vector<Index> factors;
    for (Index i = 0; i < n; ++i)
      factors.insert(factors.end(), static_cast<std::size_t>(term.exponents[static_cast<std::size_t>(i)]), i);
    if (factors.size() != 2) return std::nullopt;
    const Rational half = term.coefficient / Rational(2);
    block.gram.at(factors[0], factors[1]) += half;
    block.gram.at(factors[1], factors[0]) += half;
  }
  if (definiteness(block.gram) == Definiteness::neither) return std::nullopt;
  return Squares{std::move(block)};
}

// Polynomial = square^2 times rest.
struct SquarePart {
  Polynomial square, rest;
};

SquarePart square_part(const Polynomial& polynomial) {
  const Index n = polynomial.variables();
  const auto factors = polynomial.factors();
  SquarePart part{Polynomial(n, Rational(1)), polynomial};
  if (!factors) return part;
  part.rest = Polynomial(n, factors->constant);
  for (const auto& [base, exponent] : factors->powers) {
    part.square = part.square * base.power(exponent / 2);
    if (exponent % 2 != 0) part.rest = part.rest * base;
  }
  return part;
}

// The lowest and the highest exponent among powers of each variable alone; empty where there are none, or one of them
// is odd or has a negative coefficient, so that the polynomial is 0 or less somewhere on the axis.
std::vector<Index> ends_on_axis(const std::vector<Term>& terms, std::size_t variable) {
  std::map<Index, int> signs;
  for (const Term& term : terms) {
    bool alone = term.exponents[variable] > 0;
    for (std::size_t i = 0; i < term.exponents.size(); ++i) alone = alone && (i == variable || term.exponents[i] == 0);
    if (alone) signs[term.exponents[variable]] = term.coefficient.sign();
  }
  if (signs.empty()) return {};
  std::vector<Index> ends{signs.begin()->first, signs.rbegin()->first};
  if (ends[0] == ends[1]) ends.pop_back();
  for (const Index end : ends)
    if (end % 2 != 0 || signs[end] < 0) return {};
  return ends;
}

}  // namespace

std::optional<std::vector<std::vector<double>>> solution(const SemidefiniteSolver& solver,
                                                         const SemidefiniteProgram& program) {
  const auto is_finite = [](double value) { return std::isfinite(value); };
  if (!std::ranges::all_of(program.right, is_finite) ||
      !std::ranges::all_of(program.entries, is_finite, &SemidefiniteProgram::Entry::value))
    return std::nullopt;
  auto found = solver(program);
  if (found && std::ranges::all_of(*found, [&](const auto& block) { return std::ranges::all_of(block, is_finite); }))
    return found;
  return std::nullopt;
}

std::optional<Squares> SquaresProver::solve(const Polynomial& polynomial, std::vector<std::vector<Polynomial>> bases,
                                            int reductions) const {
  Index unknowns = 0, largest = 0;
  for (const auto& basis : bases) {
    const auto order = static_cast<Index>(basis.size());
    unknowns += order * (order + 1) / 2;
    largest = std::max(largest, order);
  }
  if (!solver_ || unknowns == 0 || largest > most_order_ || unknowns > 12'000) return std::nullopt;
  const GramEquations equations(polynomial, bases);
  if (!equations.reaches_all() || !equations.is_tractable()) return std::nullopt;
  const auto found = solution(solver_, equations.program());
  if (!found) return std::nullopt;
  for (const int bits : {20, 40}) {
    std::optional<Squares> squares = equations.completed(*found, bits);
    if (squares && proves(*squares, polynomial)) return squares;
  }
  if (reductions == 0) return std::nullopt;
  // Near the face's edge a solver's directions are as exact as the root of what is left of their weight.
  static constexpr std::pair<double, double> ways[] = {
      {1e-6, 1e-5}, {1e-6, 3e-3}, {1e-5, 1e-2}, {1e-4, 2e-2}, {1e-3, 1e-3}};
  std::vector<Bases> tried;
  for (const auto& [tolerance, precision] : ways) {
    auto reduced = reduced_bases(bases, *found, tolerance, precision);
    if (!reduced || std::ranges::find(tried, *reduced) != tried.end()) continue;
    tried.push_back(*reduced);
    auto squares = solve(polynomial, std::move(*reduced), reductions - 1);
    if (squares) return squares;
  }
  return std::nullopt;
}

std::optional<Squares> SquaresProver::nonnegative(const Polynomial& polynomial,
                                                  const std::vector<Polynomial>& factors) const {
  if (auto obvious = obvious_squares(polynomial)) return obvious;
  const SquarePart part = square_part(polynomial);
  auto squares = obvious_squares(part.rest);
  if (!squares) squares = quadratic_squares(part.rest);
  if (!squares) {
    squares = solve(part.rest, with_blocks({}, sparse_gram_monomials(part.rest)), 2);
    if (!squares && !factors.empty()) {
      squares = solve(polynomial, multiples(factors, polynomial), 1);
      if (squares) return squares;
    }
    if (!squares) squares = solve(part.rest, with_blocks({}, gram_monomials(part.rest)), 1);
  }
  if (squares) {
    for (SquaresBlock& block : *squares)
      for (Polynomial& element : block.basis) element = part.square * element;
  }
  if (squares && proves(*squares, polynomial)) return squares;
  return std::nullopt;
}

std::optional<Squares> SquaresProver::positive(const Polynomial& polynomial,
                                               const std::vector<std::vector<Index>>& groups) const {
  const std::vector<Term> terms = polynomial.terms();
  Bases highest, lowest;
  for (const std::vector<Index>& group : groups) {
    bool is_there = false;
    for (const Index i : group) {
      const std::vector<Index> ends = ends_on_axis(terms, static_cast<std::size_t>(i));
      if (ends.empty()) continue;
      is_there = true;
      const Polynomial variable = Polynomial::variable(polynomial.variables(), i);
      highest.push_back({variable.power(ends.back() / 2)});
      lowest.push_back({variable.power(ends.front() / 2)});
    }
    if (!is_there) return std::nullopt;
  }
  const auto is_strict = [&](const std::optional<Squares>& squares) {
    if (!squares || !proves(*squares, polynomial)) return false;
    const std::vector<bool> forced = forced_zeros(*squares, polynomial.variables());
    return std::ranges::all_of(groups, [&](const std::vector<Index>& group) {
      return std::ranges::any_of(group, [&](Index i) { return forced[static_cast<std::size_t>(i)]; });
    });
  };
  auto squares = obvious_squares(polynomial);
  if (is_strict(squares)) return squares;
  squares = quadratic_squares(polynomial);
  if (is_strict(squares)) return squares;
  for (const bool is_sparse : {true, false}) {
    const auto blocks = is_sparse ? sparse_gram_monomials(polynomial) : gram_monomials(polynomial);
    for (const Bases& ends : {highest, lowest}) {
      squares = solve(polynomial, with_blocks(ends, blocks), is_sparse ? 2 : 1);
      if (is_strict(squares)) return squares;
      if (highest == lowest) break;
    }
  }
  return std::nullopt;
}

}  // namespace heddle::symbolic
