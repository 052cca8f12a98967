// The decoder as a whole. Built in double.
#include "heddle/models/decoder.hpp"

#include <doctest/doctest.h>

#include <cmath>

#include "heddle/nn/position.hpp"
#include "heddle/tensor/threads.hpp"
#include "heddle/training/causal.hpp"
#include "libcore/models/small_config.hpp"

using namespace heddle;
using namespace heddle::testing;

namespace {

std::vector<Variation> variations() {
  return Variations(small_decoder_config)
      .add("post", [](auto& c) { c.norm_position = NormPosition::post; })
      .add("rms", [](auto& c) { c.norm = NormKind::rms; })
      .add("sinusoidal", [](auto& c) { c.positions = PositionKind::sinusoidal; })
      .add("no positions", [](auto& c) { c.positions = PositionKind::none; })
      .add("untied", [](auto& c) { c.tie_embeddings = false; })
      .add("no bias", [](auto& c) { c.bias = false; })
      .add("window", [](auto& c) { c.window = 2; })
      .add("silu", [](auto& c) { c.activation = Activation::silu; })
      .add("wide feed-forward", [](auto& c) { c.ffn_width = 20; })
      .add("no layers", [](auto& c) { c.layers = 0; });
}

TokenIds some_ids(Index batch, Index time, Index vocab) {
  TokenIds ids(Shape{batch, time});
  const RandomStream stream(5, 6);
  for (std::size_t i = 0; i < ids.ids.size(); ++i) {
    ids.ids[i] = static_cast<TokenId>(stream.below(i, static_cast<std::uint64_t>(vocab)));
  }
  return ids;
}

data::TokenBatch some_batch(const models::ModelConfig& config, Index batch) {
  const TokenIds ids = some_ids(batch, config.context + 1, config.vocab_size);
  data::TokenBatch result{batch, config.context, {}, {}};
  for (Index b = 0; b < batch; ++b) {
    const auto row = ids.ids.begin() + b * (config.context + 1);
    result.ids.insert(result.ids.end(), row, row + config.context);
    result.targets.insert(result.targets.end(), row + 1, row + config.context + 1);
  }
  return result;
}

double loss_of(const models::Decoder& model, const data::TokenBatch& batch, const Pass& pass = {}) {
  return training::causal_loss(model, batch, pass, {}).value()[0];
}

}  // namespace

TEST_CASE("decoder: the gradient of every parameter matches finite differences, in every variation") {
  for (const Variation& variation : variations()) {
    CAPTURE(variation.name);
    models::Decoder model(variation.config, 3);
    stir(model.parameters(), 0.3);
    const data::TokenBatch batch = some_batch(variation.config, 2);
    const Pass pass{.dropout = 0.1, .seed = 4, .step = 5};  // the same elements are dropped each time
    model.parameters().clear_gradients();
    {
      Recording recording;
      recording.backward(training::causal_loss(model, batch, pass, {.label_smoothing = 0}));
    }
    for (const Parameter& parameter : model.parameters().all()) {
      CAPTURE(parameter.name);
      const Tensor gradient = parameter.gradient();
      const Index step = std::max<Index>(1, parameter.size() / 12);
      for (Index i = 0; i < parameter.size(); i += step) {
        Real& weight = parameter.value()[i];
        const Real kept = weight;
        constexpr double h = 1e-5;
        weight = kept + h;
        const double above = loss_of(model, batch, pass);
        weight = kept - h;
        const double below = loss_of(model, batch, pass);
        weight = kept;
        const double numeric = (above - below) / (2 * h), analytic = gradient[i];
        // Differences of a loss near 3 carry rounding of about 1e-11.
        CHECK(std::abs(numeric - analytic) < 1e-6 * (std::abs(numeric) + std::abs(analytic)) + 1e-10);
      }
    }
  }
}

TEST_CASE("decoder: a later token changes nothing earlier, and everything from its place on") {
  for (const Variation& variation : variations()) {
    CAPTURE(variation.name);
    models::Decoder model(variation.config, 3);
    stir(model.parameters(), 0.3);
    TokenIds ids = some_ids(1, 8, 13);
    const std::vector<Real> before = model.logits(model.hidden(ids)).value().elements();
    ids.ids[5] = (ids.ids[5] + 1) % 13;
    const std::vector<Real> after = model.logits(model.hidden(ids)).value().elements();
    for (std::size_t i = 0; i < 5 * 13; ++i) CHECK(before[i] == after[i]);
    double change = 0;
    for (std::size_t i = 5 * 13; i < 6 * 13; ++i) change += std::abs(before[i] - after[i]);
    CHECK(change > 1e-3);
  }
}

