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
    : pairs_(pairs), frames_(frames), limits_(limits), seed_(seed) {
  arrange(0);
  left_out_ = pairs.size() - static_cast<Index>(sorted_.size());
  groups_per_epoch_ = static_cast<Index>(groups_.size());
  measure();
  const std::optional<Index> longest = pairs.longest_of_all();
  if (!longest) return;
  groups_per_epoch_ -= groups_per_epoch_ / 20;
  const PairLengths most = frames.lengths(*longest, *longest);
  longest_ = std::min(std::max(most.source, most.target), std::max(limits.max_source, limits.max_target));
  largest_ = std::max(limits.batch_size, limits.options.batch_tokens);
}

void PairGroups::measure() {
  for (const Index pair : sorted_) {
    const PairLengths read = lengths_of(pair);
    const Index target = pairs_.lengths_in(pair, epoch_).target;
    mean_source_ += static_cast<double>(read.source);
    mean_target_ += static_cast<double>(read.target);
    mean_predicted_ += static_cast<double>(target + (frames_.continues ? 1 : frames_.target.tokens()));
    longest_ = std::max({longest_, read.source, read.target});
  }
  for (double* const mean : {&mean_source_, &mean_target_, &mean_predicted_})
    *mean /= static_cast<double>(sorted_.size());
  for (const Group& group : groups_) largest_ = std::max(largest_, group.count);
}

PairLengths PairGroups::lengths_of(Index pair) const {
  const PairLengths texts = pairs_.lengths_in(pair, epoch_);
  return frames_.lengths(texts.source, texts.target);
}

bool PairGroups::fits(const PairLengths& texts, const PairLengths& read) const {
  const Index most = limits_.options.max_length > 0 ? limits_.options.max_length : std::numeric_limits<Index>::max();
  return texts.source <= most && texts.target <= most && read.source <= limits_.max_source &&
         read.target <= limits_.max_target;
}

std::vector<PairGroups::Place> PairGroups::sorted() const {
  static const std::uint64_t site = random_site("data/pairs");
  const RandomStream stream(seed_, site, static_cast<std::uint64_t>(epoch_));
  std::vector<Place> places;
  for (Index pair = 0; pair < pairs_.size(); ++pair) {
    const PairLengths texts = pairs_.lengths_in(pair, epoch_), read = frames_.lengths(texts.source, texts.target);
    if (fits(texts, read))
      places.emplace_back(read.target, read.source, stream.uniform(static_cast<std::uint64_t>(pair)), pair);
  }
  std::sort(places.begin(), places.end());
  return places;
}

void PairGroups::arrange(Index epoch) const {
  if (epoch == epoch_) return;
  epoch_ = epoch;
  const std::vector<Place> places = sorted();
  sorted_.clear();
  for (const Place& place : places) sorted_.push_back(std::get<3>(place));
  check<DataError>(
      !sorted_.empty(), pairs_.name(), ": ",
      pairs_.size() == 0 ? "has no pair" : "every pair is longer than the limit; raise `max_length` or `context`");
  groups_.clear();
  Index begin = 0, source = 0, target = 0;
  for (Index i = 0; i < static_cast<Index>(places.size()); ++i) {
    const auto& [own_target, own_source, tie, pair] = places[static_cast<std::size_t>(i)];
    const Index with_source = std::max(source, own_source), with_target = std::max(target, own_target);
    const Index count = i - begin + 1, tokens = limits_.options.batch_tokens;
    const bool is_full = tokens > 0 ? count * std::max(with_source, with_target) > tokens : count > limits_.batch_size;
    if (is_full && count > 1) {
      groups_.push_back({begin, i - begin});
      begin = i;
      source = own_source;
      target = own_target;
    } else {
      source = with_source;
      target = with_target;
    }
  }
  groups_.push_back({begin, static_cast<Index>(sorted_.size()) - begin});
}

std::vector<Index> PairGroups::pairs_of(Index group) const {
  arrange(group / groups_per_epoch());
  const auto count = static_cast<Index>(groups_.size());
  const Permutation order(count, seed_, static_cast<std::uint64_t>(epoch_));
  const Group& chosen = groups_[static_cast<std::size_t>(order(group % groups_per_epoch() % count))];
  return {sorted_.begin() + chosen.begin, sorted_.begin() + chosen.begin + chosen.count};
}

std::vector<FramedPair> PairGroups::group(Index group) const {
  std::vector<FramedPair> pairs;
  for (const Index pair : pairs_of(group))
    pairs.push_back(frames_.around(pairs_.in_epoch(pair, group / groups_per_epoch())));
  return pairs;
}

}  // namespace heddle::data
