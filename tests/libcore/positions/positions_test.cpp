// Properties that every scheme of positions.def must have, and those of each (SPEC 2). Built in double.
#include "heddle/positions/positions.hpp"

#include <doctest/doctest.h>

#include <cmath>

#include "heddle/nn/multi_head_attention.hpp"
#include "support/tensors.hpp"

using namespace heddle;
using namespace heddle::testing;

namespace {

constexpr Index batch = 2, time_steps = 9, width = 12, heads = 3, head_width = 4;

// A layer of attention that knows of positions as a stack would have it.
struct Layer {
  explicit Layer(const std::string& text, std::optional<Index> context = std::nullopt)
      : positions(make_positions(text, Scope(parameters, "position"),
                                 {context_of(text, context, 32), width, heads, head_width, 0.5})),
        attention(Scope(parameters, "0"), Scope(parameters, ""),
                  {.width = width, .shape = {heads, head_width}, .positions = positions.get(), .stddev = 0.4}) {}

  Tensor run(const Tensor& x, const Mask& mask) const {
    return attention(positions->embed(Variable(x), {}), mask).value();
  }

  Parameters parameters{ParameterSource(3)};
  std::shared_ptr<const Positions> positions;
  nn::SelfAttention attention;
};

}  // namespace

TEST_CASE("every scheme: only without positions does reordering tokens reorder results") {
  for (const PositionScheme& scheme : position_schemes()) {
    CAPTURE(scheme.name);
    const Layer layer(scheme.name);
    const Tensor x = normal_tensor({batch, time_steps, width}, 1);
    // ALiBi's penalty is of the distance alone, which reversal keeps; exchange two tokens instead.
    const Tensor exchanged = x.copy();
    exchanged.narrowed(1, 1, 1).assign(x.narrowed(1, 6, 1));
    exchanged.narrowed(1, 6, 1).assign(x.narrowed(1, 1, 1));
    const Tensor before = layer.run(x, {}), after = layer.run(exchanged, {});
    const double moved = difference(before.narrowed(1, 1, 1), after.narrowed(1, 6, 1));
    CHECK((scheme.name == "none" ? moved < 1e-12 : moved > 1e-3));
  }
}

TEST_CASE("every scheme: step by step equals the whole, for rows that are at different positions") {
  for (const PositionScheme& scheme : position_schemes()) {
    CAPTURE(scheme.name);
    const Layer layer(scheme.name);
    const Tensor x = normal_tensor({batch, time_steps, width}, 1);
    const Tensor whole = layer.run(x, {.causal = true});
    const auto state = layer.attention.start(batch, time_steps, DType::real);
    std::vector<Index> seen{0, 0};
    for (const auto& added : std::vector<std::vector<Index>>{{4, 2}, {1, 1}, {1, 3}, {3, 3}}) {
      const Index most = std::max(added[0], added[1]);
      const Tensor part({batch, most, width}, 0.5);
      for (Index b = 0; b < batch; ++b) {
        const auto row = static_cast<std::size_t>(b);
        part.narrowed(0, b, 1)
            .narrowed(1, 0, added[row])
            .assign(x.narrowed(0, b, 1).narrowed(1, seen[row], added[row]));
      }
      const Variable input = layer.positions->embed(Variable(part), seen);
      const Tensor y = layer.attention.step(input, {seen, added}, 0, *state, {}).value();
      for (Index b = 0; b < batch; ++b) {
        const auto row = static_cast<std::size_t>(b);
        CHECK(difference(y.narrowed(0, b, 1).narrowed(1, 0, added[row]),
                         whole.narrowed(0, b, 1).narrowed(1, seen[row], added[row])) < 1e-12);
        seen[row] += added[row];
      }
    }
  }
}

TEST_CASE("every scheme: queries at single positions equal those of the whole") {
  for (const PositionScheme& scheme : position_schemes()) {
    CAPTURE(scheme.name);
    const Layer layer(scheme.name);
    const Variable x = layer.positions->embed(Variable(normal_tensor({batch, time_steps, width}, 1)), {});
    const Tensor whole = layer.attention(x, {}).value();
    const Tensor some = layer.attention(x, {}, {}, {}, {7, 2}).value();
    CHECK(difference(some.narrowed(0, 0, 1), whole.narrowed(0, 0, 1).narrowed(1, 7, 1)) < 1e-12);
    CHECK(difference(some.narrowed(0, 1, 1), whole.narrowed(0, 1, 1).narrowed(1, 2, 1)) < 1e-12);
  }
}

