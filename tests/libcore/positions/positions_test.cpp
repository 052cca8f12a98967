// Properties that every scheme of positions.def must have, and those of each (SPEC 2). Built in double.
#include "libcore/positions/positions.hpp"

#include <doctest/doctest.h>

#include <cmath>
#include <functional>

#include "libcore/nn/multi_head_attention.hpp"
#include "support/tensors.hpp"

using namespace heddle;
using namespace heddle::testing;

namespace {

constexpr Index batch = 2, time_steps = 9, width = 12, heads = 3, head_width = 4;

// A layer of attention that knows of positions as a stack would have it.
struct Layer {
  explicit Layer(const std::string& text, std::optional<Index> context = std::nullopt, bool causal = false)
      : positions(make_positions(text, Scope(parameters, "position"),
                                 {context_of(text, context, 32), width, heads, head_width, 0.5, causal})),
        attention(Scope(parameters, "0"), Scope(parameters, ""),
                  {.width = width, .shape = {heads, head_width}, .positions = positions.get(), .stddev = 0.4}) {}

  Tensor run(const Tensor& x, const Mask& mask) const {
    return attention(positions->embed(Variable(x), {}), mask).value();
  }

  Parameters parameters{ParameterSource(3)};
  std::shared_ptr<const Positions> positions;
  nn::SelfAttention attention;
};

// Term that a scheme without layer parameters adds to scores, by offset.
Tensor bias_of(const Positions& scheme, Parameters& parameters, Index key_time) {
  const Variable none(Tensor({1, 1, 1, 8}, Real(0)));
  return scheme.for_layer(Scope(parameters, "0"))->apply(none, none, {{}, {}, key_time}).offsets.bias.value();
}

// Every scheme, with settings that make each of its parts matter.
const std::vector<std::string>& scheme_texts() {
  static const std::vector<std::string> texts = [] {
    std::vector<std::string> list{"sinusoidal:form=deck0",
                                  "sinusoidal:form=t2t",
                                  "rope:scaling=linear,factor=3",
                                  "rope:scaling=ntk,factor=3",
                                  "linear:distance=signed,start=-0.3",
                                  "linear:distance=absolute,start=-0.3",
                                  "relative-vector:reach=2",
                                  "relative-vector:reach=2,values=1",
                                  "transformer-xl:clamp=4",
                                  "disentangled:reach=3",
                                  "disentangled:reach=3,terms=queries",
                                  "disentangled:reach=3,terms=keys"};
    for (const PositionScheme& scheme : position_schemes()) {
      if (scheme.name != "linear") list.push_back(scheme.name);  // starts as no positions
    }
    return list;
  }();
  return texts;
}

}  // namespace

TEST_CASE("every scheme: only without positions does reordering tokens reorder results") {
  for (const std::string& scheme : scheme_texts()) {
    CAPTURE(scheme);
    const Layer layer(scheme);
    const Tensor x = normal_tensor({batch, time_steps, width}, 1);
    // ALiBi's penalty is of the distance alone, which reversal keeps; exchange two tokens instead.
    const Tensor exchanged = x.copy();
    exchanged.narrowed(1, 1, 1).assign(x.narrowed(1, 6, 1));
    exchanged.narrowed(1, 6, 1).assign(x.narrowed(1, 1, 1));
    const Tensor before = layer.run(x, {}), after = layer.run(exchanged, {});
    const double moved = difference(before.narrowed(1, 1, 1), after.narrowed(1, 6, 1));
    CHECK((scheme == "none" ? moved < 1e-12 : moved > 1e-3));
  }
}

TEST_CASE("every scheme: help explains all of its settings") {
  for (const PositionScheme& scheme : position_schemes()) {
    CAPTURE(scheme.name);
    CHECK(!scheme.summary.empty());
    for (const SettingHelp& setting : scheme.settings) {
      CAPTURE(setting.key);
      CHECK(setting.text.find("(default ") > 1);  // something before it
    }
  }
}

