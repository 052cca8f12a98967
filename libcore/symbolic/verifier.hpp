// Decides whether V is a Lyapunov function of a system: certified by a proof, refuted by a point, or neither.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "libcore/symbolic/certificate.hpp"
#include "libcore/symbolic/falsifier.hpp"

namespace heddle::symbolic {

enum class Verdict { certified, unrefuted, refuted };
std::string verdict_text(Verdict verdict);

struct VerifierSettings {
  Claim claim = Claim::stable;  // weakest claim to prove
  Index samples = 100'000, descents = 20;
  std::uint64_t seed = 1;
  // Above 0: the claims may hold on |x_i| <= box alone, and points outside do not refute.
  double box = 0;
};

// A proof, a point, or the reason why there is neither.
struct Judgement {
  Verdict verdict = Verdict::unrefuted;
  std::optional<Certificate> certificate;  // its claim is the strongest that was proved
  std::string evidence;                    // one line of text
};

class Verifier {
 public:
  explicit Verifier(SemidefiniteSolver solver = {}, VerifierSettings settings = {})
      : prover_(std::move(solver)), settings_(settings) {}

  Judgement judge(const LyapunovProblem& problem) const;

 private:
  std::optional<Certificate> proof_on_box(const LyapunovProblem& problem, const std::optional<Squares>& positive,
                                          const std::optional<Squares>& decreasing) const;
  static std::string unwritable(const Certificate& certificate);
  std::string refutation(const LyapunovProblem& problem, Index samples, Index descents) const;

  SquaresProver prover_;
  VerifierSettings settings_;
};

// A candidate for V of degree 2 `half_degree` that the solver finds, by sums of squares (Papachristodoulou and Prajna
// 2002), with coefficients rounded to these bits. Not verified.
std::optional<Polynomial> proposed_function(const System& system, Index half_degree, const SemidefiniteSolver& solver,
                                            int bits);

}  // namespace heddle::symbolic
