// The cached rows, compared with lists. Built in double.
#include "libcore/attention/key_value_cache.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <vector>

#include "libcore/base/random.hpp"

using namespace heddle;

namespace key_value_cache_tests {

namespace {

constexpr HeadShape heads{.heads = 2, .key_width = 3, .kv_heads = 2, .value_width = 1};
constexpr Index capacity = 60;

// Each position of a text has a number of its own, from which its keys and values follow.
using Text = std::vector<Index>;
Real key_of(Index number, Index head, Index column) {
  return static_cast<Real>(100 * number + 10 * head + column);
}

// Rows that grow, leave, change places and are continued several times.
class Rows {
 public:
  Rows(Index batch, Index window)
      : texts_(static_cast<std::size_t>(batch)), window_(window), cache_(batch, capacity, heads, DType::real) {}

  Index batch() const { return std::ssize(texts_); }
  Index longest() const { return std::ssize(*std::ranges::max_element(texts_, {}, &Text::size)); }

  void add(const std::vector<Index>& counts) {
    const Index time = std::ranges::max(counts);
    const Tensor keys({batch(), heads.kv_heads, time, heads.key_width}, Real(-1)),
        values({batch(), heads.kv_heads, time, heads.value_width}, Real(-1));
    StepRows rows{{}, counts};
    for (Index b = 0; b < batch(); ++b) {
      Text& text = texts_[static_cast<std::size_t>(b)];
      rows.seen.push_back(std::ssize(text));
      for (Index t = 0; t < counts[static_cast<std::size_t>(b)]; ++t) {
        text.push_back(++numbers_);
        for (Index head = 0; head < heads.kv_heads; ++head) {
          const Index at = (b * heads.kv_heads + head) * time + t;
          for (Index c = 0; c < heads.key_width; ++c) keys[at * heads.key_width + c] = key_of(numbers_, head, c);
          values[at] = -key_of(numbers_, head, 0);
        }
      }
    }
    cache_.append(keys, values, rows, window_);
    check();
    cache_.shrink(window_);
    check();
  }

  void reorder(const std::vector<Index>& rows) {
    std::vector<Text> texts;
    for (const Index row : rows) texts.push_back(texts_[static_cast<std::size_t>(row)]);
    texts_ = texts;
    cache_.reorder(rows);
    check();
  }

 private:
  // Every position that the next one may attend to is where the cache says.
  void check() const {
    REQUIRE(std::ssize(cache_.places()) == batch());
    REQUIRE(std::ssize(cache_.first()) == batch());
    for (std::size_t b = 0; b < texts_.size(); ++b) {
      const Index end = std::ssize(texts_[b]), first = cache_.first()[b];
      const Index needed = window_ == 0 ? 0 : std::max<Index>(0, end - window_);
      REQUIRE(first <= needed);
      const Index time = cache_.length_for(end - first);
      REQUIRE(time >= end - first);
      const Tensor keys = cache_.keys(time).value(), values = cache_.values(time).value();
      for (Index position = needed; position < end; ++position) {
        const Index number = texts_[b][static_cast<std::size_t>(position)];
        for (Index head = 0; head < heads.kv_heads; ++head) {
          const auto row_of = [&](const Tensor& t) {
            return t.narrowed(0, cache_.places()[b], 1)
                .narrowed(1, head, 1)
                .narrowed(2, position - first, 1)
                .elements();
          };
          CHECK(row_of(keys) == std::vector{key_of(number, head, 0), key_of(number, head, 1), key_of(number, head, 2)});
          CHECK(row_of(values) == std::vector{-key_of(number, head, 0)});
        }
      }
    }
  }

  std::vector<Text> texts_;
  Index window_, numbers_ = 0;
  KeyValueCache cache_;
};

}  // namespace

TEST_CASE(
    "cache: a row that takes the place of a shorter one is whole where it is taken twice, without a step between") {
  for (const Index window : {0, 4}) {
    CAPTURE(window);
    Rows rows(2, window);
    rows.add({1, 5});
    rows.reorder({1, 0});
    rows.reorder({0, 0, 1});
    rows.add({1, 1, 1});
  }
}

TEST_CASE("cache: rows of any lengths keep what may be attended to, in whatever order they are taken") {
  for (const Index window : {0, 1, 3, 8}) {
    for (std::uint64_t seed = 0; seed < 40; ++seed) {
      CAPTURE(window);
      CAPTURE(seed);
      const RandomStream random(seed, random_site("cache"));
      std::uint64_t drawn = 0;
      const auto below = [&](Index end) {
        return static_cast<Index>(random.below(drawn++, static_cast<std::uint64_t>(end)));
      };
      Rows rows(1 + below(4), window);
      for (int turn = 0; turn < 12; ++turn) {
        if (turn > 0 && below(2) == 0) {
          std::vector<Index> taken;
          for (Index i = 1 + below(5); i > 0; --i) taken.push_back(below(rows.batch()));
          rows.reorder(taken);
          continue;
        }
        const Index most = below(3) == 0 ? 7 : 1;
        if (rows.longest() + most > capacity) break;
        std::vector<Index> counts;
        for (Index b = 0; b < rows.batch(); ++b) counts.push_back(1 + below(most));
        rows.add(counts);
      }
    }
  }
}

}  // namespace key_value_cache_tests