TEST_CASE("schemes of relative positions: shifting a sequence changes nothing") {
  for (const char* name : {"rope", "alibi", "relative-scalar", "none"}) {
    CAPTURE(name);
    const Layer layer(name);
    const Tensor x = normal_tensor({1, time_steps, width}, 1);
    const auto shifted = layer.attention.start(1, 64, DType::real);
    const Tensor before = layer.run(x, {.causal = true});
    // Forty tokens before it that a window hides.
    const Index far = 40;
    layer.attention.step(Variable(normal_tensor({1, far, width}, 9)), {{0}, {far}}, 1, *shifted, {});
    Tensor last;
    for (Index t = 0; t < time_steps; ++t) {
      last = layer.attention.step(Variable(x.narrowed(1, t, 1).copy()), {{far + t}, {1}}, 2, *shifted, {}).value();
    }
    const Tensor windowed = layer.run(x, {.causal = true, .window = 2});
    CHECK(difference(last, windowed.narrowed(1, time_steps - 1, 1)) < 1e-12);
    CHECK(difference(last, before.narrowed(1, time_steps - 1, 1)) > 1e-4);
  }
}

TEST_CASE("sinusoidal: squared length is width / 2, and a shift is one linear map (SPEC 2.1)") {
  Parameters parameters{ParameterSource(3)};
  const auto positions = make_positions("sinusoidal", Scope(parameters, ""), {std::nullopt, 128, 1, 128, 0.02});
  const Tensor p = positions->embed(Variable(Tensor({1, 50, 128}, Real(0))), {}).value();
  CHECK(parameters.all().empty());
  for (Index t = 0; t < 50; ++t) {
    double sum = 0;
    for (Index i = 0; i < 128; ++i) sum += p[t * 128 + i] * p[t * 128 + i];
    CHECK(sum == doctest::Approx(64).epsilon(1e-12));
  }
  double nearest = 1e9;
  for (Index t = 0; t < 50; ++t) {
    for (Index u = 0; u < t; ++u) {
      double distance = 0;
      for (Index i = 0; i < 128; ++i) distance += std::pow(p[t * 128 + i] - p[u * 128 + i], 2);
      nearest = std::min(nearest, std::sqrt(distance));
    }
  }
  CHECK(nearest == doctest::Approx(1.95).epsilon(0.01));
  const Index shift = 7;
  for (Index t = 0; t + shift < 50; ++t) {
    for (Index k = 0; k < 64; ++k) {
      const double angle = static_cast<double>(shift) * std::pow(10000.0, -2.0 * static_cast<double>(k) / 128);
      const double s = p[t * 128 + 2 * k], c = p[t * 128 + 2 * k + 1];
      CHECK(std::abs(p[(t + shift) * 128 + 2 * k] - (std::cos(angle) * s + std::sin(angle) * c)) < 5e-14);
      CHECK(std::abs(p[(t + shift) * 128 + 2 * k + 1] - (std::cos(angle) * c - std::sin(angle) * s)) < 5e-14);
    }
  }
}

TEST_CASE("sinusoidal: what positions are added to is scaled by the root of the width") {
  Parameters parameters{ParameterSource(3)};
  const auto positions = make_positions("sinusoidal", Scope(parameters, ""), {std::nullopt, 100, 1, 100, 0.02});
  const Tensor x = normal_tensor({2, 3, 100}, 1), none({2, 3, 100}, Real(0));
  for (const std::vector<Index>& starts : {std::vector<Index>{}, std::vector<Index>{5, 0}}) {
    const Tensor with = positions->embed(Variable(x), starts).value(),
                 alone = positions->embed(Variable(none), starts).value();
    for (Index i = 0; i < x.size(); ++i) CHECK(with[i] - alone[i] == doctest::Approx(10 * x[i]).epsilon(1e-9));
  }
}

TEST_CASE("sinusoidal: sines before cosines are the same columns in another order; embeddings may stay unscaled") {
  Parameters parameters{ParameterSource(3)};
  const auto embedded = [&](const std::string& text, Index width, const Tensor& x) {
    const auto scheme = make_positions(text, Scope(parameters, ""), {std::nullopt, width, 1, width, 0.02});
    return scheme->embed(Variable(x), {}).value();
  };
  for (const Index width : {6, 7}) {
    const Tensor none({1, 9, width}, Real(0)), x = normal_tensor({1, 9, width}, 1);
    const Tensor usual = embedded("sinusoidal", width, none),
                 halves = embedded("sinusoidal:interleaved=0", width, none);
    const Index sines = (width + 1) / 2;
    for (Index t = 0; t < 9; ++t) {
      for (Index i = 0; i < width; ++i) {
        CHECK(halves[t * width + (i % 2 == 0 ? i / 2 : sines + i / 2)] == usual[t * width + i]);
      }
    }
    const Tensor unscaled = embedded("sinusoidal:scaled=0", width, x);
    for (Index i = 0; i < x.size(); ++i) CHECK(unscaled[i] - x[i] == doctest::Approx(usual[i]).epsilon(1e-12));
  }
}

