// The published systems: every verdict has a proof, which is checked again, or a point.
#include <cstdlib>
#include <fstream>

#include "libcore/base/error.hpp"
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
