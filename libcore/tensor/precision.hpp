// The precision of training and inference.
#pragma once

#include <string_view>

#include "libcore/base/visit.hpp"
#include "libcore/tensor/dtype.hpp"

namespace heddle {

enum class Precision {
  f32,   // everything in single precision
  bf16,  // products of bfloat16 with float sums; activations and their gradients kept as bfloat16 between operations
};
template <>
struct Names<Precision> {
  static constexpr std::pair<Precision, std::string_view> list[] = {{Precision::f32, "f32"}, {Precision::bf16, "bf16"}};
};

// The choice of the user: one of them, or the faster one on this machine.
enum class PrecisionChoice { f32, bf16, automatic };
template <>
struct Names<PrecisionChoice> {
  static constexpr std::pair<PrecisionChoice, std::string_view> list[] = {
      {PrecisionChoice::f32, "f32"}, {PrecisionChoice::bf16, "bf16"}, {PrecisionChoice::automatic, "auto"}};
};

// The chosen precision. Throws UsageError for automatic: measure which is faster first (limits.hpp).
Precision chosen(PrecisionChoice choice);

// The precision of the current context (context.hpp).
Precision precision();
// Whether the processor has the instructions that bf16 needs.
bool bf16_is_supported();

// Unit that multiplies: "AVX-512" for heddle's own kernels, "BLAS" elsewhere; "AMX", "AVX-512 BF16", or "none".
std::string_view f32_unit();
std::string_view bf16_unit();

// The dtype of results that only feed products.
inline DType activation_dtype() {
  return precision() == Precision::bf16 ? DType::bfloat16 : DType::real;
}

}  // namespace heddle
