#include "libcore/data/token_batches.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>
#include <set>
#include <vector>

#include "libcore/data/permutation.hpp"

using namespace heddle;

namespace {

data::TokensInMemory counting(Index size) {
  std::vector<TokenId> tokens;
  for (Index i = 0; i < size; ++i) tokens.push_back(static_cast<TokenId>(i));
  return {tokens, size};
}

}  // namespace

TEST_CASE("permutation: every image once, another order each epoch and seed") {
  for (const Index count : {Index{1}, Index{2}, Index{5}, Index{64}, Index{1000}}) {
    CAPTURE(count);
    const data::Permutation a(count, 1, 0), b(count, 1, 1), c(count, 2, 0);
    std::set<Index> images;
    bool other_epoch = false, other_seed = false;
    for (Index i = 0; i < count; ++i) {
      images.insert(a(i));
      other_epoch = other_epoch || a(i) != b(i);
      other_seed = other_seed || a(i) != c(i);
    }
    CHECK(static_cast<Index>(images.size()) == count);
    CHECK(*images.begin() == 0);
    CHECK(*images.rbegin() == count - 1);
    if (count >= 64) CHECK((other_epoch && other_seed));
  }
}

TEST_CASE("training windows: targets follow ids, an epoch's windows do not overlap, any sample is reached directly") {
  const auto tokens = counting(1000);
  const data::TrainingWindows windows(tokens, 16, 3);
  CHECK(windows.windows_per_epoch() == 61);
  std::set<TokenId> seen;
  for (Index g = 0; g < windows.windows_per_epoch(); ++g) {
    const data::TokenBatch one = windows.batch(g, 1);
    for (std::size_t t = 0; t < 16; ++t) {
      CHECK(one.targets[t] == one.ids[t] + 1);
      CHECK(seen.insert(one.ids[t]).second);
    }
  }
  const data::TokenBatch four = windows.batch(7, 4);
  const data::TokenBatch last = windows.batch(10, 1);
  CHECK(std::vector<TokenId>(four.ids.end() - 16, four.ids.end()) == last.ids);
  CHECK(windows.batch(0, 1).ids != data::TrainingWindows(tokens, 16, 4).batch(0, 1).ids);
}

TEST_CASE("training windows: each epoch has a shift of its own, all equally likely, and an order of its own") {
  const auto tokens = counting(1000);
  constexpr Index time = 16, epochs = 340, shifts = time + 1;
  const data::TrainingWindows windows(tokens, time, 3);
  const Index count = windows.windows_per_epoch();
  std::vector<int> drawn(shifts, 0), first(static_cast<std::size_t>(count), 0);
  std::vector<Index> before;
  Index alike = 0;  // samples at the same place of two epochs in a row that are the same window
  for (Index epoch = 0; epoch < epochs; ++epoch) {
    std::vector<Index> order;
    for (Index place = 0; place < count; ++place) order.push_back(windows.offset_of(epoch * count + place));
    const Index shift = *std::ranges::min_element(order);
    REQUIRE(shift < shifts);
    ++drawn[static_cast<std::size_t>(shift)];
    for (Index& offset : order) offset = (offset - shift) / time;
    ++first[static_cast<std::size_t>(order[0])];
    for (std::size_t i = 0; i < before.size(); ++i) alike += order[i] == before[i] ? 1 : 0;
    before = order;
  }
  const auto chi_squared = [](const std::vector<int>& counts) {
    const double expected = static_cast<double>(epochs) / static_cast<double>(counts.size());
    double sum = 0;
    for (const int n : counts) sum += (n - expected) * (n - expected) / expected;
    return sum;
  };
  CHECK(std::ranges::min(drawn) > 0);  // each of the 17, 20 times on average
  CHECK(chi_squared(drawn) < 39.3);    // 16 degrees of freedom, p > .001
  CHECK(chi_squared(first) < 99.7);    // 60
  // Two random orders agree in one place on average, with a variance of one.
  CHECK(std::abs(static_cast<double>(alike) / (epochs - 1) - 1) < 3.3 / std::sqrt(epochs - 1.0));
}

TEST_CASE("training windows: the shortest corpus has one window, a shorter one is refused with advice") {
  const auto enough = counting(17), short_by_one = counting(16);
  const data::TrainingWindows windows(enough, 16, 1);
  CHECK(windows.windows_per_epoch() == 1);
  CHECK(windows.batch(5, 1).ids.front() == 0);
  CHECK_THROWS_WITH_AS(
      data::TrainingWindows(short_by_one, 16, 1),
      "tokens in memory: 16 tokens are fewer than the 17 that a window of 16 needs; use more text, or a "
      "model of a smaller `sequence_length`",
      DataError);
}

