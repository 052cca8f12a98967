// Attention by features, in float too; variants' tests check more of it in double.
#include "libcore/ops/linear_attention.hpp"

#include <doctest/doctest.h>

#include <cmath>

#include "attention_cases.hpp"

using namespace heddle;
using namespace heddle::testing;

namespace {

template <class List>
auto& at(List& list, Index i) {
  return list.at(static_cast<std::size_t>(i));
}

double feature(const double* x, const double* vector, Index width) {
  double product = 0, squares = 0;
  for (Index c = 0; c < width; ++c) {
    product += vector[c] * x[c];
    squares += x[c] * x[c];
  }
  return std::exp(product - squares / 2);
}

// Positive features of one vector each.
Oracle naive_linear_attention(const AttentionCase& c, const Tensor& vectors) {
  return [c, numbers = doubles(vectors)](const std::vector<std::vector<double>>& in) {
    const AttentionSizes& s = c.sizes;
    const Index width = s.head_width, count = static_cast<Index>(numbers.size()) / width;
    std::vector<double> y;
    for (Index row = 0; row < s.batch * s.query_time * s.heads; ++row) {
      const Index b = row / s.heads / s.query_time, i = row / s.heads % s.query_time, h = row % s.heads;
      const double* q = in[0].data() + ((b * s.heads + h) * s.query_time + i) * width;
      std::vector<double> sums(static_cast<std::size_t>(s.value_width), 0.0);
      double total = 0;
      for (Index j = 0; j < s.key_time; ++j) {
        if (!may_attend(c.mask, b, i, j)) continue;
        const Index key = (b * s.kv_heads + h / (s.heads / s.kv_heads)) * s.key_time + j;
        double weight = 0;
        for (Index r = 0; r < count; ++r) {
          const double* vector = numbers.data() + r * width;
          weight += feature(q, vector, width) * feature(in[1].data() + key * width, vector, width);
        }
        total += weight;
        for (std::size_t v = 0; v < sums.size(); ++v) {
          sums[v] += weight * in[2][static_cast<std::size_t>(key * s.value_width) + v];
        }
      }
      for (const double sum : sums) y.push_back(total > 0 ? sum / total : 0);
    }
    return y;
  };
}

}  // namespace

TEST_CASE("linear_attention: equals plain loops under the masks that it has, and so do its gradients") {
  for (const AttentionCase& c : attention_cases()) {
    CAPTURE(c.name);
    if (c.mask.window > 0 || c.mask.pairs) continue;
    if (!real_is_double && c.sizes.key_time == 1) continue;  // gradients of queries and keys are 0, or nearly
    const Tensor vectors = normal_tensor({5, c.sizes.head_width}, 9);
    std::vector<Tensor> inputs = c.inputs();
    for (Tensor& input : inputs) input.scale(Real(0.7));
    check_oracle([&](const auto& in) { return ops::linear_attention(in[0], in[1], in[2], vectors, {.mask = c.mask}); },
                 naive_linear_attention(c, vectors), inputs);
  }
}

TEST_CASE("linear_attention: several blocks, views, threads and bfloat16") {
  const Tensor vectors = normal_tensor({6, 4}, 9, 0.8);
  const AttentionCase c{"", {2, 2, 150, 150, 4, 1}, {.causal = true, .key_lengths = {150, 90}}};
  const Operation operation = [&](const auto& in) {
    return ops::linear_attention(in[0], in[1], in[2], vectors, {.mask = c.mask});
  };
  check_oracle(operation, naive_linear_attention(c, vectors), c.inputs());
  check_operation(operation, c.inputs());
  check_halves(operation, c.inputs());
}

TEST_CASE("linear_attention: queries and keys far from the origin neither overflow nor vanish") {
  constexpr Index width = 64, time = 80;
  const Tensor vectors = ops::random_vectors(RandomStream(1, 2), 128, width, ops::Directions::orthogonal);
  for (const double stddev : {0.0, 1.0, 4.0, 12.0}) {
    CAPTURE(stddev);
    const std::vector<Tensor> inputs{normal_tensor({1, 1, time, width}, 1, stddev),
                                     normal_tensor({1, 1, time, width}, 2, stddev),
                                     Tensor({1, 1, time, width}, Real(1))};
    for (const FeatureKernel kernel : {FeatureKernel::positive, FeatureKernel::hyperbolic}) {
      const ops::FeatureOptions features{.kernel = kernel, .scale = Real(0.35)};
      const Differentiated result = differentiate(
          [&](const auto& in) {
            return ops::linear_attention(in[0], in[1], in[2], vectors, {features, {.causal = true}});
          },
          inputs);
      // Weights sum to one, so that ones stay ones, unless the features of keys are further apart than floats reach.
      const bool apart = !real_is_double && stddev > 4;
      CHECK(is_finite(result.output));
      CHECK((apart || difference(result.output, Tensor({1, time, 1, width}, Real(1))) < by_precision(1e-12, 1e-4)));
      for (const Tensor& gradient : result.gradients) CHECK(is_finite(gradient));
    }
  }
}

