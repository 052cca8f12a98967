#include <doctest/doctest.h>

#include "libcore/ops/fused_attention.hpp"
#include "support/naive_attention.hpp"

using namespace heddle;
using namespace heddle::testing;

TEST_CASE("mask: the range of keys is exactly the set that the convention allows") {
  const Index key_time = 7;
  Index checked = 0;
  for (const bool causal : {false, true}) {
    for (const Index window : {0, 1, 3, 6, 50}) {
      for (const Index length : {-1, 0, 1, 5, 7, 9}) {
        for (const Index offset : {0, 2, 6, 30}) {
          Mask mask{.causal = causal, .window = window, .query_offsets = {0, offset}};
          if (length >= 0) mask.key_lengths = {7, length};
          CAPTURE(causal);
          CAPTURE(window);
          CAPTURE(length);
          CAPTURE(offset);
          for (Index query = 0; query < key_time; ++query) {
            const Mask::Range range = mask.keys_of(1, query, key_time);
            REQUIRE(range.begin <= range.end);
            for (Index key = 0; key < key_time; ++key) {
              REQUIRE((range.begin <= key && key < range.end) == may_attend(mask, 1, query, key));
            }
            REQUIRE((range.begin == range.end || (range.begin >= 0 && range.end <= key_time)));
            ++checked;
          }
        }
      }
    }
  }
  CHECK(checked == 2 * 5 * 6 * 4 * 7);
}

TEST_CASE("mask: with listed pairs, the smallest range that holds every allowed key of those asked for") {
  const Index time = 9;
  std::vector<std::uint8_t> allowed;
  for (Index i = 0; i < 2 * time * time; ++i) allowed.push_back(i % 5 == 0 || i % 7 == 3 ? 1 : 0);
  const Mask mask{.causal = true, .pairs = std::make_shared<const AllowedPairs>(2, time, time, allowed)};
  for (Index batch = 0; batch < 2; ++batch) {
    for (Index query = 0; query < time; ++query) {
      for (const Mask::Range& among : {Mask::Range{0, time}, {2, 6}, {4, 5}, {3, 3}}) {
        Index begin = among.end, end = among.begin;
        for (Index key = among.begin; key < among.end; ++key) {
          if (!may_attend(mask, batch, query, key)) continue;
          begin = std::min(begin, key);
          end = key + 1;
        }
        const Mask::Range range = mask.keys_of(batch, query, among);
        CHECK(range.is_empty() == (begin >= end));
        if (begin < end) CHECK(range == Mask::Range{begin, end});
      }
    }
  }
}

TEST_CASE("mask: ranks let positions attend those of lower rank") {
  const std::vector<std::vector<Index>> ranks{{2, 0, 1}, {-1, 5, 5}};
  const auto content = AllowedPairs::by_rank(ranks, AllowedPairs::Ties::attend);
  const auto query = AllowedPairs::by_rank(ranks, AllowedPairs::Ties::hidden);
  const auto rows = [](const AllowedPairs& pairs, Index batch) {
    return std::vector<int>(pairs.row(batch, 0), pairs.row(batch, 0) + 9);
  };
  CHECK(rows(*content, 0) == std::vector<int>{1, 1, 1, 0, 1, 0, 0, 1, 1});
  CHECK(rows(*query, 0) == std::vector<int>{0, 1, 1, 0, 0, 0, 0, 1, 0});
  CHECK(rows(*content, 1) == std::vector<int>{1, 0, 0, 1, 1, 1, 1, 1, 1});
  CHECK(rows(*query, 1) == std::vector<int>{0, 0, 0, 1, 0, 0, 1, 0, 0});
  CHECK_THROWS_AS(AllowedPairs::by_rank({{0, 1}, {0}}, AllowedPairs::Ties::attend), ShapeError);
  CHECK_THROWS_AS(AllowedPairs(1, 2, 2, {1, 1, 1}), ShapeError);
  CHECK_THROWS_AS(AllowedPairs(1, 1, 2, {1, 2}), ShapeError);
}
