// Pairs of texts as token ids, such as a sentence and its translation: a pairs file, or memory.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "libcore/base/real.hpp"

namespace heddle::data {

struct TokenPair {
  std::vector<TokenId> source, target;
};
// Numbers of tokens.
struct PairLengths {
  Index source, target;
};

// The ids are those of the texts alone: models add the special tokens that they need around them.
class PairSource {
 public:
  virtual ~PairSource() = default;
  virtual Index size() const = 0;               // pairs
  virtual Index source_vocab_size() const = 0;  // every source id is below it
  virtual Index target_vocab_size() const = 0;
  virtual Index source_length(Index pair) const = 0;  // tokens; of pairs that change with the epoch, at most
  virtual Index target_length(Index pair) const = 0;
  // Like the lengths, these throw DataError for pairs outside the source; also for ids outside the vocabulary.
  virtual std::vector<TokenId> source(Index pair) const = 0;
  virtual std::vector<TokenId> target(Index pair) const = 0;
  // Both, as training reads them in an epoch, from 0; most sources have the same in all.
  virtual TokenPair in_epoch(Index pair, Index) const { return {source(pair), target(pair)}; }
  // The most tokens of a side in any epoch, where pairs are new in each, so that lengths differ, too.
  virtual std::optional<Index> longest_of_all() const { return std::nullopt; }
  virtual PairLengths lengths_in(Index pair, Index) const { return {source_length(pair), target_length(pair)}; }
  // For messages: the file's name, also that of a pair among several, and the number of a pair in its file, from 0.
  virtual std::string name() const = 0;
  virtual std::string name_of(Index) const { return name(); }
  virtual Index number_in_file(Index pair) const { return pair; }
};

class PairsInMemory : public PairSource {
 public:
  PairsInMemory(std::vector<TokenPair> pairs, Index source_vocab_size, Index target_vocab_size,
                std::string name = "pairs in memory")
      : pairs_(std::move(pairs)),
        source_vocab_size_(source_vocab_size),
        target_vocab_size_(target_vocab_size),
        name_(std::move(name)) {}

  Index size() const override { return static_cast<Index>(pairs_.size()); }
  Index source_vocab_size() const override { return source_vocab_size_; }
  Index target_vocab_size() const override { return target_vocab_size_; }
  Index source_length(Index pair) const override { return static_cast<Index>(at(pair).source.size()); }
  Index target_length(Index pair) const override { return static_cast<Index>(at(pair).target.size()); }
  std::vector<TokenId> source(Index pair) const override;
  std::vector<TokenId> target(Index pair) const override;
  std::string name() const override { return name_; }

 private:
  const TokenPair& at(Index pair) const;

  std::vector<TokenPair> pairs_;
  Index source_vocab_size_, target_vocab_size_;
  std::string name_;
};

// The pairs of several sources, one source after the other.
class JoinedPairs : public PairSource {
 public:
  // Precondition: at least one, none null.
  explicit JoinedPairs(std::vector<std::unique_ptr<PairSource>> sources);

  Index size() const override { return ends_.back(); }
  Index source_vocab_size() const override;
  Index target_vocab_size() const override;
  Index source_length(Index pair) const override { return at(pair).source.source_length(at(pair).number); }
  Index target_length(Index pair) const override { return at(pair).source.target_length(at(pair).number); }
  std::vector<TokenId> source(Index pair) const override { return at(pair).source.source(at(pair).number); }
  std::vector<TokenId> target(Index pair) const override { return at(pair).source.target(at(pair).number); }
  TokenPair in_epoch(Index pair, Index epoch) const override {
    return at(pair).source.in_epoch(at(pair).number, epoch);
  }
  std::string name() const override;
  std::string name_of(Index pair) const override { return at(pair).source.name_of(at(pair).number); }
  Index number_in_file(Index pair) const override { return at(pair).source.number_in_file(at(pair).number); }

 private:
  struct Place {
    const PairSource& source;
    Index number;  // number of the pair there
  };
  Place at(Index pair) const;

  std::vector<std::unique_ptr<PairSource>> sources_;
  std::vector<Index> ends_;
};

// Some of another source's pairs, given by their numbers there. The source must stay.
class PairsOf : public PairSource {
 public:
  // Throws DataError for numbers outside the source.
  PairsOf(const PairSource& source, std::vector<Index> pairs);

  Index size() const override { return static_cast<Index>(pairs_.size()); }
  Index source_vocab_size() const override { return source_.source_vocab_size(); }
  Index target_vocab_size() const override { return source_.target_vocab_size(); }
  Index source_length(Index pair) const override { return source_.source_length(at(pair)); }
  Index target_length(Index pair) const override { return source_.target_length(at(pair)); }
  std::vector<TokenId> source(Index pair) const override { return source_.source(at(pair)); }
  std::vector<TokenId> target(Index pair) const override { return source_.target(at(pair)); }
  TokenPair in_epoch(Index pair, Index epoch) const override { return source_.in_epoch(at(pair), epoch); }
  std::string name() const override { return source_.name(); }
  std::string name_of(Index pair) const override { return source_.name_of(at(pair)); }
  Index number_in_file(Index pair) const override { return source_.number_in_file(at(pair)); }

 private:
  Index at(Index pair) const;

  const PairSource& source_;
  std::vector<Index> pairs_;
};

}  // namespace heddle::data
