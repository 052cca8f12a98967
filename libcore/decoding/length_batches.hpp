// Batches of sequences of similar length, so that there is little padding.
#pragma once

#include <functional>
#include <span>
#include <vector>

#include "libcore/base/real.hpp"

namespace heddle::decoding {

// Calls body(numbers of sequences) for batches of at most batch_tokens padded tokens, or of one sequence; the longest
// come first, equal ones in order. Stops early when the body returns false.
void for_each_length_batch(std::span<const Index> lengths, Index batch_tokens,
                           const std::function<bool(std::span<const std::size_t>)>& body);

}  // namespace heddle::decoding
