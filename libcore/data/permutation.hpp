// Random orders.
#pragma once

#include <cstdint>

#include "libcore/base/real.hpp"

namespace heddle::data {

// A permutation of [0, count), chosen by (seed, epoch) and computed one image at a time without a table: a Feistel
// network over the next power of four, walked until it falls into the range.
class Permutation {
 public:
  Permutation(Index count, std::uint64_t seed, std::uint64_t epoch);
  Index operator()(Index index) const;

 private:
  Index count_;
  int half_bits_;
  std::uint64_t seed_, epoch_;
};

}  // namespace heddle::data
