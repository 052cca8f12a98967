// Random orders.
#pragma once

#include <cstdint>

#include "heddle/base/real.hpp"

namespace heddle::data {

// The images of [0, count) under a permutation that (seed, epoch) choose, one at a time and without a table: a Feistel
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
