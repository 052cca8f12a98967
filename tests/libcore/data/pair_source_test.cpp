#include "heddle/data/pair_source.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <set>

#include "heddle/base/error.hpp"
#include "heddle/data/held_out.hpp"

using namespace heddle;
using namespace heddle::data;

namespace {

using Ids = std::vector<TokenId>;

// So many pairs, of which every third has the source of the one before.
PairsInMemory sample(Index count) {
  std::vector<TokenPair> pairs;
  for (Index i = 0; i < count; ++i) {
    const auto source = static_cast<TokenId>(i - (i % 3 == 1));
    pairs.push_back({{source, 7}, {static_cast<TokenId>(i)}});
  }
  return {std::move(pairs), count + 10, count};
}

}  // namespace

TEST_CASE("pairs: in memory, and some of them by number") {
  const PairsInMemory pairs({{{1, 2}, {3}}, {{}, {4, 5, 6}}, {{9}, {0}}}, 10, 7, "here");
  CHECK(pairs.size() == 3);
  CHECK(pairs.source_vocab_size() == 10);
  CHECK(pairs.target_vocab_size() == 7);
  CHECK(pairs.source(0) == Ids{1, 2});
  CHECK(pairs.target(1) == Ids{4, 5, 6});
  CHECK(pairs.source_length(1) == 0);
  CHECK(pairs.target_length(1) == 3);

  const PairsOf some(pairs, {2, 1});
  CHECK(some.size() == 2);
  CHECK(some.name() == "here");
  CHECK(some.source(0) == Ids{9});
  CHECK(some.target(1) == Ids{4, 5, 6});
  CHECK(some.target_length(0) == 1);
  CHECK(some.number_in_file(0) == 2);
  const PairsOf fewer(some, {1});
  CHECK(fewer.target(0) == Ids{4, 5, 6});
  CHECK(fewer.number_in_file(0) == 1);
}

TEST_CASE("pairs: numbers outside and ids outside the vocabulary are refused") {
  const PairsInMemory pairs({{{1}, {7}}, {{-1}, {0}}}, 2, 7, "here");
  CHECK_THROWS_WITH_AS(pairs.source(2), "here: has no pair 2, only 2", DataError);
  CHECK_THROWS_WITH_AS(pairs.target_length(-1), "here: has no pair -1, only 2", DataError);
  CHECK_THROWS_WITH_AS(pairs.target(0), "here: pair 0 has the token 7, outside the vocabulary of 7", DataError);
  CHECK_THROWS_WITH_AS(pairs.source(1), "here: pair 1 has the token -1, outside the vocabulary of 2", DataError);
  CHECK_THROWS_WITH_AS(PairsOf(pairs, {0, 2}), "here: has no pair 2, only 2", DataError);
  CHECK_THROWS_WITH_AS(PairsOf(pairs, {0}).source(1), "here: has no pair 1, only 1", DataError);
}

TEST_CASE("held out pairs: the fraction of them, equal sources together, whatever their order") {
  const PairsInMemory pairs = sample(999);
  const HeldOutPairs split = hold_out_pairs(pairs, {200'000});
  CHECK(std::abs(static_cast<double>(split.valid.size()) - 0.2 * 999) <= 1);
  std::vector<Index> all = split.train;
  all.insert(all.end(), split.valid.begin(), split.valid.end());
  std::ranges::sort(all);
  for (Index i = 0; i < 999; ++i) REQUIRE(all[static_cast<std::size_t>(i)] == i);

  std::set<Ids> trained;
  for (const Index i : split.train) trained.insert(pairs.source(i));
  for (const Index i : split.valid) CHECK(!trained.contains(pairs.source(i)));

  std::vector<Index> backward(999);
  for (Index i = 0; i < 999; ++i) backward[static_cast<std::size_t>(i)] = 998 - i;
  const PairsOf reversed(pairs, backward);
  std::set<Index> again;
  for (const Index i : hold_out_pairs(reversed, {200'000}).valid) again.insert(reversed.number_in_file(i));
  CHECK(again == std::set<Index>(split.valid.begin(), split.valid.end()));
}

TEST_CASE("held out pairs: too few are refused") {
  CHECK_THROWS_WITH_AS(hold_out_pairs(sample(3), {100'000}),
                       "pairs in memory: 3 pairs with 2 different sources are too few to hold out 10% for validation; "
                       "give more pairs, or --valid FILE",
                       DataError);
}
