#include "libcore/analysis/weight_levels.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

#include "libcore/tensor/kernel.hpp"

namespace heddle::analysis {

namespace {

constexpr Real largest_finite = std::numeric_limits<Real>::max();

HEDDLE_KERNEL int count_not_finite(const Real* weights, Index count) {
  int found = 0;
  HEDDLE_SIMD_SUM(found)
  for (Index i = 0; i < count; ++i) found += std::abs(weights[i]) <= largest_finite ? 0 : 1;
  return found;
}

HEDDLE_KERNEL int count_others_than_zero(const Real* weights, Index count) {
  int found = 0;
  HEDDLE_SIMD_SUM(found)
  for (Index i = 0; i < count; ++i) found += weights[i] == 0 ? 0 : 1;
  return found;
}

// Whether the sum of all counts is 0.
bool are_none(int (*count)(const Real*, Index), std::span<const Real> weights) {
  constexpr std::size_t block = 1 << 16;  // a sum of it fits an int
  for (std::size_t at = 0; at < weights.size(); at += block) {
    const std::span<const Real> part = weights.subspan(at, std::min(block, weights.size() - at));
    if (count(part.data(), std::ssize(part)) > 0) return false;
  }
  return true;
}

// In double, 255 times a float is exact, so that halves are rounded up as by lround().
template <class T>
HEDDLE_INLINE void store_levels(const Real* weights, Index count, T unit, T* levels) {
  HEDDLE_SIMD
  for (Index i = 0; i < count; ++i) {
    const Real finite = weights[i] > 0 && weights[i] <= largest_finite ? weights[i] : 0;
    const auto level = static_cast<std::int32_t>(255 * static_cast<double>(std::min(finite, Real(1))) + 0.5);
    levels[i] = static_cast<T>(static_cast<T>(level) * unit);
  }
}
HEDDLE_KERNEL void store_bytes(const Real* weights, Index count, std::uint8_t* levels) {
  store_levels<std::uint8_t>(weights, count, 1, levels);
}
HEDDLE_KERNEL void store_greys(const Real* weights, Index count, std::uint32_t* greys) {
  store_levels<std::uint32_t>(weights, count, 0x010101, greys);
}

}  // namespace

bool are_zero(std::span<const Real> weights) {
  return are_none(count_others_than_zero, weights);
}

bool are_finite(std::span<const Real> weights) {
  return are_none(count_not_finite, weights);
}

void weight_levels(std::span<const Real> weights, std::uint8_t* levels) {
  store_bytes(weights.data(), std::ssize(weights), levels);
}

void weight_greys(std::span<const Real> weights, std::uint32_t* greys) {
  store_greys(weights.data(), std::ssize(weights), greys);
}

}  // namespace heddle::analysis
