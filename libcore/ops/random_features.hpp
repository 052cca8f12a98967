// Random features: vectors phi(x) whose dot products estimate a kernel, so that attention needs no pairs.
#pragma once

#include "libcore/base/random.hpp"
#include "libcore/base/visit.hpp"
#include "libcore/tensor/tensor.hpp"

namespace heddle {

// Features that estimate e^(x . y), with vectors w_r from N(0, I), h = |x|^2 / 2 and m vectors:
//   positive       e^(w_r . x - h) / sqrt(m)
//   hyperbolic     [e^(w_r . x - h), e^(-w_r . x - h)] / sqrt(2 m)
//   trigonometric  [cos(w_r . x) e^h, sin(w_r . x) e^h] / sqrt(m): estimates can be negative
// and another kernel:
//   relu           max(0, w_r . x) / sqrt(m)
// Source: Choromanski et al. 2021, "Rethinking attention with Performers", lemma 1 and section 2.2; Rahimi and Recht
// 2007 for trigonometric ones.
enum class FeatureKernel { positive, hyperbolic, trigonometric, relu };
template <>
struct Names<FeatureKernel> {
  static constexpr std::pair<FeatureKernel, std::string_view> list[] = {{FeatureKernel::positive, "positive"},
                                                                        {FeatureKernel::hyperbolic, "hyperbolic"},
                                                                        {FeatureKernel::trigonometric, "trigonometric"},
                                                                        {FeatureKernel::relu, "relu"}};
};

namespace ops {

struct FeatureOptions {
  FeatureKernel kernel = FeatureKernel::positive;
  Real scale = 1;    // applied to x first
  Real epsilon = 0;  // added to every feature, before the division by sqrt(m)
};

// How many features `vectors` vectors give.
Index feature_count(FeatureKernel kernel, Index vectors);

// Vectors from N(0, I), each a function of the stream and its number: [count, width]. Orthogonal ones are orthogonal in
// blocks of `width`, with the lengths of independent vectors, which lowers the error of estimates.
// Source: Choromanski et al. 2021, section 2.4.
enum class Directions { independent, orthogonal };
Tensor random_vectors(const RandomStream& stream, Index count, Index width, Directions directions);

// phi(x), never recorded. Shapes: x [..., width], contiguous Reals, vectors [m, width] -> [..., feature_count()].
// Throws ShapeError.
Tensor random_features(const Tensor& x, const Tensor& vectors, const FeatureOptions& options);

}  // namespace ops
}  // namespace heddle
