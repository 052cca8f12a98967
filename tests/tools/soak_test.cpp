// A long run, as a week of node time would be: many steps with checkpoints and evaluations, in the same memory.
#include <algorithm>
#include <cstdlib>

#include "tools/small_corpus.hpp"
#include "tools/watching.hpp"

using namespace heddle;
using namespace heddle::testing;

TEST_CASE("soak: thousands of steps, checkpoints and evaluations take no more memory than the first ones, nor files") {
  const SmallCorpus corpus;
  const char* const asked = std::getenv("HEDDLE_SOAK_STEPS");
  const std::string steps = asked == nullptr ? "20000" : asked;
  // Kilobytes and open files of the process, every second, once it reports steps.
  corpus.must(watching +
              "pretrain -q --train train.h5 --valid valid.h5 -o m.h5 --log log.jsonl --threads 2 --layers 2 --width 32 "
              "--heads 2 --context 16 --batch-size 4 --checkpoint-every 50 --keep 3 --eval-every 100 --log-every 100 "
              "--ema-decay "
              "0.99 --steps " +
              steps +
              " & process=$!\n"
              "await $process 'test -s log.jsonl'\n"
              "while kill -0 $process 2> /dev/null; do\n"
              "  echo $(awk '/^VmRSS/ {print $2}' /proc/$process/status) $(ls /proc/$process/fd | wc -l)\n"
              "  sleep 1\n"
              "done > memory.txt 2> /dev/null\n"
              "wait $process");
  std::vector<long> kilobytes, files;
  for (const std::string& line : lines_of(read_file(corpus.path("memory.txt")))) {
    std::istringstream numbers(line);
    long memory = 0, open_files = 0;
    if (numbers >> memory >> open_files && memory > 0) {
      kilobytes.push_back(memory);
      files.push_back(open_files);
    }
  }
  REQUIRE(kilobytes.size() >= 8);
  const auto half = static_cast<std::ptrdiff_t>(kilobytes.size() / 2);
  const long early = *std::max_element(kilobytes.begin(), kilobytes.begin() + half);
  const long late = *std::max_element(kilobytes.begin() + half, kilobytes.end());
  MESSAGE(steps << " steps: " << kilobytes.size() << " seconds, at most " << early << " kB in the first half, " << late
                << " kB in the second, at most " << *std::ranges::max_element(files) << " open files");
  CHECK(late <= early + 1024);
  CHECK(*std::ranges::max_element(files) < 32);
  CHECK(corpus.leftovers() == 0);
  corpus.must("inspect verify m.h5");
}