TEST_CASE("learned positions: the token's embedding times the root of the width where that is asked for") {
  const Layer plain("learned"), scaled("learned:scaled=1");
  const Tensor x = normal_tensor({batch, time_steps, width}, 1);
  for (const std::vector<Index>& starts : {std::vector<Index>{}, std::vector<Index>{5, 0}}) {
    const Tensor before = plain.positions->embed(Variable(x), starts).value(),
                 after = scaled.positions->embed(Variable(x), starts).value();
    for (Index i = 0; i < x.size(); ++i) {
      CHECK(after[i] - before[i] == doctest::Approx((std::sqrt(12.0) - 1) * x[i]).epsilon(1e-10));
    }
  }
}

namespace {

// The bucket of each offset from -reach to reach, read off a table whose row is the bucket's number.
std::vector<Index> buckets_of(const std::string& text, bool causal, Index reach) {
  Parameters parameters{ParameterSource(3)};
  const auto scheme = make_positions(text, Scope(parameters, ""), {std::nullopt, 8, 2, 4, 0.02, causal});
  const Tensor& weight = parameters.find("weight")->value();
  for (Index i = 0; i < weight.size(); ++i) weight[i] = static_cast<Real>(i / 2 + (i % 2) * 1000);
  const Tensor table = scheme->for_layer(Scope(parameters, "0"))->offset_bias(100000).value();
  const Index most = table.shape()[1] / 2;
  std::vector<Index> buckets;
  for (Index offset = -reach; offset <= reach; ++offset) {
    const Index at = std::clamp(offset, -most, most) + most;
    buckets.push_back(static_cast<Index>(table.narrowed(0, 0, 1).copy()[at]));
    CHECK(table.narrowed(0, 1, 1).copy()[at] == static_cast<Real>(buckets.back() + 1000));  // the second head's
  }
  return buckets;
}

// The first distance of each bucket; distances increase, and none is passed over.
std::vector<Index> first_distances(const std::vector<Index>& buckets) {
  std::vector<Index> first;
  for (std::size_t i = 0; i < buckets.size(); ++i) {
    if (i == 0 || buckets[i] != buckets[i - 1]) first.push_back(static_cast<Index>(i));
    CHECK(buckets[i] == buckets[0] + static_cast<Index>(first.size()) - 1);
  }
  return first;
}

}  // namespace

TEST_CASE("relative scalar: the first distance of each of T5's buckets (SPEC 2.4)") {
  constexpr Index reach = 300;
  const auto both = buckets_of("relative-scalar", false, reach);
  const std::vector<Index> expected{0, 1, 2, 3, 4, 5, 6, 7, 8, 12, 16, 23, 32, 46, 64, 91};
  CHECK(first_distances(std::vector<Index>(both.rbegin() + reach, both.rend())) == expected);
  for (Index distance = 1; distance <= reach; ++distance) {
    CHECK(both[static_cast<std::size_t>(reach + distance)] == both[static_cast<std::size_t>(reach - distance)] + 16);
  }
  const auto causal = buckets_of("relative-scalar", true, reach);
  const std::vector<Index> of_causal{0,  1,  2,  3,  4,  5,  6,  7,  8,  9,  10, 11, 12, 13, 14, 15,
                                     16, 19, 21, 24, 27, 31, 35, 40, 46, 52, 59, 67, 77, 87, 99, 113};
  CHECK(first_distances(std::vector<Index>(causal.rbegin() + reach, causal.rend())) == of_causal);
  for (Index later = 1; later <= reach; ++later) CHECK(causal[static_cast<std::size_t>(reach + later)] == 0);
  // Fewer and nearer.
  const auto few = buckets_of("relative-scalar:buckets=8,max-distance=20", true, 40);
  CHECK(first_distances(std::vector<Index>(few.rbegin() + 40, few.rend())) ==
        std::vector<Index>{0, 1, 2, 3, 4, 6, 9, 14});
}

