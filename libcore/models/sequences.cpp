#include "heddle/models/sequences.hpp"

#include <algorithm>

namespace heddle::models {

void check_sequences(const Sequences& sequences) {
  const Shape& shape = sequences.ids.shape;
  check<ShapeError>(shape.rank() == 2, "ids of shape ", shape, " instead of [batch, time]");
  check<ShapeError>(sequences.lengths.empty() || static_cast<Index>(sequences.lengths.size()) == shape[0],
                    sequences.lengths.size(), " lengths for ids of shape ", shape);
  check<ShapeError>(sequences.segments.empty() || sequences.segments.size() == sequences.ids.ids.size(),
                    sequences.segments.size(), " segments for ids of shape ", shape);
  for (const Index length : sequences.lengths) {
    check<ShapeError>(length >= 1 && length <= shape[1], "a sequence of ", length, " of ", shape[1], " tokens");
  }
}

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
