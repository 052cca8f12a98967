#include "formats/heddle/weight_type.hpp"

#include <algorithm>
#include <cmath>
#include <span>

#include "libcore/tensor/half.hpp"
#include "libcore/tensor/threads.hpp"

namespace heddle::formats {

namespace {

// Rounds a row and returns its scale.
Real quantise_row(std::span<const Real> row, std::int8_t* numbers) {
  Real largest = 0;
  for (const Real x : row) largest = std::max(largest, std::abs(x));
  const Real scale = largest / 127;
  // Divides, because the reciprocal of a tiny scale can be infinite, and clamps, because a tiny scale is itself
  // rounded.
  std::transform(row.begin(), row.end(), numbers, [scale](Real x) {
    return static_cast<std::int8_t>(scale > 0 ? std::clamp<Real>(std::nearbyint(x / scale), -127, 127) : Real(0));
  });
  return scale;
}

Tensor rounded_to_half(const Tensor& matrix) {
  const Tensor rounded(matrix.shape());
  parallel_ranges(matrix.size(), 1 << 16, [&](Index begin, Index end) {
    for (Index i = begin; i < end; ++i) rounded[i] = from_half(to_half(matrix[i]));
  });
  return rounded;
}

Tensor quantise(const Tensor& matrix) {
  const Index rows = matrix.shape()[0], columns = matrix.shape()[1];
  const Tensor numbers(matrix.shape(), DType::int8), scales({rows});
  parallel_for(rows, [&](Index row) {
    scales[row] = quantise_row({matrix.data() + row * columns, static_cast<std::size_t>(columns)},
                               numbers.data<std::int8_t>() + row * columns);
  });
  return Tensor::quantised(numbers, scales);
}

}  // namespace

Tensor convert(const Tensor& tensor, WeightType type) {
  if (type == WeightType::keep || tensor.rank() != 2) return tensor;
  if (type == WeightType::f32) return tensor.as(DType::real);
  if (type == WeightType::f16) return rounded_to_half(tensor.as(DType::real));
  if (type == WeightType::bf16) return tensor.as(DType::bfloat16);
  return tensor.dtype() == DType::int8 ? tensor : quantise(tensor.as(DType::real));
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
