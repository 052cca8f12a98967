// Certificates of Lyapunov functions: texts that a check reads and proves again, exactly and without a solver.
#pragma once

#include <string>
#include <vector>

#include "libcore/symbolic/functions.hpp"
#include "libcore/symbolic/squares.hpp"

namespace heddle::symbolic {

// Claims on x' = f(x), f(0) = 0, and V on all of R^n; each includes those before it. Lyapunov's theorem needs `stable`;
// `nonnegative` alone proves nothing about the system.
enum class Claim {
  nothing,
  nonnegative,  // V >= V(0) and grad V . f <= 0
  stable,       // V > V(0) but for x = 0: 0 is a stable equilibrium
  asymptotic,   // grad V . f < 0 but for x = 0: solutions that start near 0 tend to 0
  global        // V tends to infinity with |x|: all solutions tend to 0
};

// A word for a claim ("asymptotically stable"), and the claim of such a word, or `nothing`.
std::string claim_text(Claim claim);
Claim claim_named(std::string_view text);

struct CertificateBlock {
  std::vector<std::string> basis;              // infix
  std::vector<std::vector<std::string>> gram;  // rationals, by rows
};

struct Certificate {
  std::string system, function;  // infix
  Claim claim = Claim::nothing;
  std::vector<CertificateBlock> positive;    // for V - V(0)
  std::vector<CertificateBlock> decreasing;  // for -grad V . f
  // A number r, or empty: what has no blocks is positive on |x_i| <= r but for 0, by branch and bound.
  std::string box;
};

// The system x' = f(x) and V, exactly: V - V(0) and -grad V . f, as polynomials in the variables and, where there are
// other functions, in these (functions.hpp).
struct LyapunovProblem {
  // Throws DataError where f(0) is not 0, with an equilibrium that is not far if one is found, and for what
  // FunctionProblem refuses.
  LyapunovProblem(const System& system, const Tree& function);

  Index dimension() const { return static_cast<Index>(system.names.size()); }
  const std::vector<std::string>& names() const { return functions ? functions->names : system.names; }
  // For each variable the polynomials' variables that are 0 only if it is.
  std::vector<std::vector<Index>> zero_groups() const;

  System system;
  Tree candidate;
  Polynomial function, decrease;
  std::vector<Polynomial> gradient;  // gradient of V
  std::optional<FunctionProblem> functions;

 private:
  void set_polynomials(const std::vector<Polynomial>& fields, const Polynomial& whole);
};

// None where one is not a polynomial.
std::optional<std::vector<Polynomial>> polynomial_fields(const System& system);

// Claim that these sums of squares prove; `nothing` if they do not prove what they should, or V is constant.
Claim proved_claim(const LyapunovProblem& problem, const Squares& positive, const Squares& decreasing);
Certificate certificate_of(const LyapunovProblem& problem, const Squares& positive, const Squares& decreasing);

// The same near 0: on |x_i| <= reach, of which what has no squares is proved by branch and bound.
Claim proved_claim_on_box(const LyapunovProblem& problem, const Squares* positive, const Squares* decreasing,
                          const Rational& reach);

// Proves the certificate again and returns what it proves, at least its claim. Trusts nothing in it. Throws DataError
// for one that is not a proof of its claim.
Claim check_certificate(const Certificate& certificate);

}  // namespace heddle::symbolic
