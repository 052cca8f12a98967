#include "libcore/tensor/micro_kernel.hpp"

namespace heddle {

const MicroKernel* float_kernel() {
  static const MicroKernel* const best = avx512_kernel() != nullptr ? avx512_kernel() : avx2_kernel();
  return best;
}

}  // namespace heddle
