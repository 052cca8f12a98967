// The decoder as a whole. Built in double.
#include "libcore/models/decoder.hpp"

#include <doctest/doctest.h>

#include <cmath>

#include "libcore/heads/language_model.hpp"
#include "libcore/models/model_checks.hpp"
#include "libcore/models/presets.hpp"
#include "libcore/models/small_config.hpp"
#include "libcore/tensor/context.hpp"
#include "libcore/training/causal.hpp"
#include "support/tensors.hpp"

using namespace heddle;
using namespace heddle::testing;

namespace decoder_tests {

namespace {

std::vector<Variation<models::DecoderConfig>> variations() {
  return Variations(small_decoder_config)
      .add("post", [](auto& c) { c.block = "post"; })
      .add("rms", [](auto& c) { c.norm = "rms"; })
      .add("sinusoidal", [](auto& c) { c.positions = "sinusoidal"; })
      .add("no positions", [](auto& c) { c.positions = "none"; })
      .add("untied", [](auto& c) { c.tie_embeddings = false; })
      .add("no bias", [](auto& c) { c.bias = false; })
      .add("window", [](auto& c) { c.window = 2; })
      .add("silu", [](auto& c) { c.activation = "silu"; })
      .add("wide feed-forward", [](auto& c) { c.ffn_width = 20; })
      .add("parallel", [](auto& c) { c.block = "parallel"; })
      .add("RoPE", [](auto& c) { c.positions = "rope"; })
      .add("ALiBi", [](auto& c) { c.positions = "alibi"; })
      .add("relative scalar", [](auto& c) { c.positions = "relative-scalar:buckets=6,max-distance=5"; })
      .add("linear biases", [](auto& c) { c.positions = "linear:start=-0.2"; })
      .add("relative vectors", [](auto& c) { c.positions = "relative-vector:reach=3"; })
      .add("relative vectors of values", [](auto& c) { c.positions = "relative-vector:reach=3,values=1"; })
      .add("Transformer-XL's positions", [](auto& c) { c.positions = "transformer-xl"; })
      .add("disentangled positions", [](auto& c) { c.positions = "disentangled:reach=3,terms=queries"; })
      .add("narrow heads", [](auto& c) { c.projections = "narrow"; })
      .add("no output projection", [](auto& c) { c.attention_output = false; })
      .add("no projections", [](auto& c) { c.attention = "basic"; })
      .add("tied layers", [](auto& c) { c.layers = 3, c.distinct_layers = 1; })
      .add("layers of two blocks in turn", [](auto& c) { c.layers = 4, c.distinct_layers = 2; })
      .add("unscaled scores", [](auto& c) { c.attention = "dot:scale=1"; })
      .add("grouped heads", [](auto& c) { c.kv_heads = 1; })
      .add("wide heads", [](auto& c) { c.head_width = 6; })
      .add("normed heads", [](auto& c) { c.head_norm = true, c.positions = "rope"; })
      .add("gated heads", [](auto& c) { c.head_gates = true; })
      .add("mixed inputs", [](auto& c) { c.input_mix = true, c.layers = 3; })
      .add("values of tokens", [](auto& c) { c.layers = 5, c.value_embeddings = 2; })
      .add("values of tokens, grouped heads", [](auto& c) { c.layers = 1, c.value_embeddings = 1, c.kv_heads = 1; })
      .add("squared activation", [](auto& c) { c.activation = "relu-squared"; })
      .add("bounded logits", [](auto& c) { c.logit_cap = 1.5; })
      .add("gated", [](auto& c) { c.gated = true, c.activation = "silu"; })
      .add("no layers", [](auto& c) { c.layers = 0; })
      .add_attention();
}

data::TokenBatch some_batch(const models::DecoderConfig& config, Index batch) {
  const TokenIds ids = some_ids(batch, config.context + 1, config.vocab_size);
  data::TokenBatch result{batch, config.context, {}, {}};
  for (Index b = 0; b < batch; ++b) {
    const auto row = ids.ids.begin() + b * (config.context + 1);
    result.ids.insert(result.ids.end(), row, row + config.context);
    result.targets.insert(result.targets.end(), row + 1, row + config.context + 1);
  }
  return result;
}

double loss_of(const models::Decoder& model, const data::TokenBatch& batch) {
  return training::causal_loss(model, batch, {}, {}).value()[0];
}

// Matrices as files with fewer bits hold them.
Tensor in_fewer_bits(const Tensor& x, DType dtype) {
  if (x.rank() != 2) return x;
  return dtype == DType::int8 ? quantised(x) : x.as(dtype);
}

}  // namespace

TEST_CASE("decoder: the gradient of every parameter matches finite differences, in every variation") {
  for (const auto& variation : variations()) {
    CAPTURE(variation.name);
    models::Decoder model(variation.config, 3);
    stir(model.parameters(), 0.3);
    const data::TokenBatch batch = some_batch(variation.config, 2);
    const Pass pass{.dropout = 0.1, .seed = 4, .step = 5};  // the same elements are dropped each time
    check_gradients(model.parameters(), [&] { return training::causal_loss(model, batch, pass, {}); });
  }
}

TEST_CASE("decoder: a later token changes nothing earlier, and everything from its place on") {
  for (const auto& variation : variations()) {
    CAPTURE(variation.name);
    models::Decoder model(variation.config, 3);
    stir(model.parameters(), 0.3);
    TokenIds ids = some_ids(1, 8, 13);
    const std::vector<Real> before = model.next_token_head()(model.hidden(ids)).value().elements();
    ids.ids[5] = (ids.ids[5] + 1) % 13;
    const std::vector<Real> after = model.next_token_head()(model.hidden(ids)).value().elements();
    for (std::size_t i = 0; i < 5 * 13; ++i) CHECK(before[i] == after[i]);
    double change = 0;
    for (std::size_t i = 5 * 13; i < 6 * 13; ++i) change += std::abs(before[i] - after[i]);
    CHECK(change > 1e-3);
  }
}

TEST_CASE("decoder: cached decoding equals recomputation, token by token and with rows of different lengths") {
  for (const auto& variation : variations()) {
    CAPTURE(variation.name);
    models::Decoder model(variation.config, 3);
    stir(model.parameters(), 0.3);
    const TokenIds ids = some_ids(2, 8, 13);
    const Tensor whole = model.next_token_head()(model.hidden(ids)).value();  // [2, 8, 13]
    check_steps(model, ids, whole);
  }
}

TEST_CASE(
    "token head: logits and loss are those of its equation, with a scale, a bias and a bound in any combination") {
  constexpr Index rows = 4, width = 5, classes = 7;
  const Tensor hidden = normal_tensor({rows, width}, 1);
  const std::vector<TokenId> targets{3, 0, 6, 3};
  for (const double scale : {1.0, 0.3}) {
    for (const bool has_bias : {false, true}) {
      for (const double cap : {0.0, 1.5}) {
        CAPTURE(scale);
        CAPTURE(has_bias);
        CAPTURE(cap);
        Parameters parameters{ParameterSource(2)};
        const heads::LanguageModel head(Scope(parameters, "head"), classes, width, 1,
                                        {.scale = static_cast<Real>(scale), .bias = has_bias, .cap = cap});
        stir(parameters, 0.5);
        const Tensor& weight = parameters.find("head/weight")->value();
        const Tensor logits = head(Variable(hidden)).value();
        double loss = 0;
        for (Index r = 0; r < rows; ++r) {
          double sum = 0, of_target = 0;
          for (Index c = 0; c < classes; ++c) {
            double z = has_bias ? parameters.find("head/bias")->value()[c] : 0;
            for (Index i = 0; i < width; ++i) z += scale * hidden[r * width + i] * weight[c * width + i];
            if (cap > 0) z = cap * std::tanh(z / cap);
            CHECK(logits[r * classes + c] == doctest::Approx(z).epsilon(1e-10));
            sum += std::exp(z);
            if (c == targets[static_cast<std::size_t>(r)]) of_target = z;
          }
          loss += (std::log(sum) - of_target) / rows;
        }
        CHECK(head.loss(Variable(hidden), targets, {}).value()[0] == doctest::Approx(loss).epsilon(1e-10));
      }
    }
  }
}

TEST_CASE("decoder: values of tokens begin as nothing, and need layers and windows of their own") {
  models::DecoderConfig config = small_decoder_config;
  config.positions = "rope";
  const models::Decoder plain(config, 3);
  config.value_embeddings = 1;
  const models::Decoder model(config, 3);
  const TokenIds ids = some_ids(2, 8, 13);
  CHECK(model.hidden(ids).value().elements() == plain.hidden(ids).value().elements());
  CHECK(model.parameters().count() == plain.parameters().count() + 13 * 12 + 2);
  CHECK(plain.remembers());
  CHECK_FALSE(model.remembers());
  config.value_embeddings = 2;
  CHECK_THROWS_WITH_AS(
      config.validate(),
      "`value_embeddings` = 2: at most 1 for 2 layers: each table serves one of the first and one of the last",
      UsageError);
  config.value_embeddings = 1, config.memory = 4;
  CHECK_THROWS_WITH_AS(config.validate(), doctest::Contains("`memory`: `value_embeddings` are"), UsageError);
}

TEST_CASE("decoder: weights in fewer bits count as the numbers they stand for, in every variation, cached or not") {
  for (const auto& variation : variations()) {
    CAPTURE(variation.name);
    for (const DType dtype : {DType::bfloat16, DType::int8}) {
      CAPTURE(static_cast<int>(dtype));
      models::Decoder model(variation.config, 3);
      stir(model.parameters(), 0.3);
      for (const Parameter& parameter : model.parameters().all()) {
        parameter.value().assign(in_fewer_bits(parameter.value(), dtype).as(DType::real));
      }
      const models::Decoder stored(
          variation.config, ParameterSource::given([&](const Declaration& declaration) {
            const Tensor whole(declaration.stacked_shape());
            for (std::size_t i = 0; i < declaration.names.size(); ++i) {
              const Tensor part = model.parameters().find(declaration.names[i])->value();
              whole.narrowed(0, static_cast<Index>(i) * part.shape()[0], part.shape()[0]).assign(part);
            }
            return in_fewer_bits(whole, dtype);
          }));
      const TokenIds ids = some_ids(2, 8, 13);
      const Tensor expected = model.next_token_head()(model.hidden(ids)).value();
      const Tensor whole = stored.next_token_head()(stored.hidden(ids)).value();
      for (Index i = 0; i < whole.size(); ++i) CHECK(whole[i] == doctest::Approx(expected[i]).epsilon(1e-10));
      check_steps(stored, ids, expected);
    }
  }
}

TEST_CASE("decoder: the loss starts at the logarithm of the vocabulary") {
  for (const auto& variation : variations()) {
    CAPTURE(variation.name);
    models::DecoderConfig config = variation.config;
    config.vocab_size = 300;
    config.width = 48;
    const models::Decoder model(config, 8);
    CHECK(loss_of(model, some_batch(config, 8)) == doctest::Approx(std::log(300.0)).epsilon(0.05 / std::log(300.0)));
  }
}

TEST_CASE("decoder: published models have their published numbers of parameters") {
  const std::vector<std::pair<std::string, Index>> published{
      {"gpt1", 116534784},         {"gpt2", 124439808},           {"gpt2-medium", 354823168}, {"gpt2-large", 774030080},
      {"gpt2-xl", 1557611200},     {"gpt3", 174604259328},        {"llama-7b", 6738415616},   {"llama3-8b", 8030261248},
      {"llama3-70b", 70553706496}, {"llama3-405b", 405853388800}, {"smollm-135m", 134515008}, {"palm-8b", 8632012800}};
  for (const auto& [name, count] : published) {
    CAPTURE(name);
    const Simulation simulation;
    CHECK(models::make_model(models::preset(name), 0)->parameters().count() == count);
  }
  CHECK_THROWS_WITH_AS(
      models::preset("gpt9"),
      ("preset 'gpt9' is not one of " + join(models::preset_names()) + "; did you mean 'gpt1'?").c_str(), UsageError);
}

TEST_CASE("decoder: layer norms have 2 width parameters each (SPEC 3.1), RMS norms width") {
  models::DecoderConfig config = small_decoder_config;
  const Index layer = models::Decoder(config, 0).parameters().count();
  config.norm = "rms";
  CHECK(layer - models::Decoder(config, 0).parameters().count() == (2 * config.layers + 1) * config.width);
}

TEST_CASE("decoder: sequences beyond the context, ids outside the vocabulary and shapes that cannot be are refused") {
  models::Decoder model(small_decoder_config, 3);
  CHECK_THROWS_WITH_AS(model.hidden(some_ids(1, 9, 13)), "a sequence of 9 tokens is longer than the context of 8",
                       DataError);
  TokenIds ids(Shape{1, 2}, {3, 13});
  CHECK_THROWS_WITH_AS(model.hidden(ids), "token id 13 at position 1 is outside the vocabulary of 13", DataError);
  CHECK_THROWS_AS(model.start({1, 9}), DataError);
  models::DecoderConfig config = small_decoder_config;
  config.heads = 5;
  CHECK_THROWS_WITH_AS(models::Decoder(config, 0), "`width` = 12 is not divisible by `heads` = 5", UsageError);
  config = small_decoder_config;
  config.vocab_size = 0;
  CHECK_THROWS_AS(models::Decoder(config, 0), UsageError);
}

}  // namespace decoder_tests
