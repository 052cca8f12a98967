#include "libcore/symbolic/generators.hpp"

#include "libcore/base/error.hpp"
#include "libcore/symbolic/certificate.hpp"
#include "symbolic_solver.hpp"

using namespace heddle::symbolic;
using heddle::Index;

namespace {

// How many of the pairs differ from the generator's expression.
Index wrong_pairs(const GeneratorSettings& settings, std::uint64_t count) {
  const BackwardGenerator generator(settings, 5);
  Index wrong = 0;
  for (std::uint64_t i = 0; i < count; ++i) {
    const LyapunovPair pair = generator.pair(i);
    const LyapunovProblem problem(pair.system, pair.function);
    Polynomial sum(problem.decrease.variables());
    for (const Tree& rate : pair.rates) {
      const Polynomial polynomial = problem.functions
                                        ? read_in(infix(rate, pair.system.names), pair.system.names, *problem.functions)
                                        : *polynomial_of(rate, problem.dimension());
      sum += polynomial * polynomial;
    }
    wrong += problem.decrease == sum ? 0 : 1;
  }
  return wrong;
}

}  // namespace

TEST_CASE("backward pairs: grad V . f is the generator's expression, exactly") {
  CHECK(wrong_pairs({}, 700) == 0);
  CHECK(wrong_pairs({.least_variables = 3, .most_variables = 5, .half_degree = 3, .field_degree = 3, .squares = 2},
                    300) == 0);
}

TEST_CASE("backward pairs with functions: the same, by GiNaC's derivatives") {
  CHECK(wrong_pairs({.half_degree = 1, .functions = true}, 100) == 0);
}

TEST_CASE("pairs are functions of the seed and of their number") {
  const BackwardGenerator generator({}, 7), other({}, 8);
  CHECK(prefix(generator.pair(3).system) == prefix(BackwardGenerator({}, 7).pair(3).system));
  CHECK(prefix(generator.pair(3).system) != prefix(generator.pair(4).system));
  CHECK(prefix(generator.pair(3).system) != prefix(other.pair(3).system));
  CHECK_THROWS_AS(BackwardGenerator({.least_variables = 4, .most_variables = 3}, 1), heddle::UsageError);
}

TEST_CASE("backward pairs of degree 2 are certified") {
  const auto solver = heddle::testing::csdp();
  if (!solver) return;
  const Verifier verifier(solver, {.claim = Claim::stable, .samples = 1000, .descents = 5, .seed = 1});
  const BackwardGenerator generator({.half_degree = 1}, 2);
  for (std::uint64_t i = 0; i < 20; ++i) {
    const LyapunovPair pair = generator.pair(i);
    CAPTURE(infix(pair.system));
    CHECK(verifier.judge({pair.system, pair.function}).verdict == Verdict::certified);
  }
}

TEST_CASE("forward pairs are found and certified") {
  const auto solver = heddle::testing::csdp();
  if (!solver) return;
  const ForwardGenerator generator({.half_degree = 1}, 1, solver);
  const auto pair = generator.pair(0);
  REQUIRE(pair);
  CHECK(Verifier(solver).judge({pair->system, pair->function}).verdict == Verdict::certified);
  CHECK_THROWS_AS(ForwardGenerator({}, 1, {}), heddle::DataError);
}
