#include "heddle/models/sequences.hpp"

#include <algorithm>

namespace heddle::models {

Sequences padded(std::span<const TokenList> lists, Index least) {
  Index time = least;
  for (const TokenList& list : lists) time = std::max(time, static_cast<Index>(list.size()));
  TokenIds ids(Shape{static_cast<Index>(lists.size()), time});
  std::vector<Index> lengths;
  auto row = ids.ids.begin();
  for (const TokenList& list : lists) {
    std::ranges::copy(list, row);
    row += time;
    lengths.push_back(static_cast<Index>(list.size()));
  }
  return {std::move(ids), std::move(lengths)};
}

}  // namespace heddle::models
