// FAVOR+ (SPEC 1.9): the errors of its estimates, prefix sums, and which random vectors it draws.
#include <doctest/doctest.h>

#include <cmath>

#include "identities.hpp"
#include "libcore/ops/linear_attention.hpp"
#include "libcore/tensor/matmul.hpp"
#include "support/footprint.hpp"

using namespace heddle;
using namespace heddle::testing;

namespace {

// A pair of vectors, and what the closed forms are made of.
struct Pair {
  Tensor x, y;                                              // [1, width]
  double kernel = 0, sum = 0, difference = 0, lengths = 0;  // e^(x . y), |x + y|^2, |x - y|^2, |x|^2 + |y|^2
};

Pair pair_of(Index width, double stddev) {
  Pair pair{normal_tensor({1, width}, 1, stddev), normal_tensor({1, width}, 2, stddev)};
  double product = 0;
  for (Index c = 0; c < width; ++c) {
    product += pair.x[c] * pair.y[c];
    pair.sum += std::pow(pair.x[c] + pair.y[c], 2);
    pair.difference += std::pow(pair.x[c] - pair.y[c], 2);
    pair.lengths += pair.x[c] * pair.x[c] + pair.y[c] * pair.y[c];
  }
  pair.kernel = std::exp(product);
  return pair;
}

// The mean square error of estimates of e^(x . y) by m vectors each, over so many estimates.
double mean_square_error(const Pair& pair, FeatureKernel kernel, Index m, ops::Directions directions, Index estimates) {
  const Index width = pair.x.shape()[1], vectors = m * estimates;
  // Orthogonal vectors come in blocks of the width, of which each estimate takes the first m.
  const Index drawn = directions == ops::Directions::orthogonal ? width * estimates : vectors;
  const RandomStream stream(5, random_site("features"));
  const Tensor all = ops::random_vectors(stream, drawn, width, directions);
  Tensor used({vectors, width});
  for (Index i = 0; i < estimates; ++i) {
    used.narrowed(0, i * m, m).assign(all.narrowed(0, i * (drawn / estimates), m));
  }
  const Tensor x = ops::random_features(pair.x, used, {.kernel = kernel});
  const Tensor y = ops::random_features(pair.y, used, {.kernel = kernel});
  double error = 0;
  for (Index i = 0; i < estimates; ++i) {
    double estimate = 0;
    for (Index r = i * m; r < (i + 1) * m; ++r) {
      estimate += x[r] * y[r];
      if (x.size() > vectors) estimate += x[vectors + r] * y[vectors + r];
    }
    // Features of all vectors are divided by their number.
    error += std::pow(estimate * static_cast<double>(estimates) - pair.kernel, 2);
  }
  return error / static_cast<double>(estimates);
}

}  // namespace

TEST_CASE("performer: the errors of kernel estimates are those of the closed forms (SPEC 1.9)") {
  const Pair pair = pair_of(4, 0.25);
  constexpr Index m = 2, estimates = 100000;
  const auto error = [&](FeatureKernel kernel) {
    return mean_square_error(pair, kernel, m, ops::Directions::independent, estimates);
  };
  const double sm = pair.kernel;
  const double positive = sm * sm * std::exp(pair.sum) * (1 - std::exp(-pair.sum)) / m;
  CHECK(error(FeatureKernel::positive) == doctest::Approx(positive).epsilon(0.05));
  CHECK(error(FeatureKernel::hyperbolic) == doctest::Approx((1 - std::exp(-pair.sum)) / 2 * positive).epsilon(0.05));
  CHECK(error(FeatureKernel::trigonometric) ==
        doctest::Approx(std::exp(pair.sum) / (sm * sm) * std::pow(1 - std::exp(-pair.difference), 2) / (2 * m))
            .epsilon(0.05));
}

TEST_CASE("performer: orthogonal vectors lower the error at least as much as the theorem says (SPEC 1.9)") {
  constexpr Index width = 8, m = 8, estimates = 20000;
  const Pair pair = pair_of(width, 0.3);
  const double sm = pair.kernel, positive = sm * sm * std::exp(pair.sum) * (1 - std::exp(-pair.sum)) / m;
  const double gain = 2.0 * (m - 1) / (m * (width + 2.0)) * std::pow(sm - std::exp(-pair.lengths / 2), 2);
  const double orthogonal = mean_square_error(pair, FeatureKernel::positive, m, ops::Directions::orthogonal, estimates);
  CHECK(orthogonal <= (positive - gain) * 1.02);  // 2 % for the number of estimates
  CHECK(orthogonal < 0.97 * positive);
}

