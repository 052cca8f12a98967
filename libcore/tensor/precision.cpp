#include "libcore/tensor/precision.hpp"

#include "libcore/base/error.hpp"
#include "libcore/tensor/micro_kernel.hpp"

namespace heddle {

Precision chosen(PrecisionChoice choice) {
  check<UsageError>(choice != PrecisionChoice::automatic,
                    "precision auto: measure which is faster first, then choose f32 or bf16");
  return choice == PrecisionChoice::bf16 ? Precision::bf16 : Precision::f32;
}

bool bf16_is_supported() {
  return bfloat16_kernel() != nullptr;
}

std::string_view f32_unit() {
  if (float_kernel() == nullptr) return "BLAS";
  return float_kernel() == avx512_kernel() ? "AVX-512" : "AVX2";
}

std::string_view bf16_unit() {
  if (bfloat16_kernel(BFloat16Unit::matrix) != nullptr) return "AMX";
  return bf16_is_supported() ? "AVX-512 BF16" : "none";
}

}  // namespace heddle
