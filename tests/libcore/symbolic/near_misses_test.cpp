// No false certificate: functions that fail by little, with large denominators, and pairs with a sign turned.
#include <cstdlib>

#include "libcore/base/error.hpp"
#include "libcore/symbolic/draws.hpp"
#include "libcore/symbolic/generators.hpp"
#include "symbolic_solver.hpp"

using namespace heddle::symbolic;
using heddle::Index;

namespace {

// (a x + b y + c z)^2 + ... of rank n - 1, less a small multiple of the square of a form that this rank leaves free.
Polynomial indefinite_form(Draws& draws, Index n, const Rational& little) {
  Polynomial sum(n);
  std::vector<Polynomial> forms;
  for (Index r = 0; r + 1 < n; ++r) {
    Polynomial form = Polynomial::variable(n, r);
    for (Index i = r + 1; i < n; ++i)
      form += Rational(draws.between(-9, 9)) / Rational(draws.between(1, 7)) * Polynomial::variable(n, i);
    sum += form * form;
  }
  const Polynomial last = Polynomial::variable(n, n - 1);
  return sum - little * (last * last);
}

Rational tiny(Draws& draws) {
  return Rational::parse("1e-" + std::to_string(draws.between(1, 60))) * Rational(draws.between(1, 9)) / Rational(7);
}

// x' such that V = x^2 + ... has grad V . f = -p, for a form p of degree 2: f = -M x.
System with_decrease(const Polynomial& p) {
  System system{numbered_names(p.variables()), {}};
  for (Index i = 0; i < p.variables(); ++i)
    system.fields.push_back((Rational(-1) / Rational(4) * p.derivative(i)).tree());
  return system;
}

Polynomial squared_length(Index n) {
  Polynomial sum(n);
  for (Index i = 0; i < n; ++i) sum += Polynomial::variable(n, i).power(2);
  return sum;
}

}  // namespace

TEST_CASE("forms that are indefinite by little are never certified") {
  Draws draws(heddle::RandomStream(11, heddle::random_site("near misses")));
  const Verifier verifier({}, {.claim = Claim::nonnegative, .samples = 20, .descents = 0, .seed = 1});
  Index certified = 0, kept = 0;
  const bool is_thorough = std::getenv("HEDDLE_TEST_PATIENCE") != nullptr;
  const Index count = is_thorough ? 5000 : 1000;  // two near misses each
  for (Index i = 0; i < count; ++i) {
    const Index n = draws.between(2, 4);
    const Rational little = tiny(draws);
    const Polynomial bad = indefinite_form(draws, n, little);
    const Polynomial good = indefinite_form(draws, n, -little);
    const Polynomial length = squared_length(n);
    const System rest = with_decrease(length);
    certified += verifier.judge({rest, bad.tree()}).verdict == Verdict::certified ? 1 : 0;
    certified += verifier.judge({with_decrease(bad), length.tree()}).verdict == Verdict::certified ? 1 : 0;
    kept += verifier.judge({with_decrease(good), length.tree()}).verdict == Verdict::certified ? 1 : 0;
  }
  CHECK(certified == 0);
  CHECK(kept == count);
}

TEST_CASE("quartics that are negative by little are never certified") {
  const auto solver = heddle::testing::csdp();
  if (!solver) return;
  Draws draws(heddle::RandomStream(12, heddle::random_site("near misses")));
  const SquaresProver prover(solver);
  for (int i = 0; i < 25; ++i) {
    const Polynomial x = Polynomial::variable(2, 0), y = Polynomial::variable(2, 1);
    const Polynomial q = x * x - Rational(draws.between(1, 9)) / Rational(draws.between(1, 5)) * (x * y) -
                         Rational(draws.between(1, 9)) / Rational(draws.between(1, 5)) * (y * y);
    const Polynomial p = q * q * (x * x + y * y) - tiny(draws) * y.power(6);
    const auto squares = prover.nonnegative(p);  // q has real zeros, where p is negative
    CHECK_FALSE(squares);
  }
}

TEST_CASE("V -> -V, f -> -f and a turned sign are not certified, unless they stay true") {
  const auto solver = heddle::testing::csdp();
  if (!solver) return;
  const Verifier verifier(solver, {.claim = Claim::stable, .samples = 2000, .descents = 5, .seed = 1});
  const BackwardGenerator generator({.half_degree = 1}, 4);
  Draws draws(heddle::RandomStream(13, heddle::random_site("near misses")));
  Index turned_certified = 0;
  for (std::uint64_t i = 0; i < 60; ++i) {
    const LyapunovPair pair = generator.pair(i);
    CHECK(verifier.judge({pair.system, heddle::testing::negated(pair.function)}).verdict == Verdict::refuted);
    if (!LyapunovProblem(pair.system, pair.function).decrease.is_zero())
      CHECK(verifier.judge({heddle::testing::negated(pair.system), pair.function}).verdict != Verdict::certified);
    System turned = pair.system;
    const auto at = static_cast<std::size_t>(draws.below(static_cast<Index>(turned.fields.size())));
    auto terms = polynomial_of(turned.fields[at], static_cast<Index>(turned.fields.size()))->terms();
    if (terms.empty()) continue;
    Rational& coefficient = terms[static_cast<std::size_t>(draws.below(static_cast<Index>(terms.size())))].coefficient;
    coefficient = -coefficient;
    turned.fields[at] = Polynomial(static_cast<Index>(turned.fields.size()), terms).tree();
    const LyapunovProblem problem(turned, pair.function);
    if (verifier.judge(problem).verdict != Verdict::certified) continue;
    ++turned_certified;  // by proof; no point may contradict it
    CHECK_FALSE(negative_point(problem.decrease, {20'000, 10, 99, 0}));
  }
  CHECK(turned_certified < 30);
}
