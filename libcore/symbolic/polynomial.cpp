#include "libcore/symbolic/polynomial.hpp"

#include <flint/fmpq_mpoly.h>
#include <flint/fmpq_mpoly_factor.h>

#include <algorithm>
#include <array>
#include <numeric>

#include "libcore/base/error.hpp"
#include "libcore/symbolic/flint.hpp"

namespace heddle::symbolic {

namespace {

constexpr Index most_ring_variables = 64;

// The ring of polynomials in that many variables: constant data of FLINT.
const fmpq_mpoly_ctx_struct* ring(Index variables) {
  static const auto rings = [] {
    std::array<fmpq_mpoly_ctx_struct, most_ring_variables + 1> all{};
    for (Index n = 0; n <= most_ring_variables; ++n)
      fmpq_mpoly_ctx_init(&all[static_cast<std::size_t>(n)], n, ORD_DEGREVLEX);
    return all;
  }();
  check<DataError>(variables <= most_ring_variables, "an expression of ", variables,
                   " variables and functions; at most ", most_ring_variables, " are handled");
  return &rings[static_cast<std::size_t>(variables)];
}

}  // namespace

struct Polynomial::State {
  explicit State(Index variables) : in(ring(variables)) { fmpq_mpoly_init(poly, in); }
  ~State() { fmpq_mpoly_clear(poly, in); }
  State(const State&) = delete;
  State& operator=(const State&) = delete;

