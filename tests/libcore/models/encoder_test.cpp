// The encoder as a whole. Built in double.
#include "libcore/models/encoder.hpp"

#include <doctest/doctest.h>

#include <cmath>

#include "libcore/models/decoder.hpp"
#include "libcore/models/model_checks.hpp"
#include "libcore/models/presets.hpp"
#include "libcore/models/small_config.hpp"
#include "libcore/ops/arithmetic.hpp"
#include "libcore/ops/gather.hpp"
#include "libcore/tensor/context.hpp"
#include "support/weighted_sum.hpp"

using namespace heddle;
using namespace heddle::testing;

namespace encoder_tests {

namespace {

std::vector<Variation<models::EncoderConfig>> variations() {
  Variations list(small_encoder_config);
  list.add("BERT", [](auto& c) {
    c.block = "post";
    c.norm_epsilon = 1e-12;
    c.segments = 2;
    c.embedding_norm = c.pooler = c.next_sentence = true;
  });
  list.add("RoBERTa", [](auto& c) {
    c.block = "post";
    c.segments = 1;
    c.positions = "learned:offset=2";
    c.embedding_norm = c.pooler = true;
  });
  list.add("untied, no bias", [](auto& c) {
    c.tie_embeddings = c.bias = false;
    c.pooler = true;
  });
  list.add("sinusoidal, window", [](auto& c) {
    c.positions = "sinusoidal";
    c.window = 2;
  });
  list.add("values of tokens", [](auto& c) { c.value_embeddings = 1; });
  list.add_attention();
  list.add("relative scalar", [](auto& c) { c.positions = "relative-scalar:buckets=8,max-distance=4"; });
  return list;
}

// Rows of 8, 3 and 5 tokens; the padding is garbage.
models::Sequences some_sequences(const models::TransformerConfig& config) {
  TokenIds ids(Shape{3, 8});
  std::vector<TokenId> segments(24, 0);
  const RandomStream stream(5, 6);
  for (std::size_t i = 0; i < 24; ++i) {
    ids.ids[i] = static_cast<TokenId>(stream.below(i, 13));
    if (config.segments > 1) segments[i] = i % 8 >= 2 ? 1 : 0;
  }
  return {ids, {8, 3, 5}, segments};
}

models::Sequences row_alone(const models::Sequences& all, Index row) {
  const auto length = all.lengths[static_cast<std::size_t>(row)];
  const auto cut = [&](const std::vector<TokenId>& from) {
    return std::vector<TokenId>(from.begin() + 8 * row, from.begin() + 8 * row + length);
  };
  return {TokenIds({1, length}, cut(all.ids.ids)), {}, cut(all.segments)};
}

Variable loss_of(const models::Encoder& model, const models::EncoderConfig& config, const Pass& pass) {
  const Variable hidden = model.hidden(some_sequences(config), pass);
  const std::vector<Index> rows{1, 6, 9, 20};
  const Variable masked =
      model.masked_token_head().loss(ops::gather_rows(hidden, rows), {3, 0, 12, 7}, {.smoothing = 0.1});
  if (!config.pooler) return masked;
  const Variable second = model.has_next_sentence()
                              ? ops::cross_entropy(model.next_sentence(hidden), {0, 1, 1})
                              : ops::cross_entropy(model.summary(ops::gather_positions(hidden, {0, 0, 0})), {0, 5, 11});
  return ops::add(masked, second);
}

}  // namespace

TEST_CASE("encoder: relative positions have vectors as wide as its states, whatever the width of its embeddings") {
  for (const std::string positions : {"transformer-xl", "disentangled:reach=3"}) {
    CAPTURE(positions);
    models::EncoderConfig config;
    config.layers = 1;
    config.width = 16;
    config.heads = 2;
    config.embedding_width = 6;
    config.vocab_size = 9;
    config.positions = positions;
    const models::Encoder model(config, 3);
    Index matrices = 0;
    for (const Parameter& parameter : model.parameters().all()) {
      if (parameter.name.find("position") == std::string::npos || parameter.value().rank() != 2) continue;
      CAPTURE(parameter.name);
      const bool is_bias = parameter.name.ends_with("_bias");  // [heads, head width]
      CHECK(parameter.value().shape()[1] == (is_bias ? 8 : 16));
      matrices += is_bias ? 0 : 1;
    }
    CHECK(matrices > 0);
  }
}

TEST_CASE("encoder: the gradient of every parameter matches finite differences, in every variation") {
  for (const auto& variation : variations()) {
    CAPTURE(variation.name);
    models::Encoder model(variation.config, 3);
    stir(model.parameters(), 0.3);
    const Pass pass{.dropout = 0.1, .seed = 4, .step = 5};  // the same elements are dropped each time
    check_gradients(model.parameters(), [&] { return loss_of(model, variation.config, pass); });
  }
}

TEST_CASE("encoder: in a padded batch every sequence has the hidden states that it has alone, whatever the padding") {
  for (const auto& variation : variations()) {
    CAPTURE(variation.name);
    models::Encoder model(variation.config, 3);
    stir(model.parameters(), 0.3);
    const models::Sequences all = some_sequences(variation.config);
    const Tensor together = model.hidden(all).value();
    for (Index row = 0; row < 3; ++row) {
      const Tensor alone = model.hidden(row_alone(all, row)).value();
      for (Index i = 0; i < alone.size(); ++i) CHECK(std::abs(alone[i] - together[row * 8 * 12 + i]) < 1e-10);
    }
  }
}

TEST_CASE("decoder: in a padded batch every sequence has the hidden states that it has alone") {
  models::Decoder model(small_decoder_config, 3);
  stir(model.parameters(), 0.3);
  const models::Sequences all = some_sequences(small_decoder_config);
  const Tensor together = model.hidden(all).value();
  for (Index row = 0; row < 3; ++row) {
    const Tensor alone = model.hidden(row_alone(all, row)).value();
    for (Index i = 0; i < alone.size(); ++i) CHECK(std::abs(alone[i] - together[row * 8 * 12 + i]) < 1e-10);
  }
}

TEST_CASE("encoder: every token sees every other, and its segment and position") {
  for (const auto& variation : variations()) {
    CAPTURE(variation.name);
    if (variation.config.window > 0) continue;
    models::Encoder model(variation.config, 3);
    stir(model.parameters(), 0.3);
    models::Sequences sequences = some_sequences(variation.config);
    const Tensor before = model.hidden(sequences).value();
    const auto change = [&](const Tensor& after, Index position) {
      double largest = 0;
      for (Index i = 0; i < 12; ++i)
        largest = std::max(largest, std::abs(after[position * 12 + i] - before[position * 12 + i]));
      return largest;
    };
    models::Sequences other = sequences;
    other.ids.ids[7] = (other.ids.ids[7] + 1) % 13;
    const Tensor after = model.hidden(other).value();
    for (Index position = 0; position < 8; ++position) CHECK(change(after, position) > 1e-6);
    if (variation.config.segments < 2) continue;
    other = sequences;
    other.segments[4] = 0;
    CHECK(change(model.hidden(other).value(), 0) > 1e-6);
  }
}

TEST_CASE("encoder: published models have their published numbers of parameters, the head not counted (SPEC 4.3)") {
  const std::vector<std::pair<std::string, Index>> published{
      {"bert-base", 109482240},
      {"bert-large", 335141888},
      {"roberta-base", 124645632},
      // BERT without its 512 positions of width 768, and 1,023 vectors of width 64 in each layer.
      {"bert-base-relative", 109482240 - 512 * 768 + 12 * 1023 * 64}};
  for (const auto& [name, count] : published) {
    CAPTURE(name);
    const Simulation simulation;
    const auto model = models::make_model(models::preset(name), 0);
    Index backbone = 0;
    for (const Parameter& parameter : model->parameters().all()) {
      if (!models::is_of_head(parameter.name)) backbone += parameter.size();
    }
    CHECK(backbone == count);
  }
}

TEST_CASE("models: one position of each sequence, by itself, is what it is among all, and so are gradients") {
  std::vector<Variation<models::ModelConfig>> list;
  for (const auto& variation : variations()) list.push_back({variation.name, variation.config});
  list.push_back({"decoder", small_decoder_config});
  models::EncoderConfig no_blocks = small_encoder_config;
  no_blocks.layers = 0;
  list.push_back({"no blocks", no_blocks});
  for (const auto& variation : list) {
    CAPTURE(variation.name);
    const auto model = models::make_model(variation.config, 1);
    const auto& vectors = *model->as<models::ContextualVectors>();
    const models::Sequences sequences(TokenIds{Shape{2, 5}, {1, 2, 3, 4, 5, 6, 7, 8, 0, 0}}, {5, 3});
    const std::vector<Index> positions{4, 2};
    const auto run = [&](const auto& hidden) {
      model->parameters().clear_gradients();
      Recording recording;
      const Variable states = hidden();
      recording.backward(testing::weighted_sum(states));
      std::vector<std::vector<Real>> result{states.value().elements()};
      for (const Parameter& parameter : model->parameters().all()) result.push_back(parameter.gradient().elements());
      return result;
    };
    const auto alone = run([&] { return vectors.hidden_at(positions, sequences); });
    const auto among = run([&] { return ops::gather_positions(vectors.hidden(sequences), positions); });
    for (std::size_t i = 0; i < among.size(); ++i) {
      for (std::size_t k = 0; k < among[i].size(); ++k) {
        CHECK(alone[i][k] == doctest::Approx(among[i][k]).epsilon(1e-9).scale(1e-3));
      }
    }
  }
}

TEST_CASE("encoder: its parameters have these names") {
  models::Encoder model(variations()[1].config, 0);
  for (const char* name :
       {"encoder/embedding/token/weight", "encoder/embedding/position/weight", "encoder/embedding/segment/weight",
        "encoder/embedding/norm/gain", "encoder/embedding/norm/bias", "encoder/0/attention/query/weight",
        "encoder/1/feed_forward/down/bias", "encoder/pooler/weight", "encoder/pooler/bias", "head/dense/weight",
        "head/dense/bias", "head/norm/gain", "head/norm/bias", "head/bias", "head/next_sentence/weight",
        "head/next_sentence/bias"}) {
    CAPTURE(name);
    CHECK(model.parameters().find(name) != nullptr);
  }
  CHECK(model.parameters().find("head/weight") == nullptr);
  CHECK(model.parameters().find("encoder/norm/gain") == nullptr);
}

TEST_CASE("encoder: what does not go together is refused") {
  const auto message = [](auto change) {
    models::EncoderConfig config = small_encoder_config;
    change(config);
    try {
      models::make_model(config, 0);
    } catch (const UsageError& error) {
      return std::string(error.what());
    }
    return std::string("nothing was thrown");
  };
  CHECK(message([](auto& c) { c.next_sentence = true; }) == "`next_sentence` needs a pooler and at least 2 segments");
  CHECK(message([](auto& c) { c.positions = "none:offset=2"; }) ==
        "`positions`: none has no setting 'offset' (it has none)");
  const models::Encoder model(small_encoder_config, 0);
  CHECK_THROWS_WITH_AS(model.hidden({TokenIds(Shape{1, 2}), {}, {0, 1}}), "the model has no embeddings of segments",
                       DataError);
  CHECK_THROWS_AS(model.hidden({TokenIds(Shape{1, 2}), {3}}), ShapeError);
  CHECK_THROWS_AS(model.hidden({TokenIds(Shape{1, 2}), {0}}), ShapeError);
  CHECK_THROWS_AS(model.hidden({TokenIds(Shape{1, 2}), {2, 2}}), ShapeError);
  CHECK_THROWS_AS(model.hidden(TokenIds(Shape{1, 9})), DataError);
  CHECK_THROWS_AS(model.next_sentence(model.hidden(TokenIds(Shape{1, 2}))), UsageError);
}

}  // namespace encoder_tests
