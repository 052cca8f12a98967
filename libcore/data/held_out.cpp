#include "libcore/data/held_out.hpp"

#include <algorithm>
#include <bit>
#include <tuple>

#include "libcore/base/error.hpp"
#include "libcore/base/random.hpp"

namespace heddle::data {

namespace {

constexpr Index million = 1'000'000;

struct Group {
  std::uint64_t key;
  Index label, size;
  bool is_held_out = false;
};

// One for each key, in order of keys.
std::vector<Group> groups_of(std::span<const Unit> units) {
  std::vector<Group> groups;
  groups.reserve(units.size());
  for (const Unit& unit : units) groups.push_back({unit.key, unit.label, unit.size});
  std::ranges::sort(groups,
                    [](const Group& a, const Group& b) { return std::tie(a.key, a.label) < std::tie(b.key, b.label); });
  std::size_t count = 0;
  for (const Group& group : groups) {
    if (count > 0 && groups[count - 1].key == group.key) {
      groups[count - 1].size += group.size;
    } else {
      groups[count++] = group;
    }
  }
  groups.resize(count);
  return groups;
}

// The key of a document of the source.
std::uint64_t key_of_tokens(const TokenSource& source, Index begin, Index end) {
  constexpr Index at_once = Index{1} << 16;
  ContentKey key;
  std::vector<TokenId> ids;
  for (Index first = begin; first < end; first += at_once) {
    ids.resize(static_cast<std::size_t>(std::min(at_once, end - first)));
    source.read(first, ids);
    for (const TokenId id : ids) key.add(static_cast<std::uint64_t>(id));
  }
  return key.value();
}

std::string percentage(Fraction fraction) {
  return concatenate(static_cast<double>(fraction.millionths) / 1e4, "%");
}

Index size_of(const TokenRanges& ranges) {
  Index size = 0;
  for (const auto& [begin, end] : ranges) size += end - begin;
  return size;
}

void append(TokenRanges& ranges, Index begin, Index end) {
  if (begin == end) return;
  if (!ranges.empty() && ranges.back().second == begin) {
    ranges.back().second = end;
  } else {
    ranges.emplace_back(begin, end);
  }
}

HeldOutTokens by_documents(const TokenSource& source, const std::vector<Index>& lengths, Fraction fraction) {
  std::vector<Unit> units;
  Index begin = 0;
  for (const Index length : lengths) {
    units.push_back({key_of_tokens(source, begin, begin + length), 0, length});
    begin += length;
  }
  const std::vector<bool> valid = held_out(units, fraction);
  HeldOutTokens split;
  begin = 0;
  for (std::size_t i = 0; i < lengths.size(); begin += lengths[i++]) {
    append(valid[i] ? split.valid : split.train, begin, begin + lengths[i]);
  }
  return split;
}

}  // namespace

ContentKey& ContentKey::add(std::uint64_t value) {
  // The finalizer of SplitMix64 (Steele et al. 2014), which every bit of the value reaches every bit of the key
  // through.
  std::uint64_t mixed = (value_ ^ value) + 0x9E3779B97F4A7C15ull;
  mixed = (mixed ^ (mixed >> 30)) * 0xBF58476D1CE4E5B9ull;
  mixed = (mixed ^ (mixed >> 27)) * 0x94D049BB133111EBull;
  value_ = mixed ^ (mixed >> 31);
  return *this;
}

ContentKey& ContentKey::add(std::string_view text) {
  return add(random_site(text));
}

std::uint64_t key_of(const GraphRecord& record) {
  ContentKey key;
  for (const std::uint32_t fragment : record.fragments) key.add(fragment);
  if (!record.fragments.empty()) return key.value();
  for (const auto& numbers : {record.graph.rows, record.graph.sources}) {
    for (const Index number : numbers) key.add(static_cast<std::uint64_t>(number));
  }
  for (const Features* features : {&record.graph.node_features, &record.graph.edge_features}) {
    for (const std::int32_t kind : features->categories) key.add(static_cast<std::uint64_t>(kind));
    for (const float number : features->numbers) key.add(std::bit_cast<std::uint32_t>(number));
  }
  return key.value();
}

std::vector<bool> held_out(std::span<const Unit> units, Fraction fraction) {
  std::vector<Group> groups = groups_of(units);
  std::vector<std::size_t> order(groups.size());
  for (std::size_t i = 0; i < order.size(); ++i) order[i] = i;
  std::ranges::stable_sort(order, {}, [&](std::size_t i) { return groups[i].label; });
  double wanted = 0, taken = 0;  // millionths of the size, which are whole numbers
  for (const std::size_t i : order) {
    const auto size = static_cast<double>(groups[i].size);
    wanted += size * static_cast<double>(fraction.millionths);
    groups[i].is_held_out = size > 0 && 2 * (wanted - taken) >= size * million;
    if (groups[i].is_held_out) taken += size * million;
  }
  std::vector<bool> result;
  result.reserve(units.size());
  for (const Unit& unit : units) {
    result.push_back(std::ranges::lower_bound(groups, unit.key, {}, &Group::key)->is_held_out);
  }
  return result;
}

HeldOutTokens hold_out_tokens(const TokenSource& source, Fraction fraction) {
  const std::vector<Index> lengths = source.document_lengths();
  if (lengths.size() > 1) {
    HeldOutTokens split = by_documents(source, lengths, fraction);
    if (size_of(split.train) > 0 && size_of(split.valid) > 0) return split;
  }
  const Index size = source.size();
  const auto count =
      static_cast<Index>(static_cast<double>(size) * static_cast<double>(fraction.millionths) / million + 0.5);
  check<DataError>(count > 0 && count < size, source.name(), ": ", size, " tokens are too few to hold out ",
                   percentage(fraction), " for validation; give more text, or `valid` = FILE");
  return {{{0, size - count}}, {{size - count, size}}};
}

TokensOfRanges::TokensOfRanges(const TokenSource& source, TokenRanges ranges)
    : source_(source), ranges_(std::move(ranges)) {
  Index end = 0;
  for (const auto& [first, second] : ranges_) ends_.push_back(end += second - first);
}

std::size_t TokensOfRanges::range_of(Index offset) const {
  return static_cast<std::size_t>(std::upper_bound(ends_.begin(), ends_.end() - 1, offset) - ends_.begin());
}

Index TokensOfRanges::place(Index offset) const {
  const std::size_t i = range_of(offset);
  return ranges_[i].second - (ends_[i] - offset);
}

void TokensOfRanges::read(Index offset, std::span<TokenId> out) const {
  const auto length = static_cast<Index>(out.size());
  check<DataError>(offset >= 0 && offset + length <= size(), name(), ": tokens ", offset, " to ", offset + length,
                   " of ", size());
  for (std::size_t i = range_of(offset); !out.empty(); ++i) {
    const Index here = std::min(static_cast<Index>(out.size()), ends_[i] - offset);
    source_.read(ranges_[i].second - (ends_[i] - offset), out.first(static_cast<std::size_t>(here)));
    out = out.subspan(static_cast<std::size_t>(here));
    offset += here;
  }
}

std::vector<Index> TokensOfRanges::document_lengths() const {
  std::vector<Index> lengths;
  auto range = ranges_.begin();
  Index begin = 0;
  for (const Index length : source_.document_lengths()) {
    const Index end = begin + length;
    while (range != ranges_.end() && range->first < end) {
      const Index inside = std::min(end, range->second) - std::max(begin, range->first);
      if (inside > 0) lengths.push_back(inside);
      if (range->second > end) break;
      ++range;
    }
    begin = end;
  }
  return lengths;
}

namespace {

// `unit_name` is what messages call the units; `keys` is what copies have in common, for the message where there are
// too few.
HeldOutNumbers hold_out_numbers(const std::vector<Unit>& units, Fraction fraction, const std::string& name,
                                const std::string& unit_name, const char* keys) {
  const std::vector<bool> valid = held_out(units, fraction);
  HeldOutNumbers split;
  for (std::size_t i = 0; i < units.size(); ++i)
    (valid[i] ? split.valid : split.train).push_back(static_cast<Index>(i));
  check<DataError>(!split.train.empty() && !split.valid.empty(), name, ": ", units.size(), " ", unit_name, " with ",
                   groups_of(units).size(), " different ", keys, " are too few to hold out ", percentage(fraction),
                   " for validation; give more ", unit_name, ", or `valid` = FILE");
  return split;
}

}  // namespace

HeldOutNumbers hold_out_pairs(const PairSource& pairs, Fraction fraction) {
  std::vector<Unit> units;
  units.reserve(static_cast<std::size_t>(pairs.size()));
  for (Index i = 0; i < pairs.size(); ++i) {
    ContentKey key;
    for (const TokenId id : pairs.source(i)) key.add(static_cast<std::uint64_t>(id));
    units.push_back({.key = key.value()});
  }
  return hold_out_numbers(units, fraction, pairs.name(), "pairs", "sources");
}

HeldOutNumbers hold_out_graphs(const GraphSource& graphs, Fraction fraction) {
  std::vector<Unit> units;
  units.reserve(static_cast<std::size_t>(graphs.size()));
  for (Index i = 0; i < graphs.size(); ++i) {
    const GraphRecord record = graphs.record(i);
    units.push_back({.key = record.group.empty() ? key_of(record) : ContentKey().add(record.group).value()});
  }
  return hold_out_numbers(units, fraction, graphs.name(), "graphs", "groups");
}

}  // namespace heddle::data
