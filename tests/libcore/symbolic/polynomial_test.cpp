#include "libcore/symbolic/polynomial.hpp"

#include <doctest/doctest.h>

#include "libcore/base/error.hpp"
#include "libcore/symbolic/draws.hpp"

using namespace heddle::symbolic;
using heddle::DataError;
using heddle::Index;

namespace {

Polynomial of(const std::string& text) {
  return *polynomial_of(read_infix(text, {"x", "y"}), 2);
}

RationalMatrix matrix(Index order, const std::vector<Rational>& values) {
  RationalMatrix result(order);
  result.values = values;
  return result;
}

}  // namespace

TEST_CASE("polynomials are exact") {
  CHECK(of("(x + y)^2") == of("x^2 + 2*x*y + y^2"));
  CHECK(of("(x + y)^3").derivative(0) == of("3*(x + y)^2"));
  CHECK(of("x/3 - y/7").at({Rational(1), Rational(1)}) == Rational(4) / Rational(21));
  CHECK((of("x") - of("x")).is_zero());
  CHECK(of("2*x^2*y + 7").degree() == 3);
  CHECK(of("5 + x").constant() == Rational(5));
  CHECK(of("4*x^2/6 - 2*y").content() == Rational(2) / Rational(3));
  CHECK(derivative_along(of("x^2 + y^2"), {of("y"), of("-x")}).is_zero());
  CHECK(prefix(of("3*x*y^2 + 1").tree()) == "+ * INT+ 3 * x0 ^ x1 INT+ 2 INT+ 1");
  const auto factors = of("3*(x - y)^2*(x + 1)").factors();
  REQUIRE(factors);
  CHECK(factors->powers.size() == 2);
  CHECK_THROWS_AS(of("(x^500 + 1)^3"), DataError);
  CHECK_THROWS_AS(of("(x + y + 1)^700"), DataError);
}

TEST_CASE("rational numbers are read and rounded") {
  CHECK(Rational::parse("-1.25e1").text() == "-25/2");
  CHECK(Rational::parse("6/4").text() == "3/2");
  CHECK(Rational::of(0.1).value() == 0.1);
  CHECK_FALSE(Rational::of(0.1) == Rational::parse("0.1"));
  CHECK(Rational::simplest(0.333334, 1e-4).text() == "1/3");
  CHECK(Rational::simplest(-2.5, 1e-9).text() == "-5/2");
  CHECK(Rational::rounded(0.3, 2).text() == "1/4");
  for (const char* text : {"", "-", "1/0", "1/", "x", "1 ", "1.2.3", "1e", "1e99999"})
    CHECK_THROWS_AS(Rational::parse(text), DataError);
}

TEST_CASE("definiteness is exact where floating point cannot decide") {
  const Rational tiny = Rational::parse("1e-300");
  CHECK(definiteness(matrix(2, {1, 1, 1, 1})) == Definiteness::semidefinite);
  CHECK(definiteness(matrix(2, {1, 1, 1, Rational(1) + tiny})) == Definiteness::positive);
  CHECK(definiteness(matrix(2, {1, 1, 1, Rational(1) - tiny})) == Definiteness::neither);
  CHECK(definiteness(matrix(2, {0, 1, 1, 5})) == Definiteness::neither);
  CHECK(definiteness(matrix(2, {0, 0, 0, 5})) == Definiteness::semidefinite);
  CHECK(definiteness(matrix(2, {1, 2, 3, 9})) == Definiteness::neither);  // not symmetric
  CHECK(definiteness(matrix(1, {-1})) == Definiteness::neither);
  CHECK(definiteness(matrix(0, {})) == Definiteness::positive);
}

TEST_CASE("definiteness of random matrices agrees with their making") {
  Draws draws(heddle::RandomStream(3, heddle::random_site("definiteness")));
  for (int i = 0; i < 300; ++i) {
    const Index n = draws.between(1, 6), rank = draws.between(1, 6);
    RationalMatrix gram(n);
    for (Index r = 0; r < rank; ++r) {
      std::vector<Index> v;
      for (Index k = 0; k < n; ++k) v.push_back(draws.between(-3, 3));
      for (Index a = 0; a < n; ++a)
        for (Index b = 0; b < n; ++b)
          gram.at(a, b) += Rational(v[static_cast<std::size_t>(a)] * v[static_cast<std::size_t>(b)]);
    }
    CHECK(definiteness(gram) != Definiteness::neither);
    if (rank < n) CHECK(definiteness(gram) == Definiteness::semidefinite);
    RationalMatrix worse = gram;
    const Index at = draws.below(n);
    worse.at(at, at) = -worse.at(at, at) - Rational::parse("1e-50");
    CHECK(definiteness(worse) == Definiteness::neither);
  }
}
