#include <doctest/doctest.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <cmath>
#include <map>
#include <numeric>

#include "libcore/base/error.hpp"
#include "libcore/base/random.hpp"
#include "libcore/parallel/thread_group.hpp"
#include "libcore/parallel/tree.hpp"

using namespace heddle;
using namespace heddle::parallel;

namespace {

// Numbers whose sum depends on the order of the additions.
std::vector<float> leaf_numbers(Index leaf, Index count) {
  std::vector<float> numbers;
  const RandomStream stream(5, static_cast<std::uint64_t>(leaf));
  for (Index i = 0; i < count; ++i) {
    const double size = std::pow(10.0, 6 * stream.uniform(static_cast<std::uint64_t>(2 * i)) - 3);
    numbers.push_back(static_cast<float>(size * (stream.uniform(static_cast<std::uint64_t>(2 * i + 1)) - 0.4)));
  }
  return numbers;
}

std::vector<float> added(std::vector<float> a, const std::vector<float>& b) {
  std::transform(a.begin(), a.end(), b.begin(), a.begin(), std::plus());
  return a;
}

// As tree.hpp defines it.
std::vector<float> naive_sum(Index begin, Index end, Index count) {
  if (end - begin == 1) return leaf_numbers(begin, count);
  const Index cut = begin + (end - begin + 1) / 2;
  return added(naive_sum(begin, cut, count), naive_sum(cut, end, count));
}

std::vector<BFloat16> naive_rounded_sum(Index begin, Index end, Index count) {
  std::vector<BFloat16> sum;
  if (end - begin == 1) {
    for (const float number : leaf_numbers(begin, count)) sum.push_back(rounded(number));
    return sum;
  }
  const Index cut = begin + (end - begin + 1) / 2;
  const std::vector<BFloat16> a = naive_rounded_sum(begin, cut, count), b = naive_rounded_sum(cut, end, count);
  for (std::size_t i = 0; i < a.size(); ++i) sum.push_back(rounded(widened(a[i]) + widened(b[i])));
  return sum;
}

std::vector<std::uint16_t> bits_of(const std::vector<BFloat16>& numbers) {
  std::vector<std::uint16_t> bits;
  for (const BFloat16 number : numbers) bits.push_back(number.bits);
  return bits;
}

template <class T>
std::vector<std::vector<T>> from_each(int ranks, const std::function<std::vector<T>(const Group&)>& body) {
  std::vector<std::vector<T>> results(static_cast<std::size_t>(ranks));
  on_ranks(ranks, [&](const Group& group) { results[static_cast<std::size_t>(group.rank())] = body(group); });
  return results;
}

}  // namespace

TEST_CASE("tree: the nodes of a rank cover its leaves, and a node is a half of its parent") {
  for (Index leaves = 1; leaves <= 24; ++leaves) {
    for (Index begin = 0; begin < leaves; ++begin) {
      for (Index end = begin + 1; end <= leaves; ++end) {
        Index at = begin;
        for (const Range& node : nodes_within({begin, end}, leaves)) {
          CHECK(node.begin == at);
          at = node.end;
          if (node == Range{0, leaves}) continue;
          const Range above = parent(node, leaves);
          CHECK((node == Range{above.begin, middle(above)} || node == Range{middle(above), above.end}));
          CHECK_FALSE((begin <= above.begin && above.end <= end));  // else it was the larger node
        }
        CHECK(at == end);
      }
    }
  }
  CHECK_THROWS_AS(parent({1, 3}, 4), Error);
  CHECK_THROWS_AS(parent({0, 4}, 4), Error);
}

TEST_CASE("tree: few sums wait") {
  const std::map<Index, Index> expected{{1, 0}, {2, 1}, {3, 1}, {4, 2}, {5, 2},
                                        {6, 2}, {7, 2}, {8, 3}, {9, 3}, {64, 6}};
  for (const auto& [leaves, waiting] : expected) CHECK(most_waiting(leaves) == waiting);
}

