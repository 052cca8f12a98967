// Self-attention with every variant and every scheme of positions, under masks with windows, lengths and pairs, read as
// a whole, after a memory, step by step and at single positions: compared with equations in plain loops. Built in
// double.
#include <doctest/doctest.h>

#include <cmath>
#include <optional>

#include "libcore/attention/naive_self_attention.hpp"
#include "libcore/nn/multi_head_attention.hpp"
#include "libcore/nn/value_embeddings.hpp"
#include "support/gradient_check.hpp"

using namespace heddle;
using namespace heddle::testing;

namespace self_attention_tests {

namespace {

constexpr Index batch = 2, time = 7, width = 8;

// A layer of attention that knows of positions as a stack would have it, and its equations.
struct Layer {
  struct Kind {
    std::string variant, scheme;
    bool causal = false, segments = false;
    Index kv_heads = 2;
  };
  explicit Layer(const Kind& of)
      : kind(of),
        positions(make_positions(of.scheme, Scope(parameters, "position"),
                                 {context_of(of.scheme, std::nullopt, 32), width, 2, 4, 0.5, of.causal})),
        attention(Scope(parameters, "a"), Scope(parameters, ""), options()) {
    for (const Parameter& parameter : parameters.all()) {
      parameter.value().add(normal_tensor(parameter.value().shape(), random_site(parameter.name), 0.3));
    }
  }

  NaiveSelfAttention naive() const {
    return {.parameters = parameters,
            .layer = "a",
            .embedding = "position",
            .variant = kind.variant,
            .positions = kind.scheme,
            .shape = shape(),
            .causal = kind.causal};
  }
  HeadShape shape() const { return {2, 4, kind.kv_heads}; }
  Variable embedded(const Tensor& x, const std::vector<Index>& starts = {}) const {
    return positions->embed(Variable(x), starts);
  }
  // Rows of x with their positions, by the equations.
  Rows read(const Tensor& x, Index row) const { return naive().embed(rows_of(x, row), 0); }

  nn::AttentionOptions options() const {
    nn::AttentionOptions result{.variant = kind.variant,
                                .width = width,
                                .shape = shape(),
                                .positions = positions.get(),
                                .relative_segments = kind.segments,
                                .stddev = 0.4,
                                .output_stddev = 0.4};
    result.needed.causal = kind.causal;
    return result;
  }

