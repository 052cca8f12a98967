#include "libcore/symbolic/gram.hpp"

#include <flint/fmpq_mat.h>

#include <algorithm>
#include <cmath>
#include <set>

#include "libcore/symbolic/flint.hpp"

namespace heddle::symbolic {

namespace {

using Matrix = std::vector<double>;  // symmetric, by rows

constexpr std::size_t most_candidates = 4000;

Exponents added(const Exponents& a, const Exponents& b) {
  Exponents sum = a;
  for (std::size_t i = 0; i < sum.size(); ++i) sum[i] += b[i];
  return sum;
}

// All exponents from 0 to `most`, of total degree between these; none if there are too many.
std::vector<Exponents> monomials_in_box(const Exponents& most, Index least_degree, Index most_degree) {
  std::vector<Exponents> all{Exponents(most.size())};
  for (std::size_t i = 0; i < most.size(); ++i) {
    const std::size_t before = all.size();
    for (Index e = 1; e <= most[i]; ++e) {
      for (std::size_t k = 0; k < before; ++k) {
        Exponents next = all[k];
        next[i] = e;
        Index degree = 0;
        for (const Index exponent : next) degree += exponent;
        if (degree <= most_degree) all.push_back(std::move(next));
      }
    }
    if (all.size() > most_candidates) return {};
  }
  std::erase_if(all, [&](const Exponents& exponents) {
    Index degree = 0;
    for (const Index exponent : exponents) degree += exponent;
    return degree < least_degree;
  });
  return all;
}

// Removes monomials whose square is neither in the polynomial nor a product of two others, until there are none.
void remove_unneeded(std::vector<Exponents>& candidates, const std::set<Exponents>& support) {
  for (bool is_changed = true; is_changed;) {
    std::map<Exponents, int> products;
    for (std::size_t i = 0; i < candidates.size(); ++i)
      for (std::size_t j = i + 1; j < candidates.size(); ++j) ++products[added(candidates[i], candidates[j])];
    const std::size_t before = candidates.size();
    std::erase_if(candidates, [&](const Exponents& candidate) {
      const Exponents square = added(candidate, candidate);
      return !support.contains(square) && !products.contains(square);
    });
    is_changed = candidates.size() != before;
  }
}

using Parities = std::vector<std::uint64_t>;

std::uint64_t parity(const Exponents& exponents) {
  std::uint64_t bits = 0;
  for (std::size_t i = 0; i < exponents.size(); ++i) bits |= static_cast<std::uint64_t>(exponents[i] & 1) << i;
  return bits;
}

// The remainder after the echelon rows, each with a leading bit of its own.
std::uint64_t remainder(std::uint64_t bits, const Parities& echelon) {
  for (const std::uint64_t row : echelon)
    if ((bits ^ row) < bits) bits ^= row;
  return bits;
}

Parities echelon_of(const std::set<Exponents>& support) {
  Parities rows;
  for (const Exponents& exponents : support) {
    const std::uint64_t rest = remainder(parity(exponents), rows);
    if (rest == 0) continue;
    rows.push_back(rest);
    std::ranges::sort(rows, std::greater());
  }
  return rows;
}

std::vector<std::vector<Exponents>> in_blocks(const std::vector<Exponents>& candidates,
                                              const std::set<Exponents>& support) {
  const Parities echelon = echelon_of(support);
  std::map<std::uint64_t, std::vector<Exponents>> blocks;
  for (const Exponents& candidate : candidates) blocks[remainder(parity(candidate), echelon)].push_back(candidate);
  std::vector<std::vector<Exponents>> all;
  for (auto& [bits, block] : blocks) all.push_back(std::move(block));
  return all;
}

struct Extent {
  Exponents most;  // for each variable
  Index least_degree = 0, most_degree = 0;
};

Extent extent_of(const std::vector<Term>& terms) {
  Extent extent{.most = terms.empty() ? Exponents() : terms[0].exponents, .least_degree = -1, .most_degree = 0};
  for (const Term& term : terms) {
    Index degree = 0;
    for (std::size_t i = 0; i < term.exponents.size(); ++i) {
      extent.most[i] = std::max(extent.most[i], term.exponents[i]);
      degree += term.exponents[i];
    }
    extent.least_degree = extent.least_degree < 0 ? degree : std::min(extent.least_degree, degree);
    extent.most_degree = std::max(extent.most_degree, degree);
  }
  return extent;
}

}  // namespace

std::vector<std::size_t> sizes(const Bases& bases) {
  std::vector<std::size_t> all;
  for (const auto& basis : bases) all.push_back(basis.size());
  return all;
}

std::vector<std::vector<Exponents>> gram_monomials(const Polynomial& polynomial) {
  const std::vector<Term> terms = polynomial.terms();
  Extent extent = extent_of(terms);
  for (Index& most : extent.most) most /= 2;
  std::set<Exponents> support;
  for (const Term& term : terms) support.insert(term.exponents);
  std::vector<Exponents> candidates =
      monomials_in_box(extent.most, (extent.least_degree + 1) / 2, extent.most_degree / 2);
  if (candidates.size() > 1000) return {};
  remove_unneeded(candidates, support);
  return in_blocks(candidates, support);
}

std::vector<std::vector<Exponents>> sparse_gram_monomials(const Polynomial& polynomial) {
  std::set<Exponents> support;
  std::vector<Exponents> candidates;
  for (const Term& term : polynomial.terms()) {
    support.insert(term.exponents);
    Exponents half = term.exponents;
    const bool is_square = term.coefficient.sign() > 0 && std::ranges::all_of(half, [](Index e) { return e % 2 == 0; });
    if (!is_square) continue;
    for (Index& exponent : half) exponent /= 2;
    candidates.push_back(std::move(half));
  }
  return in_blocks(candidates, support);
}

namespace {

// The Newton polytope of a polynomial, as the half spaces of many directions that it is in.
class Polytope {
 public:
  explicit Polytope(const std::vector<Term>& terms) {
    const std::size_t n = terms[0].exponents.size();
    const Index reach = n <= 2 ? 6 : n <= 3 ? 3 : n <= 5 ? 1 : 0;
    Exponents direction(n, -reach);
    for (bool is_more = reach > 0; is_more;) {
      add(direction, terms);
      is_more = false;
      for (std::size_t i = 0; i < n && !is_more; ++i) {
        is_more = direction[i] < reach;
        direction[i] = is_more ? direction[i] + 1 : -reach;
      }
    }
  }
  bool holds(const Exponents& point) const {
    return std::ranges::all_of(sides_, [&](const auto& side) { return product(side.first, point) <= side.second; });
  }

