// Associative memories of one size: sums of products of features and values, in which what is old fades.
// Source: Jain et al. 2023, "Mnemosyne: learning to train transformers with transformers", section 3 (SPEC 6.3).
#pragma once

#include "libcore/autograd/tape.hpp"

namespace heddle::ops {

// phi(x) = [e^(w_r . x - |x|^2 / 2), e^(-w_r . x - |x|^2 / 2)] / sqrt(2 m), the hyperbolic features of
// random_features.hpp, recorded. Shapes: x [rows, width], contiguous Reals, vectors [m, width] -> [rows, 2 m].  Throws
// ShapeError.
Variable hyperbolic_features(const Variable& x, const Tensor& vectors);

// M' = keep M + phi [v, 1]^T, row by row: the last column adds up the features alone.
// Shapes: memory [rows, features, width + 1], features [rows, features], values [rows, width], contiguous Reals ->
// [rows, features, width + 1].  Throws ShapeError.
Variable associate(const Variable& memory, const Variable& features, const Variable& values, Real keep);

// y_j = phi . M_j / phi . M_last: of features that are positive, a mean of the values; zeros, without a
// gradient, where phi . M_last is less than 1e-30. Shapes: as above -> [rows,
// width].  Throws ShapeError.
Variable recall(const Variable& memory, const Variable& features);

}  // namespace heddle::ops
