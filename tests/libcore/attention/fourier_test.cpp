// The Fourier integral (SPEC 1.8).
#include "libcore/ops/fourier_attention.hpp"

#include <doctest/doctest.h>

#include <cmath>

#include "identities.hpp"
#include "support/footprint.hpp"

using namespace heddle;
using namespace heddle::testing;

namespace {

constexpr double pi = 3.141592653589793;

// The mean squared error of the estimated density of `count` standard normal numbers on a grid:
// 1 / (N pi) sum_j sin(R (x - x_j)) / (x - x_j) = R / (N pi) sum_j sinc(R (x - x_j)), R = sqrt(ln N).
double density_error(Index count) {
  constexpr Index grid = 41;
  const double radius = std::sqrt(std::log(static_cast<double>(count)));
  const Tensor points({1, 1, grid, 1}), samples = normal_tensor({1, 1, count, 1}, 5);
  for (Index i = 0; i < grid; ++i) points[i] = static_cast<Real>(-4 + 8 * static_cast<double>(i) / (grid - 1));
  const Tensor kernel = ops::fourier_kernel(points, samples, Tensor({1}, static_cast<Real>(radius)), {.power = 1});
  double error = 0;
  for (Index i = 0; i < grid; ++i) {
    double sum = 0;
    for (Index j = 0; j < count; ++j) sum += kernel[i * count + j];
    const double density = std::exp(-points[i] * points[i] / 2) / std::sqrt(2 * pi);
    error += std::pow(radius / (pi * static_cast<double>(count)) * sum - density, 2);
  }
  return error / grid;
}

}  // namespace

TEST_CASE("fourier: without a radius weights are uniform, with a large one each query finds its own key (SPEC 1.8)") {
  const Shape shape{1, 2, 9, 4};
  const Tensor x = normal_tensor(shape, 1), v = normal_tensor(shape, 3);
  const auto weights = [&](const std::string& text) { return Made(text, {2, 4})->weights(call_of(x, x, v)).weights; };
  const Tensor uniform = weights("fourier:radius=0.001"), zero = weights("fourier:radius=0,learned=0"),
               own = weights("fourier:radius=50");
  for (Index i = 0; i < uniform.size(); ++i) {
    CHECK(std::abs(uniform[i] - 1.0 / 9) < 1e-5);
    CHECK(std::abs(zero[i] - 1 / (9 + 1e-6)) < 1e-12);
    CHECK(std::abs(own[i] - (i % 81 % 10 == 0 ? 1 : 0)) < 1e-5);
    CHECK(own[i] >= 0);  // an even power
  }
}

TEST_CASE("fourier: gradients equal differences at equal queries and keys, and for far ones (SPEC A1)") {
  for (const double apart : {0.0, 1e-4, 0.299, 0.301, 3.141592653589793, 40.0}) {
    CAPTURE(apart);
    const Tensor q = normal_tensor({1, 1, 4, 3}, 1, 0.2), k = q.copy(), v = normal_tensor({1, 1, 4, 2}, 2);
    k.narrowed(3, 1, 1).add(Tensor({1, 1, 4, 1}, static_cast<Real>(apart)));
    check_operation([](const auto& in) { return ops::fourier_attention(in[0], in[1], in[2], in[3], {.power = 4}); },
                    {q, k, v, Tensor({1}, Real(1))});
    check_operation([](const auto& in) { return ops::fourier_attention(in[0], in[1], in[2], in[3], {.power = 2}); },
                    {q, k, v, Tensor({3}, Real(0.9))});
  }
}

TEST_CASE("fourier: keys that are all far away leave nearly nothing, and wide heads do not overflow") {
  const Tensor q = normal_tensor({1, 1, 4, 128}, 1), k = normal_tensor({1, 1, 5, 128}, 2),
               v = normal_tensor({1, 1, 5, 3}, 3);
  const Tensor y = mixed("fourier", q, k, v);
  CHECK(is_finite(y));
  CHECK(largest(y) < 1e-12);
  CHECK(is_finite(differentiate([](const auto& in) { return ops::fourier_attention(in[0], in[1], in[2], in[3], {}); },
                                {q, k, v, Tensor({1}, Real(2))})
                      .gradients[0]));
}

TEST_CASE("fourier: the density estimate converges to the normal density (SPEC 1.8)") {
  const double few = density_error(1000), some = density_error(10000), many = density_error(100000);
  CHECK(some < few);
  CHECK(many < some);
  CHECK(many < 5e-6);
}

TEST_CASE("fourier: memory of a training step grows in proportion to time") {
  const auto bytes_of = [](Index time) {
    const Shape shape{1, 2, time, 8};
    return footprint([&] {
      differentiate(
          [](const auto& in) { return ops::fourier_attention(in[0], in[1], in[2], in[3], {.mask = {.window = 4}}); },
          {normal_tensor(shape, 1), normal_tensor(shape, 2), normal_tensor(shape, 3), Tensor({1}, Real(1))});
    });
  };
  CHECK(static_cast<double>(bytes_of(4000)) < 2.2 * static_cast<double>(bytes_of(2000)));
}

TEST_CASE("fourier: odd powers and negative radii are refused") {
  CHECK_THROWS_WITH_AS(Made("fourier:radius=0", {3, 4}),
                       "fourier:radius=0 is where a learned radius cannot move from; give another one, or learned=0",
                       UsageError);
  CHECK_THROWS_WITH_AS(Made("fourier:power=3", {2, 4}), "fourier:power=3 must be even, or weights can be negative",
                       UsageError);
  CHECK_THROWS_WITH_AS(Made("fourier:radius=-1", {2, 4}), "fourier:radius=-1 must be from 0 to 1e+06", UsageError);
  CHECK_THROWS_AS(check_support("fourier", Made("fourier", {2, 4})->support(), {.bias = true}), UsageError);
}
