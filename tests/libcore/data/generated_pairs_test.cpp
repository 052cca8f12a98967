#include "libcore/data/generated_pairs.hpp"

#include <doctest/doctest.h>

#include <set>

#include "libcore/base/random.hpp"
#include "libcore/data/pair_batches.hpp"

using namespace heddle;
using namespace heddle::data;

namespace {

constexpr Index longest = 20;

// A pair whose tokens are its number, and whose lengths are random.
GeneratedPairs numbered_pairs(Index count) {
  return {"numbers", {.pairs = count, .longest = longest, .vocab_size = 1'000'000}, [](std::uint64_t number) {
            const RandomStream stream(7, 0, number);
            const auto length = [&](std::uint64_t side) {
              return 1 + static_cast<std::size_t>(stream.uniform(side) * longest);
            };
            const auto token = static_cast<TokenId>(number);
            return TokenPair{std::vector<TokenId>(length(0), token), std::vector<TokenId>(length(1), token)};
          }};
}

const PairFrames frames{{std::nullopt, 1}, {std::nullopt, 1}, 0};

}  // namespace

TEST_CASE("generated pairs: pair p of epoch e is draw e * size + p, in any order of asking") {
  const GeneratedPairs pairs = numbered_pairs(50);
  for (const Index epoch : {3, 0, 1, 3}) {
    for (const Index pair : {49, 0, 7}) {
      const TokenPair drawn = pairs.in_epoch(pair, epoch);
      CHECK(drawn.source.front() == static_cast<TokenId>(epoch * 50 + pair));
      const PairLengths lengths = pairs.lengths_in(pair, epoch);
      CHECK(lengths.source == std::ssize(drawn.source));
      CHECK(lengths.target == std::ssize(drawn.target));
    }
  }
  CHECK(pairs.source(3) == pairs.in_epoch(3, 0).source);
  CHECK_THROWS_AS(pairs.in_epoch(50, 0), DataError);
}

TEST_CASE("generated pairs: every epoch has as many groups, of new pairs, within the limits") {
  const GeneratedPairs pairs = numbered_pairs(600);
  const GroupLimits limits{
      .batch_size = 8, .options = {.batch_tokens = 100}, .max_source = longest + 1, .max_target = longest + 1};
  const PairGroups groups(pairs, frames, limits, 5);
  const Index count = groups.groups_per_epoch();
  CHECK(groups.longest() == longest + 1);
  CHECK(groups.left_out() == 0);
  std::set<TokenId> read;
  std::size_t in_all = 0;
  for (Index group = 0; group < 4 * count; ++group) {
    const std::vector<FramedPair> of_group = groups.group(group);
    REQUIRE(!of_group.empty());
    std::size_t source = 0, target = 0;
    for (const FramedPair& pair : of_group) {
      source = std::max(source, pair.source.size());
      target = std::max(target, pair.target.size() - 1);
      CHECK(pair.source.front() / 600 == group / count);
      read.insert(pair.source.front());
    }
    CHECK(of_group.size() * std::max(source, target) <= 100);
    CHECK(static_cast<Index>(of_group.size()) <= groups.largest());
    in_all += of_group.size();
  }
  CHECK(read.size() == in_all);  // none twice
  CHECK(in_all > 4 * 600 * 85 / 100);
}

TEST_CASE("generated pairs: a group is a function of seed and number") {
  const GeneratedPairs one = numbered_pairs(200), other = numbered_pairs(200);
  const GroupLimits limits{.batch_size = 8, .max_source = 100, .max_target = 100};
  const PairGroups groups(one, frames, limits, 5), again(other, frames, limits, 5), seeded(other, frames, limits, 6);
  const Index count = groups.groups_per_epoch();
  for (const Index group : {3 * count + 1, Index(0), count, 3 * count + 1}) {
    const auto pairs = groups.group(group);
    const auto same = again.group(group);
    REQUIRE(pairs.size() == same.size());
    for (std::size_t i = 0; i < pairs.size(); ++i) CHECK(pairs[i].target == same[i].target);
  }
  Index different = 0;
  for (Index group = 0; group < count; ++group)
    different += groups.group(group).front().source != seeded.group(group).front().source ? 1 : 0;
  CHECK(different > count / 2);
}
