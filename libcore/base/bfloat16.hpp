// Floats of 16 bits: the upper half of a float, with 8 bits of exponent and 7 of fraction.
#pragma once

#include <bit>
#include <cstdint>

namespace heddle {

struct BFloat16 {
  std::uint16_t bits;
};

[[gnu::always_inline]] inline float widened(BFloat16 x) {
  return std::bit_cast<float>(static_cast<std::uint32_t>(x.bits) << 16);
}

// To nearest, ties to even; NaN stays NaN.
[[gnu::always_inline]] inline BFloat16 rounded(float x) {
  const auto bits = std::bit_cast<std::uint32_t>(x);
  const std::uint32_t nearest = (bits + 0x7FFFu + ((bits >> 16) & 1u)) >> 16;
  return {static_cast<std::uint16_t>(x == x ? nearest : 0x7FC0u)};
}

}  // namespace heddle