TEST_CASE("decoder: cached decoding equals recomputation, token by token and with rows of different lengths") {
  for (const Variation& variation : variations()) {
    CAPTURE(variation.name);
    models::Decoder model(variation.config, 3);
    stir(model.parameters(), 0.3);
    const TokenIds ids = some_ids(2, 8, 13);
    const Tensor whole = model.logits(model.hidden(ids)).value();  // [2, 8, 13]
    const auto state = model.start({2, 8});
    std::vector<Index> seen{0, 0};
    for (const auto& added : std::vector<std::vector<Index>>{{3, 1}, {1, 1}, {1, 1}, {2, 4}, {1, 1}}) {
      const Index most = std::max(added[0], added[1]);
      TokenIds part(Shape{2, most});
      for (Index b = 0; b < 2; ++b) {
        for (Index t = 0; t < added[static_cast<std::size_t>(b)]; ++t) {
          part.ids[static_cast<std::size_t>(b * most + t)] =
              ids.ids[static_cast<std::size_t>(b * 8 + seen[static_cast<std::size_t>(b)] + t)];
        }
      }
      const Tensor logits = model.step(part, added, *state);
      for (Index b = 0; b < 2; ++b) {
        seen[static_cast<std::size_t>(b)] += added[static_cast<std::size_t>(b)];
        const Index at = (b * 8 + seen[static_cast<std::size_t>(b)] - 1) * 13;
        for (Index v = 0; v < 13; ++v) CHECK(logits[b * 13 + v] == doctest::Approx(whole[at + v]).epsilon(1e-10));
      }
    }
    CHECK(state->seen() == std::vector<Index>{8, 8});
  }
}

TEST_CASE("decoder: weights in fewer bits count as the numbers they stand for, in every variation, cached or not") {
  for (const Variation& variation : variations()) {
    CAPTURE(variation.name);
    models::Decoder model(variation.config, 3);
    stir(model.parameters(), 0.3);
    for (const Parameter& parameter : model.parameters().all()) {
      parameter.value().assign(parameter.value().as(Element::bfloat16));
    }
    const models::Decoder halved(variation.config, ParameterSource::given([&](const Declaration& declaration) {
      const Tensor whole(declaration.stacked_shape());
      for (std::size_t i = 0; i < declaration.names.size(); ++i) {
        const Tensor part = model.parameters().find(declaration.names[i])->value();
        whole.narrowed(0, static_cast<Index>(i) * part.shape()[0], part.shape()[0]).assign(part);
      }
      return whole.rank() == 2 ? whole.as(Element::bfloat16) : whole;
    }));
    const TokenIds ids = some_ids(2, 8, 13);
    const Tensor expected = model.logits(model.hidden(ids)).value();
    const Tensor whole = halved.logits(halved.hidden(ids)).value();
    for (Index i = 0; i < whole.size(); ++i) CHECK(whole[i] == doctest::Approx(expected[i]).epsilon(1e-10));
    const auto state = halved.start({2, 8});
    for (Index t = 0; t < 8; ++t) {
      const Tensor logits = halved.step(TokenIds(Shape{2, 1}, {ids.ids[static_cast<std::size_t>(t)],
                                                               ids.ids[static_cast<std::size_t>(8 + t)]}),
                                        {1, 1}, *state);
      for (Index b = 0; b < 2; ++b) {
        for (Index v = 0; v < 13; ++v) {
          CHECK(logits[b * 13 + v] == doctest::Approx(expected[(b * 8 + t) * 13 + v]).epsilon(1e-10));
        }
      }
    }
  }
}

TEST_CASE("decoder: the loss starts at the logarithm of the vocabulary") {
  for (const Variation& variation : variations()) {
    CAPTURE(variation.name);
    models::ModelConfig config = variation.config;
    config.vocab_size = 300;
    config.width = 48;
    const models::Decoder model(config, 8);
    CHECK(loss_of(model, some_batch(config, 8)) == doctest::Approx(std::log(300.0)).epsilon(0.05 / std::log(300.0)));
  }
}

TEST_CASE("decoder: published models have their published numbers of parameters") {
  const std::vector<std::pair<std::string, Index>> published{
      {"gpt2", 124439808}, {"gpt2-medium", 354823168}, {"gpt2-large", 774030080}, {"gpt2-xl", 1557611200}};
  for (const auto& [name, count] : published) {
    CAPTURE(name);
    const Simulation simulation;
    CHECK(models::Decoder(models::preset(name), 0).parameters().count() == count);
  }
  CHECK_THROWS_WITH_AS(models::preset("gpt3"),
                       "preset 'gpt3' is not one of nano, gpt2, gpt2-medium, gpt2-large, gpt2-xl, bert-base, "
                       "bert-large, roberta-base; did you mean 'gpt2'?",
                       UsageError);
}

