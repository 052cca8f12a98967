// Attention by products of sinc functions; variants' tests check more of it in double.
#include "libcore/ops/fourier_attention.hpp"

#include <doctest/doctest.h>

#include <cmath>

#include "attention_cases.hpp"

using namespace heddle;
using namespace heddle::testing;

namespace {

double sinc(double u) {
  return u == 0 ? 1 : std::sin(u) / u;
}

// Inputs: query, key, value and the radii of the coordinates.
Oracle naive_fourier_attention(const AttentionCase& c, double power) {
  return [c, power](const std::vector<std::vector<double>>& in) {
    const AttentionSizes& s = c.sizes;
    std::vector<double> y;
    for (Index row = 0; row < s.batch * s.query_time * s.heads; ++row) {
      const Index b = row / s.heads / s.query_time, i = row / s.heads % s.query_time, h = row % s.heads;
      const double* q = in[0].data() + ((b * s.heads + h) * s.query_time + i) * s.head_width;
      std::vector<double> sums(static_cast<std::size_t>(s.value_width), 0.0);
      double total = 1e-6;
      for (Index j = 0; j < s.key_time; ++j) {
        if (!may_attend(c.mask, b, i, j)) continue;
        const Index key = (b * s.kv_heads + h / (s.heads / s.kv_heads)) * s.key_time + j;
        double product = 1;
        for (Index a = 0; a < s.head_width; ++a) {
          product *= sinc(in[3][static_cast<std::size_t>(a)] *
                          (q[a] - in[1][static_cast<std::size_t>(key * s.head_width + a)]));
        }
        const double kernel = std::pow(product, power);
        total += kernel;
        for (std::size_t v = 0; v < sums.size(); ++v) {
          sums[v] += kernel * in[2][static_cast<std::size_t>(key * s.value_width) + v];
        }
      }
      for (const double sum : sums) y.push_back(sum / total);
    }
    return y;
  };
}

}  // namespace

TEST_CASE("fourier_attention: equals plain loops under every mask, in float and in double, and so do its gradients") {
  for (const AttentionCase& c : attention_cases()) {
    CAPTURE(c.name);
    // The result hardly depends on a single key, less than a float can hold.
    if (!real_is_double && c.sizes.key_time == 1) continue;
    std::vector<Tensor> inputs = c.inputs();
    inputs.push_back(normal_tensor({c.sizes.head_width}, 4, 0.1));
    for (Index a = 0; a < c.sizes.head_width; ++a) inputs[3][a] += Real(0.5);
    check_oracle(
        [&](const auto& in) {
          return ops::fourier_attention(in[0], in[1], in[2], in[3], {4, c.mask});
        },
        naive_fourier_attention(c, 4), inputs);
  }
}

TEST_CASE("fourier_attention: several tiles of keys and groups of queries; what does not fit is refused") {
  const AttentionCase c{"", {1, 1, 600, 600, 2}, {.causal = true}};
  std::vector<Tensor> inputs = c.inputs();
  inputs.push_back(Tensor({2}, Real(0.5)));
  const auto run = [&](const ops::FourierAttention& options) {
    return ops::fourier_attention(Variable(inputs[0]), Variable(inputs[1]), Variable(inputs[2]), Variable(inputs[3]),
                                  options);
  };
  const std::vector<double> expected =
      naive_fourier_attention(c, 4)({doubles(inputs[0]), doubles(inputs[1]), doubles(inputs[2]), doubles(inputs[3])});
  const Tensor y({1, 600, 1, 2}, std::vector<Real>(expected.begin(), expected.end()));
  CHECK(difference(run({4, c.mask}).value(), y) < by_precision(1e-12, 1e-5));
  CHECK_THROWS_AS(run({3, c.mask}), ShapeError);
  CHECK_THROWS_AS(run({4, {.key_lengths = {1, 2}}}), ShapeError);
  inputs[3] = Tensor({3}, Real(1));
  CHECK_THROWS_AS(run({4, c.mask}), ShapeError);
}
