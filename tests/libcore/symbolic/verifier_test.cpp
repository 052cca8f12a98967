#include "libcore/symbolic/verifier.hpp"

#include "libcore/base/error.hpp"
#include "libcore/symbolic/generators.hpp"
#include "symbolic_solver.hpp"

using namespace heddle::symbolic;
using heddle::DataError;
using heddle::testing::judged;

namespace {

// Systems with one candidate that need no solver.
std::string evidence(const std::string& system, const std::string& function, Claim claim = Claim::stable) {
  const Judgement judgement = judged(Verifier({}, {.claim = claim}), system, function);
  return verdict_text(judgement.verdict) + ": " + judgement.evidence;
}

}  // namespace

TEST_CASE("what Lyapunov's theorem needs is proved, and no more is claimed") {
  CHECK(evidence("x' = -x^3 + y; y' = -x - y", "x^2 + y^2") == "certified: globally asymptotically stable");
  CHECK(evidence("x' = y; y' = -x", "x^2 + y^2") == "certified: stable");
  CHECK(evidence("x' = y; y' = -x - y", "x^2 + y^2 + 7") == "certified: stable");  // V(0) may be any number
  CHECK(evidence("x' = -x; y' = -y", "x^2", Claim::nonnegative) == "certified: nonnegative");
  CHECK(evidence("x' = -x; y' = -y", "x^2") == "refuted: V - V(0) = 0 at x = 0, y = 1");
  CHECK(evidence("x' = y; y' = -x", "x^2 + y^2", Claim::asymptotic) == "refuted: -grad V . f = 0 at x = 1, y = 0");
  CHECK(evidence("x' = x; y' = -y", "x^2 + y^2").starts_with("refuted: -grad V . f = -"));
  CHECK(evidence("x' = -x; y' = -y", "x^2 - y^2").starts_with("refuted: V - V(0) = -"));
}

TEST_CASE("what cannot be judged is refused with the reason") {
  CHECK_THROWS_WITH_AS(
      evidence("x' = 1 - x; y' = -y", "x^2 + y^2"),
      "0 is not an equilibrium: x' = 1 there; one is at x = 1, y = 0: write the system in the distance from it",
      DataError);
  CHECK_THROWS_WITH_AS(evidence("x' = 1 + x^2", "x^2"), "0 is not an equilibrium: x' = 1 there", DataError);
}

TEST_CASE("without a solver what needs one is neither certified nor refuted") {
  CHECK(evidence("x' = -2*x - 2*x*y - 4*x^3; y' = -2*y - x^2", "x^2 + y^2 + x^2*y + x^4")
            .starts_with("unrefuted: no proof that V > V(0)"));
}

TEST_CASE("sums of squares are found, rounded and checked exactly") {
  const auto solver = heddle::testing::csdp();
  if (!solver) return;
  const Verifier verifier(solver);
  // Quartic, with cross terms.
  CHECK(judged(verifier, "x' = -x + y; y' = -x - y^3", "x^2 + y^2").evidence == "globally asymptotically stable");
  // Gram matrices that must be singular: (2x - y - y^3)^2 in V.
  const SquaresProver prover(solver);
  const auto polynomial = [](const std::string& text) { return *polynomial_of(read_infix(text, {"x", "y"}), 2); };
  const Polynomial singular = polynomial("(2*x - y - y^3)^2 + 14*x^12 + 11*y^8");
  const auto squares = prover.positive(singular, {{0}, {1}});
  REQUIRE(squares);
  CHECK(proves(*squares, singular));
  const auto forced = forced_zeros(*squares, 2);
  CHECK((forced[0] && forced[1]));
  // Nonnegative, but no sum of squares (Motzkin 1967).
  CHECK_FALSE(prover.nonnegative(polynomial("x^4*y^2 + x^2*y^4 - 3*x^2*y^2 + 1")));
  CHECK_FALSE(prover.nonnegative(polynomial("(x^2 - y)^2 - 1/1000000*y^2")));
  CHECK(prover.nonnegative(polynomial("(x^2 - 3*y)^2*(1 + x*y + x^2*y^2)")));
}

TEST_CASE("a damaged proof proves nothing") {
  const Polynomial p = *polynomial_of(read_infix("x^2 + x*y + y^2", {"x", "y"}), 2);
  auto squares = SquaresProver().nonnegative(p);
  REQUIRE(squares);
  CHECK(proves(*squares, p));
  (*squares)[0].gram.at(0, 0) += Rational::parse("1e-200");
  CHECK_FALSE(proves(*squares, p));
}

TEST_CASE("functions are proposed by sums of squares") {
  const auto solver = heddle::testing::csdp();
  if (!solver) return;
  const System system = read_system("x' = y; y' = -2*x - 3*y");
  const auto function = proposed_function(system, 1, solver, 8);
  REQUIRE(function);
  CHECK(Verifier(solver, {.claim = Claim::global}).judge({system, function->tree()}).verdict == Verdict::certified);
  const System unstable = read_system("x' = x");
  if (const auto wrong = proposed_function(unstable, 1, solver, 8))
    CHECK(Verifier(solver).judge({unstable, wrong->tree()}).verdict == Verdict::refuted);
}
