// Systems of differential equations that are drawn while a model trains on them.
#include "tools/background.hpp"

using namespace heddle;
using namespace heddle::testing;

namespace systems_tests {

namespace {

const std::string training =
    "pretrain -q --tasks lyapunov:half-degree=1,pairs=40 --arch encoder-decoder --layers 1 --width 16 --heads 2 "
    "--objective translate:batch-tokens=512 ";

bool can_draw(const SmallCorpus& corpus) {
  if (corpus.run("inspect lyapunov \"x' = -x\" --function 'x^2'").status == 0) return true;
  skipped("no GiNaC and FLINT");
  return false;
}

}  // namespace

TEST_CASE("systems: a killed run goes on, over the ends of epochs, to the same weights") {
  const SmallCorpus corpus;
  if (!can_draw(corpus)) return;
  const long steps = stopped_and_resumed(corpus, training, "part", 12);
  corpus.must(training + endless_schedule + "--steps " + std::to_string(steps) + " -o whole.h5");
  CHECK(corpus.weights("whole.h5") == corpus.weights("part.h5"));
}

TEST_CASE("systems: other systems and another seed do not continue a run") {
  const SmallCorpus corpus;
  if (!can_draw(corpus)) return;
  REQUIRE(corpus.run(training + "--steps 100000 --max-time 0.3s -o m.h5").status == 75);
  corpus.refused(replaced(training, "half-degree=1", "half-degree=2") + "--steps 100000 -o m.h5", 2,
                 "--tasks lyapunov:half-degree was 1 and is 2 now");
  corpus.refused(training + "--seed 2 --steps 100000 -o m.h5", 2, "--seed was 1 and is 2 now");
}

TEST_CASE("systems: a decoder learns them as one text") {
  const SmallCorpus corpus;
  if (!can_draw(corpus)) return;
  corpus.must("pretrain -q --tasks lyapunov:half-degree=1,pairs=40 --layers 1 --width 16 --heads 2 --steps 3 -o d.h5");
  CHECK(parse_json(corpus.must("inspect d.h5 --json").out)["config"]["vocab_size"] == 1063);
  corpus.refused("generate d.h5 --verify stable -p \"x' = -x\"", 2, "--verify: needs a model that was trained on");
}

}  // namespace systems_tests
