// Layers that share their weights, and layers that training leaves out. Built in double.
#include <doctest/doctest.h>

#include <algorithm>
#include <cctype>
#include <cmath>

#include "libcore/models/decoder.hpp"
#include "libcore/models/model_checks.hpp"
#include "libcore/models/small_config.hpp"
#include "support/tensors.hpp"

using namespace heddle;
using namespace heddle::testing;

namespace layers_tests {

namespace {

models::DecoderConfig config_with(Index layers, Index distinct_layers) {
  models::DecoderConfig config = small_decoder_config;
  config.layers = layers;
  config.distinct_layers = distinct_layers;
  return config;
}

// The states before each layer and after the last norm, of `count` equal sequences of one token.
std::vector<Tensor> states_of(const models::Decoder& model, Index count, const Pass& pass) {
  std::vector<Tensor> states;
  TokenIds ids(Shape{count, 1});
  ids.ids.assign(ids.ids.size(), 4);
  model.hidden(ids, pass, [&](const Variable& x) { states.push_back(x.value()); });
  return states;
}

// Update by a layer (from 1) of the states of a sequence of the batch.
std::vector<double> added(const std::vector<Tensor>& states, std::size_t layer, Index sequence) {
  std::vector<double> after = doubles(states[layer].narrowed(0, sequence, 1));
  const std::vector<double> before = doubles(states[layer - 1].narrowed(0, sequence, 1));
  for (std::size_t i = 0; i < after.size(); ++i) after[i] -= before[i];
  return after;
}

bool is_zero(const std::vector<double>& numbers) {
  return std::ranges::all_of(numbers, [](double x) { return x == 0; });
}

void check_rate(Index seen, Index of, double rate) {
  const auto count = static_cast<double>(of);
  CHECK(std::abs(static_cast<double>(seen) / count - rate) < 4 * std::sqrt(rate * (1 - rate) / count));
}

}  // namespace

TEST_CASE("tied layers: as many parameters as the distinct ones, and the states of a stack with copies of them") {
  for (const Index distinct : {1, 2}) {
    CAPTURE(distinct);
    models::Decoder tied(config_with(4, distinct), 3);
    CHECK(tied.parameters().count() == models::Decoder(config_with(distinct, 0), 3).parameters().count());
    stir(tied.parameters(), 0.3);
    const models::Decoder copies(
        config_with(4, 0), ParameterSource::given([&](const Declaration& declaration) {
          const Tensor whole(declaration.stacked_shape());
          for (std::size_t i = 0; i < declaration.names.size(); ++i) {
            std::string name = declaration.names[i];
            const std::string prefix = "decoder/";  // before the number of a layer
            if (std::isdigit(static_cast<unsigned char>(name.at(prefix.size()))) != 0) {
              name[prefix.size()] = static_cast<char>('0' + (name[prefix.size()] - '0') % static_cast<int>(distinct));
            }
            const Tensor part = tied.parameters().find(name)->value();
            whole.narrowed(0, static_cast<Index>(i) * part.shape()[0], part.shape()[0]).assign(part);
          }
          return whole;
        }));
    const TokenIds ids = some_ids(2, 8, 13);
    CHECK(difference(tied.hidden(ids).value(), copies.hidden(ids).value()) < 1e-12);
  }
}

TEST_CASE("tied layers: each application of the same weights drops other elements") {
  for (const Index distinct : {1, 2}) {
    CAPTURE(distinct);
    models::DecoderConfig config = config_with(4, distinct);
    models::Decoder model(config, 3);
    // Every layer adds nothing but the bias of its feed-forward network, of which dropout takes elements.
    for (const Parameter& parameter : model.parameters().all()) {
      parameter.value().fill(parameter.name.ends_with("feed_forward/down/bias") ? 1 : 0);
    }
    constexpr Index count = 40;
    const std::vector<Tensor> states =
        states_of(model, count, {.dropout = 0.5, .seed = 9, .step = 2, .training = true});
    std::vector<std::vector<double>> masks;
    for (std::size_t layer = 1; layer <= 3; ++layer) {
      masks.emplace_back();
      for (Index b = 0; b < count; ++b) {
        const std::vector<double> change = added(states, layer, b);
        masks.back().insert(masks.back().end(), change.begin(), change.end());
      }
      check_rate(std::ranges::count(masks.back(), 0.0), count * config.width, 0.5);
    }
    for (std::size_t a = 0; a < masks.size(); ++a) {
      for (std::size_t b = a + 1; b < masks.size(); ++b) {
        Index same = 0;
        for (std::size_t i = 0; i < masks[a].size(); ++i) same += masks[a][i] == masks[b][i] ? 1 : 0;
        check_rate(same, count * config.width, 0.5);
      }
    }
  }
}

TEST_CASE("stochastic depth: a sample loses a sublayer at its layer's rate, and the others make up for it") {
  models::DecoderConfig config = config_with(3, 0);
  config.layer_dropout = 0.75;
  models::Decoder model(config, 3);
  stir(model.parameters(), 0.3);
  for (const Parameter& parameter : model.parameters().all()) {
    if (parameter.name.find("feed_forward") != std::string::npos) parameter.value().fill(0);
  }
  constexpr Index count = 4000;
  const std::vector<double> attended = added(states_of(model, 1, {}), 1, 0);
  REQUIRE(!is_zero(attended));
  const std::vector<Tensor> trained = states_of(model, count, {.seed = 9, .step = 2, .training = true});
  Index first = 0, second = 0, both = 0;
  for (Index b = 0; b < count; ++b) {
    const std::vector<double> change = added(trained, 1, b);
    const bool has_first = !is_zero(change), has_second = !is_zero(added(trained, 2, b));
    for (std::size_t i = 0; has_first && i < change.size(); ++i) {
      CHECK(change[i] == doctest::Approx(attended[i] / 0.75).epsilon(1e-10));
    }
    first += has_first;
    second += has_second;
    both += has_first && has_second;
  }
  check_rate(first, count, 0.75);  // layer l of 3 is left out at the rate 0.75 l / 3
  check_rate(second, count, 0.5);
  check_rate(both, count, 0.375);
}

TEST_CASE("stochastic depth: leaves nothing out outside training, whichever the step") {
  models::DecoderConfig config = config_with(2, 0);
  const models::Decoder plain(config, 3);
  config.layer_dropout = 0.5;
  const models::Decoder model(config, 3);
  const TokenIds ids = some_ids(2, 8, 13);
  for (const std::uint64_t step : {0, 1, 2}) {
    CHECK(difference(model.hidden(ids, {.seed = 1, .step = step}).value(), plain.hidden(ids).value()) == 0);
  }
}

}  // namespace layers_tests
