#include "libcore/symbolic/certificate.hpp"

#include <algorithm>
#include <array>

#include "libcore/base/error.hpp"
#include "libcore/base/strings.hpp"

namespace heddle::symbolic {

namespace {

constexpr std::array<std::string_view, 5> claim_texts{"nothing", "nonnegative", "stable", "asymptotically stable",
                                                      "globally asymptotically stable"};

std::vector<Polynomial> polynomial_fields(const System& system) {
  std::vector<Polynomial> fields;
  const auto n = static_cast<Index>(system.names.size());
  for (std::size_t i = 0; i < system.fields.size(); ++i) {
    auto field = polynomial_of(system.fields[i], n);
    check<DataError>(field.has_value(), system.names[i], "' is not a polynomial");
    fields.push_back(std::move(*field));
  }
  return fields;
}

// A point of a coarse grid where the system rests: "; it rests at x = 1, y = 0", or nothing.
std::string nearby_equilibrium(const std::vector<Polynomial>& fields, const std::vector<std::string>& names) {
  static constexpr int numerators[] = {0, 2, -2, 4, -4, 1, -1, 6, -6};
  const std::size_t n = names.size();
  if (n > 4) return "";
  std::size_t points = 1;
  for (std::size_t i = 0; i < n; ++i) points *= std::size(numerators);
  for (std::size_t p = 0; p < points; ++p) {
    std::vector<Rational> point;
    for (std::size_t rest = p, i = 0; i < n; ++i, rest /= std::size(numerators))
      point.push_back(Rational(numerators[rest % std::size(numerators)]) / Rational(2));
    if (!std::ranges::all_of(fields, [&](const Polynomial& field) { return field.at(point).is_zero(); })) continue;
    std::string text = "; one is at ";
    for (std::size_t i = 0; i < n; ++i) text += (i == 0 ? "" : ", ") + names[i] + " = " + point[i].text();
    return text + ": write the system in the distance from it";
  }
  return "";
}

}  // namespace

std::string claim_text(Claim claim) {
  return std::string(claim_texts[static_cast<std::size_t>(claim)]);
}

Claim claim_named(std::string_view text) {
  const auto found = std::ranges::find(claim_texts, text);
  return found == claim_texts.end() ? Claim::nothing : static_cast<Claim>(found - claim_texts.begin());
}

LyapunovProblem::LyapunovProblem(const System& of, const Tree& with)
    : system(of),
      candidate(with),
      function(static_cast<Index>(of.names.size())),
      decrease(static_cast<Index>(of.names.size())) {
  const std::vector<Polynomial> fields = polynomial_fields(system);
  for (std::size_t i = 0; i < fields.size(); ++i) {
    const Rational rest = fields[i].constant();
    check<DataError>(rest.is_zero(), "0 is no equilibrium: ", system.names[i], "' = ", rest.text(), " there",
                     nearby_equilibrium(fields, system.names));
  }
  const auto whole = polynomial_of(candidate, dimension());
  check<DataError>(whole.has_value(), "V is not a polynomial");
  function = *whole - Polynomial(dimension(), whole->constant());
  for (Index i = 0; i < dimension(); ++i) gradient.push_back(function.derivative(i));
  decrease = -derivative_along(function, fields);
}

Claim proved_claim(const LyapunovProblem& problem, const Squares& positive, const Squares& decreasing) {
  if (!proves(positive, problem.function) || !proves(decreasing, problem.decrease)) return Claim::nothing;
  const auto only_at_zero = [&](const Squares& squares) {
    return std::ranges::all_of(forced_zeros(squares, problem.dimension()), [](bool is) { return is; });
  };
  if (!only_at_zero(positive)) return Claim::nonnegative;
  // A positive definite block is at least a multiple of the squares of its basis, powers of all variables, so that V
  // tends to infinity, too.
  return only_at_zero(decreasing) ? Claim::global : Claim::stable;
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

Squares squares_of(const std::vector<CertificateBlock>& blocks, const std::vector<std::string>& names) {
  Squares squares;
  const auto n = static_cast<Index>(names.size());
  for (const CertificateBlock& block : blocks) {
    const auto order = static_cast<Index>(block.basis.size());
    SquaresBlock read{.basis = {}, .gram = RationalMatrix(order)};
    check<DataError>(block.gram.size() == block.basis.size(), "a Gram matrix of ", block.gram.size(),
                     " rows for a basis of ", order);
    for (const std::string& element : block.basis) {
      auto polynomial = polynomial_of(read_infix(element, names), n);
      check<DataError>(polynomial.has_value(), "an element of a basis is not a polynomial");
      read.basis.push_back(std::move(*polynomial));
    }
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
  const std::vector<std::string>& names = problem.system.names;
  return {.system = infix(problem.system),
          .function = infix(problem.candidate, names),
          .claim = proved_claim(problem, positive, decreasing),
          .positive = texts_of(positive, names),
          .decreasing = texts_of(decreasing, names)};
}

Claim check_certificate(const Certificate& certificate) {
  const System system = read_system(certificate.system);
  const LyapunovProblem problem(system, read_infix(certificate.function, system.names));
  const Claim proved = proved_claim(problem, squares_of(certificate.positive, system.names),
                                    squares_of(certificate.decreasing, system.names));
  check<DataError>(certificate.claim != Claim::nothing && proved >= certificate.claim,
                   "does not prove its claim, ", claim_text(certificate.claim), "; it proves ", claim_text(proved));
  return proved;
}

}  // namespace heddle::symbolic
