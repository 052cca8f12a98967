// Small helpers on tensors that the tests of every folder share.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <type_traits>
#include <vector>

#include "libcore/base/random.hpp"
#include "libcore/tensor/tensor.hpp"

namespace heddle::testing {

// Tests are built for float and for double; a tolerance says what each must reach.
constexpr bool real_is_double = std::is_same_v<Real, double>;
constexpr double by_precision(double in_double, double in_float) {
  return real_is_double ? in_double : in_float;
}

// Independent normal numbers; equal arguments give equal tensors.
inline Tensor normal_tensor(const Shape& shape, std::uint64_t seed, double stddev = 1) {
  Tensor tensor(shape);
  const RandomStream stream(seed, random_site("test"));
  for (Index i = 0; i < tensor.size(); ++i) {
    tensor[i] = static_cast<Real>(stddev * stream.normal(static_cast<std::uint64_t>(i)));
  }
  return tensor;
}

inline std::vector<double> doubles(const Tensor& tensor) {
  const std::vector<Real> elements = tensor.elements();
  return {elements.begin(), elements.end()};
}

inline double largest(const Tensor& tensor) {
  double result = 0;
  for (const double x : doubles(tensor)) result = std::max(result, std::abs(x));
  return result;
}

// The largest |a - b| over the elements; infinite when the shapes differ or anything is not a number.
inline double difference(const Tensor& a, const Tensor& b) {
  if (!(a.shape() == b.shape())) return HUGE_VAL;
  const std::vector<double> x = doubles(a), y = doubles(b);
  double result = 0;
  for (std::size_t i = 0; i < x.size(); ++i) {
    const double here = std::abs(x[i] - y[i]);
    result = std::isnan(here) ? HUGE_VAL : std::max(result, here);
  }
  return result;
}

// The same as a part of the largest element of b; 0 when both are zero everywhere.
inline double relative_difference(const Tensor& a, const Tensor& b) {
  const double absolute = difference(a, b);
  return absolute == 0 ? 0 : absolute / largest(b);
}

// int8 with one scale per row, as files hold weights: x [rows, columns].
inline Tensor quantised(const Tensor& x) {
  const Tensor numbers(x.shape(), DType::int8), scales({x.shape()[0]});
  for (Index i = 0; i < x.shape()[0]; ++i) {
    scales[i] = static_cast<Real>(largest(x.narrowed(0, i, 1)) / 127);
    for (Index j = 0; j < x.shape()[1]; ++j) {
      const Index at = i * x.shape()[1] + j;
      numbers.data<std::int8_t>()[at] = static_cast<std::int8_t>(std::lround(x[at] / scales[i]));
    }
  }
  return Tensor::quantised(numbers, scales);
}

inline bool is_finite(const Tensor& tensor) {
  const std::vector<double> elements = doubles(tensor);
  return std::all_of(elements.begin(), elements.end(), [](double x) { return std::isfinite(x); });
}

}  // namespace heddle::testing
