// Stores results of kernels.
#pragma once

#include "libcore/tensor/dtype.hpp"

namespace heddle {

// y = alpha x + beta y over `count` neighbours; beta = 0 never reads y.
void store_run(const Real* x, Real alpha, Real beta, Real* y, Index count);
void store_run(const Real* x, Real alpha, Real beta, BFloat16* y, Index count);

}  // namespace heddle
