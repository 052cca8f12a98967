// Samples that several tests of heddle_analysis use.
#pragma once

#include <cstdint>

#include "libcore/base/random.hpp"
#include "libcore/tensor/tensor.hpp"

namespace heddle::analysis {

inline Tensor random_tensor(const Shape& shape, std::uint64_t seed) {
  const Tensor tensor(shape);
  for (Index i = 0; i < tensor.size(); ++i) {
    tensor[i] = static_cast<Real>(RandomStream(seed, 1).normal(static_cast<std::uint64_t>(i)));
  }
  return tensor;
}

}  // namespace heddle::analysis
