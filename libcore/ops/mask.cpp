#include "libcore/ops/mask.hpp"

#include <algorithm>
#include <cstring>
#include <utility>

#include "libcore/base/error.hpp"

namespace heddle {

// The range without what is not allowed at its ends.
Mask::Range Mask::listed_keys_of(Index batch, Index query, Range range) const {
  const std::uint8_t* const allowed = pairs->row(batch, query);
  const void* const first = std::memchr(allowed + range.begin, 1, static_cast<std::size_t>(range.end - range.begin));
  if (first == nullptr) return {range.begin, range.begin};
  range.begin = static_cast<const std::uint8_t*>(first) - allowed;
  while (allowed[range.end - 1] == 0) --range.end;
  return range;
}

AllowedPairs::AllowedPairs(Index batch, Index query_time, Index key_time, std::vector<std::uint8_t> allowed)
    : batch_(batch), query_time_(query_time), key_time_(key_time), allowed_(std::move(allowed)) {
  check<ShapeError>(static_cast<Index>(allowed_.size()) == batch * query_time * key_time,
                    "allowed pairs: ", allowed_.size(), " bytes for [", batch, ", ", query_time, ", ", key_time, "]");
  check<ShapeError>(std::ranges::all_of(allowed_, [](std::uint8_t pair) { return pair <= 1; }),
                    "allowed pairs must be 0 or 1");
}

std::shared_ptr<const AllowedPairs> AllowedPairs::by_rank(const std::vector<std::vector<Index>>& ranks, Ties ties) {
  check<ShapeError>(!ranks.empty(), "allowed pairs by rank: no ranks");
  const std::size_t time = ranks.front().size();
  std::vector<std::uint8_t> allowed;
  allowed.reserve(ranks.size() * time * time);
  for (const std::vector<Index>& row : ranks) {
    check<ShapeError>(row.size() == time, "allowed pairs by rank: rows of ", row.size(), " and ", time, " positions");
    for (const Index query : row) {
      for (const Index key : row) allowed.push_back(key < query || (key == query && ties == Ties::attend) ? 1 : 0);
    }
  }
  const auto positions = static_cast<Index>(time);
  return std::make_shared<const AllowedPairs>(static_cast<Index>(ranks.size()), positions, positions,
                                              std::move(allowed));
}

}  // namespace heddle