  Kind kind;
  Parameters parameters{ParameterSource(3)};
  std::shared_ptr<const Positions> positions;
  nn::SelfAttention attention;
};

// The first settings of every variant with every scheme, and all of its settings without positions.
std::vector<Layer::Kind> all_kinds() {
  std::vector<std::string> schemes{"sinusoidal:form=t2t",
                                   "sinusoidal:form=deck0",
                                   "sinusoidal:scaled=0,interleaved=0",
                                   "learned:offset=2,scaled=1",
                                   "rope:interleaved=1,base=50",
                                   "rope:scaling=linear,factor=3",
                                   "rope:scaling=ntk,factor=3",
                                   "linear:distance=signed",
                                   "linear:distance=absolute",
                                   "relative-scalar:buckets=6,max-distance=5",
                                   "relative-vector:reach=2",
                                   "relative-vector:reach=3,values=1",
                                   "transformer-xl:clamp=3",
                                   "disentangled:reach=3",
                                   "disentangled:reach=3,terms=queries",
                                   "disentangled:reach=3,terms=keys"};
  for (const PositionScheme& scheme : position_schemes()) schemes.push_back(scheme.name);
  std::vector<Layer::Kind> kinds;
  for (const AttentionVariant& variant : attention_variants()) {
    const std::vector<std::string>& texts = oracle_of(variant.name).texts;
    for (const bool causal : {false, true}) {
      for (const std::string& scheme : schemes)
        kinds.push_back({.variant = texts.front(), .scheme = scheme, .causal = causal});
      for (const std::string& text : texts) {
        kinds.push_back({.variant = text, .scheme = "none", .causal = causal, .kv_heads = 1});
      }
    }
  }
  return kinds;
}

// Calls body(layer) for every kind that is not refused; returns their number.
template <class Body>
int for_each_layer(const Body& body) {
  int count = 0;
  for (const Layer::Kind& kind : all_kinds()) {
    std::optional<Layer> layer;
    try {
      layer.emplace(kind);
    } catch (const UsageError&) {
      continue;
    }
    CAPTURE(kind.variant);
    CAPTURE(kind.scheme);
    CAPTURE(kind.causal);
    ++count;
    body(*layer);
  }
  return count;
}

std::vector<Index> windows_of(const Layer& layer) {
  return layer.attention.support().window ? std::vector<Index>{0, 1, 3} : std::vector<Index>{0};
}

// Row `row` of y [batch, time, width] equals the expected rows from `first` on.
void check_rows(const Tensor& y, Index row, const Rows& expected, Index first = 0) {
  for (Index t = 0; t < y.shape()[1] && first + t < static_cast<Index>(expected.size()); ++t) {
    const std::vector<double> actual = doubles(y.narrowed(0, row, 1).narrowed(1, t, 1));
    double apart = 0;
    for (std::size_t i = 0; i < actual.size(); ++i) {
      apart = std::max(apart, std::abs(actual[i] - expected[static_cast<std::size_t>(first + t)][i]));
    }
    CAPTURE(row);
    CAPTURE(t);
    CHECK(apart < 1e-10);
  }
}

}  // namespace

TEST_CASE("self-attention: every variant, scheme and mask equals its equations, at single positions, too") {
  const Tensor x = normal_tensor({batch, time, width}, 1);
  const std::vector<Index> lengths{time, 4}, single{5, 2};
  const int count = for_each_layer([&](const Layer& layer) {
    for (const Index window : windows_of(layer)) {
      for (const bool padded : {false, true}) {
        CAPTURE(window);
        CAPTURE(padded);
        const Mask mask{
            .causal = layer.kind.causal, .window = window, .key_lengths = padded ? lengths : std::vector<Index>{}};
        const Variable in = layer.embedded(x);
        const Tensor whole = layer.attention(in, mask).value(),
                     some = layer.attention(in, mask, {}, {}, single).value();
        for (Index row = 0; row < batch; ++row) {
          const auto at = static_cast<std::size_t>(row);
          Mask own = mask;
          if (padded) own.key_lengths = {lengths[at]};
          const Rows seen = layer.read(x, row);
          Rows expected = layer.naive()(seen, seen, {.mask = own});
          check_rows(some, row, expected, single[at]);
          if (padded) expected.resize(static_cast<std::size_t>(lengths[at]));
          check_rows(whole, row, expected);
        }
      }
    }
  });
  CHECK(count > 100);
}

TEST_CASE("self-attention: weights are those of the equations") {
  const Tensor x = normal_tensor({1, time, width}, 1);
  for_each_layer([&](const Layer& layer) {
    if (!layer.attention.support().weights) return;
    for (const Index window : windows_of(layer)) {
      CAPTURE(window);
      const Mask mask{.causal = layer.kind.causal, .window = window, .key_lengths = {time - 1}};
      const Tensor weights = layer.attention.weights(layer.embedded(x), mask).weights;
      const Rows seen = layer.read(x, 0);
      const std::vector<Rows> expected = layer.naive().weights(seen, seen, {.mask = mask});
      double apart = 0;
      Index at = 0;
      for (const Rows& head : expected) {
        for (const auto& row : head) {
          for (const double weight : row) apart = std::max(apart, std::abs(weight - weights[at++]));
        }
      }
      CHECK(at == weights.size());
      CHECK(apart < 1e-10);
    }
  });
}

TEST_CASE("self-attention: the length of a value is that of what its head adds with weight 1") {
  for (const Index kv_heads : {1, 2}) {
    for (Index head = 0; head < 2; ++head) {
      const Layer layer({"dot", "none", false, false, kv_heads});
      const Tensor weight = layer.parameters.find("a/output/weight")->value();
      const Tensor bias = layer.parameters.find("a/output/bias")->value();
      for (Index i = 0; i < weight.size(); ++i) {
        if (i % width / 4 != head) weight[i] = 0;
      }
      const Variable x(normal_tensor({batch, 1, width}, 1));  // a single token, whose weight is 1
      const Tensor lengths = layer.attention.weights(x, {}).value_lengths(), result = layer.attention(x, {}).value();
      REQUIRE(lengths.shape() == Shape{batch, 2, 1});
      for (Index row = 0; row < batch; ++row) {
        double square = 0;
        for (Index k = 0; k < width; ++k) square += std::pow(result[row * width + k] - bias[k], 2);
        CHECK(lengths[row * 2 + head] == doctest::Approx(std::sqrt(square)));
        CHECK(lengths[row * 2 + 1 - head] == doctest::Approx(0));
      }
    }
  }
}

TEST_CASE("self-attention: windows that continue earlier states equal the equations of the whole") {
  const Tensor x = normal_tensor({batch, time, width}, 1);
  for_each_layer([&](const Layer& layer) {
    if (layer.positions->is_absolute()) return;
    for (const Index window : windows_of(layer)) {
      for (const Index earlier : {2, 6}) {
        CAPTURE(window);
        CAPTURE(earlier);
        const Mask mask{.causal = layer.kind.causal, .window = window};
        const Variable before(x.narrowed(1, 0, earlier).copy()), now(x.narrowed(1, earlier, time - earlier).copy());
        const Tensor y = layer.attention(now, mask, {}, {}, {}, {.earlier = before}).value();
        for (Index row = 0; row < batch; ++row) {
          const Rows seen = rows_of(x, row);
          check_rows(y, row, layer.naive()(seen, seen, {.mask = mask}), earlier);
        }
      }
    }
  });
}

TEST_CASE("self-attention: steps of rows at different positions equal the equations of the whole") {
  const Tensor x = normal_tensor({batch, time, width}, 1);
  const int count = for_each_layer([&](const Layer& layer) {
    if (!layer.kind.causal || !layer.attention.support().cached) return;
    const AttentionPositions* const in_layer = layer.attention.positions();
    if (in_layer != nullptr && !in_layer->needs().whole.empty()) return;
    for (const Index window : windows_of(layer)) {
      CAPTURE(window);
      std::vector<Rows> expected;
      for (Index row = 0; row < batch; ++row) {
        const Rows seen = layer.read(x, row);
        expected.push_back(layer.naive()(seen, seen, {.mask = {.causal = true, .window = window}}));
      }
      const auto state = layer.attention.start(batch, time, DType::real);
      std::vector<Index> seen{0, 0};
      for (const auto& added : std::vector<std::vector<Index>>{{3, 1}, {1, 1}, {1, 4}, {2, 1}}) {
        const Tensor part({batch, std::max(added[0], added[1]), width}, 9);  // padding that must not matter
        for (std::size_t b = 0; b < 2; ++b) {
          const auto row = static_cast<Index>(b);
          part.narrowed(0, row, 1)
              .narrowed(1, 0, added[b])
              .assign(x.narrowed(0, row, 1).narrowed(1, seen[b], added[b]));
        }
        const Tensor y = layer.attention.step(layer.embedded(part, seen), {seen, added}, window, *state, {}).value();
        for (std::size_t b = 0; b < 2; ++b) {
          const auto row = static_cast<Index>(b);
          check_rows(y.narrowed(0, row, 1).narrowed(1, 0, added[b]), 0, expected[b], seen[b]);
          seen[b] += added[b];
        }
      }
    }
  });
  CHECK(count > 100);
}

TEST_CASE("self-attention: segments, lists of pairs and a stream of content, with every scheme that allows them") {
  const Tensor x = normal_tensor({batch, time, width}, 1), asking = normal_tensor({batch, time, width}, 2);
  const TokenIds segments(Shape{batch, time}, {0, 0, 1, 1, 0, 2, 2, 4, 1, 1, 4, 4, 4, 1});
  const std::vector<Index> single{6, 1};
  int count = 0;
  for (Layer::Kind kind : all_kinds()) {
    kind.segments = true;
    CAPTURE(kind.variant);
    CAPTURE(kind.scheme);
    std::optional<Layer> made;
    try {
      made.emplace(kind);
    } catch (const UsageError&) {
      continue;
    }
    ++count;
    const Layer& layer = *made;
    for (const Index window : {0, 3}) {
      CAPTURE(window);
      Mask mask{.causal = kind.causal, .window = window};
      mask.pairs = AllowedPairs::by_rank({{3, 0, 5, 5, 1, 6, 2}}, AllowedPairs::Ties::attend);
      nn::Surroundings around{.segments = std::make_shared<const TokenIds>(segments)};
      const Tensor whole = layer.attention(layer.embedded(x), mask, {}, {}, {}, around).value(),
                   some = layer
                              .attention(layer.embedded(x), {.causal = kind.causal, .window = window}, {}, {}, single,
                                         around)
                              .value();
      around.content = layer.embedded(x);
      const Tensor asked = layer.attention(Variable(asking), mask, {}, {}, {}, around).value();
      for (Index row = 0; row < batch; ++row) {
        const auto first = segments.ids.begin() + row * time;
        NaiveSelfAttention::Text text{.mask = mask, .segments = {first, first + time}};
        const Rows seen = layer.read(x, row);
        check_rows(whole, row, layer.naive()(seen, seen, text));
        check_rows(asked, row, layer.naive()(rows_of(asking, row), seen, text));
        text.mask.pairs = nullptr;
        check_rows(some, row, layer.naive()(seen, seen, text), single[static_cast<std::size_t>(row)]);
      }
    }
  }
  CHECK(count > 20);
}

namespace {

// The weighted sum of the results of a text's last positions, by the equations.
double naive_loss(const Layer& layer, const Tensor& x, const Mask& mask, Index first, const Tensor& weights) {
  const Rows seen = layer.read(x, 0), results = layer.naive()(seen, seen, {.mask = mask});
  double sum = 0;
  Index at = 0;
  for (auto row = results.begin() + first; row != results.end(); ++row) {
    for (const double value : *row) sum += weights[at++] * value;
  }
  return sum;
}

// The gradients of parameters, and of x, are the derivatives of the equations in one direction, in which every element
// moves.
void check_derivatives(const Layer& layer, const Tensor& x, const Mask& mask, Index first) {
  const_cast<Layer&>(layer).parameters.clear_gradients();
  const Variable now = leaf(x.narrowed(1, first, x.shape()[1] - first).copy());
  Recording recording;
  nn::Surroundings around;
  if (first > 0) around.earlier = Variable(x.narrowed(1, 0, first).copy());
  const Variable y = layer.attention(layer.positions->embed(now, {}), mask, {}, {}, {}, around);
  const Tensor weights = sum_weights(y.shape());
  recording.backward(weighted_sum(y, weights));
  const auto check = [&](const std::string& name, const Tensor& value, const Tensor& gradient) {
    CAPTURE(name);
    const Tensor direction = normal_tensor(value.shape(), random_site(name)), kept = value.copy();
    const auto loss_at = [&](double h) {
      for (Index i = 0; i < value.size(); ++i) value[i] = kept[i] + h * direction[i];
      const double loss = naive_loss(layer, x, mask, first, weights);
      value.assign(kept);
      return loss;
    };
    const double numeric = (loss_at(1e-5) - loss_at(-1e-5)) / 2e-5;
    double analytic = 0;
    for (Index i = 0; i < value.size(); ++i) analytic += direction[i] * gradient[i];
    CHECK(std::abs(numeric - analytic) < 1e-6 * (std::abs(numeric) + std::abs(analytic)) + 1e-8);
  };
  for (const Parameter& parameter : layer.parameters.all()) {
    check(parameter.name, parameter.value(), parameter.gradient().copy());
  }
  check("x", x.narrowed(1, first, x.shape()[1] - first), now.gradient()->tensor());
}

}  // namespace

TEST_CASE("self-attention: gradients are the derivatives of the equations, with windows, lengths and memory") {
  const Tensor x = normal_tensor({1, 5, width}, 1);
  for_each_layer([&](const Layer& layer) {
    const Index window = layer.attention.support().window ? 2 : 0;
    check_derivatives(layer, x, {.causal = layer.kind.causal, .window = window, .key_lengths = {4}}, 0);
    if (!layer.positions->is_absolute()) {
      check_derivatives(layer, x, {.causal = layer.kind.causal, .window = window}, 2);
    }
  });
}

// Tables of positions have room for 64 at first, and for twice as many when these are not enough.
TEST_CASE("self-attention: offsets on both sides of where tables of positions grow") {
  const Tensor x = normal_tensor({1, 131, width}, 1);
  for (const Layer::Kind& kind : all_kinds()) {
    if (kind.variant != "dot" || kind.kv_heads == 1) continue;
    if (kind.scheme.starts_with("learned")) continue;  // its table has the size of the context
    const Layer layer(kind);                           // their tables grow with the texts
    for (const auto& [length, window] :
         std::vector<std::pair<Index, Index>>{{63, 0}, {64, 0}, {65, 0}, {67, 63}, {67, 64}, {67, 65}, {131, 127}}) {
      if (length > 100 && (kind.scheme.find(':') != std::string::npos || !kind.causal)) continue;
      CAPTURE(kind.scheme);
      CAPTURE(kind.causal);
      CAPTURE(length);
      CAPTURE(window);
      const Tensor text = x.narrowed(1, 0, length).copy();
      const Mask mask{.causal = kind.causal, .window = window};
      const Tensor y = layer.attention(layer.embedded(text), mask).value();
      // The last queries see all offsets backwards, the first ones all of those forwards.
      const Rows seen = layer.read(text, 0);
      for (const Index at : {Index{0}, length - 2, length - 1}) {
        const auto row = static_cast<std::size_t>(at);
        Mask own = mask;
        own.query_offsets = {at};
        check_rows(y.narrowed(1, at, 1), 0, layer.naive()({seen[row]}, seen, {.mask = own}));
      }
    }
  }
}

TEST_CASE("cross-attention: every variant equals its equations, for lengths and for rows that share a memory") {
  const Tensor x = normal_tensor({3, 2, width}, 1), memory = normal_tensor({2, time, width}, 2);
  const std::vector<Index> lengths{5, time}, rows{1, 0, 1};
  for (const AttentionVariant& variant : attention_variants()) {
    for (const std::string& text : oracle_of(variant.name).texts) {
      CAPTURE(text);
      Parameters parameters{ParameterSource(3)};
      std::optional<nn::CrossAttention> attention;
      nn::AttentionOptions options{
          .variant = text, .width = width, .shape = {2, 4}, .needed = {.cross = true}, .stddev = 0.4};
      try {
        attention.emplace(Scope(parameters, "a"), Scope(parameters, ""), options);
      } catch (const UsageError&) {
        continue;
      }
      const NaiveSelfAttention naive{.parameters = parameters,
                                     .layer = "a",
                                     .embedding = "",
                                     .variant = text,
                                     .positions = "none",
                                     .shape = {2, 4}};
      auto remembered = attention->remember(Variable(memory), lengths);
      const Tensor pairs = (*attention)(Variable(x.narrowed(0, 0, 2).copy()), remembered).value();
      for (Index row = 0; row < 2; ++row) {
        const Mask mask{.key_lengths = {lengths[static_cast<std::size_t>(row)]}};
        check_rows(pairs, row, naive(rows_of(x, row), rows_of(memory, row), {.mask = mask}));
      }
      remembered.rows = rows;
      const Tensor shared = (*attention)(Variable(x), remembered).value();
      for (Index row = 0; row < 3; ++row) {
        const Index of = rows[static_cast<std::size_t>(row)];
        const Mask mask{.key_lengths = {lengths[static_cast<std::size_t>(of)]}};
        check_rows(shared, row, naive(rows_of(x, row), rows_of(memory, of), {.mask = mask}));
      }
    }
  }
}

}  // namespace self_attention_tests

TEST_CASE("value embeddings: the first layers and the last ones share tables in the same order, others have none") {
  const TokenIds ids(Shape{1, 2}, {1, 0});
  for (const Index tables : {1, 2, 3}) {
    for (Index layers = 2 * tables; layers < 2 * tables + 3; ++layers) {
      Parameters parameters{ParameterSource(3)};
      const nn::ValueEmbeddings embeddings(Scope(parameters, "s"), {2, 3, layers, tables});
      for (Index table = 0; table < tables; ++table) {
        parameters.find(concatenate("s/embedding/value/", table, "/weight"))->value().fill(Real(table + 1));
      }
      const std::vector<nn::AddedValues> added = embeddings(ids);
      REQUIRE(std::ssize(added) == layers);
      for (Index layer = 0; layer < layers; ++layer) {
        const Index from_end = layer - (layers - tables), table = layer < tables ? layer : from_end;
        const auto& here = added[static_cast<std::size_t>(layer)];
        CAPTURE(tables);
        CAPTURE(layer);
        REQUIRE(here.vectors.empty() == (table < 0));
        if (table >= 0) CHECK(here.vectors.value().elements() == std::vector<Real>(6, Real(table + 1)));
      }
    }
  }
}
