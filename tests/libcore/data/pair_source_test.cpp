#include "libcore/data/pair_source.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <set>

#include "libcore/base/error.hpp"
#include "libcore/base/random.hpp"
#include "libcore/data/held_out.hpp"
#include "libcore/data/pair_batches.hpp"

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

TEST_CASE("pairs: several sources are one after the other, each with its name and numbers") {
  std::vector<std::unique_ptr<PairSource>> sources;
  sources.push_back(std::make_unique<PairsInMemory>(std::vector<TokenPair>{{{1, 2}, {3}}, {{4}, {5}}}, 10, 7, "one"));
  sources.push_back(std::make_unique<PairsInMemory>(std::vector<TokenPair>{}, 3, 30, "none"));
  sources.push_back(std::make_unique<PairsInMemory>(std::vector<TokenPair>{{{6}, {7, 8}}}, 9, 9, "two"));
  const JoinedPairs joined(std::move(sources));
  CHECK(joined.size() == 3);
  CHECK(joined.source_vocab_size() == 10);
  CHECK(joined.target_vocab_size() == 30);
  CHECK(joined.name() == "one and 2 more");
  CHECK(joined.source(0) == Ids{1, 2});
  CHECK(joined.target(1) == Ids{5});
  CHECK(joined.target(2) == Ids{7, 8});
  CHECK(joined.target_length(2) == 2);
  CHECK(joined.source_length(1) == 1);
  CHECK(joined.name_of(1) == "one");
  CHECK(joined.name_of(2) == "two");
  CHECK(joined.number_in_file(2) == 0);
  CHECK(PairsOf(joined, {2}).name_of(0) == "two");
  CHECK_THROWS_AS(joined.source(3), DataError);
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
  const HeldOutNumbers split = hold_out_pairs(pairs, {200'000});
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
                       "give more pairs, or `valid` = FILE",
                       DataError);
}

TEST_CASE("pairs: groups have like lengths, hold every pair once an epoch, and the first ones are of all lengths") {
  std::vector<TokenPair> texts;
  for (TokenId i = 0; i < 200; ++i)
    texts.push_back({{i}, std::vector<TokenId>(static_cast<std::size_t>(i / 10 + 1), i)});
  const PairsInMemory pairs(std::move(texts), 200, 200);
  const PairFrames frames{.source = {.end = 1}, .target = {.begin = 2, .end = 3}, .start = 4};
  const PairGroups groups(pairs, frames, {.batch_size = 10, .max_source = 100, .max_target = 100}, 0);
  REQUIRE(groups.groups_per_epoch() == 20);
  for (Index epoch = 0; epoch < 2; ++epoch) {
    std::multiset<TokenId> sources;
    std::size_t in_first_groups = 0;
    for (Index g = 0; g < 20; ++g) {
      const std::vector<FramedPair> group = groups.group(20 * epoch + g);
      for (const FramedPair& pair : group) {
        CHECK(pair.target.size() == group.front().target.size());
        CHECK(pair.source == std::vector<TokenId>{pair.source.front(), 1});
        CHECK(pair.target.front() == 4);
        CHECK(pair.target.at(1) == 2);
        CHECK(pair.target.back() == 3);
        CHECK(pair.given == 2);
        sources.insert(pair.source.front());
        if (g < 5) in_first_groups += pair.target.size() - 3;
      }
    }
    CHECK(sources.size() == 200);
    CHECK(std::set<TokenId>(sources.begin(), sources.end()).size() == 200);
    // 150 if the shortest came first, 900 if the longest did, 525 on average.
    CHECK(in_first_groups > 250);
    CHECK(in_first_groups < 800);
  }
}

namespace {

// Pairs of texts of these lengths.
PairsInMemory pairs_of_lengths(const std::vector<std::pair<Index, Index>>& lengths) {
  std::vector<TokenPair> pairs;
  for (const auto& [source, target] : lengths) {
    const auto number = static_cast<TokenId>(pairs.size());
    pairs.push_back({Ids(static_cast<std::size_t>(source), number), Ids(static_cast<std::size_t>(target), number)});
  }
  return {std::move(pairs), 1000, 1000};
}

// One special token around a source, two around a target.
const PairFrames few_frames{.source = {.end = 1}, .target = {.begin = 2, .end = 3}, .start = 4};

}  // namespace

TEST_CASE("pairs: a batch of tokens counts the longer side of its longest pair, with padding and special tokens") {
  std::vector<std::pair<Index, Index>> lengths;
  bool long_targets = false;
  SUBCASE("long sources") {
    for (Index i = 1; i <= 12; ++i) lengths.emplace_back(i, 1);  // 2 to 13 tokens beside 3
  }
  SUBCASE("long targets") {
    long_targets = true;
    for (Index i = 0; i < 12; ++i) lengths.emplace_back(1, i);  // 2 to 13 tokens beside 2
  }
  const PairsInMemory pairs = pairs_of_lengths(lengths);
  const PairGroups groups(pairs, few_frames,
                          {.batch_size = 1, .options = {.batch_tokens = 20}, .max_source = 100, .max_target = 100}, 0);
  // 4 x 5, 2 x 7, 2 x 9, and one each of 10 to 13.
  std::multiset<std::size_t> sizes;
  for (Index g = 0; g < groups.groups_per_epoch(); ++g) {
    const std::vector<FramedPair> group = groups.group(g);
    sizes.insert(group.size());
    std::size_t longest = 0;
    for (const FramedPair& pair : group) {
      longest = std::max(longest, long_targets ? pair.target.size() - 1 : pair.source.size());
    }
    CHECK((group.size() == 1 || group.size() * longest <= 20));
  }
  CHECK(sizes == std::multiset<std::size_t>{1, 1, 1, 1, 2, 2, 4});
  CHECK(groups.largest() == 4);
  CHECK(groups.longest() == 13);
}

TEST_CASE("pairs: the source of the pair with the shortest target counts too") {
  const PairsInMemory pairs = pairs_of_lengths({{9, 1}, {1, 2}});  // 10 and 2 tokens beside 3 and 4
  const auto groups = [&](Index tokens) {
    return PairGroups(pairs, few_frames,
                      {.batch_size = 1, .options = {.batch_tokens = tokens}, .max_source = 100, .max_target = 100}, 0)
        .groups_per_epoch();
  };
  CHECK(groups(19) == 2);
  CHECK(groups(20) == 1);
}

TEST_CASE("pairs: one that is too long on either side is left out, and means are of the others, with their frames") {
  const PairsInMemory pairs = pairs_of_lengths({{1, 2}, {4, 1}, {3, 3}, {1, 4}, {3, 1}});
  const PairGroups groups(pairs, few_frames,
                          {.batch_size = 9, .options = {.max_length = 3}, .max_source = 100, .max_target = 100}, 0);
  CHECK(groups.left_out() == 2);
  CHECK(groups.pairs_of(0).size() == 3);
  CHECK(groups.mean_source() == doctest::Approx((1 + 3 + 3) / 3.0 + 1));
  CHECK(groups.mean_target() == doctest::Approx((2 + 3 + 1) / 3.0 + 2));
  // The model's capacity, special tokens included.
  CHECK(PairGroups(pairs, few_frames, {.batch_size = 9, .max_source = 4, .max_target = 100}, 0).left_out() == 1);
  CHECK(PairGroups(pairs, few_frames, {.batch_size = 9, .max_source = 100, .max_target = 5}, 0).left_out() == 1);
}

TEST_CASE("pairs: of equal lengths, each epoch groups others; of different ones, it has another order of groups") {
  const PairsInMemory alike = pairs_of_lengths(std::vector<std::pair<Index, Index>>(40, {2, 2}));
  const PairGroups mixed(alike, few_frames, {.batch_size = 4, .max_source = 100, .max_target = 100}, 0);
  REQUIRE(mixed.groups_per_epoch() == 10);
  const auto mates = [&](Index epoch) {
    std::set<std::pair<Index, Index>> together;
    for (Index g = 0; g < 10; ++g) {
      const std::vector<Index> group = mixed.pairs_of(10 * epoch + g);
      for (const Index a : group) {
        for (const Index b : group) {
          if (a < b) together.emplace(a, b);
        }
      }
    }
    return together;
  };
  const auto first = mates(0), second = mates(1);
  REQUIRE(first.size() == 60);
  Index again = 0;
  for (const auto& both : second) again += first.contains(both) ? 1 : 0;
  CHECK(again < 20);  // 60 x 3 / 39 on average

  std::vector<std::pair<Index, Index>> lengths;
  for (Index i = 1; i <= 60; ++i) lengths.emplace_back(1, i);
  const PairsInMemory different = pairs_of_lengths(lengths);
  const PairGroups single(different, few_frames, {.batch_size = 1, .max_source = 100, .max_target = 100}, 0);
  Index alike_places = 0;
  for (Index g = 0; g < 60; ++g) alike_places += single.pairs_of(g) == single.pairs_of(60 + g) ? 1 : 0;
  CHECK(alike_places < 8);  // one on average
}

TEST_CASE("pairs: lengths of both sides that rise and fall: groups are as full as limits allow, and no fuller") {
  for (std::uint64_t seed = 0; seed < 30; ++seed) {
    CAPTURE(seed);
    const RandomStream stream(seed, random_site("lengths"));
    std::vector<std::pair<Index, Index>> lengths;
    for (std::uint64_t i = 0; i < 60; ++i) {
      lengths.emplace_back(1 + stream.below(2 * i, 9), 1 + stream.below(2 * i + 1, 6));
    }
    const PairsInMemory pairs = pairs_of_lengths(lengths);
    const Index tokens = seed % 3 == 0 ? 0 : 12 + static_cast<Index>(seed), batch = 4 + static_cast<Index>(seed) % 3;
    const PairGroups groups(
        pairs, few_frames,
        {.batch_size = batch, .options = {.batch_tokens = tokens}, .max_source = 100, .max_target = 100}, seed);
    const auto fits = [&](const std::vector<std::pair<Index, Index>>& group) {
      Index longest = 0;
      for (const auto& [target, source] : group) longest = std::max({longest, source + 1, target + 2});
      const auto count = static_cast<Index>(group.size());
      return count == 1 || (tokens > 0 ? count * longest <= tokens : count <= batch);
    };
    // Sorted by target, then by source, as many as fit.
    std::vector<std::pair<Index, Index>> sorted, group;
    for (const auto& [source, target] : lengths) sorted.emplace_back(target, source);
    std::ranges::sort(sorted);
    std::multiset<std::vector<std::pair<Index, Index>>> expected, found;
    for (const auto& pair : sorted) {
      group.push_back(pair);
      if (fits(group)) continue;
      group.pop_back();
      expected.insert(group);
      group = {pair};
    }
    expected.insert(group);
    std::multiset<Index> seen;
    for (Index g = 0; g < groups.groups_per_epoch(); ++g) {
      std::vector<std::pair<Index, Index>> here;
      for (const Index pair : groups.pairs_of(g)) {
        seen.insert(pair);
        here.emplace_back(lengths[static_cast<std::size_t>(pair)].second,
                          lengths[static_cast<std::size_t>(pair)].first);
      }
      found.insert(here);
    }
    CHECK(found == expected);
    CHECK(seen.size() == lengths.size());
    CHECK(std::set<Index>(seen.begin(), seen.end()).size() == lengths.size());
  }
}
