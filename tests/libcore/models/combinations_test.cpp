// Every attention variant with every position scheme that it goes with, in decoders and encoders. Built in double.
#include <doctest/doctest.h>

#include <cmath>
#include <map>
#include <optional>
#include <set>
#include <string>

#include "libcore/base/strings.hpp"
#include "libcore/models/decoder.hpp"
#include "libcore/models/encoder.hpp"
#include "libcore/models/model_checks.hpp"
#include "libcore/models/naive_transformer.hpp"
#include "libcore/models/small_config.hpp"
#include "libcore/ops/arithmetic.hpp"
#include "libcore/positions/positions.hpp"
#include "support/tensors.hpp"
#include "support/weighted_sum.hpp"

using namespace heddle;
using namespace heddle::testing;

namespace combinations_tests {

namespace {

// A scheme as small models have it: distances that texts of 8 tokens reach, and what a decoder can use.
std::string small_positions(const PositionScheme& scheme) {
  const std::map<std::string, std::string> settings{{"relative-scalar", ":buckets=6,max-distance=5"},
                                                    {"relative-vector", ":reach=3,values=1"},
                                                    {"linear", ":start=-0.2"},
                                                    {"transformer-xl", ":clamp=4"},
                                                    {"disentangled", ":reach=3,terms=queries"}};
  const auto found = settings.find(scheme.name);
  return scheme.name + (found == settings.end() ? "" : found->second);
}

// The model with both; none where it refuses them.
template <class Model, class Config>
std::optional<Model> model_with(Config config, const std::string& attention, const std::string& positions,
                                Index window) {
  config.layers = 1;
  config.width = 8;
  config.heads = 2;
  config.attention = attention;
  config.positions = positions;
  config.window = window;
  try {
    std::optional<Model> model(std::in_place, config, 3);
    stir(model->parameters(), 0.3);
    return model;
  } catch (const UsageError&) {
    return std::nullopt;
  }
}

// Calls body(model) for each pair that goes together, and goes with the window;
// returns their number.
template <class Model, class Config, class Body>
int for_each_pair(const Config& config, Index window, const Body& body) {
  int count = 0;
  for (const AttentionVariant& variant : attention_variants()) {
    for (const PositionScheme& scheme : position_schemes()) {
      CAPTURE(variant.name);
      CAPTURE(scheme.name);
      auto model = model_with<Model>(config, small_attention(variant), small_positions(scheme), window);
      if (!model) continue;
      ++count;
      body(*model);
    }
  }
  return count;
}

// The row of states, or of what a head makes of them, equals the expected
// vectors.
void check_vectors(const Tensor& actual, Index row, const Rows& expected) {
  double apart = 0;
  for (std::size_t t = 0; t < expected.size(); ++t) {
    const auto vector = doubles(actual.narrowed(0, row, 1).narrowed(1, static_cast<Index>(t), 1));
    for (std::size_t i = 0; i < vector.size(); ++i) apart = std::max(apart, std::abs(vector[i] - expected[t][i]));
  }
  CHECK(apart < 1e-10);
}

std::vector<TokenId> row_of(const TokenIds& ids, Index row, Index length) {
  const auto begin = ids.ids.begin() + row * ids.shape[1];
  return {begin, begin + length};
}

// Small, so that differences are not rounding errors of large numbers.
Variable loss_of(const Variable& states) {
  return ops::scale(weighted_sum(states), 0.05);
}

}  // namespace

TEST_CASE("decoder: attention and positions, every pair: gradients, causality, and steps that equal the whole") {
  const TokenIds ids = some_ids(2, 8, 13);
  TokenIds later = ids;
  later.ids[5] = (later.ids[5] + 1) % 13;
  std::set<std::string> kept;  // matrices without weight decay
  const int pairs = for_each_pair<models::Decoder>(small_decoder_config, 0, [&](models::Decoder& model) {
    for (const Parameter& parameter : model.parameters().all()) {
      CAPTURE(parameter.name);
      if (parameter.value().rank() == 1) CHECK(parameter.decay == Decay::no);
      if (parameter.value().rank() > 1 && parameter.decay == Decay::no) kept.insert(parameter.name);
    }
    check_gradients(model.parameters(), [&] { return loss_of(model.hidden(ids)); });
    const Tensor states = model.hidden(ids).value(), other = model.hidden(later).value();
    CHECK(difference(states.narrowed(0, 0, 1).narrowed(1, 0, 5), other.narrowed(0, 0, 1).narrowed(1, 0, 5)) == 0);
    CHECK(difference(states.narrowed(0, 0, 1).narrowed(1, 5, 1), other.narrowed(0, 0, 1).narrowed(1, 5, 1)) > 1e-3);
    check_steps(model, ids, model.next_token_head()(model.hidden(ids)).value());
  });
  // Biases of Transformer-XL, and what a bilinear score has beside the identity.
  CHECK(join({kept.begin(), kept.end()}) ==
        "decoder/0/attention/positions/content_bias, decoder/0/attention/positions/position_bias, "
        "decoder/0/attention/weight");
  CHECK(pairs > 4 * static_cast<int>(attention_variants().size()));
}

TEST_CASE("encoder: attention and positions, every pair: gradients, and texts that padding does not change") {
  const models::Sequences all{some_ids(2, 8, 13), {8, 5}, {}};
  const models::Sequences alone{TokenIds({1, 5}, {all.ids.ids.begin() + 8, all.ids.ids.begin() + 13}), {}, {}};
  const int pairs = for_each_pair<models::Encoder>(small_encoder_config, 0, [&](models::Encoder& model) {
    check_gradients(model.parameters(), [&] { return loss_of(model.hidden(alone)); });
    CHECK(difference(model.hidden(all).value().narrowed(0, 1, 1).narrowed(1, 0, 5), model.hidden(alone).value()) <
          1e-12);
  });
  CHECK(pairs > 4 * static_cast<int>(attention_variants().size()));
}

TEST_CASE(
    "decoder: attention and positions, every pair, with windows and without: whole and in steps as equations say") {
  const TokenIds ids = some_ids(2, 8, 13);
  for (const Index window : {0, 3}) {
    CAPTURE(window);
    const int pairs = for_each_pair<models::Decoder>(small_decoder_config, window, [&](models::Decoder& model) {
      const NaiveTransformer naive(model, "decoder", *model.config().as<models::DecoderConfig>());
      const Tensor states = model.hidden(ids).value(), expected(Shape{2, 8, 13});
      for (Index row = 0; row < 2; ++row) {
        const Rows all = naive.states(row_of(ids, row, 8), {.causal = true});
        check_vectors(states, row, all);
        for (Index t = 0; t < 8; ++t) {
          const std::vector<double> logits = naive.token_logits(all[static_cast<std::size_t>(t)]);
          for (Index i = 0; i < 13; ++i) expected[(row * 8 + t) * 13 + i] = logits[static_cast<std::size_t>(i)];
        }
      }
      check_steps(model, ids, expected);
    });
    CHECK(pairs > 3 * static_cast<int>(attention_variants().size()));
  }
}

TEST_CASE("encoder: attention and positions, every pair, with windows and without, in a padded batch") {
  const models::Sequences all{some_ids(2, 8, 13), {5, 8}, {}};
  models::EncoderConfig config = small_encoder_config;
  config.block = "post";
  for (const Index window : {0, 3}) {
    CAPTURE(window);
    const int pairs = for_each_pair<models::Encoder>(config, window, [&](models::Encoder& model) {
      const NaiveTransformer naive(model, "encoder", *model.config().as<models::EncoderConfig>());
      const Tensor states = model.hidden(all).value();
      for (Index row = 0; row < 2; ++row) {
        const std::vector<TokenId> text = row_of(all.ids, row, all.lengths[static_cast<std::size_t>(row)]);
        check_vectors(states, row, naive.states(text, {}));
      }
    });
    CHECK(pairs > 3 * static_cast<int>(attention_variants().size()));
  }
}

}  // namespace combinations_tests
