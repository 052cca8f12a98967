// The published systems: every verdict has a proof, which is checked again, or a point. And what near_misses_test.cpp
// and generators_test.cpp do with a few, with many.
#include <cstdlib>
#include <fstream>

#include "libcore/base/error.hpp"
#include "libcore/symbolic/draws.hpp"
#include "libcore/symbolic/generators.hpp"
#include "symbolic_solver.hpp"

using namespace heddle::symbolic;

namespace {

struct DataCounts {
  int certified = 0, unrefuted = 0, refuted = 0, identical = 0, negated_certified = 0;
};

void judge_line(const std::string& line, const Verifier& verifier, DataCounts& counts) {
  const std::size_t tab = line.find('\t');
  const std::string source = line.substr(2, tab - 2), target = line.substr(tab + 1);
  const System system = read_prefix_system(source);
  const Tree function = read_prefix(target, static_cast<heddle::Index>(system.names.size()));
  counts.identical += prefix(system) == source && prefix(function) == target ? 1 : 0;
  const LyapunovProblem problem(system, function);
  const Judgement judgement = verifier.judge(problem);
  ++(judgement.verdict == Verdict::certified   ? counts.certified
     : judgement.verdict == Verdict::unrefuted ? counts.unrefuted
                                               : counts.refuted);
  if (judgement.certificate) CHECK(check_certificate(*judgement.certificate) >= Claim::nonnegative);
  const Verifier quick({}, {.claim = Claim::nonnegative, .samples = 1000, .descents = 0, .seed = 1});
  counts.negated_certified +=
      quick.judge({system, heddle::testing::negated(function)}).verdict == Verdict::certified ? 1 : 0;
  if (!problem.decrease.is_zero())
    counts.negated_certified +=
        quick.judge({heddle::testing::negated(system), function}).verdict == Verdict::certified ? 1 : 0;
}

}  // namespace

TEST_CASE("published systems: certified, unrefuted and refuted, with proofs and points") {
  const char* shared = std::getenv("HEDDLE_SHARED_DATA");
  const auto solver = heddle::testing::csdp();
  if (!solver) return;
  const Verifier verifier(solver, {.claim = Claim::nonnegative, .samples = 20'000, .descents = 20, .seed = 1});
  for (const auto& [name, least_certified] :
       {std::pair{"BPoly", 195}, {"FLyap", 185}, {"FBarr", 188}, {"FSOSTOOL", 130}}) {
    std::ifstream in(std::string(shared == nullptr ? "" : shared) + "/lyapunov/" + name);
    if (!in) {
      heddle::testing::skipped("no lyapunov data in HEDDLE_SHARED_DATA");
      return;
    }
    DataCounts counts;
    for (std::string line; std::getline(in, line);) judge_line(line, verifier, counts);
    MESSAGE(std::string(name), ": ", counts.certified, " certified, ", counts.unrefuted, " unrefuted, ", counts.refuted,
            " refuted");
    CHECK(counts.certified + counts.unrefuted + counts.refuted == 200);
    CHECK(counts.certified >= least_certified);
    CHECK(counts.identical == 200);
    CHECK(counts.negated_certified == 0);
  }
}

TEST_CASE("10,000 backward pairs: grad V . f is the generator's expression, exactly") {
  const GeneratorSettings settings{
      .least_variables = 2, .most_variables = 5, .half_degree = 3, .field_degree = 3, .squares = 2};
  const BackwardGenerator generator(settings, 17);
  heddle::Index wrong = 0;
  for (std::uint64_t i = 0; i < 10'000; ++i) {
    const LyapunovPair pair = generator.pair(i);
    const LyapunovProblem problem(pair.system, pair.function);
    Polynomial sum(problem.dimension());
    for (const Tree& rate : pair.rates) sum += polynomial_of(rate, problem.dimension())->power(2);
    wrong += sum == problem.decrease ? 0 : 1;
  }
  CHECK(wrong == 0);
}

TEST_CASE("1,000 pairs with one sign turned: certified only by proof") {
  const auto solver = heddle::testing::csdp();
  if (!solver) return;
  const Verifier verifier(solver, {.claim = Claim::stable, .samples = 5000, .descents = 10, .seed = 1});
  const BackwardGenerator generator({.half_degree = 1}, 23);
  Draws draws(heddle::RandomStream(19, heddle::random_site("turned signs")));
  DataCounts counts;
  int contradicted = 0;
  for (std::uint64_t i = 0; i < 1000; ++i) {
    LyapunovPair pair = generator.pair(i);
    const auto n = static_cast<heddle::Index>(pair.system.fields.size());
    Tree& field = pair.system.fields[static_cast<std::size_t>(draws.below(n))];
    auto terms = polynomial_of(field, n)->terms();
    if (terms.empty()) continue;
    Rational& coefficient =
        terms[static_cast<std::size_t>(draws.below(static_cast<heddle::Index>(terms.size())))].coefficient;
    coefficient = -coefficient;
    field = Polynomial(n, terms).tree();
    const LyapunovProblem problem(pair.system, pair.function);
    const Judgement judgement = verifier.judge(problem);
    ++(judgement.verdict == Verdict::certified   ? counts.certified
       : judgement.verdict == Verdict::unrefuted ? counts.unrefuted
                                                 : counts.refuted);
    if (judgement.verdict == Verdict::certified && negative_point(problem.decrease, {50'000, 10, 77, 0}))
      ++contradicted;
  }
  MESSAGE("signs turned: ", counts.certified, " certified, ", counts.unrefuted, " unrefuted, ", counts.refuted,
          " refuted");
  CHECK(contradicted == 0);
  CHECK(counts.refuted > 700);
}
