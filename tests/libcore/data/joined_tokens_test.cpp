#include "libcore/data/joined_tokens.hpp"

#include <doctest/doctest.h>

#include <map>

#include "libcore/data/masked_batches.hpp"
#include "libcore/data/token_batches.hpp"

using namespace heddle;
using namespace heddle::data;

namespace {

TokensInMemory numbered(TokenId from, Index count, const std::string& name) {
  std::vector<TokenId> ids;
  for (Index i = 0; i < count; ++i) ids.push_back(from + static_cast<TokenId>(i));
  return {ids, 1000, name};
}

// With a document every five tokens.
class FiveTokenDocuments : public TokensInMemory {
 public:
  using TokensInMemory::TokensInMemory;
  Index document_at(Index offset) const override { return offset / 5; }
};

// Numbers of windows read in each of these epochs that begin in each of two sources.
std::vector<std::pair<Index, Index>> shares(const TrainingWindows& windows, Index border, Index epochs) {
  std::vector<std::pair<Index, Index>> counts;
  for (Index epoch = 0; epoch < epochs; ++epoch) {
    counts.emplace_back(0, 0);
    for (Index g = 0; g < windows.windows_per_epoch(); ++g) {
      const Index sample = epoch * windows.windows_per_epoch() + g;
      (windows.offset_of(sample) < border ? counts.back().first : counts.back().second) += 1;
    }
  }
  return counts;
}

}  // namespace

TEST_CASE("joined tokens: any stretch is that of the streams put together") {
  const TokensInMemory a = numbered(0, 7, "a"), b = numbered(100, 1, "b"), c = numbered(200, 5, "c");
  const JoinedTokens joined({{a}, {b}, {c}});
  std::vector<TokenId> all;
  for (const TokensInMemory* part : {&a, &b, &c}) {
    std::vector<TokenId> ids(static_cast<std::size_t>(part->size()));
    part->read(0, ids);
    all.insert(all.end(), ids.begin(), ids.end());
  }
  REQUIRE(joined.size() == 13);
  for (Index begin = 0; begin <= 13; ++begin) {
    for (Index length = 0; begin + length <= 13; ++length) {
      std::vector<TokenId> got(static_cast<std::size_t>(length));
      joined.read(begin, got);
      CHECK(std::equal(got.begin(), got.end(), all.begin() + begin));
    }
  }
  CHECK(joined.name_at(6) == "a");
  CHECK(joined.name_at(7) == "b");
  CHECK(joined.name_at(8) == "c");
  CHECK(joined.name() == "a and 2 more");
  std::vector<TokenId> beyond(2);
  CHECK_THROWS_AS(joined.read(12, beyond), DataError);
}

TEST_CASE("sample order: without weights several files are read as one would be") {
  const TokensInMemory a = numbered(0, 300, "a"), b = numbered(300, 500, "b"), whole = numbered(0, 800, "whole");
  const JoinedTokens joined({{a}, {b}});
  const TrainingWindows apart(joined, 10, 5), together(whole, 10, 5);
  REQUIRE(apart.windows_per_epoch() == together.windows_per_epoch());
  for (Index g = 0; g < 300; ++g) CHECK(apart.offset_of(g) == together.offset_of(g));
}

TEST_CASE("sample order: an epoch reads files as often as their weights say, and every window alike in the long run") {
  const TokensInMemory a = numbered(0, 400, "a"), b = numbered(400, 401, "b");
  const JoinedTokens joined({{a, 2}, {b, 0.5}});
  const Index width = 10;
  const SampleOrder order(joined, 80, width, 9);
  REQUIRE(order.samples_per_epoch() == 80 + 20);
  std::map<Index, Index> reads;
  std::map<std::pair<Index, Index>, Index> passes;
  for (Index epoch = 0; epoch < 4; ++epoch) {
    Index of_a = 0;
    for (Index g = 0; g < 100; ++g) {
      const auto [window, pass] = order(epoch * 100 + g);
      of_a += window < 40 ? 1 : 0;
      reads[window] += 1;
      passes[{window, pass}] += 1;
    }
    CHECK(of_a == 80);
  }
  for (Index window = 0; window < 80; ++window) CHECK(reads[window] == (window < 40 ? 8 : 2));
  // Each time a window is read counts as another pass, with other masks.
  for (const auto& [place, count] : passes) CHECK(count == 1);
}

