// Counter-based random numbers: a value is a function of (seed, site, step, index) and of nothing else, so results do
// not depend on threads, ranks or the order of evaluation, and resuming needs no generator state.
// Source: Salmon et al. 2011, "Parallel random numbers: as easy as 1, 2, 3" (Philox4x32-10).
#pragma once

#include <array>
#include <cmath>
#include <cstdint>
#include <string_view>

namespace heddle {

// Ten Philox rounds of the counter under the key.
inline std::array<std::uint32_t, 4> philox(std::array<std::uint32_t, 4> counter, std::array<std::uint32_t, 2> key) {
  for (int round = 0; round < 10; ++round) {
    const std::uint64_t a = 0xD2511F53ull * counter[0];
    const std::uint64_t b = 0xCD9E8D57ull * counter[2];
    counter = {static_cast<std::uint32_t>(b >> 32) ^ counter[1] ^ key[0], static_cast<std::uint32_t>(b),
               static_cast<std::uint32_t>(a >> 32) ^ counter[3] ^ key[1], static_cast<std::uint32_t>(a)};
    key = {key[0] + 0x9E3779B9u, key[1] + 0xBB67AE85u};
  }
  return counter;
}

// A 64-bit name for a place that draws random numbers ("init/decoder/3/…", "dropout"), by FNV-1a and a mixer.
std::uint64_t random_site(std::string_view name);

// The numbers of one (seed, site, step): independent of every other triple's.
class RandomStream {
 public:
  RandomStream(std::uint64_t seed, std::uint64_t site, std::uint64_t step = 0);

  // Four words: block number `block` of the stream, from 0.
  std::array<std::uint32_t, 4> block(std::uint64_t block) const {
    return philox({static_cast<std::uint32_t>(block), static_cast<std::uint32_t>(block >> 32), step_[0], step_[1]},
                  key_);
  }

  // The index-th number of the stream in [0, 1), with 53 random bits.
  double uniform(std::uint64_t index) const {
    const auto words = block(index / 2);
    const std::size_t at = 2 * (index % 2);
    const std::uint64_t bits = (static_cast<std::uint64_t>(words[at]) << 32 | words[at + 1]) >> 11;
    return static_cast<double>(bits) * 0x1p-53;
  }

  // The index-th standard normal number (Box and Muller).
  double normal(std::uint64_t index) const {
    const double radius = std::sqrt(-2.0 * std::log(1.0 - uniform(2 * index)));
    return radius * std::cos(6.283185307179586 * uniform(2 * index + 1));
  }

  // The index-th integer in [0, bound). Precondition: bound > 0.
  std::uint64_t below(std::uint64_t index, std::uint64_t bound) const;

 private:
  std::array<std::uint32_t, 2> key_;
  std::array<std::uint32_t, 2> step_;
};

}  // namespace heddle
