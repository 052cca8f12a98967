#include "libcore/symbolic/certificate.hpp"

#include <algorithm>
#include <array>

#include "libcore/base/error.hpp"
#include "libcore/base/strings.hpp"
#include "libcore/symbolic/box_proof.hpp"
#include "libcore/symbolic/falsifier.hpp"

namespace heddle::symbolic {

namespace {

constexpr std::array<std::string_view, 5> claim_texts{"nothing", "nonnegative", "stable", "asymptotically stable",
                                                      "globally asymptotically stable"};

// The equilibrium of a system of linear fields, if it is unique, by Gaussian elimination.
std::optional<std::vector<Rational>> linear_rest(const std::vector<Polynomial>& fields) {
  const std::size_t n = fields.size();
  std::vector<std::vector<Rational>> rows;  // rows of A | -b
  for (const Polynomial& field : fields) {
    if (field.degree() > 1) return std::nullopt;
    std::vector<Rational> row;
    for (std::size_t j = 0; j < n; ++j) row.push_back(field.derivative(static_cast<Index>(j)).constant());
    row.push_back(-field.constant());
    rows.push_back(std::move(row));
  }
  for (std::size_t k = 0; k < n; ++k) {
    std::size_t pivot = k;
    while (pivot < n && rows[pivot][k].is_zero()) ++pivot;
    if (pivot == n) return std::nullopt;
    std::swap(rows[k], rows[pivot]);
    const Rational first = rows[k][k];
    for (Rational& entry : rows[k]) entry /= first;
    for (std::size_t i = 0; i < n; ++i) {
      const Rational factor = rows[i][k];
      if (i == k || factor.is_zero()) continue;
      for (std::size_t j = k; j <= n; ++j) rows[i][j] -= factor * rows[k][j];
    }
  }
  std::vector<Rational> point;
  for (const auto& row : rows) point.push_back(row[n]);
  return point;
}

// Or a point of a coarse grid.
std::optional<std::vector<Rational>> rest_on_grid(const std::vector<Polynomial>& fields) {
  static constexpr int numerators[] = {0, 2, -2, 4, -4, 1, -1, 6, -6};
  const std::size_t n = fields.size();
  if (n > 4) return std::nullopt;
  std::size_t points = 1;
  for (std::size_t i = 0; i < n; ++i) points *= std::size(numerators);
  for (std::size_t p = 0; p < points; ++p) {
    std::vector<Rational> point;
    for (std::size_t rest = p, i = 0; i < n; ++i, rest /= std::size(numerators))
      point.push_back(Rational(numerators[rest % std::size(numerators)]) / Rational(2));
    if (std::ranges::all_of(fields, [&](const Polynomial& field) { return field.at(point).is_zero(); })) return point;
  }
  return std::nullopt;
}

// "; one is at x = 1, y = 0: ...", or nothing.
std::string nearby_equilibrium(const std::vector<Polynomial>& fields, const std::vector<std::string>& names) {
  auto point = linear_rest(fields);
  if (!point) point = rest_on_grid(fields);
  return point ? concatenate("; one is at ", point_text(*point, names), ": write the system in the distance from it")
               : "";
}

}  // namespace

std::string claim_text(Claim claim) {
  return std::string(claim_texts[static_cast<std::size_t>(claim)]);
}

std::optional<std::vector<Polynomial>> polynomial_fields(const System& system) {
  std::vector<Polynomial> fields;
  for (const Tree& tree : system.fields) {
    auto field = polynomial_of(tree, static_cast<Index>(system.names.size()));
    if (!field) return std::nullopt;
    fields.push_back(std::move(*field));
  }
  return fields;
}

Claim claim_named(std::string_view text) {
  const auto found = std::ranges::find(claim_texts, text);
  return found == claim_texts.end() ? Claim::nothing : static_cast<Claim>(found - claim_texts.begin());
}

LyapunovProblem::LyapunovProblem(const System& of, const Tree& tree)
    : system(of), candidate(tree), function(0), decrease(0) {
  const auto fields = polynomial_fields(system);
  const auto whole = polynomial_of(candidate, dimension());
  if (fields && whole) {
    set_polynomials(*fields, *whole);
    return;
  }
  functions.emplace(system, candidate);
  function = functions->function;
  decrease = functions->decrease;
  gradient = functions->gradient;
}

void LyapunovProblem::set_polynomials(const std::vector<Polynomial>& fields, const Polynomial& whole) {
  for (std::size_t i = 0; i < fields.size(); ++i) {
    const Rational rest = fields[i].constant();
    check<DataError>(rest.is_zero(), "0 is not an equilibrium: ", system.names[i], "' = ", rest.text(), " there",
                     nearby_equilibrium(fields, system.names));
  }
  function = whole - Polynomial(dimension(), whole.constant());
  for (Index i = 0; i < dimension(); ++i) gradient.push_back(function.derivative(i));
  decrease = -derivative_along(function, fields);
}

std::vector<std::vector<Index>> LyapunovProblem::zero_groups() const {
  std::vector<std::vector<Index>> groups;
  for (Index i = 0; i < dimension(); ++i) groups.push_back({i});
  for (std::size_t k = 0; functions && k < functions->functions.size(); ++k) {
    const AppliedFunction& applied = functions->functions[k];
    const Index variable = only_variable(applied.argument);
    const bool has_one_zero = applied.node == Node::tanh || applied.node == Node::exponential;
    if (has_one_zero && variable >= 0 && variable < dimension())
      groups[static_cast<std::size_t>(variable)].push_back(dimension() + static_cast<Index>(k));
  }
  return groups;
}

namespace {

bool is_only_at_zero(const LyapunovProblem& problem, const std::vector<bool>& forced) {
  return std::ranges::all_of(problem.zero_groups(), [&](const std::vector<Index>& group) {
    return std::ranges::any_of(group, [&](Index i) { return forced[static_cast<std::size_t>(i)]; });
  });
}

}  // namespace

Claim proved_claim(const LyapunovProblem& problem, const Squares& positive, const Squares& decreasing) {
  if (problem.function.is_zero()) return Claim::nothing;
  if (!proves(positive, problem.function) || !proves(decreasing, problem.decrease)) return Claim::nothing;
  const std::vector<bool> forced = forced_zeros(positive, problem.function.variables());
  if (!is_only_at_zero(problem, forced)) return Claim::nonnegative;
  if (!is_only_at_zero(problem, forced_zeros(decreasing, problem.decrease.variables()))) return Claim::stable;
  // A positive definite block is at least a multiple of the squares of its basis. With powers of all variables among
  // these V tends to infinity.
  const bool is_unbounded =
      std::all_of(forced.begin(), forced.begin() + problem.dimension(), [](bool is) { return is; });
  return is_unbounded ? Claim::global : Claim::asymptotic;
}

Claim proved_claim_on_box(const LyapunovProblem& problem, const Squares* positive, const Squares* decreasing,
                          const Rational& reach) {
  if (problem.function.is_zero() || reach.sign() <= 0) return Claim::nothing;
  const FunctionProblem local(problem.system, problem.candidate, true);
  if (local.function_second.empty()) return Claim::nothing;
  // Squares are of the polynomials of all of R^n.
  if (positive != nullptr) {
    const bool is_strict = proves(*positive, problem.function) &&
                           is_only_at_zero(problem, forced_zeros(*positive, problem.function.variables()));
    if (!is_strict) return Claim::nothing;
  } else if (!is_positive_on_box(local.function, local.function_second, local, reach)) {
    return Claim::nothing;
  }
  if (problem.decrease.is_zero()) return Claim::stable;
  if (decreasing == nullptr)
    return is_positive_on_box(local.decrease, local.decrease_second, local, reach) ? Claim::asymptotic : Claim::nothing;
  if (!proves(*decreasing, problem.decrease)) return Claim::nothing;
  return is_only_at_zero(problem, forced_zeros(*decreasing, problem.decrease.variables())) ? Claim::asymptotic
                                                                                           : Claim::stable;
}

namespace {

std::vector<CertificateBlock> texts_of(const Squares& squares, const std::vector<std::string>& names) {
  std::vector<CertificateBlock> blocks;
  for (const SquaresBlock& block : squares) {
    CertificateBlock text;
    for (const Polynomial& element : block.basis) text.basis.push_back(infix(element.tree(), names));
    for (Index i = 0; i < block.gram.order; ++i) {
      std::vector<std::string> row;
      for (Index j = 0; j < block.gram.order; ++j) row.push_back(block.gram.at(i, j).text());
      text.gram.push_back(std::move(row));
    }
    blocks.push_back(std::move(text));
  }
  return blocks;
}

Rational read_entry(const std::string& text) {
  const std::size_t bar = text.find('/');
  const Rational whole = Rational::parse(std::string_view(text).substr(0, bar));
  return bar == text.npos ? whole : whole / [&] {
    const Rational divisor = Rational::parse(std::string_view(text).substr(bar + 1));
    check<DataError>(!divisor.is_zero(), "a fraction has the denominator 0");
    return divisor;
  }();
}

Polynomial read_element(const std::string& text, const LyapunovProblem& problem) {
  if (problem.functions) return read_in(text, problem.system.names, *problem.functions);
  auto polynomial = polynomial_of(read_infix(text, problem.system.names), problem.dimension());
  check<DataError>(polynomial.has_value(), "an element of a basis is not a polynomial");
  return std::move(*polynomial);
}

Squares squares_of(const std::vector<CertificateBlock>& blocks, const LyapunovProblem& problem) {
  Squares squares;
  for (const CertificateBlock& block : blocks) {
    const auto order = static_cast<Index>(block.basis.size());
    SquaresBlock read{.basis = {}, .gram = RationalMatrix(order)};
    check<DataError>(block.gram.size() == block.basis.size(), "a Gram matrix of ", block.gram.size(),
                     " rows for a basis of ", order);
    for (const std::string& element : block.basis) read.basis.push_back(read_element(element, problem));
    for (Index i = 0; i < order; ++i) {
      const auto& row = block.gram[static_cast<std::size_t>(i)];
      check<DataError>(row.size() == block.basis.size(), "a row of ", row.size(), " in a Gram matrix of order ", order);
      for (Index j = 0; j < order; ++j) read.gram.at(i, j) = read_entry(row[static_cast<std::size_t>(j)]);
    }
    squares.push_back(std::move(read));
  }
  return squares;
}

}  // namespace

Certificate certificate_of(const LyapunovProblem& problem, const Squares& positive, const Squares& decreasing) {
  const std::vector<std::string>& names = problem.names();
  return {.system = infix(problem.system),
          .function = infix(problem.candidate, problem.system.names),
          .claim = proved_claim(problem, positive, decreasing),
          .positive = texts_of(positive, names),
          .decreasing = texts_of(decreasing, names),
          .box = ""};
}

Claim check_certificate(const Certificate& certificate) {
  const System system = read_system(certificate.system);
  const LyapunovProblem problem(system, read_infix(certificate.function, system.names));
  const Squares positive = squares_of(certificate.positive, problem);
  const Squares decreasing = squares_of(certificate.decreasing, problem);
  const Claim proved = certificate.box.empty() ? proved_claim(problem, positive, decreasing)
                                               : proved_claim_on_box(problem, positive.empty() ? nullptr : &positive,
                                                                     decreasing.empty() ? nullptr : &decreasing,
                                                                     read_entry(certificate.box));
  check<DataError>(certificate.claim != Claim::nothing && proved >= certificate.claim, "does not prove its claim, ",
                   claim_text(certificate.claim), "; it proves ", claim_text(proved));
  return proved;
}

}  // namespace heddle::symbolic
