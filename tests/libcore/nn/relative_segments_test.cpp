#include "libcore/nn/relative_segments.hpp"

#include <doctest/doctest.h>

#include "libcore/nn/multi_head_attention.hpp"
#include "support/tensors.hpp"

using namespace heddle;
using namespace heddle::testing;

TEST_CASE("relative segments: scores get (q + b) . s of the same or of different segments, whatever their numbers") {
  constexpr Index heads = 2, width = 3, time = 4;
  Parameters parameters(ParameterSource(3));
  const nn::RelativeSegments module(Scope(parameters, "segments"), heads, width, 0.5);
  const auto segments = std::make_shared<const TokenIds>(Shape{1, time}, std::vector<TokenId>{0, 1, 1, 0});
  const Tensor query = normal_tensor({1, heads, time, width}, 1);
  const ops::SegmentTerm term = module(Variable(query), segments, segments);
  const Tensor &vectors = parameters.find("segments/weight")->value(),
               &bias = parameters.find("segments/bias")->value();
  for (Index head = 0; head < heads; ++head) {
    for (Index t = 0; t < time; ++t) {
      for (Index kind = 0; kind < 2; ++kind) {
        double sum = 0;
        for (Index i = 0; i < width; ++i) {
          sum += (query[(head * time + t) * width + i] + bias[head * width + i]) *
                 vectors[kind * heads * width + head * width + i];
        }
        CHECK(term.values.value()[(head * time + t) * 2 + kind] == doctest::Approx(sum).epsilon(1e-5));
      }
    }
  }
}

TEST_CASE("relative segments: the weights of attention are those of scores with the term") {
  constexpr Index width = 6, time = 4;
  Parameters parameters(ParameterSource(3));
  const nn::SelfAttention attention(Scope(parameters, "0"), Scope(parameters, ""),
                                    {.width = width, .shape = {1, width}, .relative_segments = true, .stddev = 0.4});
  const Variable x(normal_tensor({1, time, width}, 1));
  const auto weights = [&](const std::vector<TokenId>& ids) {
    return attention.weights(x, {}, {.segments = std::make_shared<const TokenIds>(Shape{1, time}, ids)}).weights;
  };
  const Tensor plain = attention.weights(x, {}).weights, alike = weights({1, 1, 1, 1});
  CHECK(difference(plain, alike) < 1e-6);
  const Tensor two = weights({0, 0, 1, 1});
  CHECK(difference(plain, two) > 1e-3);
  CHECK(difference(two, weights({5, 5, 2, 2})) == 0);
  // w_ij / w_ij' changes by e^(scale ((q + b) . (s_same - s_different))) for j of the same and j' of another segment.
  const auto ratio = [](const Tensor& w, Index i, Index j, Index k) {
    return std::log(static_cast<double>(w[i * time + j] / w[i * time + k]));
  };
  for (Index i = 0; i < time; ++i) {
    const Index same = i < 2 ? 0 : 2, other = 2 - same;
    const double change = ratio(two, i, same, other) - ratio(plain, i, same, other);
    CHECK(std::abs(change) > 1e-4);
    CHECK(ratio(two, i, same + 1, other + 1) - ratio(plain, i, same + 1, other + 1) ==
          doctest::Approx(change).epsilon(1e-3));
  }
}
