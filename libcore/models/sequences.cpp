#include "libcore/models/sequences.hpp"

#include <algorithm>

namespace heddle::models {

namespace {

void check_earlier(const Sequences& sequences, std::optional<Index> layers) {
  if (sequences.earlier == nullptr) return;
  const EarlierStates& earlier = *sequences.earlier;
  check<ShapeError>(layers && sequences.lengths.empty(),
                    "earlier states for a model that has no memory, or for padded sequences");
  if (earlier.layers.empty()) return;
  const Shape first = earlier.layers.front().shape();
  check<ShapeError>(static_cast<Index>(earlier.layers.size()) == *layers && first.rank() == 3 &&
                        first[0] == sequences.ids.shape[0] &&
                        std::ranges::all_of(earlier.layers, [&](const Tensor& t) { return t.shape() == first; }),
                    "earlier states of ", earlier.layers.size(), " layers of shape ", first, " for ", *layers,
                    " layers and ids of shape ", sequences.ids.shape);
}

}  // namespace

void check_sequences(const Sequences& sequences, std::optional<Index> remembering_layers) {
  const Shape& shape = sequences.ids.shape;
  check<ShapeError>(shape.rank() == 2, "ids of shape ", shape, " instead of [batch, time]");
  check<ShapeError>(sequences.lengths.empty() || static_cast<Index>(sequences.lengths.size()) == shape[0],
                    sequences.lengths.size(), " lengths for ids of shape ", shape);
  check<ShapeError>(sequences.segments.empty() || sequences.segments.size() == sequences.ids.ids.size(),
                    sequences.segments.size(), " segments for ids of shape ", shape);
  for (const Index length : sequences.lengths) {
    check<ShapeError>(length >= 1 && length <= shape[1], "a sequence of ", length, " of ", shape[1], " tokens");
  }
  check_earlier(sequences, remembering_layers);
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
