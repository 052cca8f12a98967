#include "libcore/data/permutation.hpp"

#include <utility>

#include "libcore/base/random.hpp"

namespace heddle::data {

Permutation::Permutation(Index count, std::uint64_t seed, std::uint64_t epoch)
    : count_(count), half_bits_(1), seed_(seed), epoch_(epoch) {
  while ((Index{1} << (2 * half_bits_)) < count) ++half_bits_;
}

Index Permutation::operator()(Index index) const {
  static const std::uint64_t site = random_site("data/permutation");
  const RandomStream stream(seed_, site, epoch_);
  const std::uint64_t mask = (std::uint64_t{1} << half_bits_) - 1;
  auto value = static_cast<std::uint64_t>(index);
  do {
    std::uint64_t left = value >> half_bits_, right = value & mask;
    for (std::uint64_t round = 0; round < 4; ++round) {
      const std::uint64_t mixed = stream.block(round << 32 | right)[0] & mask;
      left = std::exchange(right, left ^ mixed);
    }
    value = left << half_bits_ | right;
  } while (value >= static_cast<std::uint64_t>(count_));
  return static_cast<Index>(value);
}

}  // namespace heddle::data
