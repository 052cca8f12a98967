#include "libcore/data/folds.hpp"

#include <algorithm>
#include <map>
#include <numeric>

#include "libcore/base/error.hpp"
#include "libcore/data/permutation.hpp"

namespace heddle::data {

namespace {

// Deals places one after the other, each to the part that is furthest below its share.
class Dealer {
 public:
  explicit Dealer(std::span<const Index> shares)
      : shares_(shares.begin(), shares.end()),
        total_(std::accumulate(shares.begin(), shares.end(), Index{0})),
        behind_(shares.size()) {}

  Index next(Index size = 1) {
    std::vector<Index> after = behind_;
    for (std::size_t part = 0; part < shares_.size(); ++part) after[part] += size * shares_[part];
    const auto part = std::ranges::max_element(after) - after.begin();
    give(part, size);
    return part;
  }
  void give(Index part, Index size) {
    for (std::size_t i = 0; i < shares_.size(); ++i) behind_[i] += size * shares_[i];
    behind_[static_cast<std::size_t>(part)] -= size * total_;
  }
  // Limits the debt of a fold to one unit.
  void forgive() {
    for (Index& behind : behind_) behind = std::clamp(behind, -total_, total_);
  }

 private:
  std::vector<Index> shares_;
  Index total_;
  std::vector<Index> behind_;
};

template <class Keep>
std::vector<Index> places_where(std::span<const Index> parts, const Keep& keep) {
  std::vector<Index> places;
  for (std::size_t i = 0; i < parts.size(); ++i) {
    if (keep(parts[i])) places.push_back(static_cast<Index>(i));
  }
  return places;
}

void check_shares(std::span<const Index> shares) {
  constexpr Index largest_share = 1'000'000;
  const bool sound = std::ranges::all_of(shares, [](Index share) { return share >= 0 && share <= largest_share; });
  check<UsageError>(sound && std::ranges::any_of(shares, [](Index share) { return share > 0; }),
                    "the sizes of a split must be from 0 to ", largest_share, ", and not all 0");
}

// Units with one key.
struct Copies {
  Index label = 0, size = 0, part = 0;
};

// Deals the groups of one label, in random order.
void deal(std::span<Copies* const> groups, std::span<const Index> parts, Dealer& dealer, const Permutation& order) {
  for (std::size_t i = 0; i < groups.size(); ++i) {
    Copies& group = *groups[static_cast<std::size_t>(order(static_cast<Index>(i)))];
    if (groups.size() >= parts.size() && i >= parts.size()) {
      group.part = dealer.next(group.size);
      continue;
    }
    group.part = groups.size() < parts.size() ? parts.front() : parts[i];
    dealer.give(group.part, group.size);
  }
  dealer.forgive();
}

}  // namespace

std::vector<Index> stratified_parts(std::span<const Index> labels, std::span<const Index> shares, std::uint64_t seed) {
  check_shares(shares);
  std::map<Index, std::vector<std::size_t>> places;  // keyed by label
  for (std::size_t i = 0; i < labels.size(); ++i) places[labels[i]].push_back(i);
  Dealer dealer(shares);
  std::vector<Index> parts(labels.size());
  for (const auto& [label, members] : places) {
    const Permutation order(static_cast<Index>(members.size()), seed, static_cast<std::uint64_t>(label));
    for (Index i = 0; i < static_cast<Index>(members.size()); ++i) {
      parts[members[static_cast<std::size_t>(order(i))]] = dealer.next();
    }
  }
  return parts;
}

std::vector<Index> grouped_parts(std::span<const Unit> units, std::span<const Index> shares, std::uint64_t seed) {
  check_shares(shares);
  std::map<std::uint64_t, Copies> groups;
  for (const Unit& unit : units) {
    Copies& group = groups.try_emplace(unit.key, Copies{.label = unit.label}).first->second;
    group.label = std::min(group.label, unit.label);
    group.size += unit.size;
  }
  std::map<Index, std::vector<Copies*>> members;  // keyed by label
  for (auto& [key, group] : groups) members[group.label].push_back(&group);
  std::vector<Index> parts;
  for (std::size_t i = 0; i < shares.size(); ++i) {
    if (shares[i] > 0) parts.push_back(static_cast<Index>(i));
  }
  Dealer dealer(shares);
  for (const auto& [label, of_label] : members) {
    deal(of_label, parts, dealer,
         Permutation(static_cast<Index>(of_label.size()), seed, static_cast<std::uint64_t>(label)));
  }
  std::vector<Index> result;
  for (const Unit& unit : units) result.push_back(groups.at(unit.key).part);
  return result;
}

std::vector<Index> stratified_folds(std::span<const Index> labels, Index folds, std::uint64_t seed) {
  check<UsageError>(folds >= 2, "a cross-validation needs at least 2 folds, not ", folds);
  check<DataError>(static_cast<Index>(labels.size()) >= folds, labels.size(), " examples are not enough for ", folds,
                   " folds");
  return stratified_parts(labels, std::vector<Index>(static_cast<std::size_t>(folds), 1), seed);
}

std::vector<Index> inside_part(std::span<const Index> parts, Index part) {
  return places_where(parts, [part](Index other) { return other == part; });
}

std::vector<Index> outside_part(std::span<const Index> parts, Index part) {
  return places_where(parts, [part](Index other) { return other != part; });
}

}  // namespace heddle::data
