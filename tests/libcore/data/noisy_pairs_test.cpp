#include "libcore/data/noisy_pairs.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <map>
#include <numeric>
#include <set>

#include "libcore/data/held_out.hpp"
#include "libcore/data/joined_tokens.hpp"
#include "libcore/data/pair_batches.hpp"

using namespace heddle;
using namespace heddle::data;

namespace {

constexpr TokenId end_of_text = 899, noise_mask = 999;

// Ids 0 to 799 are words, 800 to 802 white space, 899 ends documents, 900 to 998 are sentinels, 999 is the mask.
const NoiseVocabulary vocabulary = [] {
  NoiseVocabulary made{Index{1000}};
  made.sentinels.clear();
  for (TokenId id = 900; id < 999; ++id) made.sentinels.push_back(id);
  made.is_special[static_cast<std::size_t>(end_of_text)] = true;
  made.ends_documents = true;
  for (std::size_t id = 800; id < 803; ++id) made.is_blank[id] = true;
  return made;
}();

const NoiseOptions infilling{.noise = NoiseKind::infilling};

// Documents of these lengths, each with a token that ends it, of numbers from 0.
class EndedDocuments : public TokensInMemory {
 public:
  explicit EndedDocuments(const std::vector<Index>& lengths, std::vector<TokenId> before_end = {})
      : TokensInMemory(tokens_of(lengths, before_end), 1000), lengths_(lengths) {}
  std::vector<Index> document_lengths() const override { return lengths_; }

 private:
  static std::vector<TokenId> tokens_of(const std::vector<Index>& lengths, const std::vector<TokenId>& before_end) {
    std::vector<TokenId> tokens;
    for (const Index length : lengths) {
      for (Index i = 0; i < length; ++i) tokens.push_back(static_cast<TokenId>(i % 800));
      if (length > 0) tokens.back() = end_of_text;
      for (std::size_t i = 0; i < before_end.size(); ++i) tokens[tokens.size() - 2 - i] = before_end[i];
    }
    return tokens;
  }
  std::vector<Index> lengths_;
};

NoisyPairs pairs_of(const TokenSource& tokens, Index most, const NoiseOptions& options = infilling,
                    std::uint64_t seed = 1) {
  return {{.tokens = tokens, .most = most}, vocabulary, options, seed};
}

std::vector<TokenId> count_from(TokenId first, Index count) {
  std::vector<TokenId> numbers(static_cast<std::size_t>(count));
  std::iota(numbers.begin(), numbers.end(), first);
  return numbers;
}

}  // namespace

TEST_CASE("noisy pairs: documents are cut into pieces of like lengths, which together are the text") {
  const EndedDocuments text({31, 11, 2, 1, 12});
  const NoisyPairs pairs = pairs_of(text, 12);
  REQUIRE(pairs.size() == 5);
  CHECK(pairs.left_out() == 2);
  std::vector<std::vector<TokenId>> pieces;
  for (Index i = 0; i < 5; ++i) {
    pieces.push_back(pairs.target(i));
    CHECK(pairs.target_length(i) == static_cast<Index>(pieces.back().size()));
    CHECK(static_cast<Index>(pairs.source(i).size()) <= pairs.source_length(i));
  }
  CHECK(pieces[0] == count_from(0, 10));
  CHECK(pieces[1] == count_from(10, 10));
  CHECK(pieces[2] == count_from(20, 10));
  CHECK(pieces[3] == count_from(0, 10));  // documents of one token and of none are left out
  CHECK(pieces[4] == count_from(0, 11));
  CHECK(text.document_at(pairs.offset_of(1)) == 0);
  CHECK(pairs.offset_of(3) == 31);
  CHECK_THROWS_AS(pairs.in_epoch(5, 0), DataError);
  const EndedDocuments nothing({2, 1, 0});
  CHECK_THROWS_AS(pairs_of(nothing, 12), DataError);
}

TEST_CASE("noisy pairs: special tokens and white space at the end of a document are left out") {
  const EndedDocuments text({10, 20}, {801, 800});
  const NoisyPairs pairs = pairs_of(text, 10);
  REQUIRE(pairs.size() == 3);
  CHECK(pairs.target(0) == count_from(0, 7));
  CHECK(pairs.target(1) == count_from(0, 9));
  CHECK(pairs.target(2) == count_from(9, 8));
  std::vector<TokenId> tokens = count_from(0, 20);
  tokens[5] = 900, tokens[6] = noise_mask, tokens[7] = end_of_text;
  const TokensInMemory one(tokens, 1000);
  std::vector<TokenId> expected = count_from(0, 5);
  for (TokenId id = 8; id < 19; ++id) expected.push_back(id);
  CHECK(pairs_of(one, 30).target(0) == expected);
  // White space where a document goes on is text.
  std::vector<TokenId> blanks = count_from(0, 20);
  blanks[8] = 800, blanks[9] = 801, blanks[10] = 802, blanks[19] = 800;
  const TokensInMemory whole(blanks, 1000);
  NoiseVocabulary without_end = vocabulary;
  without_end.ends_documents = false;
  const NoisyPairs halves({.tokens = whole, .most = 10}, without_end, infilling, 1);
  REQUIRE(halves.size() == 2);
  CHECK(halves.target(0) == std::vector<TokenId>(blanks.begin(), blanks.begin() + 10));
  CHECK(halves.target(1) == std::vector<TokenId>(blanks.begin() + 10, blanks.begin() + 19));
}

