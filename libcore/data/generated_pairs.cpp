#include "libcore/data/generated_pairs.hpp"

#include "libcore/base/error.hpp"

namespace heddle::data {

const TokenPair& GeneratedPairs::at(Index pair, Index epoch) const {
  check<DataError>(pair >= 0 && pair < size_.pairs, name_, ": pair ", pair, " of ", size_.pairs);
  if (epoch != epoch_) {
    pairs_.clear();
    pairs_.reserve(static_cast<std::size_t>(size_.pairs));
    const auto first = static_cast<std::uint64_t>(epoch) * static_cast<std::uint64_t>(size_.pairs);
    for (std::uint64_t i = 0; i < static_cast<std::uint64_t>(size_.pairs); ++i) pairs_.push_back(draw_(first + i));
    epoch_ = epoch;
  }
  return pairs_[static_cast<std::size_t>(pair)];
}

PairLengths GeneratedPairs::lengths_in(Index pair, Index epoch) const {
  const TokenPair& drawn = at(pair, epoch);
  return {static_cast<Index>(drawn.source.size()), static_cast<Index>(drawn.target.size())};
}

}  // namespace heddle::data
