#include "libcore/ops/random_features.hpp"

#include <algorithm>
#include <cmath>
#include <vector>

#include "libcore/ops/feature_rows.hpp"
#include "libcore/tensor/exponentials.hpp"
#include "libcore/tensor/kernel.hpp"
#include "libcore/tensor/math.hpp"
#include "libcore/tensor/matmul.hpp"
#include "libcore/tensor/profile.hpp"
#include "libcore/tensor/threads.hpp"

namespace heddle::ops {

namespace {

// y_r = e^(sign x_r - h) 2^-exponent + epsilon
HEDDLE_KERNEL void exponentials(const Real* x, Real sign, Real h, std::int32_t exponent, Real epsilon, Real* y,
                                Index count) {
  HEDDLE_SIMD
  for (Index r = 0; r < count; ++r) y[r] = math::exp_scaled(sign * x[r] - h, exponent) + epsilon;
}

HEDDLE_KERNEL void rectify(const Real* x, Real epsilon, Real* y, Index count) {
  HEDDLE_SIMD
  for (Index r = 0; r < count; ++r) y[r] = (x[r] > 0 ? x[r] : Real(0)) + epsilon;
}

// x_r = d_r (y_r - epsilon), times -1 for the second half of a pair, added to what is there; returns the sum without
// the sign.
HEDDLE_KERNEL Real exponentials_backward(const Real* y, const Real* d, Real sign, Real epsilon, bool add, Real* x,
                                         Index count) {
  Real sum = 0;
  HEDDLE_SIMD_SUM(sum)
  for (Index r = 0; r < count; ++r) {
    const Real term = d[r] * (y[r] - epsilon);
    x[r] = (add ? x[r] : Real(0)) + sign * term;
    sum += term;
  }
  return sum;
}

HEDDLE_KERNEL void rectify_backward(const Real* d, Real* x, Index count) {
  HEDDLE_SIMD
  for (Index r = 0; r < count; ++r) x[r] = x[r] > 0 ? d[r] : Real(0);
}

HEDDLE_KERNEL Real largest_size(const Real* x, Index count) {
  Real largest = 0;
  HEDDLE_SIMD_MAX(largest)
  for (Index r = 0; r < count; ++r) largest = std::max(largest, x[r] < 0 ? -x[r] : x[r]);
  return largest;
}

Real epsilon_of(const FeatureOptions& options, std::int32_t exponent) {
  return std::ldexp(options.epsilon, -exponent);
}

// Rows of a square matrix become orthonormal, one after the other (Gram and Schmidt, twice for the digits).
void orthonormalise(std::vector<double>& rows, Index width) {
  const auto row = [&](Index i) { return rows.data() + i * width; };
  const auto product = [&](Index i, Index j) {
    double sum = 0;
    for (Index c = 0; c < width; ++c) sum += row(i)[c] * row(j)[c];
    return sum;
  };
  for (Index i = 0; i < width; ++i) {
    for (int round = 0; round < 2; ++round) {
      for (Index j = 0; j < i; ++j) {
        const double along = product(i, j);
        for (Index c = 0; c < width; ++c) row(i)[c] -= along * row(j)[c];
      }
    }
    const double length = std::sqrt(product(i, i));
    for (Index c = 0; c < width; ++c) row(i)[c] /= length;
  }
}

// One block of orthogonal vectors, of which the first `count` are wanted.
void draw_block(const RandomStream& stream, Index block, Index width, Index count, Real* to) {
  const auto size = static_cast<std::uint64_t>(width * width), first = 2 * static_cast<std::uint64_t>(block) * size;
  std::vector<double> rows;
  for (std::uint64_t i = 0; i < size; ++i) rows.push_back(stream.normal(first + i));
  orthonormalise(rows, width);
  for (Index i = 0; i < count; ++i) {
    double squares = 0;
    for (Index c = 0; c < width; ++c) {
      squares += std::pow(stream.normal(first + size + static_cast<std::uint64_t>(i * width + c)), 2);
    }
    for (Index c = 0; c < width; ++c) {
      const double value = std::sqrt(squares) * rows[static_cast<std::size_t>(i * width + c)];
      to[i * width + c] = static_cast<Real>(value);
    }
  }
}

}  // namespace

Index feature_count(FeatureKernel kernel, Index vectors) {
  return kernel == FeatureKernel::hyperbolic || kernel == FeatureKernel::trigonometric ? 2 * vectors : vectors;
}

Tensor random_vectors(const RandomStream& stream, Index count, Index width, Directions directions) {
  const Tensor vectors({count, width});
  if (directions == Directions::independent) {
    parallel_for(count, [&](Index row) {
      for (Index i = row * width; i < (row + 1) * width; ++i) {
        vectors[i] = static_cast<Real>(stream.normal(static_cast<std::uint64_t>(i)));
      }
    });
    return vectors;
  }
  parallel_for((count + width - 1) / width, [&](Index block) {
    draw_block(stream, block, width, std::min(width, count - block * width), vectors.data() + block * width * width);
  });
  return vectors;
}

bool queries_cancel(const FeatureOptions& options) {
  return options.epsilon == 0 && options.kernel != FeatureKernel::relu;
}

Real query_shift(const FeatureOptions& options, const FeatureRow& row) {
  if (!queries_cancel(options)) return row.half_square;
  switch (options.kernel) {
    case FeatureKernel::positive:
      return maximum_of(row.products, row.vectors);
    case FeatureKernel::hyperbolic:
      return largest_size(row.products, row.vectors);
    default:
      return 0;
  }
}

std::int32_t feature_exponent(const FeatureOptions& options, const FeatureRow& row) {
  double largest = 0;
  switch (options.kernel) {
    case FeatureKernel::positive:
      largest = static_cast<double>(maximum_of(row.products, row.vectors) - row.half_square);
      break;
    case FeatureKernel::hyperbolic:
      largest = static_cast<double>(largest_size(row.products, row.vectors) - row.half_square);
      break;
    case FeatureKernel::trigonometric:
      largest = static_cast<double>(row.half_square);
      break;
    case FeatureKernel::relu:
      return 0;
  }
  if (options.epsilon > 0) largest = std::max(largest, std::log(static_cast<double>(options.epsilon)));
  constexpr double log2_e = 1.4426950408889634, most = 1e6;
  const double exponent = std::ceil(largest * log2_e);
  return std::isnan(exponent) ? 0 : static_cast<std::int32_t>(std::clamp(exponent, -most, most));
}

void compute_features(const FeatureOptions& options, const FeatureRow& row, std::int32_t exponent, Real* features) {
  const Real epsilon = epsilon_of(options, exponent), h = row.half_square;
  const Real* const u = row.products;
  const Index count = row.vectors;
  switch (options.kernel) {
    case FeatureKernel::positive:
      return exponentials(u, 1, h, exponent, epsilon, features, count);
    case FeatureKernel::hyperbolic:
      exponentials(u, 1, h, exponent, epsilon, features, count);
      return exponentials(u, -1, h, exponent, epsilon, features + count, count);
    case FeatureKernel::trigonometric: {
      const Real factor = math::exp_scaled(h, exponent);
      for (Index r = 0; r < count; ++r) {
        features[r] = factor * std::cos(u[r]) + epsilon;
        features[count + r] = factor * std::sin(u[r]) + epsilon;
      }
      return;
    }
    case FeatureKernel::relu:
      return rectify(u, epsilon, features, count);
  }
}

Real features_backward(const FeatureOptions& options, const FeatureRow& row, std::int32_t exponent,
                       const Real* features, const Real* derivatives) {
  const Real epsilon = epsilon_of(options, exponent);
  Real* const u = row.products;
  const Index count = row.vectors;
  switch (options.kernel) {
    case FeatureKernel::positive:
      return -exponentials_backward(features, derivatives, 1, epsilon, false, u, count);
    case FeatureKernel::hyperbolic: {
      const Real plus = exponentials_backward(features, derivatives, 1, epsilon, false, u, count);
      return -plus - exponentials_backward(features + count, derivatives + count, -1, epsilon, true, u, count);
    }
    case FeatureKernel::trigonometric: {
      Real sum = 0;
      for (Index r = 0; r < count; ++r) {
        const Real cosine = features[r] - epsilon, sine = features[count + r] - epsilon;
        u[r] = derivatives[count + r] * cosine - derivatives[r] * sine;
        sum += derivatives[r] * cosine + derivatives[count + r] * sine;
      }
      return sum;
    }
    case FeatureKernel::relu:
      rectify_backward(derivatives, u, count);
      return 0;
  }
  return 0;
}

Tensor random_features(const Tensor& x, const Tensor& vectors, const FeatureOptions& options) {
  const Section section("random features");
  const Index width = vectors.shape()[1], count = vectors.shape()[0], features = feature_count(options.kernel, count);
  check<ShapeError>(x.is_contiguous() && x.shape()[-1] == width, "random_features: x of shape ", x.shape(),
                    " and vectors of shape ", vectors.shape());
  Shape shape = x.shape();
  shape.set(-1, features);
  const Tensor y(shape), products({x.size() / std::max<Index>(1, width), count});
  matmul(matrix(x), transpose(vectors), target(products), options.scale);
  parallel_for(products.shape()[0], [&](Index row) {
    Real squares = 0;
    for (Index c = 0; c < width; ++c) squares += x[row * width + c] * x[row * width + c];
    const FeatureRow from{products.data() + row * count, options.scale * options.scale * squares / 2, count};
    Real* const to = y.data() + row * features;
    compute_features(options, from, 0, to);
    const bool pairs = options.kernel == FeatureKernel::hyperbolic;
    const Real factor = 1 / std::sqrt(static_cast<Real>(pairs ? 2 * count : count));
    for (Index r = 0; r < features; ++r) to[r] *= factor;
  });
  return y;
}

}  // namespace heddle::ops