TEST_CASE("schemes of relative positions: shifting a sequence changes nothing") {
  for (const char* name : {"rope", "rope:scaling=ntk,factor=2", "alibi", "linear:start=-0.2", "relative-scalar",
                           "relative-vector:reach=3", "transformer-xl", "disentangled:reach=3,terms=queries", "none"}) {
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

namespace {

// A layer's products in plain loops: projected heads [time][heads][head_width] of one sequence.
struct Projected {
  explicit Projected(const Layer& layer, const Tensor& x) : parameters(layer.parameters), input(x) {}
  const Tensor& parameter(const std::string& name) const { return parameters.find(name)->value(); }
  double element(const std::string& name, Index t, Index head, Index i) const {
    const Tensor &weight = parameter("0/" + name + "/weight"), &bias = parameter("0/" + name + "/bias");
    const Index row = head * head_width + i;
    double sum = bias[row];
    for (Index c = 0; c < width; ++c) sum += weight[row * width + c] * input[t * width + c];
    return sum;
  }
  double dot(Index query, Index key, Index head) const {
    double sum = 0;
    for (Index i = 0; i < head_width; ++i) sum += element("query", query, head, i) * element("key", key, head, i);
    return sum;
  }
  // Row `row` of a matrix [heads * head_width, width] of positions times a vector of the width.
  double times(const std::string& name, Index row, const std::vector<double>& vector) const {
    const Tensor& weight = parameter(name);
    double sum = 0;
    for (Index c = 0; c < width; ++c) sum += weight[row * width + c] * vector[static_cast<std::size_t>(c)];
    return sum;
  }
  const Parameters& parameters;
  const Tensor& input;
};

// The weights of a layer are the softmax of these scores, of the keys that a query may attend.
using Score = std::function<double(const Projected& projected, Index i, Index j, Index head)>;
void check_scores(const Layer& layer, bool causal, const Score& score) {
  const Tensor x = normal_tensor({1, time_steps, width}, 8);
  const Tensor weights = layer.attention.weights(Variable(x), {.causal = causal}).weights;
  const Projected projected(layer, x);
  for (Index head = 0; head < heads; ++head) {
    for (Index i = 0; i < time_steps; ++i) {
      const Index keys = causal ? i + 1 : time_steps;
      std::vector<double> e;
      double sum = 0;
      for (Index j = 0; j < keys; ++j) sum += e.emplace_back(std::exp(score(projected, i, j, head)));
      for (Index j = 0; j < keys; ++j) {
        CHECK(weights[(head * time_steps + i) * time_steps + j] ==
              doctest::Approx(e[static_cast<std::size_t>(j)] / sum).epsilon(1e-10));
      }
    }
  }
}

constexpr double root = 2;  // divided by the head width

}  // namespace

TEST_CASE("linear: lambda times the distance, signed or absolute, and its gradient (SPEC 2.5)") {
  for (const char* text : {"linear:distance=signed,start=-0.4", "linear:distance=absolute,start=-0.4"}) {
    const bool absolute = std::string(text).find("absolute") != std::string::npos;
    for (const bool causal : {false, true}) {
      Layer layer(text);
      const Tensor& factor = layer.parameters.find("0/positions/factor")->value();
      REQUIRE(factor.shape() == Shape{heads});
      factor[1] = 0.3;
      check_scores(layer, causal, [&](const Projected& p, Index i, Index j, Index head) {
        const auto distance = static_cast<double>(absolute ? std::abs(i - j) : i - j);
        return p.dot(i, j, head) / root + factor[head] * distance;
      });
    }
  }
  // The default is |i - j| where keys after the query are seen, and i - j is the same where they are not.
  const Tensor x = normal_tensor({1, time_steps, width}, 8);
  for (const bool causal : {false, true}) {
    const char* const other = causal ? "linear:start=-0.4,distance=signed" : "linear:start=-0.4,distance=absolute";
    CHECK(difference(Layer("linear:start=-0.4", {}, causal).run(x, {.causal = causal}),
                     Layer(other, {}, causal).run(x, {.causal = causal})) == 0);
  }
  CHECK(difference(Layer("linear").run(x, {}), Layer("none").run(x, {})) < 1e-12);
}

TEST_CASE("linear: with lambda towards minus infinity each position has its own value (SPEC 2.5)") {
  const Tensor x = normal_tensor({1, time_steps, width}, 8);
  const Tensor own = Layer("linear:start=-1000").run(x, {.causal = true}), alone = Layer("none").run(x, {.window = 0});
  for (Index t = 0; t < time_steps; ++t) {
    const Tensor one = Layer("none").run(x.narrowed(1, t, 1).copy(), {});
    CHECK(difference(own.narrowed(1, t, 1), one) < 1e-12);
  }
  CHECK(difference(own, alone) > 1e-3);
}

TEST_CASE("linear: lambda (i - j) is -lambda j to a softmax (SPEC 2.5)") {
  Layer layer("linear:distance=signed,start=-0.4");
  check_scores(layer, false, [&](const Projected& p, Index i, Index j, Index head) {
    return p.dot(i, j, head) / root + 0.4 * static_cast<double>(j);
  });
}

TEST_CASE("relative vectors: keys have a vector of their offset, clipped; none is no position (SPEC 2.3)") {
  for (const bool causal : {false, true}) {
    Layer layer("relative-vector:reach=3", {}, causal);
    const Tensor& table = layer.parameters.find("0/positions/key")->value();
    REQUIRE(table.shape() == Shape{causal ? 4 : 7, head_width});
    check_scores(layer, causal, [&](const Projected& p, Index i, Index j, Index head) {
      const Index row = std::clamp<Index>(j - i, -3, causal ? 0 : 3) + 3;
      double sum = p.dot(i, j, head);
      for (Index c = 0; c < head_width; ++c) sum += p.element("query", i, head, c) * table[row * head_width + c];
      return sum / root;
    });
    table.fill(0);
    const Tensor x = normal_tensor({1, time_steps, width}, 8);
    CHECK(difference(layer.run(x, {.causal = causal}), Layer("none").run(x, {.causal = causal})) < 1e-12);
  }
}

TEST_CASE("relative vectors of values: each value has a vector of its offset, weighted alike (SPEC 2.3)") {
  for (const bool causal : {false, true}) {
    Layer layer("relative-vector:reach=3,values=1", {}, causal);
    const Tensor x = normal_tensor({1, time_steps, width}, 8);
    const Tensor weights = layer.attention.weights(Variable(x), {.causal = causal}).weights,
                 y = layer.run(x, {.causal = causal});
    const Projected projected(layer, x);
    const Tensor &table = layer.parameters.find("0/positions/value")->value(),
                 &output = layer.parameters.find("0/output/weight")->value();
    for (Index i = 0; i < time_steps; ++i) {
      std::vector<double> mixed(heads * head_width, 0.0);
      for (Index head = 0; head < heads; ++head) {
        for (Index j = 0; j < time_steps; ++j) {
          const double w = weights[(head * time_steps + i) * time_steps + j];
          const Index row = std::clamp<Index>(j - i, -3, causal ? 0 : 3) + 3;
          for (Index c = 0; c < head_width; ++c) {
            mixed[static_cast<std::size_t>(head * head_width + c)] +=
                w * (projected.element("value", j, head, c) + table[row * head_width + c]);
          }
        }
      }
      for (Index o = 0; o < width; ++o) {
        double sum = layer.parameters.find("0/output/bias")->value()[o];
        for (Index c = 0; c < width; ++c) sum += output[o * width + c] * mixed[static_cast<std::size_t>(c)];
        CHECK(y[i * width + o] == doctest::Approx(sum).epsilon(1e-10));
      }
    }
  }
}

TEST_CASE("transformer-xl: its four terms (SPEC 2.6)") {
  for (const char* text : {"transformer-xl", "transformer-xl:clamp=3"}) {
    for (const bool causal : {false, true}) {
      CAPTURE(text);
      CAPTURE(causal);
      const Index clamp = std::string(text).ends_with('3') ? 3 : 100;
      Layer layer(text, {}, causal);
      check_scores(layer, causal, [&](const Projected& p, Index i, Index j, Index head) {
        const auto distance = static_cast<double>(std::clamp(i - j, -clamp, clamp));
        std::vector<double> r;
        for (const bool sine : {true, false}) {
          for (Index k = 0; k < width / 2; ++k) {
            const double angle = distance * std::pow(10000.0, -2.0 * static_cast<double>(k) / width);
            r.push_back(sine ? std::sin(angle) : std::cos(angle));
          }
        }
        double sum = 0;
        for (Index c = 0; c < head_width; ++c) {
          const Index row = head * head_width + c;
          const double q = p.element("query", i, head, c), u = p.parameter("0/positions/content_bias")[row],
                       v = p.parameter("0/positions/position_bias")[row];
          sum += (q + u) * p.element("key", j, head, c) + (q + v) * p.times("0/positions/weight", row, r);
        }
        return sum / root;
      });
    }
  }
}

TEST_CASE("disentangled: content and positions, both ways (SPEC 2.7)") {
  for (const std::string terms : {"both", "queries", "keys"}) {
    CAPTURE(terms);
    Layer layer("disentangled:reach=3,terms=" + terms);
    const Tensor& table = layer.parameters.find("position/weight")->value();
    REQUIRE(table.shape() == Shape{6, width});
    const auto vector = [&](Index from, Index to) {
      const Index row = std::clamp<Index>(from - to + 3, 0, 5);
      return std::vector<double>(table.data() + row * width, table.data() + (row + 1) * width);
    };
    const double scale = std::sqrt(static_cast<double>((terms == "both" ? 3 : 2) * head_width));
    check_scores(layer, false, [&](const Projected& p, Index i, Index j, Index head) {
      double sum = p.dot(i, j, head);
      for (Index c = 0; c < head_width; ++c) {
        const Index row = head * head_width + c;
        if (terms != "keys") sum += p.element("query", i, head, c) * p.times("0/positions/key", row, vector(i, j));
        if (terms != "queries") sum += p.element("key", j, head, c) * p.times("0/positions/query", row, vector(j, i));
      }
      return sum / scale;
    });
    table.fill(0);
    check_scores(layer, false,
                 [&](const Projected& p, Index i, Index j, Index head) { return p.dot(i, j, head) / scale; });
  }
  Parameters parameters{ParameterSource(3)};
  const auto scheme =
      make_positions("disentangled", Scope(parameters, ""), {std::nullopt, width, heads, head_width, 0.5});
  CHECK_THROWS_WITH_AS(
      nn::SelfAttention(
          Scope(parameters, "0"), Scope(parameters, ""),
          {.width = width, .shape = {heads, head_width}, .needed = {.cached = true}, .positions = scheme.get()}),
      "these positions need all keys at once, and cannot continue texts step by step; disentangled:terms=queries can",
      UsageError);
}

TEST_CASE(
    "RoPE: scaled linearly it is the scheme at shorter positions; ntk keeps the fastest pair, and the slowest is "
    "scaled") {
  Parameters parameters{ParameterSource(3)};
  const auto rotated = [&](const std::string& text, Index position) {
    const auto layer =
        make_positions(text, Scope(parameters, ""), {std::nullopt, 8, 1, 8, 0.02})->for_layer(Scope(parameters, "0"));
    const std::vector<Index> starts{position};
    const Variable ones(Tensor({1, 1, 1, 8}, Real(1)));
    return layer->apply(ones, ones, {starts, starts, 200}).query.value();
  };
  CHECK(difference(rotated("rope:scaling=linear,factor=4", 20), rotated("rope", 5)) < 1e-12);
  const Tensor ntk = rotated("rope:scaling=ntk,factor=4", 20), plain = rotated("rope", 20),
               linear = rotated("rope:scaling=linear,factor=4", 20);
  CHECK(ntk[0] == doctest::Approx(plain[0]).epsilon(1e-12));
  CHECK(ntk[3] == doctest::Approx(linear[3]).epsilon(1e-12));
  CHECK(std::abs(ntk[1] - plain[1]) > 1e-3);
  CHECK_THROWS_WITH_AS(rotated("rope:factor=4", 0),
                       "rope:factor=4 needs a scaling, rope:scaling=linear or rope:scaling=ntk", UsageError);
  CHECK_THROWS_WITH_AS(rotated("rope:scaling=ntk", 0), "rope:scaling=ntk needs a factor above 1, rope:factor=X",
                       UsageError);
  CHECK_THROWS_WITH_AS(rotated("rope:base=0x10", 0), "rope:base=0x10 is not a number", UsageError);
  CHECK_THROWS_WITH_AS(rotated("rope:base=1e-400", 0), "rope:base=1e-400 is not a number", UsageError);
  CHECK_THROWS_WITH_AS(rotated("rope:base=2,base=2", 0), "'rope:base=2,base=2': base is given twice", UsageError);
  CHECK_THROWS_WITH_AS(rotated("rope:scaling=lin", 0), "rope:scaling: 'lin' is not one of none, linear, ntk",
                       UsageError);
}

TEST_CASE("sinusoidal: the three published forms (SPEC 2.1)") {
  Parameters parameters{ParameterSource(3)};
  const auto table = [&](const std::string& text) {
    const auto positions = make_positions(text, Scope(parameters, ""), {std::nullopt, 128, 1, 128, 0.02});
    return positions->embed(Variable(Tensor({1, 50, 128}, Real(0))), {}).value();
  };
  const Tensor deck = table("sinusoidal:form=deck0"), t2t = table("sinusoidal:form=t2t");
  for (Index t = 0; t < 50; ++t) {
    for (Index k = 0; k < 64; ++k) {
      const double of_deck = static_cast<double>(t + 1) * std::pow(10.0, -10 * static_cast<double>(k + 1) / 128),
                   of_t2t = static_cast<double>(t) * std::pow(10000.0, -static_cast<double>(k) / 63);
      CHECK(deck[t * 128 + 2 * k] == doctest::Approx(std::sin(of_deck)).epsilon(1e-11));
      CHECK(deck[t * 128 + 2 * k + 1] == doctest::Approx(std::cos(of_deck)).epsilon(1e-11));
      CHECK(t2t[t * 128 + k] == doctest::Approx(std::sin(of_t2t)).epsilon(1e-11));
      CHECK(t2t[t * 128 + 64 + k] == doctest::Approx(std::cos(of_t2t)).epsilon(1e-11));
    }
  }
  CHECK_THROWS_WITH_AS(table("sinusoidal:form=deck1"),
                       "sinusoidal:form: 'deck1' is not one of aiayn, deck0, t2t; did you mean 'deck0'?", UsageError);
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

TEST_CASE("sinusoidal: sequences that go on at different positions get those of one that is read from its beginning") {
  Parameters parameters{ParameterSource(3)};
  const auto positions = [&] {  // with no table yet
    return make_positions("sinusoidal", Scope(parameters, ""), {std::nullopt, width, 1, width, 0.02});
  };
  const Index length = 300;
  const Tensor whole = positions()->embed(Variable(Tensor({1, length, width}, Real(0))), {}).value();
  for (const std::vector<Index>& starts : {std::vector<Index>{0, 298, 63}, std::vector<Index>{298, 0, 64}}) {
    const Tensor here = positions()->embed(Variable(Tensor({3, 2, width}, Real(0))), starts).value();
    for (Index b = 0; b < 3; ++b) {
      const Tensor expected = whole.narrowed(1, starts[static_cast<std::size_t>(b)], 2);
      CHECK(difference(here.narrowed(0, b, 1), expected) < 1e-12);
    }
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
  const Tensor table = bias_of(*scheme, parameters, 100000);
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
    const Tensor table = bias_of(*positions, parameters, 2);
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
    const std::vector<Index> of_q{at_q}, of_k{at_k};
    const PositionedHeads at = layer->apply(Variable(q), Variable(k), {of_q, of_k, 200});
    const Tensor &a = at.query.value(), &b = at.key.value();
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
  CHECK_THROWS_WITH_AS(
      Layer("learnt"),
      "'learnt' is not one of learned, sinusoidal, rope, alibi, linear, relative-scalar, relative-vector, "
      "transformer-xl, disentangled, none; did you mean 'learned'?",
      UsageError);
  CHECK_THROWS_WITH_AS(Layer("learned:start=2"), "learned has no setting 'start'; it has offset, scaled", UsageError);
  CHECK_THROWS_AS(Layer("rope:base=0"), UsageError);
  Parameters parameters{ParameterSource(3)};
  CHECK_THROWS_WITH_AS(make_positions("rope", Scope(parameters, ""), {std::nullopt, 9, 3, 3, 0.02}),
                       "rope rotates pairs, so the head width must be even, not 3", UsageError);
}
