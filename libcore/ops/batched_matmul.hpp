// Products of many matrices.
#pragma once

#include "libcore/autograd/tape.hpp"

namespace heddle::ops {

struct BatchedMatmul {
  // The operand's matrices are transposed before they are multiplied.
  bool transpose_a = false, transpose_b = false;
  Real scale = 1;
  // Dtype of the result: activation_dtype() if it only feeds products.
  DType output = DType::real;
};

// y = scale a b for every matrix of the batch.
// Shapes: a [batch..., m, k], b [batch..., k, n] (before a transposition) -> [batch..., m, n], contiguous. The operands
// are Real or bfloat16, with contiguous rows or columns, and any other strides.
// Backward: da = scale dy b^T, db = scale a^T dy.  Throws ShapeError.
Variable batched_matmul(const Variable& a, const Variable& b, const BatchedMatmul& options = {});

}  // namespace heddle::ops
