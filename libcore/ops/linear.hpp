// The matrix product with weights, fused with operations on its result while that is in the cache.
#pragma once

#include <optional>

#include "libcore/ops/activation.hpp"
#include "libcore/ops/low_rank.hpp"

namespace heddle::ops {

struct LinearOptions {
  std::optional<Activation> activation{};
  Variable residual{};            // [..., out], Real
  std::optional<DType> output{};  // dtype of y; by default Real with a residual, else that of activations
  std::optional<LowRankTerm> low_rank{};
};

// y = f(x W^T + b + low-rank term) + residual; each of f, b, the term and residual may be left out.
// Shapes: x [..., in], weight [out, in], bias [out] -> [..., out].
// Backward: with g = dy f'(…): dx = g W, dW = g^T x, db = sum over rows of g (SPEC A1), and what low_rank.hpp says. x
// is kept only where the weight is trained.  Throws ShapeError. The weight may have any dtype; its
// gradient is Real.
Variable linear(const Variable& x, const Variable& weight, const Variable& bias = {},
                const LinearOptions& options = {});

}  // namespace heddle::ops