TEST_CASE("evaluation batches: every token but the first is predicted once, in order") {
  for (const Index size : {Index{2}, Index{16}, Index{17}, Index{18}, Index{100}, Index{161}}) {
    CAPTURE(size);
    const auto tokens = counting(size);
    std::vector<TokenId> predicted;
    data::for_each_evaluation_batch(tokens, {.time = 16, .batch = 3}, [&](const data::TokenBatch& batch) {
      CHECK(static_cast<Index>(batch.ids.size()) == batch.batch * batch.time);
      predicted.insert(predicted.end(), batch.targets.begin(), batch.targets.end());
      for (std::size_t i = 0; i < batch.ids.size(); ++i) CHECK(batch.targets[i] == batch.ids[i] + 1);
    });
    CHECK(static_cast<Index>(predicted.size()) == size - 1);
    CHECK(predicted.front() == 1);
    CHECK(predicted.back() == size - 1);
  }
}

TEST_CASE("evaluation batches with a stride: each token is predicted once, by a window that has as many before it") {
  for (const Index size : {Index{2}, Index{16}, Index{17}, Index{19}, Index{22}, Index{100}, Index{161}}) {
    for (const Index stride : {Index{1}, Index{5}, Index{16}}) {
      CAPTURE(size);
      CAPTURE(stride);
      const auto tokens = counting(size);
      Index next = 1;
      data::for_each_evaluation_batch(tokens, {.time = 16, .batch = 3, .stride = stride},
                                      [&](const data::TokenBatch& batch) {
                                        CHECK(static_cast<Index>(batch.ids.size()) == batch.batch * batch.time);
                                        for (std::size_t i = 0; i < batch.ids.size(); ++i) {
                                          if (batch.targets[i] < 0) continue;
                                          CHECK(batch.targets[i] == next++);
                                          CHECK(batch.targets[i] == batch.ids[i] + 1);
                                          const auto before = static_cast<Index>(i) % batch.time + 1;
                                          CHECK(before >= std::min<Index>(batch.targets[i], 16 - stride + 1));
                                        }
                                      });
      CHECK(next == size);
    }
  }
  CHECK_THROWS_WITH_AS(
      data::for_each_evaluation_batch(counting(100), {.time = 16, .batch = 3, .stride = 17}, [](const auto&) {}),
      "`stride`: 17 is more than the 16 tokens of a window, so that some are left out", UsageError);
}

namespace {

// Tokens whose second half is read twice per epoch.
class Weighted : public data::TokensInMemory {
 public:
  using TokensInMemory::TokensInMemory;
  std::vector<Part> parts() const override { return {{0, size() / 2, 1}, {size() / 2, size(), 2}}; }
};

}  // namespace

TEST_CASE("training windows in streams: each sample continues the one of the step before, all parts are read once") {
  const auto tokens = counting(1000);
  const Index streams = 4, time = 16;
  const data::TrainingWindows windows(tokens, time, 3, streams);
  const Index each = 999 / (streams * time);
  CHECK(windows.windows_per_epoch() == streams * each);
  std::set<Index> shifts;
  for (Index epoch = 0; epoch < 40; ++epoch) {
    const Index first = epoch * streams * each;
    shifts.insert(windows.offset_of(first));
    std::set<Index> read;
    for (Index sample = first; sample < first + streams * each; ++sample) {
      const Index offset = windows.offset_of(sample);
      CHECK(read.insert(offset).second);
      CHECK((offset - windows.offset_of(first)) % time == 0);
      CHECK(windows.windows_before(sample) == (sample - first) / streams);
      if (sample >= first + streams) CHECK(offset == windows.offset_of(sample - streams) + time);
    }
    CHECK(*read.rbegin() + time < 1000);
  }
  CHECK(shifts.size() > 20);
  CHECK(*shifts.rbegin() <= 999 - streams * each * time);
  CHECK_THROWS_WITH_AS(data::TrainingWindows(counting(64), time, 3, streams),
                       doctest::Contains("64 tokens are fewer than the 65 of 4 windows of 16"), DataError);
  CHECK_THROWS_WITH_AS(data::TrainingWindows(Weighted(std::vector<TokenId>(500, 1), 2), time, 3, streams),
                       doctest::Contains("weight 2 has no effect"), DataError);
}
