// The mask convention of all operations: keys that a query may attend to.
#pragma once

#include <algorithm>
#include <cstdint>
#include <memory>
#include <vector>

#include "libcore/base/real.hpp"

namespace heddle {

class AllowedPairs;

// All rules apply together:
//   causal:   key position <= query position
//   window:   distance at most `window` (in both directions, or backwards only when causal); 0 means no window
//   lengths:  key position < key_lengths[batch]; empty means all
//   pairs:    the pair is listed; null means all
// Query i of batch b stands at position query_offsets[b] + i among the keys (empty: i): the number of keys in the cache
// before it. A query without allowed keys gives zeros.
struct Mask {
  bool causal = false;
  Index window = 0;
  std::vector<Index> key_lengths{};
  std::vector<Index> query_offsets{};
  std::shared_ptr<const AllowedPairs> pairs{};

  struct Range {
    Index begin, end;
    bool is_empty() const { return begin >= end; }
    bool operator==(const Range&) const = default;
  };
  Index position_of(Index batch, Index query) const {
    return query + (query_offsets.empty() ? 0 : query_offsets[static_cast<std::size_t>(batch)]);
  }
  // The smallest range that holds all allowed keys of those `among`; without pairs, every key in it is allowed.
  Range keys_of(Index batch, Index query, const Range& among) const {
    const Range range = ruled_keys_of(batch, query, among);
    return pairs == nullptr || range.is_empty() ? range : listed_keys_of(batch, query, range);
  }
  Range keys_of(Index batch, Index query, Index key_time) const { return keys_of(batch, query, Range{0, key_time}); }

 private:
  Range ruled_keys_of(Index batch, Index query, const Range& among) const {
    const Index position = position_of(batch, query);
    Index begin = among.begin, end = among.end;
    if (!key_lengths.empty()) end = std::min(end, key_lengths[static_cast<std::size_t>(batch)]);
    if (causal) end = std::min(end, position + 1);
    if (window > 0) {
      begin = std::max(begin, position - window);
      end = std::min(end, position + window + 1);
    }
    return {begin, std::max(begin, end)};
  }
  Range listed_keys_of(Index batch, Index query, Range range) const;
};

// Pairs of a query and a key, for masks that the other rules cannot express: the edges of a graph, an order of
// prediction.
// One byte per pair. Queries count from the first of the call, without query_offsets.
class AllowedPairs {
 public:
  // allowed: row-major [batch or 1, query_time, key_time], 0 or 1; one batch serves all. Throws ShapeError.
  AllowedPairs(Index batch, Index query_time, Index key_time, std::vector<std::uint8_t> allowed);

  // Positions attend those of lower rank, and with Ties::attend those of their own rank, themselves among them.
  // Source: Yang et al. 2019, "XLNet", section 2.2 (SPEC A9): ties attend in the content stream only.
  // Shapes: ranks [batch or 1][time]. Throws ShapeError.
  enum class Ties { attend, hidden };
  static std::shared_ptr<const AllowedPairs> by_rank(const std::vector<std::vector<Index>>& ranks, Ties ties);

  Index batch() const { return batch_; }
  Index query_time() const { return query_time_; }
  Index key_time() const { return key_time_; }
  // key_time bytes, 1 where the query may attend.
  const std::uint8_t* row(Index batch, Index query) const {
    return allowed_.data() + ((batch_ == 1 ? 0 : batch) * query_time_ + query) * key_time_;
  }

 private:
  Index batch_, query_time_, key_time_;
  std::vector<std::uint8_t> allowed_;
};

}  // namespace heddle
