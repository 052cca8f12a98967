#include "libcore/symbolic/tree.hpp"

#include <doctest/doctest.h>

#include <cmath>

#include "libcore/base/error.hpp"
#include "libcore/symbolic/draws.hpp"
#include "libcore/symbolic/numeric.hpp"
#include "libcore/symbolic/polynomial.hpp"

using namespace heddle::symbolic;
using heddle::DataError;
using heddle::Index;

namespace {

const std::vector<std::string> xy{"x", "y"};

std::string refusal(const std::string& system) {
  try {
    read_system(system);
  } catch (const DataError& error) {
    return error.what();
  }
  return "";
}

std::string prefix_refusal(const std::string& tokens) {
  try {
    read_prefix(tokens, 2);
  } catch (const DataError& error) {
    return error.what();
  }
  return "";
}

// A tree as a reader may give: numbers are whole, exponents numbers.
Tree random_tree(Draws& draws, Index depth) {
  if (depth == 0 || draws.below(4) == 0) {
    if (draws.below(2) == 0) return {Node::variable, {}, draws.below(3), {}};
    return {Node::number, Rational(draws.with_sign(draws.below(3000))), 0, {}};
  }
  const Node nodes[] = {Node::sum,  Node::difference, Node::product, Node::quotient,    Node::power,     Node::negative,
                        Node::sine, Node::cosine,     Node::tanh,    Node::exponential, Node::logarithm, Node::root};
  Tree tree{nodes[draws.below(12)], {}, 0, {}};
  tree.parts.push_back(random_tree(draws, depth - 1));
  if (tree.node == Node::power) {
    const Rational exponents[] = {1, 2, 3, 4, -1, -2, Rational(1) / Rational(2), Rational(-3) / Rational(2)};
    tree.parts.push_back({Node::number, exponents[draws.below(8)], 0, {}});
  } else if (tree.node == Node::quotient) {
    tree.parts.push_back({Node::number, Rational(draws.with_sign(draws.between(1, 9))), 0, {}});
  } else if (tree.node <= Node::power) {
    tree.parts.push_back(random_tree(draws, depth - 1));
  }
  return tree;
}

}  // namespace

TEST_CASE("systems are read as people write them") {
  const System system = read_system("x' = -x^3 + y;\n dy/dt = 1.5*x - y**2/2");
  CHECK(system.names == xy);
  CHECK(infix(system) == "x' = -x^3 + y; y' = 3/2*x - y^2/2");
  const auto second = polynomial_of(system.fields[1], 2);
  REQUIRE(second);
  CHECK(second->at({Rational(2), Rational(4)}) == Rational(-5));
  CHECK(infix(read_infix("-x^2", xy), xy) == "-x^2");
  CHECK(polynomial_of(read_infix("-x^2", xy), 2)->at({Rational(3), Rational(0)}) == Rational(-9));
  CHECK(polynomial_of(read_infix("2 - 3 - 4*-x", xy), 2)->at({Rational(1), Rational(0)}) == Rational(3));
  CHECK(polynomial_of(read_infix("(x^2)^3", xy), 2) == polynomial_of(read_infix("x^6", xy), 2));
  CHECK(read_system("x0' = -x0").names == numbered_names(1));
  const std::string digits(400, '7');
  CHECK(polynomial_of(read_infix(digits + "*x", xy), 2)->terms()[0].coefficient.text() == digits);
}

