#include "libcore/symbolic/verifier.hpp"

#include <algorithm>
#include <map>

#include "libcore/base/error.hpp"
#include "libcore/symbolic/gram.hpp"

namespace heddle::symbolic {

std::string verdict_text(Verdict verdict) {
  return verdict == Verdict::certified ? "certified" : verdict == Verdict::refuted ? "refuted" : "unrefuted";
}

std::string Verifier::refutation(const LyapunovProblem& problem, Index samples, Index descents) const {
  const auto& names = problem.system.names;
  const auto text = [&](const char* label, const Counterexample& found) {
    std::string value = found.value.text();
    if (value.size() > 40) value = concatenate(found.value.value());
    return concatenate(label, value, " at ", point_text(found.point, names));
  };
  const auto negative = [&](const Polynomial& polynomial) {
    const SearchSettings search{samples, descents, settings_.seed, settings_.box};
    return problem.functions ? negative_point(polynomial, *problem.functions, search)
                             : negative_point(polynomial, search);
  };
  if (const auto found = negative(problem.function)) return text("V - V(0) = ", *found);
  if (const auto found = negative(problem.decrease)) return text("-grad V . f = ", *found);
  if (problem.functions || settings_.box > 0) return "";
  if (settings_.claim >= Claim::stable)
    if (const auto found = zero_on_grid(problem.function)) return text("V - V(0) = ", *found);
  if (settings_.claim >= Claim::asymptotic)
    if (const auto found = zero_on_grid(problem.decrease)) return text("-grad V . f = ", *found);
  return "";
}

std::optional<Certificate> Verifier::proof_on_box(const LyapunovProblem& problem,
                                                  const std::optional<Squares>& positive,
                                                  const std::optional<Squares>& decreasing) const {
  if (settings_.box <= 0) return std::nullopt;
  const Rational reach = Rational::simplest(settings_.box, settings_.box * 1e-12);
  // No blocks mean that branch and bound proves it; a rate of 0 has none, and is not positive anyway.
  const Squares* const decreasing_squares = decreasing && !decreasing->empty() ? &*decreasing : nullptr;
  const Claim claim = proved_claim_on_box(problem, positive ? &*positive : nullptr, decreasing_squares, reach);
  if (claim == Claim::nothing) return std::nullopt;
  Certificate certificate = certificate_of(problem, positive.value_or(Squares()), decreasing.value_or(Squares()));
  certificate.claim = claim;
  certificate.box = reach.text();
  return certificate;
}

Judgement Verifier::judge(const LyapunovProblem& problem) const {
  if (problem.function.is_zero()) return {Verdict::unrefuted, std::nullopt, "V is constant, which proves nothing"};
  const Index first = std::min<Index>(settings_.samples, 1000);
  std::string refuted = refutation(problem, first, 0);
  if (!refuted.empty()) return {Verdict::refuted, std::nullopt, refuted};
  const auto groups = problem.zero_groups();
  auto positive = prover_.positive(problem.function, groups);
  if (!positive && settings_.claim < Claim::stable) positive = prover_.nonnegative(problem.function);
  std::optional<Squares> decreasing;
  if (positive || settings_.box > 0) {
    if (problem.functions || !zero_on_grid(problem.decrease)) decreasing = prover_.positive(problem.decrease, groups);
    if (!decreasing) decreasing = prover_.nonnegative(problem.decrease, problem.gradient);
  }
  std::optional<Certificate> best;
  if (positive && decreasing) best = certificate_of(problem, *positive, *decreasing);
  if (!best || best->claim < settings_.claim)
    if (auto on_box = proof_on_box(problem, positive, decreasing)) best = std::move(on_box);
  std::string missing = concatenate("no proof that ", positive ? "grad V . f <= 0" : "V > V(0)");
  if (best && best->claim >= settings_.claim) {
    missing = unwritable(*best);
    if (missing.empty()) {
      const std::string where = best->box.empty() ? "" : concatenate(", by V on the box |x_i| <= ", best->box);
      return {Verdict::certified, best, claim_text(best->claim) + where};
    }
  } else if (best && best->claim != Claim::nothing) {
    missing = concatenate("proved: ", claim_text(best->claim), "; no proof of ", claim_text(settings_.claim));
  }
  refuted = refutation(problem, settings_.samples, settings_.descents);
  if (!refuted.empty()) return {Verdict::refuted, std::nullopt, refuted};
  return {Verdict::unrefuted, std::nullopt, missing + ", and no point that refutes it"};
}

// Why what is written would not be accepted, or nothing: a certificate is what its text proves.
std::string Verifier::unwritable(const Certificate& certificate) {
  try {
    check_certificate(certificate);
    return "";
  } catch (const DataError& error) {
    return concatenate("a proof was found, but its certificate cannot be read again (", error.what(), ")");
  }
}

namespace {

// All monomials of degree 1 to `degree`.
std::vector<Polynomial> monomials_to(Index variables, Index degree) {
  std::vector<Polynomial> all;
  std::vector<Polynomial> last{Polynomial(variables, Rational(1))};
  std::vector<Index> last_variable{0};
  for (Index d = 1; d <= degree; ++d) {
    std::vector<Polynomial> next;
    std::vector<Index> next_variable;
    for (std::size_t k = 0; k < last.size(); ++k) {
      for (Index i = last_variable[k]; i < variables; ++i) {
        next.push_back(last[k] * Polynomial::variable(variables, i));
        next_variable.push_back(i);
      }
    }
    all.insert(all.end(), next.begin(), next.end());
    last = std::move(next);
    last_variable = std::move(next_variable);
  }
  return all;
}

// The program of V = b'(P + 1)b, -grad V . f = m'Qm: an equation for each monomial, P and Q to be found.
class ProposalProgram {
 public:
  ProposalProgram(const std::vector<Polynomial>& fields, Index half_degree)
      : basis_(monomials_to(static_cast<Index>(fields.size()), half_degree)) {
    program_.orders = {static_cast<Index>(basis_.size())};
    std::vector<Term> support;
    for (std::size_t i = 0; i < basis_.size(); ++i) {
      for (std::size_t j = i; j < basis_.size(); ++j) {
        const Polynomial rate = derivative_along(basis_[i] * basis_[j], fields);
        for (const Term& term : rate.terms()) {
          const Index equation = equation_of(term.exponents);
          support.push_back({term.exponents, Rational(1)});
          add(equation, 0, i, j, term.coefficient.value());
          if (i == j) program_.right[static_cast<std::size_t>(equation)] -= term.coefficient.value();
        }
      }
    }
    for (const auto& block : gram_monomials(Polynomial(static_cast<Index>(fields.size()), support))) add_block(block);
    for (std::size_t i = 0; i < basis_.size(); ++i)
      program_.entries.push_back({0, 0, static_cast<Index>(i), static_cast<Index>(i), -0.01});
    std::ranges::stable_sort(program_.entries, {}, &SemidefiniteProgram::Entry::constraint);
  }

