// The number type of tensors: float in the library for users, double in the build in which tests check gradients. Sums
// that matter are accumulated in double in both.
#pragma once

#include <cstdint>

namespace heddle {

#ifdef HEDDLE_REAL_IS_DOUBLE
using Real = double;
#else
using Real = float;
#endif

// Sizes, positions and counts; signed, so that differences are safe.
using Index = std::int64_t;

// A token id, 0-based.
using TokenId = std::int32_t;

}  // namespace heddle
