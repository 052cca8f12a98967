// Pairs of texts that are drawn while a model trains on them: new ones in every epoch, without a file.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "libcore/data/pair_source.hpp"

namespace heddle::data {

// Pair p of epoch e is the draw of number e * size() + p. One epoch at a time is in memory; not for several threads.
class GeneratedPairs : public PairSource {
 public:
  // A function of the number alone.
  using Draw = std::function<TokenPair(std::uint64_t number)>;
  struct Size {
    Index pairs;       // pairs per epoch
    Index longest;     // tokens of a side, at most
    Index vocab_size;  // vocabulary of both sides
  };
  GeneratedPairs(std::string name, const Size& size, Draw draw)
      : name_(std::move(name)), size_(size), draw_(std::move(draw)) {}

  Index size() const override { return size_.pairs; }
  Index source_vocab_size() const override { return size_.vocab_size; }
  Index target_vocab_size() const override { return size_.vocab_size; }
  // These are of the first epoch.
  Index source_length(Index pair) const override { return lengths_in(pair, 0).source; }
  Index target_length(Index pair) const override { return lengths_in(pair, 0).target; }
  std::vector<TokenId> source(Index pair) const override { return at(pair, 0).source; }
  std::vector<TokenId> target(Index pair) const override { return at(pair, 0).target; }

  TokenPair in_epoch(Index pair, Index epoch) const override { return at(pair, epoch); }
  std::optional<Index> longest_of_all() const override { return size_.longest; }
  PairLengths lengths_in(Index pair, Index epoch) const override;
  std::string name() const override { return name_; }

 private:
  const TokenPair& at(Index pair, Index epoch) const;

  std::string name_;
  Size size_;
  Draw draw_;
  mutable Index epoch_ = -1;
  mutable std::vector<TokenPair> pairs_;  // pairs of the epoch
};

}  // namespace heddle::data
