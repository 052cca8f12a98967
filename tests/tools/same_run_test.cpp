#include "tools/cli/same_run.hpp"

#include <doctest/doctest.h>

#include "libcore/base/error.hpp"
#include "libcore/parallel/thread_group.hpp"

using namespace heddle;

namespace same_run_tests {

namespace {

// Message of ranks with these facts; "" if they agree.
std::string difference(const std::vector<std::vector<RankFact>>& facts) {
  try {
    parallel::on_ranks(static_cast<int>(facts.size()), [&](const parallel::Group& group) {
      check_same_facts(group, facts[static_cast<std::size_t>(group.rank())]);
    });
  } catch (const DataError& error) {
    return error.what();
  }
  return "";
}

}  // namespace

TEST_CASE("ranks: the first fact in which one differs from the first is named") {
  const RankFact version{"the version", "1"}, steps{"`steps`", "5"}, none{"`valid`", ""};
  CHECK(difference({{version, steps}}).empty());
  CHECK(difference({{version, steps}, {version, steps}, {version, steps}}).empty());
  CHECK(difference({{version, steps}, {version, steps}, {version, {"`steps`", "6"}}}) ==
        "ranks differ in `steps`: rank 0 has 5, and rank 2 has 6; start all ranks with one command, the same programs "
        "and the same files");
  CHECK(difference({{version, none}, {version, {"`valid`", "a.h5"}}})
            .starts_with("ranks differ in `valid`: rank 0 has nothing, and rank 1 has a.h5; "));
  CHECK(difference({{version, steps}, {version}})
            .starts_with("ranks differ in `steps`: rank 0 has 5, and rank 1 has none; "));
  CHECK(difference({{version}, {version, steps}})
            .starts_with("ranks differ in `steps`: rank 0 has nothing, and rank 1 "));
}

}  // namespace same_run_tests
