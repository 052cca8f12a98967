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
