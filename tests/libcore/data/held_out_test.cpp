#include "libcore/data/held_out.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <numeric>
#include <set>

#include "libcore/base/error.hpp"

using namespace heddle;
using namespace heddle::data;

namespace {

constexpr Fraction tenth{100'000};

std::vector<Unit> texts(Index count, Index classes = 1) {
  std::vector<Unit> units;
  for (Index i = 0; i < count; ++i) {
    units.push_back({.key = ContentKey().add("text " + std::to_string(i)).value(), .label = i % classes});
  }
  return units;
}

Index count_held_out(const std::vector<bool>& held, const std::vector<Unit>& units, Index label) {
  Index count = 0;
  for (std::size_t i = 0; i < units.size(); ++i) count += held[i] && units[i].label == label;
  return count;
}

// Documents of these lengths, whose tokens count from 0.
class NumberedDocuments : public TokenSource {
 public:
  explicit NumberedDocuments(std::vector<Index> lengths) : lengths_(std::move(lengths)) {}
  Index size() const override { return std::accumulate(lengths_.begin(), lengths_.end(), Index{0}); }
  Index vocab_size() const override { return 1 << 20; }
  void read(Index offset, std::span<TokenId> out) const override {
    std::iota(out.begin(), out.end(), static_cast<TokenId>(offset));
  }
  std::string name() const override { return "documents"; }
  Index document_at(Index offset) const override {
    Index document = 0;
    for (Index end = lengths_[0]; end <= offset; end += lengths_[static_cast<std::size_t>(++document)]) {
    }
    return document;
  }
  std::vector<Index> document_lengths() const override { return lengths_; }

 private:
  std::vector<Index> lengths_;
};

// Four long documents, which differ in one token alone.
class AlikeDocuments : public TokensInMemory {
 public:
  static constexpr Index length = (Index{1} << 16) + 1;
  explicit AlikeDocuments(Index differing) : TokensInMemory(alike(differing), 100) {}
  std::vector<Index> document_lengths() const override { return std::vector<Index>(4, length); }

 private:
  static std::vector<TokenId> alike(Index differing) {
    std::vector<TokenId> ids(4 * length, 7);
    for (TokenId i = 0; i < 4; ++i) ids[static_cast<std::size_t>(i * length + differing)] = i;
    return ids;
  }
};

std::vector<TokenId> tokens_of(const TokenSource& source) {
  std::vector<TokenId> ids(static_cast<std::size_t>(source.size()));
  source.read(0, ids);
  return ids;
}

}  // namespace

TEST_CASE("held out: the fraction of all and of each class, to within one example") {
  for (const Index count : {20, 97, 1000}) {
    for (const Index millionths : {50'000, 100'000, 333'333, 500'000, 900'000}) {
      const std::vector<Unit> units = texts(count, 3);
      const std::vector<bool> held = held_out(units, {millionths});
      const double fraction = static_cast<double>(millionths) / 1e6;
      CAPTURE(count);
      CAPTURE(millionths);
      CHECK(std::abs(static_cast<double>(std::ranges::count(held, true)) - fraction * static_cast<double>(count)) <=
            0.5);
      for (Index label = 0; label < 3; ++label) {
        const auto of_class = static_cast<double>(std::ranges::count(units, label, &Unit::label));
        CHECK(std::abs(static_cast<double>(count_held_out(held, units, label)) - fraction * of_class) <= 1);
      }
    }
  }
}

TEST_CASE("held out: by hand, of ten units in the order of their keys the fifth") {
  std::vector<Unit> units;
  for (Index i = 0; i < 10; ++i) units.push_back({.key = static_cast<std::uint64_t>((7 * i + 3) % 10)});
  const std::vector<bool> held = held_out(units, tenth);
  for (std::size_t i = 0; i < units.size(); ++i) CHECK(held[i] == (units[i].key == 4));
}

TEST_CASE("held out: copies stay together, and the order of the units does not matter") {
  std::vector<Unit> units = texts(40, 2);
  for (std::size_t i = 0; i < 20; ++i) units.push_back({.key = units[i].key, .label = 1});
  const std::vector<bool> held = held_out(units, {300'000});
  std::set<std::uint64_t> valid, train;
  for (std::size_t i = 0; i < units.size(); ++i) (held[i] ? valid : train).insert(units[i].key);
  CHECK(valid.size() + train.size() == 40);
  CHECK(valid.size() > 5);
  std::vector<Unit> reversed(units.rbegin(), units.rend());
  const std::vector<bool> other = held_out(reversed, {300'000});
  CHECK(std::vector<bool>(other.rbegin(), other.rend()) == held);
}

TEST_CASE("held out: keys tell contents apart, and parts of texts") {
  CHECK(ContentKey().add("a").value() == ContentKey().add("a").value());
  CHECK(ContentKey().add("a").add("b").value() != ContentKey().add("b").add("a").value());
  CHECK(ContentKey().add("ab").value() != ContentKey().add("a").add("b").value());
  CHECK(ContentKey().add(std::uint64_t{0}).value() != ContentKey().add(std::uint64_t{0}).add(std::uint64_t{0}).value());
}

TEST_CASE("held-out tokens: whole documents, disjoint, and together all") {
  const std::vector<Index> lengths{5, 9, 0, 7, 6, 8, 5, 5, 9, 6, 10, 7, 3, 5, 6, 9, 8, 7, 6, 9};
  const NumberedDocuments source(lengths);
  const HeldOutTokens split = hold_out_tokens(source, tenth);
  const TokensOfRanges train(source, split.train), valid(source, split.valid);
  CHECK(train.size() + valid.size() == source.size());
  CHECK(valid.size() >= 8);
  CHECK(valid.size() <= 18);  // 13 wanted, give or take half a document
  std::vector<TokenId> all = tokens_of(train);
  for (const TokenId id : tokens_of(valid)) all.push_back(id);
  std::ranges::sort(all);
  CHECK(all == tokens_of(source));
  std::set<Index> documents;
  for (const TokenId id : tokens_of(valid)) documents.insert(source.document_at(id));
  Index whole = 0;
  for (const Index document : documents) whole += lengths[static_cast<std::size_t>(document)];
  CHECK(whole == valid.size());
  CHECK(valid.document_at(0) == *documents.begin());
}

TEST_CASE("held-out tokens: the last ones of one document, and of documents that cannot be split") {
  for (const std::vector<Index>& lengths : {std::vector<Index>{50}, std::vector<Index>{25, 25}}) {
    const HeldOutTokens split = hold_out_tokens(NumberedDocuments(lengths), tenth);
    CHECK(split.train == TokenRanges{{0, 45}});
    CHECK(split.valid == TokenRanges{{45, 50}});
  }
  CHECK_THROWS_WITH_AS(
      hold_out_tokens(NumberedDocuments({4}), tenth),
      "documents: 4 tokens are too few to hold out 10% for validation; give more text, or `valid` = FILE", DataError);
}

TEST_CASE("tokens of ranges: read across ranges from anywhere") {
  const NumberedDocuments source({100});
  const TokensOfRanges ranges(source, {{10, 13}, {20, 21}, {90, 94}});
  CHECK(tokens_of(ranges) == std::vector<TokenId>{10, 11, 12, 20, 90, 91, 92, 93});
  std::vector<TokenId> ids(4);
  ranges.read(2, ids);
  CHECK(ids == std::vector<TokenId>{12, 20, 90, 91});
  CHECK_THROWS_AS(ranges.read(5, ids), DataError);
  const NumberedDocuments three({15, 80, 5});
  const TokensOfRanges of_three(three, {{10, 13}, {20, 21}, {96, 99}});
  std::vector<Index> documents;
  for (Index place = 0; place < of_three.size(); ++place) documents.push_back(of_three.document_at(place));
  CHECK(documents == std::vector<Index>{0, 0, 0, 1, 2, 2, 2});
}

TEST_CASE("held out: by hand, copies count as often as they are there") {
  // The five units of the first key are half of the ten.
  std::vector<Unit> units;
  for (int copy = 0; copy < 5; ++copy) units.push_back({.key = 0});
  for (std::uint64_t key = 1; key <= 5; ++key) units.push_back({.key = key});
  const std::vector<bool> held = held_out(units, {500'000});
  for (std::size_t i = 0; i < units.size(); ++i) CHECK(held[i] == (units[i].key == 0));
}

TEST_CASE("held-out tokens: documents are compared from their first token to their last") {
  for (const Index differing : {Index{0}, AlikeDocuments::length - 1}) {
    CAPTURE(differing);
    const AlikeDocuments source(differing);
    const HeldOutTokens split = hold_out_tokens(source, {300'000});
    REQUIRE(split.valid.size() == 1);
    CHECK(split.valid[0].first % AlikeDocuments::length == 0);
    CHECK(split.valid[0].second - split.valid[0].first == AlikeDocuments::length);
  }
}