TEST_CASE("what is no system is refused with its column") {
  CHECK(refusal("x' = -x + z") ==
        "column 11: unknown variable or function 'z'; there are x, sin, cos, exp, log, tanh and sqrt");
  CHECK(refusal("x' = -(x + 1").starts_with("column 7: '(' without ')'"));
  CHECK(refusal("x' = -x)").starts_with("column 8: ')' without '('"));
  CHECK(refusal("x' = 2x").starts_with("column 7: write '*' before 'x'"));
  CHECK(refusal("x' = x^y; y' = y").starts_with("column 7: the exponent of a power must be a number"));
  CHECK(refusal("x' = x^(1/3)").starts_with("column 7: the power ^1/3 is undefined for negative numbers"));
  CHECK(refusal("x' = x/0").starts_with("column 8: a division by 0"));
  CHECK(refusal("x' = 0^0*x").starts_with("column 7: 0^0 is undefined"));
  CHECK(refusal("x' = x^9999").starts_with("column 7: the exponent 9999 is too large"));
  CHECK(refusal("x' = ").starts_with("column 6: the expression ends early"));
  CHECK(refusal("x = -x").starts_with("column 1: the left side of an equation must be x'"));
  CHECK(refusal("x' = -x; x' = x").starts_with("column 13: a second equation for x"));
  CHECK(refusal("").starts_with("no equation"));
  CHECK(refusal("x' = " + std::string(1001, '1') + "*x").find("at most 1000 are read") != std::string::npos);
  CHECK(refusal("x' = " + std::string(300, '(') + "x").find("levels of brackets") != std::string::npos);
  CHECK(refusal("x' = x" +
                [] {
                  std::string sum;
                  for (int i = 0; i < 6000; ++i) sum += "+x";
                  return sum;
                }())
            .find("more than 5000 operations") != std::string::npos);
  std::string many;
  for (int i = 0; i < 20; ++i) many += "a" + std::to_string(i) + "' = 0;";
  CHECK(refusal(many) == "a system of 20 variables; at most 16 are read");
}

TEST_CASE("prefix tokens are those of the published data") {
  const std::string tokens = "INT+ 2 <SPECIAL_3> + * INT- 1 0 x0 ^ x1 INT+ 2 <SPECIAL_3> * INT- 7 sin x1";
  const System system = read_prefix_system(tokens);
  CHECK(infix(system) == "x0' = -1000*x0 + x1^2; x1' = -7*sin(x1)");
  CHECK(prefix(system) == tokens);
  CHECK(prefix(read_infix("1.5", xy)) == "/ INT+ 3 INT+ 2");
  CHECK(prefix(read_infix("1000000", xy)) == "INT+ 1 0 0");
  CHECK(prefix_refusal("+ x0") == "token 3: the expression ends early");
  CHECK(prefix_refusal("x2") == "token 1 'x2': is not a variable; there are x0 to x1");
  CHECK(prefix_refusal("x0 x1") == "token 2 'x1': follows a complete expression");
  CHECK(prefix_refusal("INT+ 0 5").starts_with("token 4: follows an integer with a needless zero"));
  CHECK(prefix_refusal("INT+ 05").starts_with("token 2 '05': is not a digit"));
  CHECK(prefix_refusal("INT+ 1000").starts_with("token 2 '1000': is not a digit"));
  CHECK(prefix_refusal("INT+").starts_with("token 2: digits are missing"));
  CHECK(prefix_refusal("/ x0 INT+ 0").starts_with("token 1: a division by 0"));
  CHECK(prefix_refusal("^ x0 x1").starts_with("token 1: the exponent"));
}

TEST_CASE("10,000 random expressions keep their tokens and their value") {
  Draws draws(heddle::RandomStream(1, heddle::random_site("tree test")));
  const auto names = numbered_names(3);
  int other_values = 0;  // sums in another order are rounded otherwise, which sines of large numbers show
  for (int i = 0; i < 10'000; ++i) {
    const Tree tree = random_tree(draws, 5);
    const std::string tokens = prefix(tree);
    REQUIRE(prefix(read_prefix(tokens, 3)) == tokens);
    const Tree again = read_infix(infix(tree, names), names);
    REQUIRE(infix(read_infix(infix(again, names), names), names) == infix(again, names));
    const double points[] = {0.37, -0.61, 1.3};
    const double at_point = numeric_value(tree, points), once_more = numeric_value(again, points);
    const bool is_same = std::isfinite(at_point) ? std::abs(once_more - at_point) <= 1e-6 * (1 + std::abs(at_point))
                                                 : !std::isfinite(once_more);
    other_values += is_same ? 0 : 1;
    std::optional<Polynomial> value;
    try {
      value = polynomial_of(tree, 3);
    } catch (const DataError&) {  // too large
    }
    if (value) REQUIRE(*polynomial_of(again, 3) == *value);
  }
  CHECK(other_values < 20);
}
