#include "libcore/tensor/exponentials.hpp"

#include <doctest/doctest.h>

#include <cmath>
#include <limits>
#include <vector>

using namespace heddle;

namespace {

double log_sum_exp_of(const std::vector<Real>& x) {
  return log_sum_exp(x.data(), static_cast<Index>(x.size()));
}

}  // namespace

TEST_CASE("exponentials: sums of many terms are as exact as those of few") {
  for (const std::size_t count : {1, 1000, 1024, 1025, 300000}) {
    CAPTURE(count);
    const std::vector<Real> x(count, Real(-0.3));
    const auto many = static_cast<double>(count), term = static_cast<double>(x[0]);
    const auto size = static_cast<Index>(count);
    CHECK(std::abs(sum_of(x.data(), size) / (many * term) - 1) < 1e-6);
    CHECK(std::abs(sum_of_exponentials(x.data(), Real(1), size) / (many * std::exp(term - 1)) - 1) < 1e-6);
    CHECK(std::abs(log_sum_exp_of(x) - (term + std::log(many))) < 1e-6);
  }
}

TEST_CASE("exponentials: log_sum_exp of large values, and of those that are not finite") {
  const Real infinity = std::numeric_limits<Real>::infinity(), nan = std::numeric_limits<Real>::quiet_NaN();
  CHECK(log_sum_exp_of({10000, 10000}) == doctest::Approx(10000 + std::log(2.0)).epsilon(1e-12));
  CHECK(log_sum_exp_of({-infinity, 3}) == 3);
  CHECK(std::isnan(log_sum_exp_of({1, nan, 2})));
  CHECK(std::isnan(log_sum_exp_of({1, infinity})));
  CHECK(std::isnan(log_sum_exp_of({-infinity, -infinity})));
}

TEST_CASE("exponentials: sums of different terms, of fewer and of more than are summed at once") {
  for (const Index count : {1, 2, 255, 256, 257, 511, 512, 513, 1000}) {
    CAPTURE(count);
    std::vector<Real> x;
    for (Index i = 0; i < count; ++i)
      x.push_back(static_cast<Real>(std::sin(0.7 * static_cast<double>(i * i)) - 0.01 * static_cast<double>(i % 300)));
    double sum = 0, exponentials = 0, sizes = 0;
    for (const Real value : x) {
      sum += static_cast<double>(value);
      sizes += std::abs(static_cast<double>(value));
      exponentials += std::exp(static_cast<double>(value) - 2);
    }
    CHECK(std::abs(sum_of(x.data(), count) - sum) <= 1e-6 * sizes);
    CHECK(sum_of_exponentials(x.data(), Real(2), count) == doctest::Approx(exponentials).epsilon(1e-6));
    CHECK(std::abs(log_sum_exp_of(x) - (std::log(exponentials) + 2)) < 1e-6);
  }
}
