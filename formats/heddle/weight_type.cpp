#include "formats/heddle/weight_type.hpp"

#include <cmath>

#include "libcore/tensor/half.hpp"
#include "libcore/tensor/storage_format.hpp"
#include "libcore/tensor/threads.hpp"

namespace heddle::formats {

namespace {

Tensor rounded_to_half(const Tensor& matrix) {
  const Tensor rounded(matrix.shape());
  parallel_ranges(matrix.size(), 1 << 16, [&](Index begin, Index end) {
    for (Index i = begin; i < end; ++i) rounded[i] = from_half(to_half(matrix[i]));
  });
  return rounded;
}

DType dtype_for(WeightType type) {
  switch (type) {
    case WeightType::bf16:
      return DType::bfloat16;
    case WeightType::int8:
      return DType::int8;
    case WeightType::q8:
      return DType::q8;
    case WeightType::q4:
      return DType::q4;
    default:
      return DType::real;
  }
}

}  // namespace

Tensor convert(const Tensor& tensor, WeightType type, std::span<const Real> importance) {
  if (type == WeightType::keep || tensor.rank() != 2) return tensor;
  if (type == WeightType::f16) return rounded_to_half(tensor.as(DType::real));
  const DType dtype = dtype_for(type);
  return tensor.dtype() == dtype ? tensor : packed(tensor.as(DType::real), dtype, importance);
}

double rounding_error(const Tensor& original, const Tensor& converted) {
  if (original.raw() == converted.raw()) return 0;
  const Tensor before = original.as(DType::real), after = converted.as(DType::real);
  double difference = 0, whole = 0;
  for (Index i = 0; i < before.size(); ++i) {
    difference += std::pow(static_cast<double>(after[i]) - before[i], 2);
    whole += std::pow(static_cast<double>(before[i]), 2);
  }
  return whole > 0 ? std::sqrt(difference / whole) : 0;
}

}  // namespace heddle::formats
