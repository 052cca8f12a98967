#pragma once

#include <numeric>
#include <span>

namespace heddle::analysis {

// The product of two vectors of the same length.
inline double dot(std::span<const double> a, std::span<const double> b) {
  return std::inner_product(a.begin(), a.end(), b.begin(), 0.0);
}

}  // namespace heddle::analysis
