#include "libcore/data/pair_source.hpp"

#include <algorithm>

#include "libcore/base/error.hpp"

namespace heddle::data {

namespace {

void check_number(Index pair, const PairSource& source) {
  check<DataError>(pair >= 0 && pair < source.size(), source.name(), ": has no pair ", pair, ", only ", source.size());
}

void check_ids(const std::vector<TokenId>& ids, Index vocab_size, const std::string& where, Index pair) {
  for (const TokenId id : ids) {
    check<DataError>(id >= 0 && id < vocab_size, where, ": pair ", pair, " has the token ", id,
                     ", outside the vocabulary of ", vocab_size);
  }
}

}  // namespace

const TokenPair& PairsInMemory::at(Index pair) const {
  check_number(pair, *this);
  return pairs_[static_cast<std::size_t>(pair)];
}

std::vector<TokenId> PairsInMemory::source(Index pair) const {
  check_ids(at(pair).source, source_vocab_size_, name_, pair);
  return at(pair).source;
}

std::vector<TokenId> PairsInMemory::target(Index pair) const {
  check_ids(at(pair).target, target_vocab_size_, name_, pair);
  return at(pair).target;
}

JoinedPairs::JoinedPairs(std::vector<std::unique_ptr<PairSource>> sources) : sources_(std::move(sources)) {
  Index end = 0;
  for (const auto& source : sources_) ends_.push_back(end += source->size());
}

Index JoinedPairs::source_vocab_size() const {
  Index largest = 0;
  for (const auto& source : sources_) largest = std::max(largest, source->source_vocab_size());
  return largest;
}

Index JoinedPairs::target_vocab_size() const {
  Index largest = 0;
  for (const auto& source : sources_) largest = std::max(largest, source->target_vocab_size());
  return largest;
}

std::string JoinedPairs::name() const {
  const std::string first = sources_.front()->name();
  return sources_.size() == 1 ? first : concatenate(first, " and ", sources_.size() - 1, " more");
}

JoinedPairs::Place JoinedPairs::at(Index pair) const {
  check_number(pair, *this);
  const auto i = static_cast<std::size_t>(std::ranges::upper_bound(ends_, pair) - ends_.begin());
  return {*sources_[i], pair - (i == 0 ? 0 : ends_[i - 1])};
}

PairsOf::PairsOf(const PairSource& source, std::vector<Index> pairs) : source_(source), pairs_(std::move(pairs)) {
  for (const Index pair : pairs_) check_number(pair, source_);
}

Index PairsOf::at(Index pair) const {
  check_number(pair, *this);
  return pairs_[static_cast<std::size_t>(pair)];
}

}  // namespace heddle::data
