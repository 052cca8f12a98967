// What objectives give as loss and as metrics, compared with loops over the model's logits.
#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>

#include "heddle/training/causal.hpp"
#include "heddle/training/masked.hpp"
#include "short_training.hpp"
#include "support/models.hpp"

using namespace heddle;
using namespace heddle::training;
using namespace heddle::testing;

namespace {

constexpr Index loss_vocab = 30, loss_context = 10;
const ModelShape loss_shape{.layers = 1, .width = 16, .heads = 2, .context = loss_context, .vocab_size = loss_vocab};

// Larger weights than training starts from, so that tokens differ in probability.
template <class Model, class Config>
Model stirred(const Config& config) {
  Model model(config, 4);
  for (const Parameter& parameter : model.parameters().all()) {
    if (parameter.value().rank() == 2) parameter.value().scale(8);
  }
  return model;
}

// -sum over classes of q log p, with q = (1 - smoothing) on the target and smoothing / classes on each.
double cross_entropy_of(const Real* logits, Index classes, TokenId target, double smoothing) {
  double total = 0, nats = 0;
  for (Index i = 0; i < classes; ++i) total += std::exp(static_cast<double>(logits[i]));
  for (Index i = 0; i < classes; ++i) {
    const double q = (i == target ? 1 - smoothing : 0) + smoothing / static_cast<double>(classes);
    nats -= q * (static_cast<double>(logits[i]) - std::log(total));
  }
  return nats;
}

Index largest_of(const Real* logits, Index classes) {
  return std::max_element(logits, logits + classes) - logits;
}

models::EncoderConfig pairs_config() {
  models::EncoderConfig config = testing::encoder(loss_shape);
  config.segments = 2;
  config.pooler = config.next_sentence = true;
  return config;
}

double loss_of(const Objective& objective, Index samples) {
  const MicroBatch batch = objective.batch(0, samples);
  return batch.loss({}, batch.counts).value()[0];
}

}  // namespace

TEST_CASE("causal: the loss is the mean over all tokens of a step, smoothed as the option says (SPEC 4.1)") {
  const auto model = stirred<models::Decoder>(testing::decoder(loss_shape));
  const auto tokens = noisy_text(200, loss_vocab, 1);
  TrainingConfig settings = quick_settings(1);
  const data::TokenBatch batch = data::TrainingWindows(tokens, loss_context, settings.seed).batch(0, 3);
  const Tensor logits = model.next_token_head()(model.hidden(TokenIds(Shape{3, loss_context}, batch.ids))).value();
  for (const double smoothing : {0.0, 0.2}) {
    settings.training.label_smoothing = smoothing;
    double expected = 0;
    for (Index i = 0; i < 3 * loss_context; ++i) {
      const TokenId target = batch.targets[static_cast<std::size_t>(i)];
      expected += cross_entropy_of(logits.data() + i * loss_vocab, loss_vocab, target, smoothing) / (3 * loss_context);
    }
    models::Decoder same = stirred<models::Decoder>(testing::decoder(loss_shape));
    CHECK(loss_of(Causal(same, tokens, nullptr, settings), 3) == doctest::Approx(expected).epsilon(1e-5));
  }
}

TEST_CASE("causal: an evaluation sums the tokens of windows without overlap, each from the tokens of its window") {
  const auto model = stirred<models::Decoder>(testing::decoder(loss_shape));
  const auto source = noisy_text(60, loss_vocab, 3);
  std::vector<TokenId> tokens(60);
  source.read(0, tokens);
  for (const auto& [time, limit] : std::vector<std::pair<Index, Index>>{{0, 0}, {7, 0}, {7, 23}, {10, 11}}) {
    CAPTURE(time);
    CAPTURE(limit);
    const Index window = time > 0 ? time : loss_context, size = limit > 0 ? limit : 60;
    double nats = 0;
    for (Index at = 1; at < size; ++at) {
      const Index begin = (at - 1) / window * window;
      const TokenIds before(Shape{1, at - begin}, {tokens.begin() + begin, tokens.begin() + at});
      const Tensor logits = model.next_token_head()(model.hidden(before)).value();
      const Real* const last = logits.data() + (at - begin - 1) * loss_vocab;
      nats += cross_entropy_of(last, loss_vocab, tokens[static_cast<std::size_t>(at)], 0);
    }
    const Evaluation found = evaluate(model, source, {.time = time, .limit = limit, .batch_size = 2});
    CHECK(found.tokens == size - 1);
    CHECK(found.nats == doctest::Approx(nats).epsilon(1e-5));
    CHECK(found.nats_per_token() == found.nats / static_cast<double>(size - 1));
  }
}

