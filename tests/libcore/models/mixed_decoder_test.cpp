// Decoders that fill masks, too. Built in double.
#include <doctest/doctest.h>

#include <cmath>

#include "libcore/models/decoder.hpp"
#include "libcore/models/model_checks.hpp"
#include "libcore/models/small_config.hpp"
#include "libcore/ops/cross_entropy.hpp"
#include "libcore/training/mixed.hpp"
#include "support/tensors.hpp"

using namespace heddle;
using namespace heddle::testing;

namespace mixed_decoder_tests {

namespace {

constexpr Index vocab = 13, time = 8;

std::vector<Variation<models::DecoderConfig>> variations() {
  models::DecoderConfig plain = small_decoder_config;
  plain.positions = "rope";
  plain.fills_masks = true;
  return Variations(plain)
      .add("learned", [](auto& c) { c.positions = "learned"; })
      .add("ALiBi", [](auto& c) { c.positions = "alibi"; })
      .add("relative scalar", [](auto& c) { c.positions = "relative-scalar:buckets=6,max-distance=5"; })
      .add("relative vectors", [](auto& c) { c.positions = "relative-vector:reach=3"; })
      .add("Transformer-XL's positions", [](auto& c) { c.positions = "transformer-xl"; })
      .add("disentangled positions", [](auto& c) { c.positions = "disentangled:reach=3,terms=queries"; })
      .add("window", [](auto& c) { c.window = 2; })
      .add("untied", [](auto& c) { c.tie_embeddings = false; })
      .add("post", [](auto& c) { c.block = "post"; })
      .add("values of tokens", [](auto& c) { c.value_embeddings = 1; })
      .add_attention();
}

// Two causal samples of one step, then three in which some tokens are masked.
data::MixedWindows::Batch some_mixed_batch() {
  const TokenIds ids = some_ids(5, time, vocab);
  const auto row = [&](Index b) { return ids.ids.begin() + b * time; };
  data::MixedWindows::Batch batch;
  batch.causal = {2, time, {row(0), row(2)}, {row(3), row(5)}};
  batch.masked.batch = 3, batch.masked.time = time, batch.masked.tokens = 3 * time;
  batch.masked.ids.assign(row(2), row(5));
  batch.masked.rows = {1, 6, time + 3, 2 * time + 7};
  batch.masked.targets = {4, 0, 11, 7};
  return batch;
}

constexpr Counts mixed_step{.samples = 5, .units = 5 * time, .targets = 2 * time + 4};

// Loss of one row of logits [.., vocab]; label smoothing spreads a part of the target over all tokens.
double nats_of(const Tensor& logits, Index row, TokenId target, double smoothing) {
  double sum = 0, mean = 0;
  for (Index i = 0; i < vocab; ++i) {
    sum += std::exp(logits[row * vocab + i]);
    mean += logits[row * vocab + i] / vocab;
  }
  return std::log(sum) - (1 - smoothing) * logits[row * vocab + target] - smoothing * mean;
}

}  // namespace

TEST_CASE("mixed decoder: the gradient of every parameter matches finite differences, in every variation") {
  const data::MixedWindows::Batch batch = some_mixed_batch();
  for (const auto& variation : variations()) {
    CAPTURE(variation.name);
    models::MixedDecoder model(variation.config, 3);
    stir(model.parameters(), 0.3);
    const Pass pass{.dropout = 0.1, .seed = 4, .step = 5};
    const double smoothing = variation.name == "fourier" ? 0 : 0.1;  // its radius has a gradient near zero with it
    check_gradients(model.parameters(),
                    [&] { return training::mixed_loss(model, batch, pass, mixed_step, 2, smoothing); });
  }
}

TEST_CASE("mixed decoder: the loss is the mean over samples of the mean losses of next tokens and of masked ones") {
  models::MixedDecoder model(variations().front().config, 3);
  stir(model.parameters(), 0.3);
  const data::MixedWindows::Batch batch = some_mixed_batch();
  const Tensor next = model.next_token_head()(model.next_hidden({TokenIds(Shape{2, time}, batch.causal.ids)})).value();
  const Tensor whole = model.next_token_head()(model.hidden({TokenIds(Shape{3, time}, batch.masked.ids)})).value();
  for (const double smoothing : {0.0, 0.2}) {
    double causal = 0, masked = 0;
    for (Index i = 0; i < 2 * time; ++i) {
      causal += nats_of(next, i, batch.causal.targets[static_cast<std::size_t>(i)], smoothing);
    }
    for (std::size_t i = 0; i < 4; ++i) {
      masked += nats_of(whole, batch.masked.rows[i] - 1, batch.masked.targets[i], smoothing);
    }
    const double of_next = 2.0 / 5 * causal / (2 * time), of_masked = 3.0 / 5 * masked / 4;
    const auto loss = [&](const data::MixedWindows::Batch& part) {
      return static_cast<double>(training::mixed_loss(model, part, {}, mixed_step, 2, smoothing).value()[0]);
    };
    CHECK(loss(batch) == doctest::Approx(of_next + of_masked).epsilon(1e-12));
    CHECK(loss({batch.causal, {}}) == doctest::Approx(of_next).epsilon(1e-12));
    CHECK(loss({{}, batch.masked}) == doctest::Approx(of_masked).epsilon(1e-12));
  }
}

TEST_CASE("mixed decoder: next tokens see those before them alone, masked ones both sides, at the position before") {
  for (const auto& variation : variations()) {
    CAPTURE(variation.name);
    models::MixedDecoder model(variation.config, 3);
    stir(model.parameters(), 0.3);
    TokenIds ids = some_ids(1, time, vocab);
    const std::vector<Real> next = model.next_hidden(ids).value().elements(),
                            whole = model.hidden(ids).value().elements();
    const std::vector<Real> shifted = model.masked_hidden(ids).value().elements();
    const auto width = static_cast<std::size_t>(model.width());
    for (std::size_t i = 0; i < (time - 1) * width; ++i) CHECK(shifted[width + i] == whole[i]);
    ids.ids[5] = (ids.ids[5] + 1) % vocab;
    const std::vector<Real> later = model.next_hidden(ids).value().elements(),
                            changed = model.hidden(ids).value().elements();
    double before = 0, after = 0;
    for (std::size_t i = 0; i < 5 * width; ++i) {
      CHECK(later[i] == next[i]);
      if (i >= 4 * width) before += std::abs(changed[i] - whole[i]);
    }
    for (std::size_t i = 5 * width; i < 6 * width; ++i) after += std::abs(later[i] - next[i]);
    CHECK(before > 1e-4);
    CHECK(after > 1e-4);
  }
}

TEST_CASE("mixed decoder: read from left to right it is the decoder of the same weights; steps give the same") {
  for (const auto& variation : variations()) {
    CAPTURE(variation.name);
    models::MixedDecoder model(variation.config, 3);
    stir(model.parameters(), 0.3);
    const TokenIds ids = some_ids(2, time, vocab);
    const Tensor logits = model.next_token_head()(model.next_hidden(ids)).value();
    check_steps(model, ids, logits);
    models::DecoderConfig config = variation.config;
    config.fills_masks = false;
    models::Decoder plain(config, 3);
    const bool has_both_directions = plain.parameters().count() != model.parameters().count();
    if (has_both_directions || config.positions.starts_with("relative-scalar")) continue;  // limited positions
    stir(plain.parameters(), 0.3);
    const Tensor same = plain.next_token_head()(plain.hidden(ids)).value();
    for (Index i = 0; i < logits.size(); ++i) CHECK(logits[i] == doctest::Approx(same[i]).epsilon(1e-12));
  }
}

TEST_CASE("mixed decoder: what it is, by its configuration and its roles") {
  models::DecoderConfig config = small_decoder_config;
  CHECK(models::make_model(config, 1)->as<models::MixedPredictor>() == nullptr);
  config.prepare_for(models::MaskedPredictor::ability);
  CHECK_FALSE(config.fills_masks);
  config.prepare_for(models::MixedPredictor::ability);
  CHECK(config.fills_masks);
  const auto model = models::make_model(config, 1);
  CHECK(model->as<models::TokenLoss>() != nullptr);
  CHECK(model->as<models::Generator>() != nullptr);
  CHECK(model->as<models::MaskedPredictor>() != nullptr);
  CHECK(model->as<models::ContextualVectors>()->is_bidirectional());
  CHECK_FALSE(model->as<models::TokenLoss>()->remembers());
  config.positions = "rope";
  config.memory = 4;
  CHECK_THROWS_WITH_AS(config.validate(), doctest::Contains("`memory`: a decoder that fills masks"), UsageError);
}

}  // namespace mixed_decoder_tests