  const fmpq_mpoly_ctx_struct* in;
  fmpq_mpoly_t poly;
};

Polynomial::Polynomial(Index variables) : variables_(variables), state_(std::make_unique<State>(variables)) {}

Polynomial::Polynomial(Index variables, const Rational& constant) : Polynomial(variables) {
  fmpq_mpoly_set_fmpq(state_->poly, flint(constant), state_->in);
}

Polynomial::Polynomial(Index variables, const std::vector<Term>& terms) : Polynomial(variables) {
  for (const Term& term : terms) {
    std::vector<ulong> exponents(term.exponents.begin(), term.exponents.end());
    exponents.resize(std::max<std::size_t>(1, exponents.size()));
    fmpq_mpoly_push_term_fmpq_ui(state_->poly, flint(term.coefficient), exponents.data(), state_->in);
  }
  fmpq_mpoly_sort_terms(state_->poly, state_->in);
  fmpq_mpoly_combine_like_terms(state_->poly, state_->in);
}

Polynomial::Polynomial(const Polynomial& other) : Polynomial(other.variables_) {
  fmpq_mpoly_set(state_->poly, other.state_->poly, state_->in);
}
Polynomial::Polynomial(Polynomial&& other) noexcept = default;
Polynomial::~Polynomial() = default;
Polynomial& Polynomial::operator=(const Polynomial& other) {
  return *this = Polynomial(other);
}
Polynomial& Polynomial::operator=(Polynomial&& other) noexcept = default;

Polynomial Polynomial::variable(Index variables, Index index) {
  Polynomial result(variables);
  fmpq_mpoly_gen(result.state_->poly, index, result.state_->in);
  return result;
}

Polynomial& Polynomial::operator+=(const Polynomial& other) {
  fmpq_mpoly_add(state_->poly, state_->poly, other.state_->poly, state_->in);
  return *this;
}
Polynomial& Polynomial::operator-=(const Polynomial& other) {
  fmpq_mpoly_sub(state_->poly, state_->poly, other.state_->poly, state_->in);
  return *this;
}

Index Polynomial::bits() const {
  const fmpq* content = state_->poly->content;
  const auto coefficients = static_cast<Index>(std::abs(fmpz_mpoly_max_bits(state_->poly->zpoly)));
  return coefficients + static_cast<Index>(fmpz_bits(fmpq_numref(content)) + fmpz_bits(fmpq_denref(content)));
}

Polynomial Polynomial::times(const Polynomial& other) const {
  check<DataError>(size() == 0 || other.size() <= 50 * most_terms / size(), "a product of too many terms");
  check<DataError>(degree() + other.degree() <= most_degree, "a polynomial of a degree above ", most_degree);
  check<DataError>(bits() + other.bits() <= most_bits, "a polynomial with coefficients of more than ", most_bits,
                   " bits");
  Polynomial result(variables_);
  fmpq_mpoly_mul(result.state_->poly, state_->poly, other.state_->poly, state_->in);
  check<DataError>(result.size() <= most_terms, "a polynomial of more than ", most_terms, " terms");
  return result;
}

Polynomial Polynomial::times(const Rational& factor) const {
  Polynomial result(variables_);
  fmpq_mpoly_scalar_mul_fmpq(result.state_->poly, state_->poly, flint(factor), state_->in);
  return result;
}

Polynomial Polynomial::power(Index exponent) const {
  check<DataError>(degree() * exponent <= most_degree, "a polynomial of a degree above ", most_degree);
  check<DataError>(bits() * exponent <= most_bits, "a polynomial with coefficients of more than ", most_bits, " bits");
  // A power of t terms has as many as there are ways to choose `exponent` of them at most, and often as many.
  double terms = 1;
  for (Index i = 1; i < std::min<Index>(size(), variables_ + 1); ++i)
    terms *= static_cast<double>(exponent + i) / static_cast<double>(i);
  check<DataError>(terms <= static_cast<double>(most_terms), "a polynomial of more than ", most_terms, " terms");
  Polynomial result(variables_, Rational(1));
  fmpq_mpoly_pow_ui(result.state_->poly, state_->poly, static_cast<ulong>(exponent), state_->in);
  return result;
}

Polynomial Polynomial::derivative(Index variable) const {
  Polynomial result(variables_);
  fmpq_mpoly_derivative(result.state_->poly, state_->poly, variable, state_->in);
  return result;
}

bool Polynomial::equals(const Polynomial& other) const {
  return variables_ == other.variables_ && fmpq_mpoly_equal(state_->poly, other.state_->poly, state_->in) != 0;
}

Index Polynomial::size() const {
  return fmpq_mpoly_length(state_->poly, state_->in);
}
Index Polynomial::degree() const {
  return std::max<Index>(0, fmpq_mpoly_total_degree_si(state_->poly, state_->in));
}

std::vector<Term> Polynomial::terms() const {
  std::vector<Term> all(static_cast<std::size_t>(size()));
  std::vector<ulong> exponents(static_cast<std::size_t>(std::max<Index>(1, variables_)));
  for (std::size_t t = 0; t < all.size(); ++t) {
    const auto at = static_cast<slong>(t);
    fmpq_mpoly_get_term_exp_ui(exponents.data(), state_->poly, at, state_->in);
    fmpq_mpoly_get_term_coeff_fmpq(flint(all[t].coefficient), state_->poly, at, state_->in);
    all[t].exponents.assign(exponents.begin(), exponents.begin() + variables_);
  }
  return all;
}

Rational Polynomial::constant() const {
  Rational value;
  const std::vector<ulong> exponents(static_cast<std::size_t>(std::max<Index>(1, variables_)));
  fmpq_mpoly_get_coeff_fmpq_ui(flint(value), state_->poly, exponents.data(), state_->in);
  return value;
}

Rational Polynomial::at(const std::vector<Rational>& point) const {
  Rational value;
  std::vector<fmpq*> values;
  for (const Rational& coordinate : point) values.push_back(const_cast<fmpq*>(flint(coordinate)));
  values.resize(std::max<std::size_t>(1, values.size()));
  fmpq_mpoly_evaluate_all_fmpq(flint(value), state_->poly, values.data(), state_->in);
  return value;
}

Rational Polynomial::content() const {
  Rational value;
  fmpq_mpoly_content(flint(value), state_->poly, state_->in);
  return value;
}

Index Polynomial::magnitude() const {
  std::optional<Index> largest;
  for (const Term& term : terms()) {
    const Index own = term.coefficient.magnitude();
    largest = std::max(largest.value_or(own), own);
  }
  return largest.value_or(0);
}

std::optional<Polynomial::Factors> Polynomial::factors() const {
  fmpq_mpoly_factor_t found;
  fmpq_mpoly_factor_init(found, state_->in);
  std::optional<Factors> result;
  if (fmpq_mpoly_factor(found, state_->poly, state_->in) != 0) {
    result.emplace();
    fmpq_mpoly_factor_get_constant_fmpq(flint(result->constant), found, state_->in);
    for (slong i = 0; i < fmpq_mpoly_factor_length(found, state_->in); ++i) {
      Polynomial base(variables_);
      fmpq_mpoly_factor_get_base(base.state_->poly, found, i, state_->in);
      result->powers.emplace_back(std::move(base), fmpq_mpoly_factor_get_exp_si(found, i, state_->in));
    }
  }
  fmpq_mpoly_factor_clear(found, state_->in);
  return result;
}

namespace {

Tree number_tree(const Rational& value) {
  return {.node = Node::number, .number = value, .variable = 0, .parts = {}};
}

Tree joined(Node node, Tree a, Tree b) {
  Tree tree{.node = node, .number = {}, .variable = 0, .parts = {}};
  tree.parts.push_back(std::move(a));
  tree.parts.push_back(std::move(b));
  return tree;
}

// The parts, joined to the right. Precondition: there is one.
Tree joined(Node node, std::vector<Tree> parts) {
  Tree tree = std::move(parts.back());
  for (std::size_t i = parts.size() - 1; i-- > 0;) tree = joined(node, std::move(parts[i]), std::move(tree));
  return tree;
}

Tree term_tree(const Term& term) {
  std::vector<Tree> singles, powers;
  for (std::size_t i = 0; i < term.exponents.size(); ++i) {
    if (term.exponents[i] == 0) continue;
    Tree variable{.node = Node::variable, .number = {}, .variable = static_cast<Index>(i), .parts = {}};
    if (term.exponents[i] == 1) {
      singles.push_back(std::move(variable));
    } else {
      powers.push_back(joined(Node::power, std::move(variable), number_tree(term.exponents[i])));
    }
  }
  std::ranges::move(powers, std::back_inserter(singles));
  if (singles.empty()) return number_tree(term.coefficient);
  Tree monomial = joined(Node::product, std::move(singles));
  if (term.coefficient == Rational(1)) return monomial;
  return joined(Node::product, number_tree(term.coefficient), std::move(monomial));
}

}  // namespace

Tree Polynomial::tree() const {
  std::vector<Tree> parts;
  for (const Term& term : terms()) parts.push_back(term_tree(term));
  return parts.empty() ? number_tree(0) : joined(Node::sum, std::move(parts));
}

std::optional<Polynomial> polynomial_of(const Tree& tree, Index variables) {
  if (tree.node == Node::number) return Polynomial(variables, tree.number);
  if (tree.node == Node::variable) return Polynomial::variable(variables, tree.variable);
  if (tree.node >= Node::sine) return std::nullopt;
  std::optional<Polynomial> a = polynomial_of(tree.parts[0], variables);
  if (!a) return std::nullopt;
  if (tree.node == Node::negative) return -*a;
  Rational constant;
  if (tree.node == Node::power) {
    const bool has_value = constant_value(tree.parts[1], constant);
    const Index exponent = has_value ? constant.integer_or(-1) : -1;
    if (exponent < 0) return std::nullopt;
    check<DataError>(exponent > 0 || !a->is_zero(), "0^0 is undefined");
    return a->power(exponent);
  }
  const std::optional<Polynomial> b = polynomial_of(tree.parts[1], variables);
  if (!b) return std::nullopt;
  if (tree.node == Node::sum) return std::move(*a += *b);
  if (tree.node == Node::difference) return std::move(*a -= *b);
  if (tree.node == Node::product) return *a * *b;
  if (b->degree() > 0 || b->is_zero()) return std::nullopt;  // a quotient
  return Rational(1) / b->constant() * *a;
}

Index only_variable(const Polynomial& polynomial) {
  if (polynomial.size() != 1) return -1;
  const Exponents exponents = polynomial.terms()[0].exponents;
  const auto occurs = [](Index exponent) { return exponent > 0; };
  if (std::ranges::count_if(exponents, occurs) != 1) return -1;
  return std::ranges::find_if(exponents, occurs) - exponents.begin();
}

Polynomial derivative_along(const Polynomial& function, const std::vector<Polynomial>& fields) {
  Polynomial sum(function.variables());
  for (std::size_t i = 0; i < fields.size(); ++i) sum += function.derivative(static_cast<Index>(i)) * fields[i];
  return sum;
}

}  // namespace heddle::symbolic
