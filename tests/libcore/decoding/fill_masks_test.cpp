#include "libcore/decoding/fill_masks.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>
#include <limits>

#include "libcore/base/random.hpp"
#include "libcore/decoding/length_batches.hpp"
#include "libcore/decoding/likely_tokens.hpp"
#include "support/models.hpp"
#include "support/on_threads.hpp"

using namespace heddle;

namespace {

models::Encoder small_encoder() {
  return {testing::encoder({.layers = 2, .width = 16, .heads = 2, .context = 12, .vocab_size = 23}), 3};
}

// Rows of 96 numbers, whose sums differ in their last bits by the order in which they are taken.
models::Encoder wide_encoder() {
  return {testing::encoder({.layers = 2, .width = 96, .heads = 4, .context = 12, .vocab_size = 300}), 3};
}

constexpr TokenId mask = 22;

data::TaskExample masked(const std::vector<TokenId>& ids) {
  data::TaskExample example;
  example.sequence.ids = ids;
  for (std::size_t i = 0; i < ids.size(); ++i) {
    if (ids[i] == mask) example.positions.push_back(static_cast<Index>(i));
  }
  return example;
}

// softmax of all logits at a position of one sequence alone
std::vector<double> probabilities(const models::Encoder& model, const std::vector<TokenId>& ids, Index position) {
  const TokenIds batch(Shape{1, static_cast<Index>(ids.size())}, ids);
  const Tensor logits = model.masked_token_head()(model.hidden(batch)).value();
  const Index vocab = model.vocab_size();
  std::vector<double> p;
  double sum = 0;
  for (Index i = 0; i < vocab; ++i) sum += p.emplace_back(std::exp(static_cast<double>(logits[position * vocab + i])));
  for (double& x : p) x /= sum;
  return p;
}

}  // namespace

TEST_CASE("fill masks: the model's probabilities, the most probable first, whatever the batch") {
  const models::Encoder model = small_encoder();
  const std::vector<std::vector<TokenId>> texts{{1, mask, 3}, {1, 2, 3, 4, 5}, {mask, 7, mask, 9, 4, 4, mask, 2, 1},
                                                {mask},       {5, 6, 7, mask}, {2, mask, mask}};
  std::vector<data::TaskExample> sequences;
  for (const auto& ids : texts) sequences.push_back(masked(ids));
  for (const Index batch_tokens : {1, 9, 4096}) {
    const auto filled = decoding::fill_masks(model, sequences, {.top = 4, .batch_tokens = batch_tokens});
    REQUIRE(filled.size() == texts.size());
    for (std::size_t s = 0; s < texts.size(); ++s) {
      REQUIRE(filled[s].size() == sequences[s].positions.size());
      for (std::size_t m = 0; m < filled[s].size(); ++m) {
        std::vector<double> expected = probabilities(model, texts[s], sequences[s].positions[m]);
        REQUIRE(filled[s][m].size() == 4);
        for (const decoding::LikelyToken& token : filled[s][m]) {
          CHECK(token.probability == doctest::Approx(expected[static_cast<std::size_t>(token.id)]).epsilon(1e-5));
        }
        std::ranges::sort(expected, std::greater());
        for (std::size_t i = 0; i < 4; ++i) {
          CHECK(filled[s][m][i].probability == doctest::Approx(expected[i]).epsilon(1e-5));
        }
      }
    }
  }
}

TEST_CASE("fill masks: the same bits in any batch and with any number of threads") {
  // Products of fewer rows than 25 take other kernels where nothing says which: the texts together have more.
  const models::Encoder model = wide_encoder();
  std::vector<data::TaskExample> sequences;
  for (TokenId i = 0; i < 20; ++i) {
    std::vector<TokenId> ids{1, mask, static_cast<TokenId>(2 + i)};
    for (TokenId t = 0; t < i % 9; ++t) ids.push_back((i * i + 5 * t) % mask);
    sequences.push_back(masked(ids));
  }
  const auto probabilities_in = [&](Index batch_tokens) {
    std::vector<double> all;
    for (const auto& blanks : decoding::fill_masks(model, sequences, {.top = 5, .batch_tokens = batch_tokens})) {
      for (const auto& top : blanks) {
        for (const decoding::LikelyToken& token : top) all.push_back(token.probability);
      }
    }
    return all;
  };
  const std::vector<double> expected = probabilities_in(1);
  REQUIRE(expected.size() == 100);
  for (const int threads : {1, 3, 2}) {
    const testing::OnThreads scope(threads);
    for (const Index batch_tokens : {1, 20, 100, 4096}) CHECK(probabilities_in(batch_tokens) == expected);
  }
}

TEST_CASE("fill masks: only tokens that have a piece, and no more than there are") {
  const models::Encoder model = small_encoder();
  const std::vector<data::TaskExample> sequences{masked({mask, 4, mask})};
  const auto filled = decoding::fill_masks(model, sequences, {.top = 100, .vocab_size = 6});
  REQUIRE(filled[0].size() == 2);
  for (const auto& top : filled[0]) {
    REQUIRE(top.size() == 6);
    double sum = 0;
    for (const decoding::LikelyToken& token : top) {
      CHECK(token.id < 6);
      sum += token.probability;
    }
    CHECK(sum < 0.9);  // the others have their share
  }
}