  const SemidefiniteProgram& program() const { return program_; }
  const std::vector<Polynomial>& basis() const { return basis_; }

 private:
  Index equation_of(const Exponents& exponents) {
    const auto [at, is_new] = equations_.emplace(exponents, static_cast<Index>(program_.right.size()));
    if (is_new) program_.right.push_back(0);
    return at->second;
  }
  void add_block(const std::vector<Exponents>& monomials) {
    const auto block = static_cast<Index>(program_.orders.size());
    program_.orders.push_back(static_cast<Index>(monomials.size()));
    for (std::size_t i = 0; i < monomials.size(); ++i) {
      for (std::size_t j = i; j < monomials.size(); ++j) {
        Exponents product = monomials[i];
        for (std::size_t k = 0; k < product.size(); ++k) product[k] += monomials[j][k];
        add(equation_of(product), block, i, j, 1);
      }
    }
  }
  // An entry off the diagonal stands for two, as that of P does in V.
  void add(Index equation, Index block, std::size_t i, std::size_t j, double value) {
    program_.entries.push_back({equation + 1, block, static_cast<Index>(i), static_cast<Index>(j), value});
  }

  std::vector<Polynomial> basis_;
  std::map<Exponents, Index> equations_;
  SemidefiniteProgram program_;
};

}  // namespace

std::optional<Polynomial> proposed_function(const System& system, Index half_degree, const SemidefiniteSolver& solver,
                                            int bits) {
  const auto n = static_cast<Index>(system.names.size());
  auto fields = polynomial_fields(system);
  if (!fields) return std::nullopt;
  // The same functions are of the system in another unit of time, in which its numbers are about 1.
  Index magnitude = (*fields)[0].magnitude();
  for (const Polynomial& field : *fields) magnitude = std::max(magnitude, field.magnitude());
  for (Polynomial& field : *fields) field = Rational::power_of_two(-magnitude) * field;
  const ProposalProgram proposal(*fields, half_degree);
  const auto& basis = proposal.basis();
  const auto found = solver && basis.size() <= 60 ? solution(solver, proposal.program()) : std::nullopt;
  if (!found) return std::nullopt;
  Polynomial function(n);
  const std::vector<double>& matrix = found->front();
  double largest = 1;
  for (const double value : matrix) largest = std::max(largest, std::abs(value));
  for (std::size_t i = 0; i < basis.size(); ++i) {
    for (std::size_t j = i; j < basis.size(); ++j) {
      const double value = (matrix[i * basis.size() + j] * (i == j ? 1 : 2) + (i == j ? 1 : 0)) / largest;
      function += Rational::rounded(value, bits) * (basis[i] * basis[j]);
    }
  }
  return function;
}

}  // namespace heddle::symbolic
