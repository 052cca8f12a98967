// Queries and keys whose dot products are distances.
#include "libcore/ops/distance_products.hpp"

#include <doctest/doctest.h>

#include <cmath>

#include "support/gradient_check.hpp"

using namespace heddle;
using namespace heddle::testing;

TEST_CASE("distance products: a query times a key is the scaled squared distance, but for the query's own length") {
  const Tensor q = normal_tensor({1, 2, 3, 4}, 1), k = normal_tensor({1, 2, 3, 4}, 2);
  const Tensor logs({2}, std::vector<Real>{Real(0.4), Real(-1.2)});
  const Tensor queries = ops::distance_queries(Variable(q), Variable(logs)).value();
  const Tensor keys = ops::distance_keys(Variable(k)).value();
  for (Index row = 0; row < 6; ++row) {
    double product = 0, distance = 0, own = 0;
    for (Index c = 0; c < 5; ++c) product += static_cast<double>(queries[row * 5 + c] * keys[row * 5 + c]);
    for (Index c = 0; c < 4; ++c) {
      distance += std::pow(static_cast<double>(q[row * 4 + c] - k[row * 4 + c]), 2);
      own += std::pow(static_cast<double>(q[row * 4 + c]), 2);
    }
    const double bandwidth = std::exp(static_cast<double>(logs[row / 3]));
    CHECK(product == doctest::Approx(-(distance - own) / (2 * bandwidth)).epsilon(by_precision(1e-12, 1e-5)));
  }
}

TEST_CASE("distance products: gradients equal differences, through views and on any number of threads") {
  const std::vector<Tensor> queries{normal_tensor({2, 3, 4, 5}, 1), normal_tensor({3}, 2)};
  check_operation([](const auto& in) { return ops::distance_queries(in[0], in[1]); }, queries);
  check_halves([&](const auto& in) { return ops::distance_queries(in[0], Variable(queries[1])); }, {queries[0]});
  for (const bool unit : {false, true}) {
    for (const bool norm : {false, true}) {
      CAPTURE(unit);
      CAPTURE(norm);
      const ops::DistanceKeys options{unit, norm};
      check_operation([&](const auto& in) { return ops::distance_keys(in[0], options); }, {queries[0]});
      check_halves([&](const auto& in) { return ops::distance_keys(in[0], options); }, {queries[0]});
    }
  }
  const Tensor zero = ops::distance_keys(Variable(Tensor({1, 1, 1, 3}, Real(0))), {.unit = true}).value();
  CHECK(largest(zero) == 0);
  CHECK_THROWS_AS(ops::distance_queries(Variable(queries[0]), Variable(normal_tensor({2}, 2))), ShapeError);
}
