#include "libcore/symbolic/functions.hpp"

#include <cmath>

#include "libcore/base/error.hpp"
#include "libcore/symbolic/box_proof.hpp"
#include "libcore/symbolic/draws.hpp"
#include "symbolic_solver.hpp"

using namespace heddle::symbolic;
using heddle::DataError;
using heddle::testing::judged;

namespace {

FunctionProblem problem_of(const std::string& system, const std::string& function) {
  const System read = read_system(system);
  return {read, read_infix(function, read.names), true};
}

std::string function_refusal(const std::string& system, const std::string& function = "x^2") {
  try {
    problem_of(system, function);
  } catch (const DataError& error) {
    return error.what();
  }
  return "";
}

std::string on_box(const std::string& system, const std::string& function, double box) {
  const auto judgement =
      judged(Verifier({}, {.claim = Claim::stable, .samples = 20'000, .descents = 10, .seed = 1, .box = box}), system,
             function);
  if (judgement.certificate) CHECK(check_certificate(*judgement.certificate) >= Claim::stable);
  return verdict_text(judgement.verdict) + ": " + judgement.evidence;
}

}  // namespace

TEST_CASE("functions are variables of polynomials, and derivatives are exact") {
  const FunctionProblem problem = problem_of("x' = -sin(x)*exp(x)", "(exp(x) - 1)^2");
  // grad V . f = 2 (e^x - 1) e^x (-sin x e^x), with e^x = 1 + e.
  const Polynomial wanted = read_in("2*(exp(x) - 1)*exp(x)^2*sin(x)", {"x"}, problem);
  CHECK(problem.decrease == wanted);
  const std::vector<double> values = problem.values_at({0.5});
  for (std::size_t i = 1; i < values.size(); ++i) {
    if (problem.names[i] == "sin(x)") CHECK(values[i] == doctest::Approx(std::sin(0.5)));
    if (problem.names[i] == "(exp(x) - 1)") CHECK(values[i] == doctest::Approx(std::expm1(0.5)));
  }
}

TEST_CASE("what may be undefined is refused") {
  CHECK(function_refusal("x' = -x/x").starts_with("a division by x, which is 0 at 0"));
  CHECK(function_refusal("x' = -x/(1 - x^2)").find("which is 0 between 0 and x = ") != std::string::npos);
  CHECK(function_refusal("x' = log(x)").starts_with("a logarithm of x, which is 0 at 0"));
  CHECK(function_refusal("x' = -x*sqrt(x)").starts_with("a root of x, which is 0 at 0"));
  CHECK(function_refusal("x' = x^(-1) - 1/x").starts_with("a division by x"));
  CHECK(function_refusal("x' = cos(x)").starts_with("0 is not an equilibrium: x' is not 0 there"));
  CHECK(function_refusal("x' = -x/(1 + x^2)").empty());
  CHECK(function_refusal("x' = -x*sqrt(2 + x^4)/log(3 + x^2)").find("a division by log(") != std::string::npos);
}

TEST_CASE("ends are rounded outwards: exact sums, products and powers, and functions in more digits, lie between") {
  Draws draws(heddle::RandomStream(22, heddle::random_site("ends")));
  const auto random = [&] { return static_cast<double>(draws.between(-1'000'003, 1'000'003)) / 7001; };
  const auto between = [](const Interval& ends, const Rational& value) {
    return !(value < Rational::of(ends.low)) && !(Rational::of(ends.high) < value);
  };
  // Correctly rounded ends hold a value of a few more bits but for its last.
  constexpr long double slack = 4 * std::numeric_limits<long double>::epsilon();
  const auto near = [&](Node node, double x, long double value) {
    const Interval ends = function_of(node, {x, x});
    return ends.low <= value + slack * std::abs(value) && value - slack * std::abs(value) <= ends.high;
  };
  for (int i = 0; i < 500; ++i) {
    const double x = random(), y = random();
    const Rational exact_x = Rational::of(x), exact_y = Rational::of(y);
    CHECK(between(sum({x, x}, {y, y}), exact_x + exact_y));
    CHECK(between(product({x, x}, {y, y}), exact_x * exact_y));
    CHECK(between(power({x, x}, 3), exact_x * exact_x * exact_x));
    CHECK(between(interval_of(exact_x / Rational(3)), exact_x / Rational(3)));
    const Polynomial polynomial = *polynomial_of(read_infix("x^2*y/3 - 7*x", {"x", "y"}), 2);
    CHECK(between(value_in(polynomial, {{x, x}, {y, y}}), polynomial.at({exact_x, exact_y})));
    const long double wide = x;
    CHECK(near(Node::sine, x, std::sin(wide)));
    CHECK(near(Node::cosine, x, std::cos(wide)));
    CHECK(near(Node::tanh, x / 50, std::tanh(static_cast<long double>(x / 50))));
    CHECK(near(Node::exponential, x, std::exp(wide)));
    const double positive = std::abs(x) + 0.01;
    CHECK(near(Node::logarithm, positive, std::log(static_cast<long double>(positive))));
    CHECK(near(Node::root, positive, std::sqrt(static_cast<long double>(positive))));
    CHECK(near(Node::quotient, positive, 1 / static_cast<long double>(positive)));
  }
}

TEST_CASE("intervals hold the values within them") {
  Draws draws(heddle::RandomStream(21, heddle::random_site("intervals")));
  for (int i = 0; i < 2000; ++i) {
    const double low = static_cast<double>(draws.between(-4000, 4000)) / 700;
    const double width = static_cast<double>(draws.between(0, 3000)) / 900,
                 within = static_cast<double>(draws.below(1001)) / 1000;
    const Interval box{low, low + width};
    const double x = low + within * width;
    const auto holds = [&](Node node, double value) {
      const Interval result = function_of(node, box);
      return result.low <= value + 1e-15 * std::abs(value) && value - 1e-15 * std::abs(value) <= result.high;
    };
    CHECK(holds(Node::sine, std::sin(x)));
    CHECK(holds(Node::cosine, std::cos(x)));
    CHECK(holds(Node::exponential, std::exp(x)));
    CHECK(holds(Node::tanh, std::tanh(x)));
  }
  CHECK_THROWS_AS(function_of(Node::logarithm, {0, 1}), DataError);
  const Interval third = interval_of(Rational(1) / Rational(3));
  CHECK(third.low < third.high);
}

TEST_CASE("branch and bound proves what holds on the box, and says so") {
  CHECK(on_box("x' = -sin(x); y' = -y", "x^2 + y^2", 3) ==
        "certified: asymptotically stable, by V on the box |x_i| <= 3");
  CHECK(on_box("x' = -sin(x); y' = -y", "x^2 + y^2", 4).starts_with("refuted: -grad V . f = -"));
  CHECK(on_box("x' = -sin(x); y' = -y", "x^2 + y^2", 0).starts_with("refuted: -grad V . f = -"));
  CHECK(on_box("x' = -x + x^3; y' = -y", "x^2 + y^2", 0.9) ==
        "certified: asymptotically stable, by V on the box |x_i| <= 9/10");
  CHECK(on_box("x' = -x + x^3; y' = -y", "x^2 + y^2", 1.1).starts_with("refuted"));
  CHECK(on_box("x' = y; y' = -sin(x)", "2 - 2*cos(x) + y^2", 3) == "certified: stable, by V on the box |x_i| <= 3");
  CHECK(on_box("x' = y; y' = -sin(x)", "2 - 2*cos(x) + y^2", 7).starts_with("unrefuted"));  // V is 0 at x = 2 pi
  CHECK(on_box("x' = -x; y' = -y", "x + y^2 + x^2", 1).starts_with("refuted"));
}

TEST_CASE("functions that are sums of squares of functions are certified everywhere") {
  CHECK(on_box("x' = -x + sin(x)^2*y; y' = -y - sin(x)^2*x", "x^2 + y^2", 0) ==
        "certified: globally asymptotically stable");
  CHECK(on_box("x' = -tanh(x); y' = -y", "tanh(x)^2 + y^2", 0).starts_with("unrefuted"));  // 1 - tanh^2 is no square
  CHECK(on_box("x' = -x^3; y' = -y", "x^2 + tanh(y)^2", 1).starts_with("unrefuted"));
}