TEST_CASE("relative scalar: one table for all layers; the same number in every bucket is no position (SPEC 2.4)") {
  const Layer layer("relative-scalar:buckets=6,max-distance=5"), plain("none");
  const Tensor x = normal_tensor({batch, time_steps, width}, 1);
  for (const bool causal : {false, true}) {
    CHECK(difference(layer.run(x, {.causal = causal}), plain.run(x, {.causal = causal})) > 1e-3);
  }
  const Parameter* const table = layer.parameters.find("position/weight");
  REQUIRE(table != nullptr);
  CHECK(table->value().shape() == Shape{6, heads});
  Parameters others{ParameterSource(3)};
  CHECK(layer.positions->for_layer(Scope(others, "1")) == layer.positions->for_layer(Scope(others, "2")));
  CHECK(others.all().empty());
  table->value().fill(Real(0.7));
  CHECK(difference(layer.run(x, {}), plain.run(x, {})) < 1e-12);
  CHECK_FALSE(layer.positions->limit().has_value());
  CHECK_THROWS_WITH_AS(Layer("relative-scalar:buckets=7"),
                       "relative-scalar:buckets=7 must be even, one half for keys before a query and one for those "
                       "after it",
                       UsageError);
  CHECK_THROWS_WITH_AS(Layer("relative-scalar:max-distance=8"),
                       "relative-scalar:max-distance=8 must be more than the 8 distances that have a bucket each",
                       UsageError);
  CHECK_THROWS_WITH_AS(Layer("relative-scalar:bucket=8"),
                       "relative-scalar has no setting 'bucket'; it has buckets, max-distance; did you mean 'buckets'?",
                       UsageError);
}

TEST_CASE("ALiBi: slopes of any number of heads (SPEC 2.5)") {
  const auto slopes = [](Index n) {
    Parameters parameters{ParameterSource(3)};
    const auto positions = make_positions("alibi", Scope(parameters, ""), {std::nullopt, 8, n, 8, 0.02});
    const Tensor table = positions->for_layer(Scope(parameters, "0"))->offset_bias(2).value();
    const Index columns = table.shape()[1], reach = columns / 2;
    std::vector<double> found;
    for (Index head = 0; head < n; ++head) {
      CHECK(table[head * columns + reach] == 0);
      CHECK(table[head * columns + reach - 1] == table[head * columns + reach + 1]);
      CHECK(table[head * columns + reach - 1] * 2 == table[head * columns + reach - 2]);
      found.push_back(-static_cast<double>(table[head * columns + reach - 1]));
    }
    return found;
  };
  CHECK(slopes(8) == std::vector<double>{1. / 2, 1. / 4, 1. / 8, 1. / 16, 1. / 32, 1. / 64, 1. / 128, 1. / 256});
  CHECK(slopes(1) == std::vector<double>{1. / 256});
  const std::vector<double> six = slopes(6);
  const std::vector<double> expected{1. / 4, 1. / 16, 1. / 64, 1. / 256, 1. / 2, 1. / 8};
  for (std::size_t i = 0; i < 6; ++i) CHECK(six[i] == doctest::Approx(expected[i]).epsilon(1e-14));
}

TEST_CASE("RoPE: scores depend on the distance alone, whichever elements are pairs") {
  Parameters parameters{ParameterSource(3)};
  std::string text;
  SUBCASE("halves") {
    text = "rope";
  }
  SUBCASE("neighbours") {
    text = "rope:interleaved=1,base=500";
  }
  const auto layer =
      make_positions(text, Scope(parameters, ""), {std::nullopt, 8, 1, 8, 0.02})->for_layer(Scope(parameters, "0"));
  const Tensor q = normal_tensor({1, 1, 1, 8}, 1), k = normal_tensor({1, 1, 1, 8}, 2);
  const auto dot = [&](Index at_q, Index at_k) {
    const Tensor a = layer->transform(Variable(q), {at_q}).value(), b = layer->transform(Variable(k), {at_k}).value();
    double sum = 0;
    for (Index i = 0; i < 8; ++i) sum += a[i] * b[i];
    return sum;
  };
  CHECK(dot(5, 3) == doctest::Approx(dot(105, 103)).epsilon(1e-12));
  CHECK(dot(0, 0) == doctest::Approx(dot(70, 70)).epsilon(1e-12));
  CHECK(std::abs(dot(5, 3) - dot(5, 4)) > 1e-4);
}

TEST_CASE("learned positions: a limit, an offset, and errors that say what to do") {
  const Layer layer("learned:offset=2", 5);
  CHECK(layer.positions->limit() == 5);
  CHECK(layer.parameters.find("position/weight")->value().shape() == Shape{7, width});
  CHECK_THROWS_WITH_AS(Layer("learnt"),
                       "'learnt' is not one of learned, sinusoidal, rope, alibi, relative-scalar, none; did you "
                       "mean 'learned'?",
                       UsageError);
  CHECK_THROWS_WITH_AS(Layer("learned:start=2"), "learned has no setting 'start'; it has offset, scaled", UsageError);
  CHECK_THROWS_AS(Layer("rope:base=0"), UsageError);
  Parameters parameters{ParameterSource(3)};
  CHECK_THROWS_WITH_AS(make_positions("rope", Scope(parameters, ""), {std::nullopt, 9, 3, 3, 0.02}),
                       "rope rotates pairs, so the head width must be even, not 3", UsageError);
}
