// Shapes of attention variants, compared with their kernels (SPEC 1.2, 1.7 to 1.9).
#include "libcore/analysis/kernel_shapes.hpp"

#include <doctest/doctest.h>

#include <cmath>
#include <memory>
#include <numbers>

using namespace heddle;
using namespace heddle::analysis;

namespace {

struct VariantAlone {
  VariantAlone(const std::string& text, Index width, Index heads = 1) : shape{heads, width} {
    variant = make_attention(text, {Scope(parameters, "layer"), Scope(parameters, "")}, shape);
  }
  Grid weights(const KernelProbe& probe) const { return relative_weights(*variant, shape, probe); }

  Parameters parameters{ParameterSource(3)};
  HeadShape shape;
  std::unique_ptr<Attention> variant;
};

const std::vector<double> displacements{-3, -1.5, -0.5, 0, 0.5, 1, 2.5};
const std::vector<double> angles{0, 0.3, 1, 2, std::numbers::pi};

double dot(const std::vector<double>& a, const std::vector<double>& b) {
  double sum = 0;
  for (std::size_t i = 0; i < a.size(); ++i) sum += a[i] * b[i];
  return sum;
}

}  // namespace

TEST_CASE("kernel shapes: every plane is of two directions of length 1 at a right angle") {
  for (const ProbeDirection direction : {ProbeDirection::axis, ProbeDirection::diagonal, ProbeDirection::random}) {
    const ProbePlane plane = probe_plane(direction, 6, 5);
    CHECK(dot(plane.first, plane.first) == doctest::Approx(1));
    CHECK(dot(plane.second, plane.second) == doctest::Approx(1));
    CHECK(std::abs(dot(plane.first, plane.second)) < 1e-12);
  }
  CHECK(probe_plane(ProbeDirection::random, 6, 5).first != probe_plane(ProbeDirection::random, 6, 6).first);
  CHECK_THROWS_AS(probe_plane(ProbeDirection::axis, 1, 0), UsageError);
  CHECK_THROWS_AS(probe_plane(ProbeDirection::diagonal, 3, 0), UsageError);
}

TEST_CASE("kernel shapes: dot products by displacement and angle") {
  const VariantAlone alone("dot", 4);
  for (const ProbeDirection direction : {ProbeDirection::axis, ProbeDirection::diagonal, ProbeDirection::random}) {
    const ProbePlane plane = probe_plane(direction, 4, 1);
    const Grid along = alone.weights(probe_along(plane, 1.5, displacements));
    for (std::size_t i = 0; i < displacements.size(); ++i) {
      CHECK(along.values[i] == doctest::Approx(std::exp(1.5 * displacements[i] / 2)).epsilon(1e-4));
    }
    const Grid around = alone.weights(probe_around(plane, 1.5, angles));
    for (std::size_t i = 0; i < angles.size(); ++i) {
      CHECK(around.values[i] == doctest::Approx(std::exp(2.25 * (std::cos(angles[i]) - 1) / 2)).epsilon(1e-4));
    }
  }
}

TEST_CASE("kernel shapes: the Gaussian kernel is exp(-distance^2 / (2 bandwidth)), at any query") {
  const VariantAlone alone("gaussian:bandwidth=0.7", 4);
  for (const double length : {0.0, 2.0}) {
    const ProbePlane plane = probe_plane(ProbeDirection::diagonal, 4, 1);
    const Grid along = alone.weights(probe_along(plane, length, displacements));
    for (std::size_t i = 0; i < displacements.size(); ++i) {
      const double squared = displacements[i] * displacements[i];
      CHECK(along.values[i] == doctest::Approx(std::exp(-squared / 1.4)).epsilon(1e-3));
    }
  }
  // Keys of one length: the same as a dot product at the bandwidth sqrt(width).
  const KernelProbe around = probe_around(probe_plane(ProbeDirection::random, 4, 1), 1.5, angles);
  const Grid gaussian = VariantAlone("gaussian", 4).weights(around), product = VariantAlone("dot", 4).weights(around);
  for (std::size_t i = 0; i < angles.size(); ++i) {
    CHECK(gaussian.values[i] == doctest::Approx(product.values[i]).epsilon(1e-4));
  }
}

TEST_CASE("kernel shapes: the Fourier kernel is sinc(R distance)^4 along a coordinate, with its zeros") {
  const VariantAlone alone("fourier", 4);  // R = 2
  const ProbePlane plane = probe_plane(ProbeDirection::axis, 4, 1);
  const Grid along = alone.weights(probe_along(plane, 1, displacements));
  for (std::size_t i = 0; i < displacements.size(); ++i) {
    const double u = 2 * displacements[i];
    CHECK(along.values[i] == doctest::Approx(u == 0 ? 1 : std::pow(std::sin(u) / u, 4)).epsilon(1e-4));
  }
  const double pi = std::numbers::pi;
  for (const double zero : alone.weights(probe_along(plane, 1, {pi / 2, pi, -3 * pi / 2})).values) CHECK(zero < 1e-20);
  // In a plane of two coordinates it is the product.
  const Grid over = alone.weights(probe_over(plane, 1, {-0.5, 0.25}));
  const auto sinc = [](double u) { return std::sin(u) / u; };
  CHECK(over.at(0, 3) == doctest::Approx(std::pow(sinc(2 * 0.75) * sinc(2 * 0.25), 4)).epsilon(1e-4));
  CHECK(over.at(0, 1) == doctest::Approx(std::pow(sinc(2 * 0.75) * sinc(2 * 0.5), 4)).epsilon(1e-4));
}