TEST_CASE("tree: the sum has the same bits for any number of ranks that divides the leaves") {
  for (const Index leaves : {Index{1}, Index{2}, Index{3}, Index{4}, Index{6}, Index{8}, Index{12}}) {
    for (const Index count : {Index{0}, Index{1}, Index{3}, Index{1000}}) {
      const std::vector<float> expected = naive_sum(0, leaves, count);
      for (const int ranks : {1, 2, 3, 4}) {
        if (leaves % ranks != 0) continue;
        CAPTURE(leaves);
        CAPTURE(ranks);
        CAPTURE(count);
        const auto results = from_each<float>(ranks, [&](const Group& group) {
          const Range own = part_of(leaves, group.rank(), ranks);
          std::vector<std::vector<float>> nodes;
          for (const Range& node : nodes_within(own, leaves)) nodes.push_back(naive_sum(node.begin, node.end, count));
          std::vector<std::span<const float>> spans(nodes.begin(), nodes.end());
          sum_in_tree(group, leaves, spans, std::span(nodes.back()));
          return nodes.back();
        });
        for (const std::vector<float>& result : results) CHECK(result == expected);
      }
    }
  }
}

TEST_CASE("tree: sums of bfloat16 are rounded at each node, to the same bits for any number of ranks") {
  const auto sum_of = [](Index leaves, int ranks) {
    const auto results = from_each<std::uint16_t>(ranks, [&](const Group& group) {
      std::vector<std::vector<BFloat16>> nodes;
      for (const Range& node : nodes_within(part_of(leaves, group.rank(), ranks), leaves)) {
        const std::vector<BFloat16> numbers = naive_rounded_sum(node.begin, node.end, 100);
        nodes.push_back(numbers);
      }
      std::vector<std::span<const BFloat16>> spans(nodes.begin(), nodes.end());
      sum_in_tree(group, leaves, spans, std::span(nodes.back()));
      return bits_of(nodes.back());
    });
    for (const auto& of_rank : results) CHECK(of_rank == results[0]);
    return results[0];
  };
  for (const auto& [leaves, numbers] : std::map<Index, std::vector<int>>{{4, {1, 2, 4}}, {6, {1, 2, 3}}, {3, {3}}}) {
    for (const int ranks : numbers) CHECK(sum_of(leaves, ranks) == bits_of(naive_rounded_sum(0, leaves, 100)));
  }
  CHECK(rounded(1.00390625F).bits == 0x3F80);  // half-way between 1 and its successor: to the even one
  CHECK(rounded(1.01171875F).bits == 0x3F82);
  CHECK(widened(rounded(-3.0e38F)) < -2.9e38F);
  CHECK(std::isnan(widened(rounded(NAN))));
}

TEST_CASE("tree: each rank gets its part of the sum") {
  const Index count = 10;
  const std::vector<float> expected = naive_sum(0, 3, count);
  on_ranks(3, [&](const Group& group) {
    const std::vector<float> own = leaf_numbers(group.rank(), count);
    const Range range = part_of(count, group.rank(), 3);
    std::vector<float> part(static_cast<std::size_t>(range.count()));
    sum_part_in_tree(group, 3, {std::span<const float>(own)}, std::span(part));
    CHECK(part == std::vector<float>(expected.begin() + range.begin, expected.begin() + range.end));
  });
}

TEST_CASE("group: sums, decisions, broadcasts and gathered values with 1 to 4 ranks") {
  for (const int ranks : {1, 2, 3, 4}) {
    CAPTURE(ranks);
    on_ranks(ranks, [ranks](const Group& group) {
      REQUIRE(group.size() == ranks);
      const Index rank = group.rank();
      std::vector<Index> numbers{rank, 1, 10 * rank};
      group.sum(std::span(numbers));
      const Index sum = ranks * (ranks - 1) / 2;
      CHECK(numbers == std::vector<Index>{sum, ranks, 10 * sum});

      CHECK(group.any(rank == ranks - 1));
      CHECK_FALSE(group.any(false));

      std::string text = group.is_first() ? "from the first" : "";
      group.broadcast(text);
      CHECK(text == "from the first");
      std::vector<double> values(group.rank() == ranks - 1 ? 3 : 0, 0.5);
      group.broadcast(values, ranks - 1);
      std::string of_last = "of rank " + std::to_string(group.rank());
      group.broadcast(of_last, ranks - 1);
      CHECK(of_last == "of rank " + std::to_string(ranks - 1));
      CHECK(values == std::vector<double>(3, 0.5));

      const auto all = group.gather(std::vector<Index>(static_cast<std::size_t>(rank), rank));  // unequal lengths
      for (int of = 0; of < ranks; ++of) {
        CHECK(all[static_cast<std::size_t>(of)] == std::vector<Index>(static_cast<std::size_t>(of), of));
      }
      CHECK(group.gather(std::to_string(rank)).back() == std::to_string(ranks - 1));

      std::vector<float> whole(7, -1);
      const Range own = part_of(7, group.rank(), ranks);
      for (Index i = own.begin; i < own.end; ++i) whole[static_cast<std::size_t>(i)] = static_cast<float>(i);
      group.complete(std::span(whole));
      CHECK(whole == std::vector<float>{0, 1, 2, 3, 4, 5, 6});
      group.barrier();
    });
  }
}

