// The part of a training set that is held out for validation: a function of the content and the fraction alone, so that
// every run, resumed or not and whatever its seed, holds out the same, and no copy of what it trains on.
#pragma once

#include <cstdint>
#include <span>
#include <string_view>
#include <utility>
#include <vector>

#include "libcore/data/graphs.hpp"
#include "libcore/data/pair_source.hpp"
#include "libcore/data/token_source.hpp"

namespace heddle::data {

// Parts per million of the whole: 100,000 are 10%.
struct Fraction {
  Index millionths = 0;
};

// A key of what is added, in this order: equal content has equal keys, and other content very likely another.
class ContentKey {
 public:
  ContentKey& add(std::uint64_t value);
  ContentKey& add(std::string_view text);
  std::uint64_t value() const { return value_; }

 private:
  std::uint64_t value_ = 0x9E3779B97F4A7C15ull;
};

// A key of the graph itself: of its fragments where these are known, else of its edges and features in their order.
std::uint64_t key_of(const GraphRecord& record);

// An example, a document, …: its key, its class, or 0 where there are none, and how much it counts for.
struct Unit {
  std::uint64_t key = 0;
  Index label = 0;
  Index size = 1;
};

// Whether each unit is held out. Those of one key stay together, in the least of their classes. Within each class they
// are taken in the order of their keys, so that what has been taken of the size is the fraction to within half of one
// group of copies; classes follow one another. The order of the units does not matter. Precondition: sizes are not
// negative.
std::vector<bool> held_out(std::span<const Unit> units, Fraction fraction);

// Tokens [first, second), in order, none twice.
using TokenRanges = std::vector<std::pair<Index, Index>>;
struct HeldOutTokens {
  TokenRanges train, valid;  // neither is empty
};
// Holds out documents of the source, where these can be split so that both sides have tokens; else the last tokens.
// Reads all of the source. Throws DataError where there are too few tokens.
HeldOutTokens hold_out_tokens(const TokenSource& source, Fraction fraction);

// Ranges of a source, one after the other. The source must stay. Precondition: there is one at least.
class TokensOfRanges : public TokenSource {
 public:
  TokensOfRanges(const TokenSource& source, TokenRanges ranges);

  Index size() const override { return ends_.back(); }
  Index vocab_size() const override { return source_.vocab_size(); }
  void read(Index offset, std::span<TokenId> out) const override;
  std::string name() const override { return source_.name(); }
  std::string name_at(Index offset) const override { return source_.name_at(place(offset)); }
  Index document_at(Index offset) const override { return source_.document_at(place(offset)); }
  // The lengths of the parts of documents that are in the ranges.
  std::vector<Index> document_lengths() const override;

 private:
  std::size_t range_of(Index offset) const;
  // Position of the token in the source.
  Index place(Index offset) const;

  const TokenSource& source_;
  TokenRanges ranges_;
  std::vector<Index> ends_;  // ends of the ranges, as offsets here
};

// Pairs, or graphs, by number, in order.
struct HeldOutNumbers {
  std::vector<Index> train, valid;  // neither is empty
};
// Pairs with the same source stay together, and so do copies of a pair. Reads all sources. Throws DataError where there
// are too few of them.
HeldOutNumbers hold_out_pairs(const PairSource& pairs, Fraction fraction);
// Graphs of one group stay together, where they have groups, and so do copies of a graph. Reads all. Throws DataError
// where there are too few groups.
HeldOutNumbers hold_out_graphs(const GraphSource& graphs, Fraction fraction);

}  // namespace heddle::data
