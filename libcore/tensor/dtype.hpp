// The data types of stored tensors. Computation uses Reals; the others save memory and bandwidth.
#pragma once

#include <bit>
#include <cstddef>
#include <cstdint>
#include <string_view>

#include "libcore/base/real.hpp"
#include "libcore/tensor/kernel.hpp"

namespace heddle {

enum class DType : std::uint8_t {
  real,      // float, or double in the libraries that check gradients
  bfloat16,  // the upper half of a float: 8 bits of exponent, 7 of fraction
  int8,      // a row's elements are its numbers times the row's scale; weights only
};

struct BFloat16 {
  std::uint16_t bits;
};

constexpr std::size_t bytes_of(DType dtype) {
  return dtype == DType::real ? sizeof(Real) : dtype == DType::bfloat16 ? 2 : 1;
}

constexpr std::string_view name_of(DType dtype) {
  return dtype == DType::int8       ? "int8"
         : dtype == DType::bfloat16 ? "bfloat16"
         : sizeof(Real) == 4        ? "float32"
                                    : "float64";
}

template <class T>
inline constexpr DType dtype_of = DType::real;
template <>
inline constexpr DType dtype_of<BFloat16> = DType::bfloat16;
template <>
inline constexpr DType dtype_of<std::int8_t> = DType::int8;

// load() and store() let one loop serve every type. Rounding is to nearest, ties to even; NaN stays NaN.
HEDDLE_INLINE Real load(Real x) {
  return x;
}
HEDDLE_INLINE Real load(BFloat16 x) {
  return static_cast<Real>(std::bit_cast<float>(static_cast<std::uint32_t>(x.bits) << 16));
}
HEDDLE_INLINE void store(Real& to, Real x) {
  to = x;
}
HEDDLE_INLINE void store(BFloat16& to, Real x) {
  const auto narrow = static_cast<float>(x);
  const auto bits = std::bit_cast<std::uint32_t>(narrow);
  const std::uint32_t rounded = (bits + 0x7FFFu + ((bits >> 16) & 1u)) >> 16;
  to.bits = static_cast<std::uint16_t>(narrow == narrow ? rounded : 0x7FC0u);
}

}  // namespace heddle
