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

  // The words of 16 blocks on end, from number `first`: as block() gives them, in loops that compilers make vector
  // instructions of.
  [[gnu::always_inline]] void sixteen_blocks(std::uint64_t first, std::uint32_t* words) const {
    constexpr std::size_t lanes = 16;
    std::uint32_t c0[lanes], c1[lanes], c2[lanes], c3[lanes];
    _Pragma("omp simd") for (std::size_t i = 0; i < lanes; ++i) {
      c0[i] = static_cast<std::uint32_t>(first + i);
      c1[i] = static_cast<std::uint32_t>((first + i) >> 32);
      c2[i] = step_[0];
      c3[i] = step_[1];
    }
    std::uint32_t k0 = key_[0], k1 = key_[1];
    for (int round = 0; round < 10; ++round) {
      _Pragma("omp simd") for (std::size_t i = 0; i < lanes; ++i) {
        const std::uint64_t a = 0xD2511F53ull * c0[i];
        const std::uint64_t b = 0xCD9E8D57ull * c2[i];
        c0[i] = static_cast<std::uint32_t>(b >> 32) ^ c1[i] ^ k0;
        c2[i] = static_cast<std::uint32_t>(a >> 32) ^ c3[i] ^ k1;
        c1[i] = static_cast<std::uint32_t>(b);
        c3[i] = static_cast<std::uint32_t>(a);
      }
      k0 += 0x9E3779B9u;
      k1 += 0xBB67AE85u;
    }
    _Pragma("omp simd") for (std::size_t i = 0; i < lanes; ++i) {
      words[4 * i] = c0[i];
      words[4 * i + 1] = c1[i];
      words[4 * i + 2] = c2[i];
      words[4 * i + 3] = c3[i];
    }
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
