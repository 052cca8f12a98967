// Random features of one row, times a power of two that keeps them in range and, without division, the factor sqrt(m).
// Powers of two change no digits: a result in which they cancel has the same bits whatever they are. Inside random
// features and linear attention only.
#pragma once

#include <cstdint>

#include "libcore/ops/random_features.hpp"

namespace heddle::ops {

// The products of a row x with all vectors, u_r = w_r . (scale x), and h = |scale x|^2 / 2.
struct FeatureRow {
  Real* products;
  Real half_square;
  Index vectors;
};

// The power n for which the largest feature times 2^-n is at most 1, and above one half or so. 0 for relu.
std::int32_t feature_exponent(const FeatureOptions& options, const FeatureRow& row);

// features = phi(x) 2^-exponent
void compute_features(const FeatureOptions& options, const FeatureRow& row, std::int32_t exponent, Real* features);

// From the derivatives of these features to those of the products, in their place; returns the factor of scale^2 x in
// the derivative of x that comes from h.
Real features_backward(const FeatureOptions& options, const FeatureRow& row, std::int32_t exponent,
                       const Real* features, const Real* derivatives);

}  // namespace heddle::ops