TEST_CASE("noisy pairs: the noise is a function of seed, epoch and pair; other epochs have other noise") {
  const EndedDocuments text({400, 300});
  for (const NoiseKind kind : {NoiseKind::spans, NoiseKind::infilling}) {
    const NoisyPairs a = pairs_of(text, 50, {.noise = kind}), b = pairs_of(text, 50, {.noise = kind}),
                     other = pairs_of(text, 50, {.noise = kind}, 2);
    std::set<std::vector<TokenId>> seen;
    for (const Index epoch : {3, 0, 1}) {
      for (Index i = 0; i < a.size(); ++i) {
        const TokenPair pair = a.in_epoch(i, epoch);
        CHECK(b.in_epoch(i, epoch).source == pair.source);
        CHECK(b.in_epoch(i, epoch).target == pair.target);
        CHECK(other.in_epoch(i, epoch).source != pair.source);
        seen.insert(pair.source);
      }
    }
    CHECK(static_cast<Index>(seen.size()) == 3 * a.size());
    CHECK(a.source(4) == a.in_epoch(4, 0).source);
  }
}

TEST_CASE("noisy pairs: groups read every piece once per epoch, with the epoch's noise; evaluation has the first") {
  const EndedDocuments text({400, 33, 300, 12, 77});
  const NoisyPairs pairs = pairs_of(text, 40, {});
  const PairFrames frames{{std::nullopt, end_of_text}, {std::nullopt, end_of_text}, 0};
  PairGroups groups(pairs, frames, {.batch_size = 3, .max_source = 100, .max_target = 100}, 5);
  CHECK(groups.left_out() == 0);
  const Index count = groups.groups_per_epoch();
  for (const Index epoch : {0, 2}) {
    std::multiset<std::vector<TokenId>> read, expected;
    for (Index group = 0; group < count; ++group) {
      for (const FramedPair& pair : groups.group(epoch * count + group)) read.insert(pair.source);
    }
    for (Index i = 0; i < pairs.size(); ++i) {
      std::vector<TokenId> source = pairs.in_epoch(i, epoch).source;
      source.push_back(end_of_text);
      expected.insert(source);
    }
    CHECK(read == expected);
  }
  PairGroups again(pairs, frames, {.batch_size = 3, .max_source = 100, .max_target = 100}, 5);
  const auto before = groups.group(0);
  CHECK(again.group(0).front().source == before.front().source);
}

TEST_CASE("noisy pairs: files keep their documents, and whole weights repeat them with other noise") {
  const EndedDocuments first({20, 30}), second({25});
  const JoinedTokens joined({{first, 1}, {second, 3}});
  CHECK(joined.document_lengths() == std::vector<Index>{20, 30, 25});
  const NoisyPairs pairs = pairs_of(joined, 100);
  CHECK(pairs.size() == 5);
  CHECK(pairs.target(2) == pairs.target(4));
  CHECK(pairs.source(2) != pairs.source(4));
  const JoinedTokens half({{first, 0.5}, {second, 1}});
  CHECK_THROWS_AS(pairs_of(half, 100), UsageError);
}

TEST_CASE("noisy pairs: what is held out keeps its documents") {
  const EndedDocuments text({20, 30, 40, 10});
  const TokensOfRanges some(text, {{0, 20}, {50, 100}}), parts(text, {{5, 10}, {12, 60}, {95, 100}});
  CHECK(some.document_lengths() == std::vector<Index>{20, 40, 10});
  CHECK(parts.document_lengths() == std::vector<Index>{5, 8, 30, 10, 5});
  CHECK(pairs_of(some, 100).target(1) == count_from(0, 39));
}

TEST_CASE("noisy pairs: more spans than sentinels are refused with what to do") {
  const EndedDocuments text({2500});
  CHECK_THROWS_WITH_AS(
      pairs_of(text, 2499, {}),
      "tokens in memory: 2499 tokens in a piece need 126 sentinels, and the tokenizer has 99; train it with "
      "`sentinels` = 126, or use a smaller `sequence_length`",
      DataError);
  CHECK(pairs_of(text, 1000, {}).size() == 3);
}

TEST_CASE("noisy pairs: noise that is rolled may cut a span in two, and needs a sentinel more") {
  const EndedDocuments text({101});  // a piece of 100 tokens, with 15 of noise in 5 spans
  const auto with_sentinels = [&](std::size_t count, bool rolls) {
    NoiseVocabulary few = vocabulary;
    few.sentinels.resize(count);
    return NoisyPairs({.tokens = text, .most = 200}, few, {.random_roll = rolls}, 1);
  };
  CHECK_NOTHROW(with_sentinels(6, false));
  CHECK_THROWS_WITH_AS(with_sentinels(6, true), doctest::Contains("100 tokens in a piece need 7 sentinels"), DataError);
  const NoisyPairs pairs = with_sentinels(7, true);
  std::size_t most = 0;
  for (Index epoch = 0; epoch < 100; ++epoch) {
    const std::vector<TokenId> source = pairs.in_epoch(0, epoch).source;
    most = std::max(most, source.size());
  }
  CHECK(most == 85 + 6);
}
