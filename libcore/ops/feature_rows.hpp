// Random features of one row, times a power of two that keeps them in range and, without division, the factor sqrt(m).
// Powers of two change no digits: a result in which they cancel has the same bits whatever they are. Inside random
// features and linear attention only.
#pragma once

#include <cstdint>

#include "libcore/ops/random_features.hpp"

namespace heddle::ops {

// The products of a row x with all vectors, u_r = w_r . (scale x), and h = |scale x|^2 / 2; of a query what
// query_shift() gives in place of h.
struct FeatureRow {
  Real* products;
  Real half_square;
  Index vectors;
};

// Whether attention depends on the ratios of a query's features alone, so that any of its rows may have a factor of its
// own: without an epsilon.
bool queries_cancel(const FeatureOptions& options);

// Shift subtracted in the exponents of a query's features: if its factor cancels, the largest of them, so that features
// are in range however long the query is (SPEC 1.9); else h.
Real query_shift(const FeatureOptions& options, const FeatureRow& row);

// The power n for which the largest feature times 2^-n is at most 1, and above one half or so. 0 for relu.
std::int32_t feature_exponent(const FeatureOptions& options, const FeatureRow& row);

// features = phi(x) 2^-exponent
void compute_features(const FeatureOptions& options, const FeatureRow& row, std::int32_t exponent, Real* features);

// From the derivatives of these features to those of the products, in their place; returns the factor of scale^2 x in
// the derivative of x that comes from h.
Real features_backward(const FeatureOptions& options, const FeatureRow& row, std::int32_t exponent,
                       const Real* features, const Real* derivatives);

}  // namespace heddle::ops