TEST_CASE("linear_attention: queries of any length weigh the keys by the ratios of their features") {
  constexpr Index width = 16, time = 9, count = 32;
  const Tensor vectors = ops::random_vectors(RandomStream(1, 2), count, width, ops::Directions::orthogonal);
  const Tensor keys = normal_tensor({1, 1, time, width}, 2, 0.5), values = normal_tensor({1, 1, time, 3}, 3);
  for (const double stddev : {1.0, 30.0, 200.0, 2000.0}) {
    CAPTURE(stddev);
    const Tensor queries = normal_tensor({1, 1, time, width}, 1, stddev);
    const Differentiated result =
        differentiate([&](const auto& in) { return ops::linear_attention(in[0], in[1], in[2], vectors, {}); },
                      {queries, keys, values});
    for (const Tensor& gradient : result.gradients) CHECK(is_finite(gradient));
    const auto q = doubles(queries), k = doubles(keys), v = doubles(values), w = doubles(vectors);
    for (Index i = 0; i < time; ++i) {
      std::vector<double> products;
      for (Index r = 0; r < count; ++r) {
        double product = 0;
        for (Index c = 0; c < width; ++c) product += at(w, r * width + c) * at(q, i * width + c);
        products.push_back(product);
      }
      const double largest = *std::ranges::max_element(products);
      std::vector<double> sums(3, 0.0);
      double total = 0;
      for (Index j = 0; j < time; ++j) {
        double weight = 0;
        for (Index r = 0; r < count; ++r) {
          weight += std::exp(at(products, r) - largest) * feature(k.data() + j * width, w.data() + r * width, width);
        }
        total += weight;
        for (Index c = 0; c < 3; ++c) at(sums, c) += weight * at(v, j * 3 + c);
      }
      // Floats of long queries have products that are off by their last digit.
      const double tolerance = real_is_double ? 1e-9 : 1e-5 + 1e-6 * stddev;
      for (Index c = 0; c < 3; ++c) CHECK(std::abs(result.output[i * 3 + c] - at(sums, c) / total) < tolerance);
    }
  }
}

TEST_CASE("linear_attention: rows that are picked between steps go on as if they had been read whole") {
  constexpr Index batch = 3, heads = 2, time = 6, width = 4, read = 3;
  const Tensor vectors = normal_tensor({6, width}, 9);
  const Shape shape{batch, heads, time, width};
  const Tensor query = normal_tensor(shape, 1), key = normal_tensor(shape, 2), value = normal_tensor(shape, 3);
  for (Index i = 0; i < key.size(); ++i) {  // keys of all sizes, now larger, now smaller than those before
    key[i] *= Real(1 + 7 * ((i / (heads * time * width) + 2 * (i / width % time)) % 3));
  }
  const std::vector<Index> rows{2, 0, 0, 1};
  const auto at = [](const Tensor& x, Index t) { return Variable(x.narrowed(2, t, 1).copy()); };
  for (const FeatureKernel kernel : {FeatureKernel::positive, FeatureKernel::hyperbolic}) {
    const ops::FeatureOptions features{.kernel = kernel, .scale = Real(0.7)};
    ops::LinearState state(batch, heads, ops::feature_count(kernel, 6), width);
    const auto step = [&](const Tensor& q, const Tensor& k, const Tensor& v, Index t) {
      return ops::linear_attention_step(at(q, t), at(k, t), at(v, t), vectors, features,
                                        std::vector<Index>(static_cast<std::size_t>(q.shape()[0]), 1), state);
    };
    for (Index t = 0; t < read; ++t) step(query, key, value, t);
    state.reorder(rows);
    const auto picked = [&](const Tensor& x) {
      const Tensor some({std::ssize(rows), heads, time, width});
      for (Index i = 0; i < std::ssize(rows); ++i) {
        some.narrowed(0, i, 1).assign(x.narrowed(0, rows[static_cast<std::size_t>(i)], 1));
      }
      return some;
    };
    const Tensor q = picked(query), k = picked(key), v = picked(value);
    const Tensor whole =
        ops::linear_attention(Variable(q), Variable(k), Variable(v), vectors, {features, {.causal = true}}).value();
    for (Index t = read; t < time; ++t) {
      CHECK(difference(step(q, k, v, t), whole.narrowed(1, t, 1).copy()) < by_precision(1e-12, 2e-5));
    }
  }
}

TEST_CASE("linear_attention: what does not fit is refused") {
  const Variable x(normal_tensor({1, 2, 5, 4}, 1));
  const auto run = [&](const Tensor& vectors, const Mask& mask) {
    ops::linear_attention(x, x, x, vectors, {.mask = mask});
  };
  CHECK_THROWS_AS(run(normal_tensor({3, 5}, 2), {}), ShapeError);
  CHECK_THROWS_AS(run(normal_tensor({3, 4}, 2), {.window = 2}), ShapeError);
  CHECK_THROWS_AS(run(normal_tensor({3, 4}, 2), {.key_lengths = {1, 2}}), ShapeError);
  CHECK_THROWS_AS(ops::random_features(normal_tensor({3, 4}, 1), normal_tensor({3, 5}, 2), {}), ShapeError);
}
