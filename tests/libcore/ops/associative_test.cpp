#include "libcore/ops/associative.hpp"

#include <doctest/doctest.h>

#include <cmath>

#include "libcore/ops/random_features.hpp"
#include "support/gradient_check.hpp"
#include "support/weighted_sum.hpp"

using namespace heddle;
using namespace heddle::testing;

namespace associative_tests {

namespace {

// Features, which are positive.
Tensor positive_tensor(const Shape& shape, std::uint64_t seed) {
  const Tensor x = normal_tensor(shape, seed);
  for (Index i = 0; i < x.size(); ++i) x[i] = std::exp(x[i] / 2);
  return x;
}

}  // namespace

TEST_CASE("associative memory: gradients") {
  // One row, and more than a task takes.
  for (const Index rows : {1, 37}) {
    CAPTURE(rows);
    const Tensor x = normal_tensor({rows, 4}, 1, 0.7), vectors = normal_tensor({3, 4}, 2);
    check_operation([&](const auto& in) { return ops::hyperbolic_features(in[0], vectors); }, {x});
    const Tensor memory = positive_tensor({rows, 5, 3}, 3), features = positive_tensor({rows, 5}, 4),
                 values = normal_tensor({rows, 2}, 5);
    check_operation([](const auto& in) { return ops::associate(in[0], in[1], in[2], Real(0.9)); },
                    {memory, features, values});
    check_operation([](const auto& in) { return ops::recall(in[0], in[1]); }, {memory, features});
  }
}

TEST_CASE("associative memory: features are those of attention by hyperbolic features") {
  const Tensor x = normal_tensor({9, 4}, 1, 0.7), vectors = normal_tensor({3, 4}, 2);
  const Tensor own = ops::hyperbolic_features(Variable(x), vectors).value();
  CHECK(difference(own, ops::random_features(x, vectors, {.kernel = FeatureKernel::hyperbolic})) <
        by_precision(1e-13, 1e-5));
}

TEST_CASE("associative memory: step by step it is causal linear attention whose weights fade (SPEC 6.3)") {
  const Index steps = 12, width = 3, count = 6;
  for (const double decay : {0.0, 0.3}) {
    CAPTURE(decay);
    const auto keep = static_cast<Real>(std::exp(-decay));
    std::vector<Tensor> keys, values;
    Variable memory(Tensor({1, count, width + 1}, 0));
    double apart = 0;
    for (Index t = 0; t < steps; ++t) {
      const auto seed = static_cast<std::uint64_t>(3 * t);
      keys.push_back(positive_tensor({1, count}, seed + 1));
      values.push_back(normal_tensor({1, width}, seed + 2));
      const Tensor query = positive_tensor({1, count}, seed + 3);
      memory = ops::associate(memory, Variable(keys.back()), Variable(values.back()), keep);
      const Tensor found = ops::recall(memory, Variable(query)).value();
      // sum_j e^(-decay (t - j)) (q . k_j) v_j / sum_j of the same
      std::vector<double> sum(static_cast<std::size_t>(width), 0.0);
      double norm = 0;
      for (Index j = 0; j <= t; ++j) {
        double weight = 0;
        const auto at = static_cast<std::size_t>(j);
        for (Index f = 0; f < count; ++f) weight += static_cast<double>(query[f]) * static_cast<double>(keys[at][f]);
        weight *= std::exp(-decay * static_cast<double>(t - j));
        norm += weight;
        for (Index i = 0; i < width; ++i) {
          sum[static_cast<std::size_t>(i)] += weight * static_cast<double>(values[at][i]);
        }
      }
      for (Index i = 0; i < width; ++i) {
        apart = std::max(apart, std::abs(sum[static_cast<std::size_t>(i)] / norm - static_cast<double>(found[i])));
      }
    }
    CHECK(apart < by_precision(1e-12, 1e-5));
  }
}

TEST_CASE("associative memory: where features vanish there is nothing to recall, and no gradient") {
  const Variable memory = leaf(positive_tensor({2, 5, 3}, 3)), features = leaf(Tensor({2, 5}, 0));
  Recording recording;
  const Variable found = ops::recall(memory, features);
  recording.backward(weighted_sum(found));
  CHECK(difference(found.value(), Tensor({2, 2}, 0)) == 0);
  CHECK(difference(memory.gradient()->tensor(), Tensor({2, 5, 3}, 0)) == 0);
  CHECK(difference(features.gradient()->tensor(), Tensor({2, 5}, 0)) == 0);
}

TEST_CASE("associative memory: shapes that do not fit are refused") {
  const Variable memory(Tensor({2, 5, 3}, 1)), features(Tensor({2, 5}, 1)), values(Tensor({2, 2}, 1));
  CHECK_THROWS_AS(ops::associate(memory, features, Variable(Tensor({2, 3}, 1)), 1), ShapeError);
  CHECK_THROWS_AS(ops::associate(memory, Variable(Tensor({2, 4}, 1)), values, 1), ShapeError);
  CHECK_THROWS_AS(ops::recall(Variable(Tensor({2, 5}, 1)), features), ShapeError);
  CHECK_THROWS_AS(ops::hyperbolic_features(features, Tensor({3, 4}, 1)), ShapeError);
}

}  // namespace associative_tests