TEST_CASE("fill masks: a single logit that is not finite is an error, of a token that may not come too") {
  const models::Encoder model = small_encoder();
  model.parameters().find("encoder/embedding/token/weight")->value()[20 * 16] = std::numeric_limits<Real>::quiet_NaN();
  const std::vector<data::TaskExample> sequences{masked({mask, 4, mask})};
  CHECK_THROWS_AS(decoding::fill_masks(model, sequences, {.top = 3, .vocab_size = 6}), NumericError);
}

TEST_CASE("length batches: all once, the longest first, within the limit") {
  const std::vector<Index> lengths{3, 8, 1, 8, 5, 20, 2, 1};
  std::vector<std::size_t> seen;
  decoding::for_each_length_batch(lengths, 10, [&](std::span<const std::size_t> numbers) {
    Index longest = 0;
    for (const std::size_t number : numbers) longest = std::max(longest, lengths[number]);
    CHECK((numbers.size() == 1 || longest * static_cast<Index>(numbers.size()) <= 10));
    seen.insert(seen.end(), numbers.begin(), numbers.end());
    return true;
  });
  CHECK(seen == std::vector<std::size_t>{5, 1, 3, 4, 0, 6, 2, 7});
  Index calls = 0;
  decoding::for_each_length_batch(lengths, 10, [&](auto) { return ++calls < 2; });
  CHECK(calls == 2);
}

TEST_CASE("fill masks: more masks in a batch than have their logits at once, in texts whose lengths rise and fall") {
  const models::Encoder model = small_encoder();
  const RandomStream stream(3, random_site("masks"));
  for (const std::size_t wanted : {255, 256, 257, 513}) {
    CAPTURE(wanted);
    std::vector<data::TaskExample> sequences;
    std::size_t masks = 0;
    for (std::uint64_t i = 0; masks < wanted; ++i) {
      std::vector<TokenId> ids;
      const std::uint64_t length = 1 + stream.below(i, 12);
      for (std::uint64_t t = 0; t < length; ++t) {
        const bool is_mask = masks < wanted && stream.below(1000 * (i + 1) + 2 * t, 2) == 0;
        ids.push_back(is_mask ? mask : static_cast<TokenId>(stream.below(1000 * (i + 1) + 2 * t + 1, mask)));
        masks += is_mask ? 1 : 0;
      }
      sequences.push_back(masked(ids));
    }
    const auto together = decoding::fill_masks(model, sequences, {.top = 2, .batch_tokens = 1 << 20});
    REQUIRE(together.size() == sequences.size());
    for (std::size_t s = 0; s < sequences.size(); ++s) {
      REQUIRE(together[s].size() == sequences[s].positions.size());
      for (std::size_t m = 0; m < together[s].size(); ++m) {
        const auto expected = probabilities(model, sequences[s].sequence.ids, sequences[s].positions[m]);
        for (const decoding::LikelyToken& token : together[s][m]) {
          CHECK(token.probability == doctest::Approx(expected[static_cast<std::size_t>(token.id)]).epsilon(1e-5));
        }
        CHECK(together[s][m][0].probability == doctest::Approx(*std::ranges::max_element(expected)).epsilon(1e-5));
      }
    }
  }
}

TEST_CASE("length batches: random lengths, many of them alike, in any order") {
  for (std::uint64_t seed = 0; seed < 50; ++seed) {
    CAPTURE(seed);
    const RandomStream stream(seed, random_site("lengths"));
    const Index limit = 1 + static_cast<Index>(stream.below(0, 30));
    std::vector<Index> lengths;
    for (std::uint64_t i = 0; i < seed; ++i) lengths.push_back(static_cast<Index>(stream.below(i + 1, 9)));
    std::vector<std::size_t> expected, seen;
    for (Index length = 9; length >= 0; --length) {
      for (std::size_t i = 0; i < lengths.size(); ++i) {
        if (lengths[i] == length) expected.push_back(i);
      }
    }
    decoding::for_each_length_batch(lengths, limit, [&](std::span<const std::size_t> numbers) {
      const Index longest = std::max<Index>(1, lengths[expected.at(seen.size())]);
      CHECK(static_cast<Index>(numbers.size()) ==
            std::min(static_cast<Index>(lengths.size() - seen.size()), std::max<Index>(1, limit / longest)));
      seen.insert(seen.end(), numbers.begin(), numbers.end());
      return true;
    });
    CHECK(seen == expected);
  }
}

TEST_CASE("likely tokens: of logits with ties, the highest first and of equals the lower ids, of any number") {
  for (std::uint64_t seed = 0; seed < 50; ++seed) {
    CAPTURE(seed);
    const RandomStream stream(seed, random_site("logits"));
    std::vector<Real> logits;
    for (std::uint64_t i = 0; i < 40; ++i) logits.push_back(static_cast<Real>(stream.below(i, 7)));
    const Index vocab_size = 1 + static_cast<Index>(stream.below(100, 40)), top = static_cast<Index>(seed);
    std::vector<TokenId> expected;
    for (int value = 6; value >= 0; --value) {
      for (TokenId id = 0; id < static_cast<TokenId>(vocab_size); ++id) {
        if (logits[static_cast<std::size_t>(id)] == static_cast<Real>(value)) expected.push_back(id);
      }
    }
    expected.resize(static_cast<std::size_t>(std::min(top, vocab_size)));
    std::vector<TokenId> found;
    for (const auto& token : decoding::most_likely(logits.data(), 40, 0, {.top = top, .vocab_size = vocab_size})) {
      found.push_back(token.id);
      CHECK(token.probability == doctest::Approx(std::exp(logits[static_cast<std::size_t>(token.id)])));
    }
    CHECK(found == expected);
  }
}
