#include "libcore/data/pair_batches.hpp"

#include <algorithm>
#include <limits>
#include <tuple>

#include "libcore/base/random.hpp"
#include "libcore/data/permutation.hpp"

namespace heddle::data {

PairLengths PairFrames::lengths(Index of_source, Index of_target) const {
  if (continues) return {0, std::max<Index>(1, of_source) + of_target};
  // The last token of a framed target is predicted, but not read.
  return {of_source + source.tokens(), of_target + target.tokens()};
}

FramedPair PairFrames::around(const TokenPair& texts) const {
  FramedPair result;
  if (continues) {
    result.target = texts.source.empty() ? std::vector<TokenId>{start} : texts.source;
    result.given = std::ssize(result.target);
    result.target.insert(result.target.end(), texts.target.begin(), texts.target.end());
    result.target.push_back(target.end);
    return result;
  }
  result = {source.around(texts.source), target.around(texts.target), target.begin ? 2 : 1};
  result.target.insert(result.target.begin(), start);
  return result;
}

PairGroups::PairGroups(const PairSource& pairs, const PairFrames& frames, const GroupLimits& limits, std::uint64_t seed)
    : pairs_(pairs), frames_(frames), seed_(seed), epoch_(0) {
  const Index most = limits.options.max_length > 0 ? limits.options.max_length : std::numeric_limits<Index>::max();
  for (Index pair = 0; pair < pairs.size(); ++pair) {
    const Index source = pairs.source_length(pair), target = pairs.target_length(pair);
    const PairLengths read = frames.lengths(source, target);
    const bool fits =
        source <= most && target <= most && read.source <= limits.max_source && read.target <= limits.max_target;
    if (!fits) continue;
    kept_.push_back(pair);
    mean_source_ += static_cast<double>(read.source);
    mean_target_ += static_cast<double>(read.target);
    mean_predicted_ += static_cast<double>(target + (frames.continues ? 1 : frames.target.tokens()));
  }
  left_out_ = pairs.size() - static_cast<Index>(kept_.size());
  check<DataError>(
      !kept_.empty(), pairs.name(), ": ",
      pairs.size() == 0 ? "has no pair" : "every pair is longer than the limit; raise `max_length` or `context`");
  mean_source_ /= static_cast<double>(kept_.size());
  mean_target_ /= static_cast<double>(kept_.size());
  mean_predicted_ /= static_cast<double>(kept_.size());
  sorted_ = sorted_numbers(epoch_);
  Index begin = 0, source = 0, target = 0;
  for (Index i = 0; i < static_cast<Index>(sorted_.size()); ++i) {
    const Index pair = sorted_[static_cast<std::size_t>(i)];
    const PairLengths read = lengths_of(pair);
    const Index with_source = std::max(source, read.source), with_target = std::max(target, read.target);
    const Index count = i - begin + 1, tokens = limits.options.batch_tokens;
    const bool is_full = tokens > 0 ? count * std::max(with_source, with_target) > tokens : count > limits.batch_size;
    if (is_full && count > 1) {
      groups_.push_back({begin, i - begin});
      begin = i;
      source = read.source;
      target = read.target;
    } else {
      source = with_source;
      target = with_target;
    }
    longest_ = std::max({longest_, with_source, with_target});
  }
  groups_.push_back({begin, static_cast<Index>(sorted_.size()) - begin});
  for (const Group& group : groups_) largest_ = std::max(largest_, group.count);
}

PairLengths PairGroups::lengths_of(Index pair) const {
  return frames_.lengths(pairs_.source_length(pair), pairs_.target_length(pair));
}

std::vector<Index> PairGroups::sorted_numbers(std::uint64_t epoch) const {
  static const std::uint64_t site = random_site("data/pairs");
  const RandomStream stream(seed_, site, epoch);
  using Key = std::tuple<Index, Index, double, Index>;
  std::vector<Key> keys;
  for (const Index pair : kept_) {
    const PairLengths read = lengths_of(pair);
    keys.emplace_back(read.target, read.source, stream.uniform(static_cast<std::uint64_t>(pair)), pair);
  }
  std::sort(keys.begin(), keys.end());
  std::vector<Index> numbers;
  for (const Key& key : keys) numbers.push_back(std::get<3>(key));
  return numbers;
}

std::vector<Index> PairGroups::pairs_of(Index group) const {
  const auto epoch = static_cast<std::uint64_t>(group / groups_per_epoch());
  if (epoch != epoch_) {
    sorted_ = sorted_numbers(epoch);
    epoch_ = epoch;
  }
  const Permutation order(groups_per_epoch(), seed_, epoch);
  const auto& [begin, count] = groups_[static_cast<std::size_t>(order(group % groups_per_epoch()))];
  return {sorted_.begin() + begin, sorted_.begin() + begin + count};
}

std::vector<FramedPair> PairGroups::group(Index group) const {
  std::vector<FramedPair> pairs;
  for (const Index pair : pairs_of(group))
    pairs.push_back(frames_.around(pairs_.in_epoch(pair, group / groups_per_epoch())));
  return pairs;
}

}  // namespace heddle::data
