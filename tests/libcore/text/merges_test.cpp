#include "libcore/text/merges.hpp"

#include <doctest/doctest.h>

#include "libcore/text/naive_bpe.hpp"
#include "libcore/text/samples.hpp"

using namespace heddle;
using namespace heddle::text;

namespace {

using Pairs = std::vector<std::pair<std::string, std::string>>;

Pairs pairs_of(const Vocabulary& vocabulary) {
  Pairs pairs;
  const std::vector<Index>& merges = vocabulary.model().merges;
  for (std::size_t i = 0; i < merges.size(); i += 2) {
    pairs.emplace_back(vocabulary.bytes(merges[i]), vocabulary.bytes(merges[i + 1]));
  }
  return pairs;
}

Pieces encoded(const Merges& merges, const Vocabulary& vocabulary, const std::string& word) {
  std::vector<TokenId> ids;
  merges.encode(word, ids);
  Pieces pieces;
  for (const TokenId id : ids) pieces.emplace_back(vocabulary.bytes(id));
  return pieces;
}

}  // namespace

TEST_CASE("merges: words short and long are encoded as the definition says") {
  const std::vector<std::string> letters = {"a", "b", "c", "a", "\xe4"};
  for (std::uint64_t seed = 0; seed < 40; ++seed) {
    CAPTURE(seed);
    const Vocabulary vocabulary(train(random_text(letters, 400, seed), {.vocab_size = 300}));
    const Merges merges(vocabulary);
    const Pairs pairs = pairs_of(vocabulary);
    for (const std::size_t length : {0, 1, 2, 3, 9, 30, 63, 64, 65, 66, 150}) {
      const std::string word = random_text(letters, length, 1000 + seed);
      REQUIRE(encoded(merges, vocabulary, word) == naive_encode(word, pairs));
    }
  }
}

TEST_CASE("merges: any order of ranks is applied as the definition says") {
  for (std::uint64_t seed = 0; seed < 40; ++seed) {
    CAPTURE(seed);
    const std::vector<std::string> letters = {"a", "b"};
    TokenizerModel model = train(random_text(letters, 300, seed), {.vocab_size = 280});
    const RandomStream stream(seed, random_site("shuffle"));
    for (std::size_t i = model.merges.size() / 2; i > 1; --i) {
      const std::size_t j = stream.below(i, i);
      std::swap(model.merges[2 * i - 2], model.merges[2 * j]);
      std::swap(model.merges[2 * i - 1], model.merges[2 * j + 1]);
    }
    const Vocabulary vocabulary(model);
    const Merges merges(vocabulary);
    for (const std::size_t length : {5, 40, 100}) {
      const std::string word = random_text(letters, length, 1000 + seed);
      REQUIRE(encoded(merges, vocabulary, word) == naive_encode(word, pairs_of(vocabulary)));
    }
  }
}

TEST_CASE("merges: a run of five million letters") {
  const Vocabulary vocabulary(train(std::string(1000, 'a'), {.vocab_size = 265}));
  const Merges merges(vocabulary);
  std::vector<TokenId> ids;
  merges.encode(std::string(5'000'000, 'a'), ids);
  std::size_t bytes = 0;
  for (const TokenId id : ids) bytes += vocabulary.bytes(id).size();
  CHECK(bytes == 5'000'000);
  CHECK(ids.size() < 30'000);
}
