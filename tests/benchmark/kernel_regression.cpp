// Attention as regression by kernels: the mean squared error of what is estimated from N observations, for growing N.
// Prints tab-separated lines: estimator, N, seed, error.
//
// gaussian, fourier, dot-circle, dot-line: keys k are uniform in [-2, 2], values sin 3k + noise of stddev 0.1, queries
// 61 numbers in [-1.5, 1.5], away from the ends; sigma = N^(-1/5) (Nadaraya 1964; Watson 1964).
//   gaussian     attention with weights exp(-(q - k)^2 / (2 sigma^2))
//   fourier      attention with weights sinc(R (q - k))^4 (Nguyen et al. 2022); R = sqrt(3) / (2 sigma), for the same
//                curvature at 0
//   dot-circle   softmax(q k / sigma^2) of queries and keys on a circle, where all have the same length
//   dot-line     softmax(q k / sigma^2) of the numbers themselves, whose lengths differ
// density: the standard normal density at 41 points of [-4, 4] from N numbers by the Fourier integral,
// R / (N pi) sum_j sinc(R (x - x_j)) with R = sqrt(ln N).
#include <cmath>
#include <cstdint>
#include <cstdio>
#include <functional>
#include <numbers>
#include <string>

#include "libcore/attention/attention.hpp"
#include "libcore/base/random.hpp"
#include "libcore/ops/fourier_attention.hpp"
#include "tools/cli/run.hpp"

using namespace heddle;

namespace {

struct Options {
  Index seeds = 3, most = 10000, most_density = 100000;

  template <class Self, class Visitor>
  static void visit(Self& self, Visitor& visitor) {
    visitor(Field("seeds", "number of draws of the observations").range(1, 1000).takes("N"), self.seeds);
    visitor(Field("most", "largest number of observations").range(100, 1000000).takes("N"), self.most);
    visitor(Field("most_density", "the same for densities").range(1000, 10000000).takes("N"), self.most_density);
  }
};

struct Observations {
  std::vector<double> keys, values;
};

double target(double x) {
  return std::sin(3 * x);
}

Observations observe(Index count, Index seed) {
  const RandomStream stream(static_cast<std::uint64_t>(seed), random_site("regression"));
  Observations seen;
  for (Index i = 0; i < count; ++i) {
    const auto at = static_cast<std::uint64_t>(i);
    seen.keys.push_back(4 * stream.uniform(4 * at) - 2);
    seen.values.push_back(target(seen.keys.back()) + 0.1 * stream.normal(2 * at + 1));
  }
  return seen;
}

// [1, 1, count, width] from the numbers: themselves, or points of a circle of radius 2, on which they are angles times
// radius.
Tensor placed(const std::vector<double>& numbers, bool on_circle) {
  constexpr double radius = 2;
  const Index width = on_circle ? 2 : 1;
  const Tensor x({1, 1, static_cast<Index>(numbers.size()), width});
  for (Index i = 0; i < x.size() / width; ++i) {
    const double number = numbers[static_cast<std::size_t>(i)];
    if (on_circle) {
      x[2 * i] = static_cast<Real>(radius * std::cos(number / radius));
      x[2 * i + 1] = static_cast<Real>(radius * std::sin(number / radius));
    } else {
      x[i] = static_cast<Real>(number);
    }
  }
  return x;
}

double regression_error(const std::string& variant, bool on_circle, const Observations& seen) {
  constexpr Index grid = 61;
  std::vector<double> points;
  for (Index i = 0; i < grid; ++i) points.push_back(-1.5 + 3.0 * static_cast<double>(i) / (grid - 1));
  const Tensor query = placed(points, on_circle), key = placed(seen.keys, on_circle),
               value = placed(seen.values, false);
  Parameters parameters(ParameterSource(1));
  const Scope scope(parameters, "");
  const auto attention = make_attention(variant, {scope, scope}, {1, query.shape()[3], 1, 1});
  const Tensor estimate =
      attention->mix({.query = Variable(query), .key = Variable(key), .value = Variable(value)}).value();
  double error = 0;
  for (Index i = 0; i < grid; ++i) error += std::pow(estimate[i] - target(points[static_cast<std::size_t>(i)]), 2);
  return error / grid;
}

double density_error(Index count, Index seed) {
  constexpr Index grid = 41;
  const double radius = std::sqrt(std::log(static_cast<double>(count)));
  const RandomStream stream(static_cast<std::uint64_t>(seed), random_site("density"));
  const Tensor points({1, 1, grid, 1}), samples({1, 1, count, 1});
  for (Index i = 0; i < grid; ++i) points[i] = static_cast<Real>(-4 + 8 * static_cast<double>(i) / (grid - 1));
  for (Index i = 0; i < count; ++i) samples[i] = static_cast<Real>(stream.normal(static_cast<std::uint64_t>(i)));
  const Tensor kernel = ops::fourier_kernel(points, samples, Tensor({1}, static_cast<Real>(radius)), {.power = 1});
  double error = 0;
  for (Index i = 0; i < grid; ++i) {
    double sum = 0;
    for (Index j = 0; j < count; ++j) sum += kernel[i * count + j];
    const double density = std::exp(-points[i] * points[i] / 2) / std::sqrt(2 * std::numbers::pi);
    error += std::pow(radius / (std::numbers::pi * static_cast<double>(count)) * sum - density, 2);
  }
  return error / grid;
}

void print(const std::string& estimator, Index count, Index seed, double error) {
  std::printf("%s\t%lld\t%lld\t%.4g\n", estimator.c_str(), static_cast<long long>(count), static_cast<long long>(seed),
              error);
}

void print_regressions(Index count, Index seed) {
  const Observations seen = observe(count, seed);
  const double sigma = std::pow(static_cast<double>(count), -0.2);
  const std::string scale = concatenate("dot:scale=", 1 / (sigma * sigma));
  print("gaussian", count, seed, regression_error(concatenate("gaussian:bandwidth=", sigma * sigma), false, seen));
  print("fourier", count, seed,
        regression_error(concatenate("fourier:radius=", std::sqrt(3.0) / 2 / sigma), false, seen));
  print("dot-circle", count, seed, regression_error(scale, true, seen));
  print("dot-line", count, seed, regression_error(scale, false, seen));
}

const cli::About about{
    .name = "benchmark_kernel_regression",
    .summary = "Prints the error of attention as regression by kernels against the number of observations.",
    .synopsis = {"[options]"},
    .operands = {}};

}  // namespace

int main(int argc, char** argv) {
  return cli::run(argc, argv, about, [](cli::Arguments& arguments) {
    const auto options = arguments.read<Options>();
    // Half a power of ten more each time.
    const auto each_count = [](Index least, Index most, const std::function<void(Index)>& run) {
      for (Index count = least; count <= most; count *= 10) {
        run(count);
        const Index between = std::lround(static_cast<double>(count) * std::sqrt(10.0));
        if (between <= most) run(between);
      }
    };
    std::printf("estimator\tobservations\tseed\terror\n");
    for (Index seed = 1; seed <= options.seeds; ++seed) {
      each_count(100, options.most, [&](Index count) { print_regressions(count, seed); });
      each_count(1000, options.most_density,
                 [&](Index count) { print("density", count, seed, density_error(count, seed)); });
    }
  });
}
