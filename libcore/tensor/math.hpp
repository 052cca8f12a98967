// Elementary functions that the compiler can vectorise: no branches, no library calls in single precision.
// In double precision they are the library's, exact to the last bit or two.
#pragma once

#include <bit>
#include <cmath>
#include <cstdint>
#include <string>

#include "libcore/tensor/kernel.hpp"

namespace heddle::math {

namespace detail {

// x = whole ln 2 + rest.
struct Reduced {
  std::int32_t whole;
  float rest;
};
HEDDLE_INLINE Reduced reduce(float x) {
  const float scaled = x * 1.44269504f;
  // Adding and taking away 1.5 * 2^23 rounds to the nearest integer without a call.
  const float shifted = scaled + 12582912.0f;
  const float whole = shifted - 12582912.0f;
  return {std::bit_cast<std::int32_t>(shifted) - 0x4B400000, (x - whole * 0.693145752f) - whole * 1.42860677e-6f};
}

// e^rest, |rest| <= ln 2 / 2.
HEDDLE_INLINE float exp_of_rest(float rest) {
  float power = 1.98412698e-4f;
  power = power * rest + 1.38888889e-3f;
  power = power * rest + 8.33333333e-3f;
  power = power * rest + 4.16666667e-2f;
  power = power * rest + 1.66666667e-1f;
  power = power * rest + 0.5f;
  power = power * rest + 1.0f;
  return power * rest + 1.0f;
}

}  // namespace detail

// e^x; relative error below 2e-7; 0 below -87.3, largest finite above 88.3.
HEDDLE_INLINE float exp(float x) {
  const float clamped = x < -87.3f ? -87.3f : (x > 88.3f ? 88.3f : x);
  const detail::Reduced reduced = detail::reduce(clamped);
  const float result = detail::exp_of_rest(reduced.rest) * std::bit_cast<float>((reduced.whole + 127) << 23);
  return x < -87.3f ? 0.0f : result;
}
HEDDLE_INLINE double exp(double x) {
  return std::exp(x);
}

// e^x 2^-shift, with the same digits for every shift as long as it is neither too small nor too large: 0 and the
// largest power of two then.
HEDDLE_INLINE float exp_scaled(float x, std::int32_t shift) {
  const float clamped = x < -1e6f ? -1e6f : (x > 1e6f ? 1e6f : x);
  const detail::Reduced reduced = detail::reduce(clamped);
  const std::int32_t exponent = reduced.whole - shift, held = exponent > 127 ? 127 : exponent;
  const float result = detail::exp_of_rest(reduced.rest) * std::bit_cast<float>((held + 127) << 23);
  return exponent < -126 ? 0.0f : result;
}
HEDDLE_INLINE double exp_scaled(double x, std::int32_t shift) {
  const double whole = std::nearbyint(x * 1.4426950408889634);
  const double rest = (x - whole * 0.69314718036912382) - whole * 1.9082149292705877e-10;
  return std::ldexp(std::exp(rest), static_cast<int>(whole) - shift);
}

// tanh x; absolute error below 2e-7.
HEDDLE_INLINE float tanh(float x) {
  const float magnitude = x < 0 ? -x : x;
  const float e = exp(-2.0f * magnitude);
  const float far = (1.0f - e) / (1.0f + e);
  const float square = x * x;
  // The quotient loses digits near 0, where the series is short.
  const float near = magnitude * (1.0f + square * (-0.333333333f + square * (0.133333333f - square * 0.053968254f)));
  const float result = magnitude < 0.15f ? near : far;
  return x < 0 ? -result : result;
}
HEDDLE_INLINE double tanh(double x) {
  return std::tanh(x);
}

// erf x; absolute error below 3e-7. Source: Abramowitz and Stegun 1964, 7.1.26.
HEDDLE_INLINE float erf(float x) {
  const float magnitude = x < 0 ? -x : x;
  const float t = 1.0f / (1.0f + 0.3275911f * magnitude);
  const float polynomial =
      t * (0.254829592f + t * (-0.284496736f + t * (1.421413741f + t * (-1.453152027f + t * 1.061405429f))));
  const float result = 1.0f - polynomial * exp(-magnitude * magnitude);
  return x < 0 ? -result : result;
}
HEDDLE_INLINE double erf(double x) {
  return std::erf(x);
}

// 1 / (1 + e^-x)
template <class T>
HEDDLE_INLINE T sigmoid(T x) {
  return T(1) / (T(1) + exp(-x));
}

// The instruction set that kernels run with on this machine: "avx512", "avx2" or "baseline".
std::string instruction_set();

}  // namespace heddle::math