TEST_CASE("performer: orthogonal vectors are orthogonal in blocks and as long as independent ones") {
  constexpr Index width = 16, count = 800;
  const RandomStream stream(1, 2);
  const Tensor vectors = ops::random_vectors(stream, count, width, ops::Directions::orthogonal);
  double squares = 0;
  for (Index i = 0; i < count; ++i) {
    for (Index j = i / width * width; j <= i; ++j) {
      double product = 0;
      for (Index c = 0; c < width; ++c) product += vectors[i * width + c] * vectors[j * width + c];
      if (i != j) CHECK(std::abs(product) < 1e-12);
      if (i == j) squares += product;
    }
  }
  CHECK(squares / count == doctest::Approx(width).epsilon(0.05));
  // Fewer vectors are the first of more.
  const Tensor few = ops::random_vectors(stream, 20, width, ops::Directions::orthogonal);
  CHECK(difference(few, vectors.narrowed(0, 0, 20)) == 0);
}

TEST_CASE("performer: the error of attention falls as 1 / sqrt(features) for modest queries and keys (SPEC 1.9)") {
  const Shape shape{8, 1, 64, 16};
  const Tensor q = normal_tensor(shape, 1, 0.25), k = normal_tensor(shape, 2, 0.25), v = normal_tensor(shape, 3);
  const Tensor exact = mixed("dot", q, k, v);
  std::vector<double> x, y;
  for (const Index features : {16, 64, 256, 1024}) {
    double squares = 0;
    for (const int seed : {1, 2, 3, 4}) {
      const Tensor estimate = mixed(concatenate("performer:features=", features, ",seed=", seed), q, k, v);
      for (Index i = 0; i < exact.size(); ++i) squares += std::pow(estimate[i] - exact[i], 2);
    }
    x.push_back(std::log(static_cast<double>(features)));
    y.push_back(std::log(squares) / 2);
  }
  double covariance = 0, variance = 0;
  for (std::size_t i = 0; i < x.size(); ++i) {
    const double centred = x[i] - (x.front() + x.back()) / 2;
    covariance += centred * y[i];
    variance += centred * centred;
  }
  CHECK(covariance / variance > -0.58);
  CHECK(covariance / variance < -0.42);
}

TEST_CASE("performer: prefix sums over many blocks equal the masked matrix of all pairs (SPEC 1.9)") {
  constexpr Index time = 200;
  const Shape shape{2, 2, time, 5};
  const Tensor q = normal_tensor(shape, 1), k = normal_tensor(shape, 2), v = normal_tensor({2, 2, time, 3}, 3);
  for (const char* kernel : {"positive", "hyperbolic", "relu"}) {
    CAPTURE(kernel);
    const Made made(concatenate("performer:features=11,kernel=", kernel), {2, 5, 2, 3});
    for (const Mask& mask : {Mask{.causal = true, .key_lengths = {200, 77}}, Mask{.key_lengths = {200, 130}}}) {
      const AttentionCall call = call_of(q, k, v, mask);
      const Tensor weights = made->weights(call).weights, y = made->mix(call).value();
      double error = 0;
      for (Index row = 0; row < 2 * 2 * time; ++row) {
        const Index b = row / 2 / time, h = row / time % 2, i = row % time;
        for (Index c = 0; c < 3; ++c) {
          double sum = 0;
          for (Index j = 0; j < time; ++j) sum += weights[row * time + j] * v[((b * 2 + h) * time + j) * 3 + c];
          error = std::max(error, std::abs(sum - y[((b * time + i) * 2 + h) * 3 + c]));
        }
      }
      CHECK(error <= 1e-12);
    }
  }
}

TEST_CASE("performer: a later key changes no bit of earlier results, however large it is") {
  constexpr Index time = 150, changed_at = 70;
  const Shape shape{1, 1, time, 4};
  const Tensor q = normal_tensor(shape, 1), k = normal_tensor(shape, 2), v = normal_tensor(shape, 3);
  const Mask mask{.causal = true};
  for (const double size : {0.0, 1.0, 5.0, 12.0}) {
    CAPTURE(size);
    const Tensor changed = k.copy();
    changed.narrowed(2, changed_at, 1).fill(static_cast<Real>(size));
    const Tensor before = mixed("performer:features=16", q, k, v, mask),
                 after = mixed("performer:features=16", q, changed, v, mask);
    CHECK(difference(before.narrowed(1, 0, changed_at), after.narrowed(1, 0, changed_at)) == 0);
    CHECK(is_finite(after));
  }
}

