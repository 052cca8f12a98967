// Products of many matrices.
#pragma once

#include "heddle/autograd/tape.hpp"

namespace heddle::ops {

struct BatchedMatmul {
  // The operand's matrices are transposed before they are multiplied.
  bool transpose_a = false, transpose_b = false;
  Real scale = 1;
  // What the result is stored as: activation_dtype() where it only feeds products.
  DType output = DType::real;
};

// y = scale a b for every matrix of the batch.
// Shapes: a [batch..., m, k], b [batch..., k, n] (before a transposition) -> [batch..., m, n], contiguous. The operands
// are Real or bfloat16, of any strides so long as the elements of each row, or those of each column, lie together.
// Backward: da = scale dy b^T, db = scale a^T dy.  Throws ShapeError.
Variable batched_matmul(const Variable& a, const Variable& b, const BatchedMatmul& options = {});

}  // namespace heddle::ops
