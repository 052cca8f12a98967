// Normalisation over the last dimension, one row at a time.
#pragma once

#include "libcore/autograd/tape.hpp"

namespace heddle::ops {

// y = gain (x - mean) / sqrt(variance + epsilon) + bias, with the biased variance over the row.
// Source: Ba et al. 2016, "Layer normalization".
// Shapes: x [..., width] with contiguous rows, gain [width], bias [width] or empty -> [..., width], contiguous, stored
// as `output`.  Throws ShapeError.
Variable layer_norm(const Variable& x, const Variable& gain, const Variable& bias, Real epsilon,
                    DType output = DType::real);

// y = gain x / sqrt(mean(x^2) + epsilon).  Source: Zhang and Sennrich 2019.  Shapes as above; x may be stored as
// bfloat16.
Variable rms_norm(const Variable& x, const Variable& gain, Real epsilon, DType output = DType::real);

}  // namespace heddle::ops