TEST_CASE("masked: the loss is the mean over masked tokens and that over pairs, smoothed for tokens alone") {
  auto model = stirred<models::Encoder>(pairs_config());
  const auto tokens = noisy_text(200, loss_vocab, 1, 4);
  TrainingConfig settings = quick_settings(1);
  const data::MaskVocabulary vocabulary{loss_vocab};
  const data::MaskingOptions masking{.mask_probability = 0.4};
  const data::MaskedWindows windows(
      tokens, vocabulary, {.time = loss_context, .masking = masking, .unrelated_pairs = true, .seed = settings.seed});
  const data::MaskedBatch batch = windows.batch(0, 6);
  REQUIRE(batch.rows.size() > 6);  // more than pairs, so that the two means differ
  const Variable hidden = model.hidden(sequences_of(batch));
  const Tensor logits = model.masked_token_head()(hidden).value(), pairs = model.next_sentence(hidden).value();
  for (const double smoothing : {0.0, 0.2}) {
    settings.training.label_smoothing = smoothing;
    double expected = 0;
    for (std::size_t i = 0; i < batch.rows.size(); ++i) {
      expected +=
          cross_entropy_of(logits.data() + batch.rows[i] * loss_vocab, loss_vocab, batch.targets[i], smoothing) /
          static_cast<double>(batch.rows.size());
    }
    for (Index i = 0; i < 6; ++i) {
      expected += cross_entropy_of(pairs.data() + 2 * i, 2, batch.unrelated[static_cast<std::size_t>(i)], 0) / 6;
    }
    const Masked objective(model, {tokens, nullptr, vocabulary, masking}, settings);
    CHECK(loss_of(objective, 6) == doctest::Approx(expected).epsilon(1e-5));
  }
}

TEST_CASE("masked: an evaluation counts masked tokens, pairs and right answers, and sums the tokens' losses") {
  const auto model = stirred<models::Encoder>(pairs_config());
  const auto tokens = noisy_text(300, loss_vocab, 1, 4);
  const data::MaskedWindows windows = evaluation_windows(model, tokens, data::MaskVocabulary(loss_vocab));
  // Seven tokens of the text in a window beside three special ones; the first 50 are in eight windows.
  for (const auto& [limit, count] : std::vector<std::pair<Index, Index>>{{0, 43}, {50, 8}}) {
    CAPTURE(limit);
    const data::MaskedBatch batch = windows.in_order(0, count);
    const Variable hidden = model.hidden(sequences_of(batch));
    const Tensor logits = model.masked_token_head()(hidden).value(), pairs = model.next_sentence(hidden).value();
    MaskedEvaluation expected;
    for (std::size_t i = 0; i < batch.rows.size(); ++i) {
      const Real* const row = logits.data() + batch.rows[i] * loss_vocab;
      expected.nats += cross_entropy_of(row, loss_vocab, batch.targets[i], 0);
      expected.right += largest_of(row, loss_vocab) == batch.targets[i] ? 1 : 0;
    }
    for (Index i = 0; i < count; ++i) {
      const TokenId unrelated = batch.unrelated[static_cast<std::size_t>(i)];
      expected.pairs_right += largest_of(pairs.data() + 2 * i, 2) == unrelated ? 1 : 0;
    }
    const MaskedEvaluation found = evaluate(model, windows, limit, 5);
    CHECK(found.tokens == static_cast<Index>(batch.rows.size()));
    CHECK(found.right == expected.right);
    CHECK(found.pairs == count);
    CHECK(found.pairs_right == expected.pairs_right);
    CHECK(found.nats == doctest::Approx(expected.nats).epsilon(1e-5));
    CHECK(found.accuracy() == static_cast<double>(expected.right) / static_cast<double>(batch.rows.size()));
    CHECK(found.pair_accuracy() == static_cast<double>(expected.pairs_right) / static_cast<double>(count));
  }
}
