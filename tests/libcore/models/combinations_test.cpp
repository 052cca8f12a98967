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
std::optional<Model> model_with(Config config, const std::string& attention, const std::string& positions) {
  config.layers = 1;
  config.width = 8;
  config.heads = 2;
  config.attention = attention;
  config.positions = positions;
  try {
    std::optional<Model> model(std::in_place, config, 3);
    stir(model->parameters(), 0.3);
    return model;
  } catch (const UsageError&) {
    return std::nullopt;
  }
}

// Calls body(model) for each pair that goes together; returns their number.
template <class Model, class Config, class Body>
int for_each_pair(const Config& config, const Body& body) {
  int count = 0;
  for (const AttentionVariant& variant : attention_variants()) {
    for (const PositionScheme& scheme : position_schemes()) {
      CAPTURE(variant.name);
      CAPTURE(scheme.name);
      auto model = model_with<Model>(config, small_attention(variant), small_positions(scheme));
      if (!model) continue;
      ++count;
      body(*model);
    }
  }
  return count;
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
  const int pairs = for_each_pair<models::Decoder>(small_decoder_config, [&](models::Decoder& model) {
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
  const int pairs = for_each_pair<models::Encoder>(small_encoder_config, [&](models::Encoder& model) {
    check_gradients(model.parameters(), [&] { return loss_of(model.hidden(alone)); });
    CHECK(difference(model.hidden(all).value().narrowed(0, 1, 1).narrowed(1, 0, 5), model.hidden(alone).value()) <
          1e-12);
  });
  CHECK(pairs > 4 * static_cast<int>(attention_variants().size()));
}

}  // namespace combinations_tests
