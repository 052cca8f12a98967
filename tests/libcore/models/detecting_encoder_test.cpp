// An encoder with a generator (ELECTRA). Built in double.
#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>
#include <map>

#include "libcore/models/encoder.hpp"
#include "libcore/models/model_checks.hpp"
#include "libcore/models/presets.hpp"
#include "libcore/models/small_config.hpp"
#include "libcore/ops/arithmetic.hpp"
#include "libcore/ops/binary_cross_entropy.hpp"
#include "libcore/ops/gather.hpp"
#include "libcore/tensor/context.hpp"
#include "libcore/training/detect.hpp"
#include "support/tensors.hpp"

using namespace heddle;
using namespace heddle::testing;

namespace detecting_encoder_tests {

namespace {

models::EncoderConfig small_config() {
  models::EncoderConfig config = small_encoder_config;
  config.generator_width = 8;
  return config;
}

std::vector<Variation<models::EncoderConfig>> variations() {
  return Variations(small_config())
      .add("ELECTRA",
           [](auto& c) {
             c.block = "post", c.segments = 2, c.embedding_norm = true, c.embedding_width = 6, c.generator_width = 4;
           })
      .add("embeddings as wide as the generator", [](auto& c) { c.embedding_width = 8; })
      .add("untied, no bias", [](auto& c) { c.tie_embeddings = c.bias = false; })
      .add("one layer of the generator", [](auto& c) { c.generator_layers = 1; })
      .add("tied layers, a given inner width", [](auto& c) { c.distinct_layers = 1, c.ffn_width = 10; })
      .add("sinusoidal positions", [](auto& c) { c.positions = "sinusoidal", c.embedding_width = 6; })
      .add("RoPE", [](auto& c) { c.positions = "rope"; })
      .add("relative scalars", [](auto& c) { c.positions = "relative-scalar:buckets=8,max-distance=4"; })
      .add("disentangled positions", [](auto& c) { c.positions = "disentangled:reach=3"; });
}

models::DetectingEncoder stirred(const models::EncoderConfig& config) {
  models::DetectingEncoder model(config, 3);
  stir(model.parameters(), 0.3);
  return model;
}

// Texts of 8 and of 6 tokens, in which 12 stands for the mask; the padding is garbage.
data::MaskedBatch some_batch(const models::EncoderConfig& config) {
  data::MaskedBatch batch{.batch = 2,
                          .time = 8,
                          .ids = {0, 12, 2, 12, 4, 5, 12, 7, 8, 12, 3, 1, 12, 9, 12, 11},
                          .lengths = {8, 6},
                          .segments = {},
                          .tokens = 14,
                          .rows = {1, 3, 6, 9, 12},
                          .targets = {1, 3, 6, 9, 2},
                          .unrelated = {},
                          .ranks = {}};
  if (config.segments > 1) batch.segments = {0, 0, 0, 1, 1, 1, 1, 1, 0, 0, 0, 0, 1, 1, 0, 0};
  return batch;
}

const Pass pass{.dropout = 0.1, .seed = 4, .step = 5, .sample_positions = 8};

training::ReplacedTokens replaced_in(const models::DetectingEncoder& model, const data::MaskedBatch& batch) {
  const Variable hidden = model.masked_hidden(training::sequences_of(batch), pass);
  return training::replace_masked(batch, model.masked_token_head()(ops::gather_rows(hidden, batch.rows)).value(), pass);
}

Variable judged(const models::DetectingEncoder& model, const training::ReplacedTokens& text) {
  return model.replaced(ops::gather_rows(model.hidden(text.sequences, pass), text.rows));
}

// With replacements that do not change with the weights.
Variable fixed_loss(const models::DetectingEncoder& model, const data::MaskedBatch& batch,
                    const training::ReplacedTokens& text, double weight) {
  const Variable masked = training::masked_loss(model, batch, pass, training::counts_of(batch), 0.1);
  return ops::add(masked, ops::binary_cross_entropy(judged(model, text), text.replaced, 14 / weight));
}

using Gradients = std::map<std::string, std::vector<Real>>;
template <class Loss>
Gradients gradients_of(const models::DetectingEncoder& model, const Loss& loss) {
  auto& parameters = const_cast<Parameters&>(model.parameters());
  parameters.clear_gradients();
  Recording recording;
  recording.backward(loss());
  Gradients gradients;
  for (const Parameter& parameter : parameters.all()) gradients[parameter.name] = parameter.gradient().elements();
  return gradients;
}

bool is_zero(const std::vector<Real>& values) {
  return std::ranges::all_of(values, [](Real value) { return value == 0; });
}

}  // namespace

TEST_CASE("detecting encoder: gradients of both losses match finite differences, in every variation") {
  for (const auto& variation : variations()) {
    CAPTURE(variation.name);
    models::DetectingEncoder model = stirred(variation.config);
    const data::MaskedBatch batch = some_batch(variation.config);
    const training::ReplacedTokens text = replaced_in(model, batch);
    check_gradients(model.parameters(), [&] { return fixed_loss(model, batch, text, 5); });
    // The loss of the objective is the same, and so are its gradients: none flow through the replacements.
    const auto loss = [&] { return training::detection_loss(model, batch, pass, training::counts_of(batch), 5, 0.1); };
    CHECK(loss().value()[0] == doctest::Approx(fixed_loss(model, batch, text, 5).value()[0]).epsilon(1e-12));
    const Gradients all = gradients_of(model, loss);
    const Gradients fixed = gradients_of(model, [&] { return fixed_loss(model, batch, text, 5); });
    for (const auto& [name, values] : all) {
      CAPTURE(name);
      for (std::size_t i = 0; i < values.size(); ++i) CHECK(std::abs(values[i] - fixed.at(name)[i]) < 1e-12);
    }
  }
}

TEST_CASE("detecting encoder: the loss of detection is that of a loop over all tokens that are not padding") {
  const models::DetectingEncoder model = stirred(small_config());
  const data::MaskedBatch batch = some_batch(small_config());
  const training::ReplacedTokens text = replaced_in(model, batch);
  const Tensor logits = model.replaced(model.hidden(text.sequences, pass)).value();  // includes the padding
  double detection = 0;
  std::vector<TokenId> original = batch.ids;
  for (std::size_t i = 0; i < batch.rows.size(); ++i) {
    original[static_cast<std::size_t>(batch.rows[i])] = batch.targets[i];
  }
  for (std::size_t row = 0; row < 14; ++row) {
    const bool is_replaced = text.sequences.ids.ids[row] != original[row];
    const double replaced = 1 / (1 + std::exp(-logits[static_cast<Index>(row)]));
    detection -= std::log(is_replaced ? replaced : 1 - replaced) / 14;
  }
  const auto counts = training::counts_of(batch);
  const double masked = training::masked_loss(model, batch, pass, counts, 0).value()[0];
  const double loss = training::detection_loss(model, batch, pass, counts, 50, 0).value()[0];
  CHECK(loss == doctest::Approx(masked + 50 * detection).epsilon(1e-10));
}

TEST_CASE("detecting encoder: detection trains the encoder and the embeddings, masked tokens the generator and those") {
  const models::EncoderConfig config = variations()[1].config;
  const models::DetectingEncoder model = stirred(config);
  const data::MaskedBatch batch = some_batch(config);
  const training::ReplacedTokens text = replaced_in(model, batch);
  const Gradients masked =
      gradients_of(model, [&] { return training::masked_loss(model, batch, pass, training::counts_of(batch), 0); });
  const Gradients detection =
      gradients_of(model, [&] { return ops::binary_cross_entropy(judged(model, text), text.replaced, 14); });
  for (const auto& [name, values] : masked) {
    CAPTURE(name);
    const bool is_shared = name.starts_with("encoder/embedding/") && name.find("/projection/") == name.npos;
    const bool of_generator =
        name.starts_with("generator/") || (name.starts_with("head/") && !name.starts_with("head/detection/"));
    CHECK(is_zero(values) == !(of_generator || is_shared));
    CHECK(is_zero(detection.at(name)) == of_generator);
    CHECK(model.is_beside_vectors(name) == (name.starts_with("head/") || name.starts_with("generator/")));
  }
}

TEST_CASE("detecting encoder: in a padded batch a text has the states that it has alone, of the generator, too") {
  for (const auto& variation : variations()) {
    CAPTURE(variation.name);
    const models::DetectingEncoder model = stirred(variation.config);
    const models::Sequences both = training::sequences_of(some_batch(variation.config));
    models::Sequences alone(TokenIds(Shape{1, 6}, {both.ids.ids.begin() + 8, both.ids.ids.begin() + 14}));
    if (!both.segments.empty()) alone.segments = {both.segments.begin() + 8, both.segments.begin() + 14};
    const auto row = [](const Variable& x) { return x.value().narrowed(0, 1, 1).narrowed(1, 0, 6); };
    CHECK(difference(row(model.masked_hidden(both)), model.masked_hidden(alone).value()) < 1e-10);
    CHECK(difference(row(model.hidden(both)), model.hidden(alone).value()) < 1e-10);
    CHECK(model.masked_hidden(alone).shape()[2] == variation.config.generator_width);
  }
}

TEST_CASE("detecting encoder: ELECTRA has its published number of parameters; heads of generators divide their width") {
  for (const auto& [name, body] : std::vector<std::pair<std::string, Index>>{
           // The released models, and their head of detection: 12 blocks, embeddings and, if narrower, a projection.
           {"electra-small", 13483008},
           {"electra-base", 108891648}}) {
    CAPTURE(name);
    const Simulation simulation;
    const auto model = models::make_model(models::preset(name), 0);
    Index encoder = 0, detection = 0;
    for (const Parameter& parameter : model->parameters().all()) {
      if (parameter.name.starts_with("encoder/")) encoder += parameter.size();
      if (parameter.name.starts_with("head/detection/")) detection += parameter.size();
    }
    const Index width = models::preset(name).as<models::EncoderConfig>()->width;
    CHECK(encoder == body);
    CHECK(detection == width * width + width + width + 1);
    CHECK(model->as<models::ReplacementDetector>() != nullptr);
  }
  models::EncoderConfig config = small_config();
  for (const auto& [width, heads] : std::vector<std::pair<Index, Index>>{{4, 1}, {8, 2}, {9, 1}, {12, 3}, {1, 1}}) {
    config.generator_width = width;
    CHECK(config.generator().heads == heads);
    CHECK_NOTHROW(models::ModelConfig(config).check());
  }
  CHECK(config.generator().layers == config.layers);
  config.generator_layers = config.layers + 1;
  CHECK(config.generator().layers == config.layers + 1);
  config.generator_layers = 0;
  config.generator_width = 0;
  config.prepare_for(models::MaskedPredictor::ability);
  CHECK(config.generator_width == 0);
  config.prepare_for(models::ReplacementDetector::ability);
  CHECK(config.generator_width == 6);
  config.generator_width = 0, config.width = 768;
  config.prepare_for(models::ReplacementDetector::ability);
  CHECK(config.generator_width == 192);
}

}  // namespace detecting_encoder_tests
