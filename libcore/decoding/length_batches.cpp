#include "libcore/decoding/length_batches.hpp"

#include <algorithm>
#include <numeric>

namespace heddle::decoding {

void for_each_length_batch(std::span<const Index> lengths, Index batch_tokens,
                           const std::function<bool(std::span<const std::size_t>)>& body) {
  std::vector<std::size_t> order(lengths.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::stable_sort(order.begin(), order.end(), [&](std::size_t a, std::size_t b) { return lengths[a] > lengths[b]; });
  for (std::size_t begin = 0; begin < order.size();) {
    // The first of a batch is its longest.
    const Index most = std::max<Index>(1, batch_tokens / std::max<Index>(1, lengths[order[begin]]));
    const std::size_t count = std::min(order.size() - begin, static_cast<std::size_t>(most));
    if (!body(std::span(order).subspan(begin, count))) return;
    begin += count;
  }
}

}  // namespace heddle::decoding