TEST_CASE("group: split gives groups of the ranks with one colour") {
  on_ranks(4, [](const Group& group) {
    const std::unique_ptr<Group> part = group.split(group.rank() % 2);
    CHECK(part->size() == 2);
    CHECK(part->rank() == group.rank() / 2);
    std::vector<Index> numbers{group.rank()};
    part->sum(std::span(numbers));
    CHECK(numbers[0] == (group.rank() % 2 == 0 ? 2 : 4));
    const std::unique_ptr<Group> lonely = group.split(group.rank());
    CHECK(lonely->is_alone());
    CHECK(lonely->any(true));
  });
}

TEST_CASE("group: no rank goes past a barrier before all have come") {
  std::atomic<int> arrived = 0;
  on_ranks(4, [&](const Group& group) {
    ++arrived;
    group.barrier();
    CHECK(arrived == 4);
  });
}

TEST_CASE("group: messages that are on their way at once arrive in the order in which they were begun") {
  on_ranks(2, [](const Group& group) {
    const int other = 1 - group.rank();
    std::vector<std::array<Index, 2>> sent(3), received(3);
    std::vector<std::unique_ptr<Pending>> pending;
    for (Index i = 0; i < 3; ++i) {
      const auto at = static_cast<std::size_t>(i);
      sent[at] = {i, 10 * i + group.rank()};
      const Outgoing out{other, std::as_bytes(std::span(sent[at]))};
      const Incoming in{other, std::as_writable_bytes(std::span(received[at]))};
      pending.push_back(group.begin({&out, 1}, {&in, 1}));
    }
    CHECK(group.any(group.is_first()));  // after them
    for (auto last = pending.rbegin(); last != pending.rend(); ++last) (*last)->wait();
    for (Index i = 0; i < 3; ++i) {
      CHECK(received[static_cast<std::size_t>(i)] == std::array<Index, 2>{i, 10 * i + other});
      CHECK(pending[static_cast<std::size_t>(i)]->is_done());
    }
  });
}

TEST_CASE("group: where one rank fails, the others fail, and the first reason is reported") {
  const auto fail_on_two = [](const Group& group) {
    check<DataError>(group.rank() != 2, "rank 2 has no file");
    group.barrier();
  };
  CHECK_THROWS_WITH_AS(on_ranks(4, fail_on_two), "rank 2 has no file", DataError);
  CHECK_THROWS_WITH_AS(on_ranks(2,
                                [](const Group& group) {
                                  if (group.rank() == 1) group.abort(3);
                                  group.barrier();
                                }),
                       "rank 1 aborted", Error);
  CHECK_THROWS_WITH_AS(on_ranks(2,
                                [](const Group& group) {
                                  std::vector<float> numbers(group.is_first() ? 2 : 4);
                                  group.complete(std::span(numbers));
                                }),
                       doctest::Contains(" bytes, and rank "), Error);
}

TEST_CASE("group: things are divided as evenly as possible") {
  for (const Index count : {Index{0}, Index{1}, Index{7}, Index{8}, (Index{1} << 60) + 1}) {
    for (const int size : {1, 2, 3, 1000}) {
      Index at = 0;
      for (int rank = 0; rank < size; ++rank) {
        const Range part = part_of(count, rank, size);
        CHECK(part.begin == at);
        CHECK(part.count() >= count / size);
        CHECK(part.count() <= count / size + 1);
        at = part.end;
      }
      CHECK(at == count);
    }
  }
}
