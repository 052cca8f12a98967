// From any result to one number, so that it can be differentiated. The weights are all different: a plain sum would
// hide errors in operations whose gradients cancel, as those of softmax and of norms do.
#pragma once

#include "libcore/autograd/tape.hpp"
#include "support/tensors.hpp"

namespace heddle::testing {

// Fixed random numbers from -0.5 to 1.5.
inline Tensor sum_weights(const Shape& shape) {
  Tensor weights(shape);
  const RandomStream stream(7, random_site("weighted sum"));
  for (Index i = 0; i < weights.size(); ++i) {
    weights[i] = static_cast<Real>(2 * stream.uniform(static_cast<std::uint64_t>(i)) - 0.5);
  }
  return weights;
}

// sum over i of weights_i y_i.  Shapes: y and weights alike, any strides -> [1].
inline Variable weighted_sum(const Variable& y, const Tensor& weights) {
  const std::vector<double> terms = doubles(y.value()), factors = doubles(weights);
  double sum = 0;
  for (std::size_t i = 0; i < terms.size(); ++i) sum += factors[i] * terms[i];
  return record(Tensor({1}, static_cast<Real>(sum)), {y}, [weights, gradient = y.gradient()](const Tensor& dy) {
    const Tensor contribution = weights.copy();
    contribution.scale(dy[0]);
    gradient->contribute(contribution);
  });
}

inline Variable weighted_sum(const Variable& y) {
  return weighted_sum(y, sum_weights(y.shape()));
}

}  // namespace heddle::testing
