// Batches of sequences of similar length, so that there is little padding.
#pragma once

#include <functional>
#include <span>
#include <vector>

#include "libcore/base/real.hpp"
#include "libcore/parallel/divided.hpp"

namespace heddle::decoding {

// Enough rows for products at full rate, few enough for activations to stay in a core's cache.
inline constexpr Index usual_batch_tokens = 512;

// Calls body(numbers of sequences) for batches of at most batch_tokens padded tokens, or of one sequence; the longest
// come first, equal ones in order. Stops early when the body returns false.
void for_each_length_batch(std::span<const Index> lengths, Index batch_tokens,
                           const std::function<bool(std::span<const std::size_t>)>& body);

// Calls body(numbers, results) for the same batches, which puts the results of their sequences at their numbers; ranks
// divide the batches (parallel::Divided). Result: what a Packer packs.
template <class Result, class Body>
std::vector<Result> results_of_length_batches(std::span<const Index> lengths, Index batch_tokens, const Body& body) {
  const parallel::Group& group = parallel::dividing();
  std::vector<Result> results(lengths.size());
  std::vector<std::size_t> own;
  parallel::complete(group, results, own, [&] {
    Index batch = 0;
    for_each_length_batch(lengths, batch_tokens, [&](std::span<const std::size_t> numbers) {
      if (batch++ % group.size() != group.rank()) return true;
      own.insert(own.end(), numbers.begin(), numbers.end());
      return body(numbers, results);
    });
  });
  return results;
}

}  // namespace heddle::decoding
