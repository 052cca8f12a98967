#include "libcore/tensor/store_run.hpp"

#include "libcore/tensor/kernel.hpp"

namespace heddle {

HEDDLE_KERNEL void store_run(const Real* x, Real alpha, Real beta, Real* y, Index count) {
  if (beta == 0) {
    for (Index i = 0; i < count; ++i) y[i] = alpha * x[i];
  } else {
    for (Index i = 0; i < count; ++i) y[i] = alpha * x[i] + beta * y[i];
  }
}

HEDDLE_KERNEL void store_run(const Real* x, Real alpha, Real beta, BFloat16* y, Index count) {
  if (beta == 0) {
    for (Index i = 0; i < count; ++i) store(y[i], alpha * x[i]);
  } else {
    for (Index i = 0; i < count; ++i) store(y[i], alpha * x[i] + beta * load(y[i]));
  }
}

}  // namespace heddle
