// The dtype of stored matrices. Vectors (norms, biases) are always float32: they are small and sensitive to rounding.
#pragma once

#include <span>

#include "libcore/base/visit.hpp"
#include "libcore/tensor/tensor.hpp"

namespace heddle::formats {

enum class WeightType {
  keep,
  f32,
  f16,  // only in Hugging Face's directories
  bf16,
  int8,  // only in heddle's files, like the following ones
  q8,
  q4
};

}  // namespace heddle::formats

template <>
struct heddle::Names<heddle::formats::WeightType> {
  static constexpr std::pair<formats::WeightType, std::string_view> list[] = {
      {formats::WeightType::keep, "keep"}, {formats::WeightType::f32, "f32"},   {formats::WeightType::f16, "f16"},
      {formats::WeightType::bf16, "bf16"}, {formats::WeightType::int8, "int8"}, {formats::WeightType::q8, "q8"},
      {formats::WeightType::q4, "q4"}};
};

namespace heddle::formats {

// The tensor as a file with such weights stores it; itself where nothing changes.
//   f16: Reals, rounded to nearest, ties to even, as half precision; infinite where they are too large for it.
//   bf16: rounded to nearest, ties to even; off by at most 2^-8 of each number (but for subnormal ones).
//   int8: w[i, j] = scale[i] q[i, j] with scale[i] = max_j |w[i, j]| / 127; off by at most scale[i] / 2.
//   q8, q4: blocks of 32 numbers of 8 or 4 bits (storage_format.hpp); not finite where a scale is too large for half
//   precision.
// The numbers must be finite.
// importance: of the columns, or none, where a q4 matrix is to be rounded as storage_format.hpp says.
Tensor convert(const Tensor& tensor, WeightType type, std::span<const Real> importance = {});

// |converted - original| / |original|, in the norm over all elements; 0 when both are zero.
double rounding_error(const Tensor& original, const Tensor& converted);

}  // namespace heddle::formats