 private:
  static Index product(const Exponents& a, const Exponents& b) {
    Index sum = 0;
    for (std::size_t i = 0; i < a.size(); ++i) sum += a[i] * b[i];
    return sum;
  }
  void add(const Exponents& direction, const std::vector<Term>& terms) {
    Index most = product(direction, terms[0].exponents);
    for (const Term& term : terms) most = std::max(most, product(direction, term.exponents));
    sides_.emplace_back(direction, most);
  }

  std::vector<std::pair<Exponents, Index>> sides_;
};

// The polynomial times the power of two that makes its largest coefficient about 1.
Polynomial scaled(const Polynomial& polynomial) {
  return Rational::power_of_two(-polynomial.magnitude()) * polynomial;
}

// Whether the square of the product of a monomial and the terms may be within the polytope.
bool fits(const Exponents& monomial, const std::vector<Term>& terms, const Polytope& polytope) {
  return std::ranges::all_of(terms, [&](const Term& term) {
    const Exponents product = added(monomial, term.exponents);
    return polytope.holds(added(product, product));
  });
}

}  // namespace

Bases multiples(const std::vector<Polynomial>& factors, const Polynomial& polynomial) {
  const std::vector<Term> whole = polynomial.terms();
  const Extent extent = extent_of(whole);
  const Polytope polytope(whole);
  Exponents half = extent.most;
  for (Index& most : half) most /= 2;
  Bases bases;
  for (const Polynomial& whole_factor : factors) {
    if (whole_factor.is_zero()) continue;
    const Polynomial factor = scaled(whole_factor);
    const std::vector<Term> terms = factor.terms();
    std::vector<Polynomial> basis;
    for (const Exponents& exponents : monomials_in_box(half, 0, extent.most_degree / 2))
      if (fits(exponents, terms, polytope))
        basis.push_back(Polynomial(polynomial.variables(), std::vector<Term>{{exponents, Rational(1)}}) * factor);
    if (!basis.empty()) bases.push_back(std::move(basis));
  }
  return bases;
}

namespace {

// Eigenvalues of a symmetric matrix, and as rows of `vectors` their vectors, by Jacobi's rotations.
std::vector<double> eigenvalues_of(Matrix a, std::size_t n, Matrix& vectors) {
  vectors.assign(n * n, 0);
  for (std::size_t i = 0; i < n; ++i) vectors[i * n + i] = 1;
  for (int sweep = 0; sweep < 30; ++sweep) {
    double off = 0;
    for (std::size_t p = 0; p < n; ++p) {
      for (std::size_t q = p + 1; q < n; ++q) {
        const double apq = a[p * n + q];
        off += apq * apq;
        if (apq == 0) continue;
        const double theta = (a[q * n + q] - a[p * n + p]) / (2 * apq);
        const double t = (theta < 0 ? -1 : 1) / (std::abs(theta) + std::sqrt(theta * theta + 1));
        const double c = 1 / std::sqrt(t * t + 1), s = t * c;
        for (std::size_t k = 0; k < n; ++k) {
          const double kp = a[k * n + p], kq = a[k * n + q];
          a[k * n + p] = c * kp - s * kq;
          a[k * n + q] = s * kp + c * kq;
        }
        for (std::size_t k = 0; k < n; ++k) {
          const double pk = a[p * n + k], qk = a[q * n + k];
          a[p * n + k] = c * pk - s * qk;
          a[q * n + k] = s * pk + c * qk;
          const double vp = vectors[p * n + k], vq = vectors[q * n + k];
          vectors[p * n + k] = c * vp - s * vq;
          vectors[q * n + k] = s * vp + c * vq;
        }
      }
    }
    if (off < 1e-30) break;
  }
  std::vector<double> values(n);
  for (std::size_t i = 0; i < n; ++i) values[i] = a[i * n + i];
  return values;
}

// Brings rows of n numbers to reduced echelon form, with the largest entry of what is left as the next pivot; returns
// the columns of the pivots.
std::vector<std::size_t> reduce_rows(std::vector<std::vector<double>>& rows, std::size_t n) {
  std::vector<std::size_t> pivots;
  for (std::size_t r = 0; r < rows.size(); ++r) {
    std::size_t row = r, column = 0;
    double largest = 0;
    for (std::size_t i = r; i < rows.size(); ++i)
      for (std::size_t j = 0; j < n; ++j)
        if (std::abs(rows[i][j]) > largest * 1.0001) {
          largest = std::abs(rows[i][j]);
          row = i;
          column = j;
        }
    std::swap(rows[r], rows[row]);
    const double pivot = rows[r][column];
    for (double& value : rows[r]) value /= pivot;
    for (std::size_t i = 0; i < rows.size(); ++i) {
      const double factor = rows[i][column];
      if (i == r || factor == 0) continue;
      for (std::size_t j = 0; j < n; ++j) rows[i][j] -= factor * rows[r][j];
    }
    pivots.push_back(column);
  }
  return pivots;
}

// The combinations of the basis that are orthogonal to the rows of nearly no weight.
std::vector<Polynomial> reduced_basis(const std::vector<Polynomial>& basis, const Matrix& matrix, double largest,
                                      double tolerance, double precision) {
  const std::size_t n = basis.size();
  Matrix vectors;
  const std::vector<double> values = eigenvalues_of(matrix, n, vectors);
  std::vector<std::vector<double>> kernel;
  for (std::size_t i = 0; i < n; ++i)
    if (values[i] < tolerance * largest)
      kernel.emplace_back(vectors.begin() + static_cast<std::ptrdiff_t>(i * n),
                          vectors.begin() + static_cast<std::ptrdiff_t>((i + 1) * n));
  if (kernel.empty()) return basis;
  const std::vector<std::size_t> pivots = reduce_rows(kernel, n);
  std::vector<Polynomial> reduced;
  for (std::size_t j = 0; j < n; ++j) {
    if (std::ranges::find(pivots, j) != pivots.end()) continue;
    Polynomial element = basis[j];
    for (std::size_t r = 0; r < pivots.size(); ++r) {
      const Rational weight = Rational::simplest(kernel[r][j], precision);
      if (!weight.is_zero()) element -= weight * basis[pivots[r]];
    }
    reduced.push_back(std::move(element));
  }
  return reduced;
}

}  // namespace

std::optional<Bases> reduced_bases(const Bases& bases, const std::vector<Matrix>& matrices, double tolerance,
                                   double precision) {
  double largest = 0;
  for (const Matrix& matrix : matrices)
    for (const double value : matrix) largest = std::max(largest, std::abs(value));
  Bases reduced;
  for (std::size_t b = 0; b < bases.size(); ++b) {
    auto basis = reduced_basis(bases[b], matrices[b], largest, tolerance, precision);
    if (!basis.empty()) reduced.push_back(std::move(basis));
  }
  if (reduced.empty() || sizes(reduced) == sizes(bases)) return std::nullopt;
  return reduced;
}

GramEquations::GramEquations(const Polynomial& polynomial, const Bases& bases) : bases_(bases) {
  const auto number_of = [&](const Exponents& exponents) {
    const auto [at, is_new] = equations_.emplace(exponents, static_cast<Index>(right_.size()));
    if (is_new) right_.emplace_back(0);
    return at->second;
  };
  for (std::size_t b = 0; b < bases.size(); ++b) {
    for (std::size_t i = 0; i < bases[b].size(); ++i) {
      for (std::size_t j = i; j < bases[b].size(); ++j) {
        Unknown unknown{static_cast<Index>(b), static_cast<Index>(i), static_cast<Index>(j), {}};
        const Rational times(i == j ? 1 : 2);
        for (const Term& term : (bases[b][i] * bases[b][j]).terms())
          unknown.parts.emplace_back(number_of(term.exponents), times * term.coefficient);
        is_disjoint_ = is_disjoint_ && unknown.parts.size() == 1;
        unknowns_.push_back(std::move(unknown));
      }
    }
  }
  for (const Term& term : polynomial.terms()) {
    const auto found = equations_.find(term.exponents);
    reaches_all_ = reaches_all_ && found != equations_.end();
    if (reaches_all_) right_[static_cast<std::size_t>(found->second)] = term.coefficient;
  }
  magnitude_ = polynomial.magnitude();
}

SemidefiniteProgram GramEquations::program() const {
  SemidefiniteProgram program;
  for (const auto& basis : bases_) program.orders.push_back(static_cast<Index>(basis.size()));
  const Rational scale = Rational::power_of_two(-magnitude_);
  for (const Rational& right : right_) program.right.push_back((scale * right).value());
  for (const Unknown& unknown : unknowns_) {
    const double half = unknown.row == unknown.column ? 1 : 0.5;  // an entry stands for two
    for (const auto& [equation, factor] : unknown.parts)
      program.entries.push_back({equation + 1, unknown.block, unknown.row, unknown.column, factor.value() * half});
  }
  std::ranges::stable_sort(program.entries, {}, &SemidefiniteProgram::Entry::constraint);
  return program;
}

// Each product is one monomial: the nearest solution spreads a residual evenly over the entries of its equation.
std::vector<Rational> GramEquations::corrections(const std::vector<Rational>& residual) const {
  std::vector<Rational> weights(right_.size());
  for (const Unknown& unknown : unknowns_) {
    const auto& [equation, factor] = unknown.parts[0];
    weights[static_cast<std::size_t>(equation)] +=
        unknown.row == unknown.column ? factor * factor : factor * factor / Rational(2);
  }
  std::vector<Rational> changes;
  for (const Unknown& unknown : unknowns_) {
    const auto& [equation, factor] = unknown.parts[0];
    const auto at = static_cast<std::size_t>(equation);
    const Rational own = unknown.row == unknown.column ? factor : factor / Rational(2);
    changes.push_back(residual[at] * own / weights[at]);
  }
  return changes;
}

namespace {

struct Pivots {
  std::vector<std::size_t> rows, columns;
};

// Rows and columns of a matrix of that many columns that are independent, by elimination with the largest pivots.
Pivots pivots_of(std::vector<std::vector<double>> matrix, std::size_t columns) {
  Pivots pivots;
  std::vector<bool> is_used(matrix.size());
  while (pivots.rows.size() < std::min(matrix.size(), columns)) {
    std::size_t row = 0, column = 0;
    double largest = 1e-7;
    for (std::size_t i = 0; i < matrix.size(); ++i) {
      if (is_used[i]) continue;
      for (std::size_t j = 0; j < columns; ++j) {
        if (std::abs(matrix[i][j]) <= largest) continue;
        largest = std::abs(matrix[i][j]);
        row = i;
        column = j;
      }
    }
    if (largest <= 1e-7) break;
    is_used[row] = true;
    pivots.rows.push_back(row);
    pivots.columns.push_back(column);
    for (std::size_t i = 0; i < matrix.size(); ++i) {
      const double factor = is_used[i] ? 0 : matrix[i][column] / matrix[row][column];
      if (factor == 0) continue;
      for (std::size_t j = 0; j < columns; ++j) matrix[i][j] -= factor * matrix[row][j];
    }
  }
  return pivots;
}

}  // namespace

// Changes of as many unknowns as there are independent equations; the others stay as they are rounded.
std::vector<Rational> GramEquations::solved(const std::vector<Rational>& residual) const {
  std::vector<std::vector<double>> numeric(right_.size(), std::vector<double>(unknowns_.size()));
  for (std::size_t u = 0; u < unknowns_.size(); ++u)
    for (const auto& [equation, factor] : unknowns_[u].parts)
      numeric[static_cast<std::size_t>(equation)][u] = factor.value();
  for (auto& row : numeric) {
    double largest = 0;
    for (const double value : row) largest = std::max(largest, std::abs(value));
    for (double& value : row) value /= largest > 0 ? largest : 1;
  }
  const Pivots pivots = pivots_of(std::move(numeric), unknowns_.size());
  const auto rank = static_cast<slong>(pivots.rows.size());
  std::vector<slong> place(right_.size(), -1);
  for (slong r = 0; r < rank; ++r) place[pivots.rows[static_cast<std::size_t>(r)]] = r;
  fmpq_mat_t left, right, solution;
  fmpq_mat_init(left, rank, rank);
  fmpq_mat_init(right, rank, 1);
  fmpq_mat_init(solution, rank, 1);
  for (slong c = 0; c < rank; ++c) {
    for (const auto& [equation, factor] : unknowns_[pivots.columns[static_cast<std::size_t>(c)]].parts) {
      const slong row = place[static_cast<std::size_t>(equation)];
      if (row >= 0) fmpq_set(fmpq_mat_entry(left, row, c), flint(factor));
    }
    fmpq_set(fmpq_mat_entry(right, c, 0), flint(residual[pivots.rows[static_cast<std::size_t>(c)]]));
  }
  std::vector<Rational> changes;
  if (fmpq_mat_solve_dixon(solution, left, right) != 0) {
    changes.resize(unknowns_.size());
    for (slong c = 0; c < rank; ++c)
      fmpq_set(flint(changes[pivots.columns[static_cast<std::size_t>(c)]]), fmpq_mat_entry(solution, c, 0));
  }
  fmpq_mat_clear(left);
  fmpq_mat_clear(right);
  fmpq_mat_clear(solution);
  return changes;
}

std::optional<Squares> GramEquations::completed(const std::vector<Matrix>& matrices, int bits) const {
  std::vector<Rational> values, residual = right_;
  const Rational scale = Rational::power_of_two(magnitude_);
  const int scaled_bits = bits + static_cast<int>(std::clamp<Index>(magnitude_, 0, std::max(0, 60 - bits)));
  for (const Unknown& unknown : unknowns_) {
    const Index order = static_cast<Index>(bases_[static_cast<std::size_t>(unknown.block)].size());
    const double value = matrices[static_cast<std::size_t>(unknown.block)]
                                 [static_cast<std::size_t>(unknown.row * order + unknown.column)];
    if (!std::isfinite(value)) return std::nullopt;
    values.push_back(scale * Rational::rounded(value, scaled_bits));
    for (const auto& [equation, factor] : unknown.parts)
      residual[static_cast<std::size_t>(equation)] -= factor * values.back();
  }
  const std::vector<Rational> changes = is_disjoint_ ? corrections(residual) : solved(residual);
  if (changes.empty()) return std::nullopt;
  Squares squares;
  for (const auto& basis : bases_) squares.push_back({basis, RationalMatrix(static_cast<Index>(basis.size()))});
  for (std::size_t u = 0; u < unknowns_.size(); ++u) {
    const Unknown& unknown = unknowns_[u];
    RationalMatrix& gram = squares[static_cast<std::size_t>(unknown.block)].gram;
    gram.at(unknown.row, unknown.column) = gram.at(unknown.column, unknown.row) = values[u] + changes[u];
  }
  return squares;
}

}  // namespace heddle::symbolic