TEST_CASE("kernel shapes: additive, bilinear and basic attention") {
  const ProbePlane plane = probe_plane(ProbeDirection::axis, 2, 1);
  const VariantAlone additive("additive", 2, 3);
  const Tensor& v = additive.parameters.all().front().value();  // [heads, width]
  const Grid along = additive.weights(probe_along(plane, 1, displacements));
  for (Index h = 0; h < 3; ++h) {
    for (std::size_t i = 0; i < displacements.size(); ++i) {
      const double score = static_cast<double>(v[h * 2]) * (std::tanh(2 + displacements[i]) - std::tanh(2.0));
      CHECK(along.at(h, static_cast<Index>(i)) == doctest::Approx(std::exp(score)).epsilon(1e-4));
    }
  }
  const KernelProbe around = probe_around(plane, 1.5, angles);
  const Grid product = VariantAlone("dot:scale=1", 2).weights(around), basic = VariantAlone("basic", 2).weights(around),
             bilinear = VariantAlone("bilinear:scale=1", 2).weights(around);  // starts as the identity
  for (std::size_t i = 0; i < angles.size(); ++i) {
    CHECK(basic.values[i] == doctest::Approx(product.values[i]).epsilon(1e-5));
    CHECK(bilinear.values[i] == doctest::Approx(product.values[i]).epsilon(1e-5));
  }
}

TEST_CASE("kernel shapes: the error of random features falls as 1 / sqrt(m) where vectors are short") {
  const VariantAlone exact("dot", 16);
  const auto error = [&](Index features) {
    const VariantAlone estimate(with_setting("performer", "features", features), 16);
    return estimate_error(*estimate.variant, *exact.variant, estimate.shape, 1, 64, 1);
  };
  const double few = error(64), many = error(1024);
  const double exponent = std::log(many / few) / std::log(16.0);
  CHECK(exponent > -0.62);
  CHECK(exponent < -0.38);
  CHECK(estimate_error(*exact.variant, *exact.variant, exact.shape, 1, 4, 1) == 0);
}

TEST_CASE("kernel shapes: settings of a variant's text") {
  CHECK(with_setting("performer", "features", 16) == "performer:features=16");
  CHECK(with_setting("performer:features=2,kernel=hyperbolic", "features", 16) ==
        "performer:kernel=hyperbolic,features=16");
  CHECK(with_setting("performer:seed=3", "features", 16) == "performer:seed=3,features=16");
}

TEST_CASE("kernel shapes: weights by offset are e^bias for a softmax, and refused where positions are not taken") {
  Parameters parameters{ParameterSource(3)};
  const auto scheme = make_positions("alibi", Scope(parameters, ""), {std::nullopt, 16, 2, 8, 0.5, true});
  const auto layer = scheme->for_layer(Scope(parameters, "0"));
  const PositionsInLayer in{scheme.get(), layer.get(), 16, HeadShape{2, 8}, true};
  const VariantAlone product("dot", 8, 2), performer("performer", 8, 2);
  const OffsetWeights weights = weights_by_offset(*product.variant, "dot", in, 9);
  CHECK(weights.first == -8);
  for (Index h = 0; h < 2; ++h) {
    for (Index offset = -8; offset <= 0; ++offset) {
      const double bias = std::exp2(-4.0 * static_cast<double>(h + 1)) * static_cast<double>(offset);
      CHECK(weights.heads.at(h, offset + 8) == doctest::Approx(std::exp(bias)).epsilon(1e-4));
    }
  }
  CHECK_THROWS_WITH_AS(weights_by_offset(*performer.variant, "performer", in, 9),
                       "performer computes no scores to which the bias of these positions could be added", UsageError);
}

TEST_CASE("kernel shapes: every variant has finite weights, 1 for the query itself") {
  for (const AttentionVariant& variant : attention_variants()) {
    CAPTURE(variant.name);
    const VariantAlone alone(variant.name, 8, 2);
    const ProbePlane plane = probe_plane(ProbeDirection::diagonal, 8, 1);
    for (const KernelProbe& probe :
         {probe_along(plane, 1.5, displacements), probe_around(plane, 1.5, angles), probe_over(plane, 1.5, {0, 1.5})}) {
      for (const double weight : alone.weights(probe).values) CHECK(std::isfinite(weight));
    }
    CHECK(alone.weights(probe_along(plane, 1.5, {0})).at(1, 0) == doctest::Approx(1).epsilon(1e-5));
    if (const auto estimate = alone.variant->estimate()) {
      CHECK_NOTHROW(VariantAlone(estimate->of, 8));
      CHECK_NOTHROW(VariantAlone(with_setting(variant.name, estimate->setting, 4), 8));
    }
  }
}