TEST_CASE("performer: vectors depend on seed and layer alone; training with redraw has others every few steps") {
  const Shape shape{1, 1, 6, 4};
  const Tensor q = normal_tensor(shape, 1), k = normal_tensor(shape, 2), v = normal_tensor(shape, 3);
  const auto run = [&](const Made& made, const Pass& pass) {
    AttentionCall call = call_of(q, k, v);
    call.pass = pass;
    return made->mix(call).value();
  };
  const Made redrawn("performer:features=8,redraw=10", {1, 4}), fixed("performer:features=8", {1, 4}),
      seeded("performer:features=8,seed=1", {1, 4});
  CHECK(fixed.parameters.all().empty());
  const auto step = [](std::uint64_t number, std::uint64_t seed = 3) {
    return Pass{.seed = seed, .step = number, .training = true};
  };
  CHECK(difference(run(redrawn, {}), run(fixed, {})) == 0);
  CHECK(difference(run(seeded, {}), run(fixed, {})) > 1e-6);
  CHECK(difference(run(fixed, step(20)), run(fixed, {})) == 0);
  CHECK(difference(run(redrawn, step(0)), run(redrawn, {})) > 1e-6);
  CHECK(difference(run(redrawn, step(0)), run(redrawn, step(9))) == 0);
  CHECK(difference(run(redrawn, step(9)), run(redrawn, step(10))) > 1e-6);
  for (const std::uint64_t later : {10, 20, 30}) {
    CAPTURE(later);
    for (std::uint64_t earlier = 0; earlier < later; earlier += 10) {
      CHECK(difference(run(redrawn, step(earlier)), run(redrawn, step(later))) > 1e-6);
    }
    CHECK(difference(run(redrawn, step(later)), run(redrawn, step(later + 9))) == 0);
    CHECK(difference(run(redrawn, step(later)), run(redrawn, {})) > 1e-6);  // nor are they those of an evaluation
  }
  CHECK(difference(run(redrawn, step(0)), run(redrawn, step(0, 4))) > 1e-6);
  CHECK(difference(run(redrawn, {}), run(fixed, {})) == 0);  // after training steps, too
  Parameters parameters{ParameterSource(7)};
  const auto other =
      make_attention("performer:features=8", {Scope(parameters, "other"), Scope(parameters, "")}, {1, 4});
  CHECK(difference(other->mix(call_of(q, k, v)).value(), run(fixed, {})) > 1e-6);
}

TEST_CASE("performer: the state has one size; work and memory grow in proportion to time") {
  const Made made("performer:features=16", {2, 8});
  const auto bytes_of_state = [&](Index capacity) {
    return footprint([&] { made->start(1, capacity, DType::bfloat16); });
  };
  CHECK(bytes_of_state(10) == bytes_of_state(100000));
  const auto step = [&](Index time, std::size_t& bytes) {
    const Shape shape{1, 2, time, 8};
    const double before = matmul_flops();
    bytes = footprint([&] {
      differentiate(
          [&](const auto& in) {
            return made->mix({in[0], in[1], in[2], {.causal = true}});
          },
          {normal_tensor(shape, 1), normal_tensor(shape, 2), normal_tensor(shape, 3)});
    });
    return matmul_flops() - before;
  };
  std::size_t few = 0, many = 0;
  const double flops = step(2000, few);
  CHECK(step(4000, many) / flops == doctest::Approx(2).epsilon(0.01));
  CHECK(static_cast<double>(many) < 2.2 * static_cast<double>(few));
}

TEST_CASE("performer: what it cannot do, and settings that do not exist, are refused with the reason") {
  const AttentionSupport has = Made("performer", {2, 4})->support();
  CHECK_THROWS_WITH_AS(check_support("performer", has, {.window = true}),
                       "performer has no window; a memory of earlier windows needs one, too", UsageError);
  CHECK_THROWS_WITH_AS(check_support("performer", has, {.pairs = true}),
                       "performer cannot hide single pairs of positions", UsageError);
  CHECK_THROWS_WITH_AS(check_support("performer", has, {.bias = true}),
                       "performer computes no scores to which the bias of these positions could be added", UsageError);
  CHECK_THROWS_WITH_AS(Made("performer:kernel=relus", {2, 4}),
                       "performer:kernel: 'relus' is not one of positive, hyperbolic, trigonometric, relu; did you "
                       "mean 'relu'?",
                       UsageError);
  CHECK_THROWS_AS(Made("performer:features=0", {2, 4}), UsageError);
  const Shape shape{1, 1, 6, 4};
  const Tensor x = normal_tensor(shape, 1);
  CHECK(mixed("performer:kernel=relu", x, x, x).elements() ==
        mixed("performer:kernel=relu,epsilon=0.001", x, x, x).elements());
  CHECK_THROWS_AS(mixed("performer", x, x, x, {.window = 2}), ShapeError);
  CHECK_THROWS_AS(mixed("performer", x, x, x, {.pairs = some_pairs(1, 6, 6)}), ShapeError);
}