TEST_CASE("sample order: any place is a function of seed and number alone, and seeds differ") {
  const TokensInMemory a = numbered(0, 400, "a"), b = numbered(400, 401, "b");
  const JoinedTokens joined({{a, 3}, {b, 1}});
  const SampleOrder first(joined, 80, 10, 9), again(joined, 80, 10, 9), other(joined, 80, 10, 10);
  int differences = 0;
  for (Index g = 400; g-- > 0;) {
    CHECK(first(g).window == again(g).window);
    differences += first(g).window != other(g).window ? 1 : 0;
  }
  CHECK(differences > 300);
}

TEST_CASE("training windows: weights hold for windows that a random shift moves, too") {
  const TokensInMemory a = numbered(0, 2000, "a"), b = numbered(2000, 2000, "b");
  const JoinedTokens joined({{a, 3}, {b, 1}});
  for (const auto& [of_a, of_b] : shares(TrainingWindows(joined, 10, 4), 2000, 3)) {
    CHECK(of_a == doctest::Approx(600).epsilon(0.01));
    CHECK(of_b == doctest::Approx(199).epsilon(0.02));
  }
}

TEST_CASE("sample order: weights that leave nothing are refused") {
  const TokensInMemory a = numbered(0, 50, "a"), b = numbered(50, 50, "b");
  const JoinedTokens joined({{a, 0.01}, {b, 0.01}});
  CHECK_THROWS_AS(SampleOrder(joined, 10, 10, 1), DataError);
}

TEST_CASE("joined tokens: documents count anew in each source, and the vocabulary is the largest one") {
  const FiveTokenDocuments a(std::vector<TokenId>(10, 1), 20, "a"), b(std::vector<TokenId>(15, 1), 90, "b");
  const TokensInMemory c({1, 2}, 40, "c");
  const JoinedTokens joined({{a}, {b}, {c}});
  CHECK(joined.document_at(9) == 1);
  CHECK(joined.document_at(10) == 0);
  CHECK(joined.document_at(16) == 1);
  CHECK(joined.document_at(24) == 2);
  CHECK(joined.document_at(25) == 0);
  CHECK(joined.vocab_size() == 90);
}

TEST_CASE("sample order: a window over the border of two files counts as the first one's") {
  const TokensInMemory a = numbered(0, 405, "a"), b = numbered(405, 396, "b");
  const JoinedTokens joined({{a, 2}, {b, 1}});
  const SampleOrder order(joined, 80, 10, 9);
  REQUIRE(order.samples_per_epoch() == 2 * 41 + 39);
  std::map<Index, Index> reads;
  for (Index g = 0; g < 121; ++g) ++reads[order(g).window];
  CHECK(reads.size() == 80);
  for (const auto& [window, count] : reads) CHECK(count == (window <= 40 ? 2 : 1));
}

TEST_CASE("sample order: a first file of weight 1 is read once where a later one has another weight") {
  const TokensInMemory a = numbered(0, 200, "a"), b = numbered(200, 201, "b"), c = numbered(401, 100, "c");
  const JoinedTokens joined({{a, 1}, {b, 2}, {c, 1}});
  const SampleOrder order(joined, 50, 10, 9);
  REQUIRE(order.samples_per_epoch() == 20 + 2 * 21 + 9);
  std::map<Index, Index> reads;
  for (Index g = 0; g < order.samples_per_epoch(); ++g) ++reads[order(g).window];
  CHECK(reads.size() == 50);
  for (const auto& [window, count] : reads) CHECK(count == (window >= 20 && window < 41 ? 2 : 1));
}