TEST_CASE("decoder: layer norms have 2 width parameters each (SPEC 3.1), RMS norms width") {
  models::ModelConfig config = small_decoder_config;
  const Index layer = models::Decoder(config, 0).parameters().count();
  config.norm = NormKind::rms;
  CHECK(layer - models::Decoder(config, 0).parameters().count() == (2 * config.layers + 1) * config.width);
}

TEST_CASE("decoder: sequences beyond the context, ids outside the vocabulary and shapes that cannot be are refused") {
  models::Decoder model(small_decoder_config, 3);
  CHECK_THROWS_WITH_AS(model.hidden(some_ids(1, 9, 13)), "a sequence of 9 tokens is longer than the context of 8",
                       DataError);
  TokenIds ids(Shape{1, 2}, {3, 13});
  CHECK_THROWS_WITH_AS(model.hidden(ids), "token id 13 at position 1 is outside the vocabulary of 13", DataError);
  CHECK_THROWS_AS(model.start({1, 9}), DataError);
  models::ModelConfig config = small_decoder_config;
  config.heads = 5;
  CHECK_THROWS_WITH_AS(models::Decoder(config, 0), "width = 12 is not divisible by heads = 5", UsageError);
  config = small_decoder_config;
  config.vocab_size = 0;
  CHECK_THROWS_AS(models::Decoder(config, 0), UsageError);
}

TEST_CASE("blocks: zero projections make the pre-norm stack the identity; post-norm rows are normalised (SPEC 3.3)") {
  for (const NormPosition where : {NormPosition::pre, NormPosition::post}) {
    Parameters parameters(1);
    nn::BlockOptions options{.norm_position = where,
                             .attention = {.width = 12, .heads = 3},
                             .feed_forward = {.width = 12, .inner_width = 24}};
    const nn::Block block(Scope(parameters, ""), options);
    if (where == NormPosition::pre) {
      for (const char* name : {"attention/output/weight", "feed_forward/down/weight"}) parameters.find(name)->value().fill(0);
    }
    Tensor x({2, 5, 12});
    const RandomStream stream(1, 1);
    for (Index i = 0; i < x.size(); ++i) x[i] = static_cast<Real>(3 * stream.normal(static_cast<std::uint64_t>(i)));
    const Tensor y = block(Variable(x), {.causal = true}, {}).value();
    if (where == NormPosition::pre) {
      CHECK(y.elements() == x.elements());
      continue;
    }
    for (Index row = 0; row < 10; ++row) {
      double mean = 0, square = 0;
      for (Index i = 0; i < 12; ++i) {
        mean += y[row * 12 + i] / 12;
        square += y[row * 12 + i] * y[row * 12 + i] / 12;
      }
      CHECK(std::abs(mean) < 1e-10);
      CHECK(square == doctest::Approx(1).epsilon(1e-3));
    }
  }
}

TEST_CASE("sinusoidal positions: shifts are rotations, norms are constant, rows differ (SPEC 2.1)") {
  const Index time = 50, width = 128;
  const Tensor p = nn::sinusoidal_positions(time, width);
  double nearest = 1e9;
  for (Index t = 0; t < time; ++t) {
    double norm = 0;
    for (Index i = 0; i < width; ++i) norm += p[t * width + i] * p[t * width + i];
    CHECK(norm == doctest::Approx(width / 2.0).epsilon(1e-12));
    for (Index u = 0; u < t; ++u) {
      double distance = 0;
      for (Index i = 0; i < width; ++i) distance += std::pow(p[t * width + i] - p[u * width + i], 2);
      nearest = std::min(nearest, std::sqrt(distance));
    }
  }
  CHECK(nearest == doctest::Approx(1.95).epsilon(0.01));
  const Index shift = 7;
  for (Index k = 0; k < width / 2; ++k) {
    const double w = std::pow(10000.0, -2.0 * static_cast<double>(k) / width), c = std::cos(w * shift), s = std::sin(w * shift);
    for (Index t = 0; t + shift < time; ++t) {
      const double sine = p[t * width + 2 * k], cosine = p[t * width + 2 * k + 1];
      CHECK(std::abs(p[(t + shift) * width + 2 * k] - (c * sine + s * cosine)) < 1e-12);
      CHECK(std::abs(p[(t + shift) * width + 2 * k + 1] - (c * cosine - s * sine)) < 1e-12);
    }
  }
}
