#include "heddle/tensor/precision.hpp"

#include "heddle/base/error.hpp"
#include "heddle/tensor/micro_kernel.hpp"

namespace heddle {

namespace {
Precision current = Precision::f32;
}

void set_precision(Precision precision) {
  check<UsageError>(precision == Precision::f32 || bf16_is_supported(),
                    "this processor has no bf16 arithmetic (AMX or AVX-512 BF16); use --precision f32");
  current = precision;
}

Precision precision() { return current; }

bool bf16_is_supported() { return bfloat16_kernel() != nullptr; }

std::string_view f32_unit() { return float_kernel() != nullptr ? "AVX-512" : "BLAS"; }

std::string_view bf16_unit() {
  if (bfloat16_kernel(BFloat16Unit::matrix) != nullptr) return "AMX";
  return bf16_is_supported() ? "AVX-512 BF16" : "none";
}

}  // namespace heddle
