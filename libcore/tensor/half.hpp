// IEEE 754's binary16: 5 bits of exponent, 10 of fraction. Scales of blocks have it, and files of other programs.
#pragma once

#include <bit>
#include <cstdint>

namespace heddle {

// Exact: every half is a float.
constexpr float from_half(std::uint16_t half) {
  const std::uint32_t sign = (half & 0x8000u) << 16, magnitude = half & 0x7FFFu;
  // Subnormal ones are whole multiples of 2^-24; the others need another bias of the exponent, 127 instead of 15.
  const std::uint32_t bits = magnitude < 0x0400u
                                 ? std::bit_cast<std::uint32_t>(static_cast<float>(magnitude) * 0x1p-24f)
                             : magnitude < 0x7C00u ? (magnitude << 13) + ((127u - 15u) << 23)
                                                   : (magnitude << 13) + ((255u - 31u) << 23);
  return std::bit_cast<float>(sign | bits);
}

// Rounded to nearest, ties to even; infinite from 65520 on; NaN stays NaN.
constexpr std::uint16_t to_half(float number) {
  const auto bits = std::bit_cast<std::uint32_t>(number);
  const std::uint32_t sign = (bits >> 16) & 0x8000u, magnitude = bits & 0x7FFFFFFFu;
  if (magnitude > 0x7F800000u) return static_cast<std::uint16_t>(sign | 0x7E00u);
  if (magnitude >= 0x477FF000u) return static_cast<std::uint16_t>(sign | 0x7C00u);
  if (magnitude < 0x38800000u) {
    // Adding 0.5, whose last bit is 2^-24, rounds to multiples of that.
    const float rounded = std::bit_cast<float>(magnitude) + 0.5f;
    return static_cast<std::uint16_t>(sign | (std::bit_cast<std::uint32_t>(rounded) - 0x3F000000u));
  }
  const std::uint32_t rebiased = magnitude - ((127u - 15u) << 23);
  return static_cast<std::uint16_t>(sign | ((rebiased + 0x0FFFu + ((rebiased >> 13) & 1u)) >> 13));
}

}  // namespace heddle
