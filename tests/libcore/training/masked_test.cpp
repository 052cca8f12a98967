// The masked objective, and what encoders can and cannot learn.
#include "libcore/training/masked.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>
#include <utility>

#include "causal_trainer.hpp"
#include "libcore/tensor/precision.hpp"
#include "short_training.hpp"
#include "support/skips.hpp"

using namespace heddle;
using namespace heddle::training;
using namespace heddle::testing;

namespace {

ModelShape tiny_shape(Index vocab) {
  return {.layers = 2, .width = 32, .heads = 4, .context = 20, .vocab_size = vocab};
}
models::EncoderConfig tiny_encoder(Index vocab) {
  return testing::encoder(tiny_shape(vocab));
}

// The special tokens are the vocabulary's last four.
data::TokensInMemory masked_text(Index size, Index vocab, std::uint64_t seed) {
  return noisy_text(size, vocab, seed, 4);
}

models::EncoderConfig with_pairs(Index vocab) {
  models::EncoderConfig config = tiny_encoder(vocab);
  config.segments = 2;
  config.pooler = config.next_sentence = true;
  config.dropout = 0.1;
  return config;
}

}  // namespace

TEST_CASE("masked: stopped at any step and resumed, it ends with the same bits and records") {
  const auto train = masked_text(3000, 50, 1), valid = masked_text(500, 50, 2);
  const TrainingConfig settings = quick_settings(20);
  const MaskedTexts texts{train, &valid, data::MaskVocabulary(50)};
  const auto config = with_pairs(50);
  const auto keep = [](std::vector<double>& list) {
    return [&list](const StepRecord& r) {
      list.push_back(r.loss);
      for (const Metric& metric : r.valid) list.push_back(metric.value);
    };
  };
  std::vector<double> expected;
  models::Encoder whole(config, 4);
  Masked objective(whole, texts, settings);
  Hooks plain;
  plain.on_step = keep(expected);
  Trainer(objective, settings).run(plain);
  for (const int polls : {0, 3, 8, 14, 22}) {
    CAPTURE(polls);
    std::vector<double> records;
    models::Encoder first(config, 4), second(config, 999);
    Masked before(first, texts, settings), after(second, texts, settings);
    Trainer interrupted(before, settings), resumed(after, settings);
    Hooks hooks;
    hooks.on_step = keep(records);
    int left = polls;
    hooks.stop = [&left] { return left-- <= 0; };
    interrupted.run(hooks);
    hand_over(interrupted, first, resumed, second);
    Hooks rest;
    rest.on_step = keep(records);
    resumed.run(rest);
    CHECK(weights_of(second) == weights_of(whole));
    CHECK(records == expected);
  }
}

TEST_CASE("masked: cut into micro-batches of unequal targets, a step is the same, dropout and pairs included") {
  const auto train = masked_text(16 * 5 + 4, 50, 1);  // the last window is short
  Weights together;
  for (const Index cut : {Index{1}, Index{2}, Index{6}}) {
    models::Encoder model(with_pairs(50), 4);
    TrainingConfig settings = quick_settings(3);
    settings.training.batch_size = 6 / cut;
    settings.training.accumulate = cut;
    settings.optimizer = OptimizerChoice::from("sgd");
    Masked objective(model, {train, nullptr, data::MaskVocabulary(50)}, settings);
    REQUIRE(objective.batch(0, 1).counts.targets + objective.batch(1, 5).counts.targets ==
            objective.batch(0, 6).counts.targets);
    Trainer trainer(objective, settings);
    trainer.run({});
    if (together.empty()) together = weights_of(model);
    CHECK(largest_difference(weights_of(model), together) < 2e-6);
  }
}

TEST_CASE("masked: the loss depends on masked tokens only, and starts at the logarithm of the vocabulary") {
  models::EncoderConfig config = tiny_encoder(300);
  const auto train = masked_text(3000, 300, 1);
  const models::Encoder model(config, 4);
  const data::MaskedWindows windows(train, data::MaskVocabulary(300), {.time = 20});
  const data::MaskedBatch batch = windows.batch(0, 8);
  const double loss = masked_loss(model, batch, {}, counts_of(batch), 0).value()[0];
  CHECK(loss == doctest::Approx(std::log(300.0)).epsilon(0.02));
  // The same from all logits, of which those elsewhere are moved at will.
  const Tensor all = model.masked_token_head()(model.hidden({TokenIds(Shape{8, 20}, batch.ids)})).value();
  std::vector<TokenId> targets(8 * 20, -1);
  for (std::size_t i = 0; i < batch.rows.size(); ++i)
    targets[static_cast<std::size_t>(batch.rows[i])] = batch.targets[i];
  for (Index row = 0; row < 160; ++row) {
    if (targets[static_cast<std::size_t>(row)] < 0) all.as_matrix().narrowed(0, row, 1).fill(static_cast<Real>(row));
  }
  CHECK(ops::cross_entropy(Variable(all), targets).value()[0] == doctest::Approx(loss).epsilon(1e-5));
}

TEST_CASE("masked: padding does not change the loss, the mean over the masked tokens of all windows") {
  for (const bool pairs : {false, true}) {
    CAPTURE(pairs);
    models::EncoderConfig config = pairs ? with_pairs(50) : tiny_encoder(50);
    const auto train = masked_text(17 * 3 + 6, 50, 1);  // the last window is short
    const models::Encoder model(config, 4);
    const data::MaskedWindows windows(train, data::MaskVocabulary(50), {.time = 20, .unrelated_pairs = pairs});
    const Index count = windows.windows_per_epoch();
    const data::MaskedBatch batch = windows.in_order(0, count);
    REQUIRE(batch.lengths.back() < 20);
    const double loss = masked_loss(model, batch, {}, counts_of(batch), 0).value()[0];
    double expected = 0;
    for (Index window = 0; window < count; ++window) {
      data::MaskedBatch one = windows.in_order(window, 1);
      if (!one.lengths.empty()) {  // without its padding
        one.time = one.lengths[0];
        one.ids.resize(static_cast<std::size_t>(one.time));
        if (pairs) one.segments.resize(one.ids.size());
        one.lengths.clear();
      }
      expected += masked_loss(model, one, {}, counts_of(batch), 0).value()[0];
    }
    CHECK(loss == doctest::Approx(expected).epsilon(2e-6));
    data::MaskedBatch other = batch;
    for (Index at = batch.lengths.back(); at < 20; ++at) {
      other.ids[static_cast<std::size_t>((count - 1) * 20 + at)] = static_cast<TokenId>(at);
    }
    REQUIRE(other.ids != batch.ids);
    CHECK(masked_loss(model, other, {}, counts_of(batch), 0).value()[0] == loss);
  }
}

TEST_CASE("masked: training lowers loss and raises accuracy; every encoder is evaluated on the same masks") {
  const auto train = masked_text(20000, 30, 1), valid = masked_text(1000, 30, 2);
  const MaskedTexts texts{train, &valid, data::MaskVocabulary(30)};
  models::EncoderConfig config = tiny_encoder(30);
  config.window = 1;  // nearby positions matter here, and need not be found first
  models::Encoder model(config, 4);
  TrainingConfig settings = quick_settings(400);
  settings.training.batch_size = 16;
  settings.training.eval_tokens = 0;
  Masked objective(model, texts, settings);
  const auto before = objective.evaluate({});
  Trainer(objective, settings).run({});
  const auto after = objective.evaluate({});
  REQUIRE(after.size() == 2);
  CHECK(after[0].name == "loss");
  CHECK(after[1].name == "accuracy");
  CHECK(after[0].value < 0.6 * before[0].value);
  CHECK(after[1].value > 0.4);
  settings.seed = 77;
  MaskedTexts otherwise = texts;
  otherwise.masking = {.masking = data::MaskingKind::unchanging, .probability = 0.4, .whole_words = true};
  const auto again = Masked(model, otherwise, settings).evaluate({});
  CHECK(again[0].value == after[0].value);
  const auto windows = evaluation_windows(model, valid, data::MaskVocabulary(30));
  const Index count = windows.windows_per_epoch();
  const auto masked = static_cast<double>(windows.in_order(0, count).rows.size());
  CHECK(masked == doctest::Approx(0.15 * static_cast<double>(valid.size())).epsilon(0.15));  // one window's is rounded
  for (const auto& [asked, time] : std::vector<std::pair<Index, Index>>{{0, 20}, {7, 7}, {33, 33}}) {
    const data::MaskedWindows others = evaluation_windows(model, valid, data::MaskVocabulary(30), asked);
    CHECK(others.tokens_per_window() == time - 2);  // between two special tokens
    CHECK(others.in_order(1, 1).time == time);
  }
}

TEST_CASE("masked: bf16 comes to the loss of f32, before the blocks' norms and after") {
  if (!bf16_is_supported()) {
    skipped("this processor has no bf16 arithmetic");
    return;
  }
  const auto train = masked_text(20000, 50, 1);
  for (const char* const order : {"pre", "post"}) {
    std::vector<double> losses;
    for (const PrecisionChoice precision : {PrecisionChoice::f32, PrecisionChoice::bf16}) {
      models::EncoderConfig config = with_pairs(50);
      config.block = order;
      config.embedding_norm = true;
      models::Encoder model(config, 4);
      TrainingConfig settings = quick_settings(60);
      settings.training.precision = precision;
      Masked objective(model, {train, nullptr, data::MaskVocabulary(50)}, settings);
      Trainer trainer(objective, settings);
      double sum = 0;
      for (int i = 0; i < 60; ++i) sum += trainer.step();
      losses.push_back(sum / 60);
    }
    CHECK(losses[1] != losses[0]);
    CHECK(losses[1] == doctest::Approx(losses[0]).epsilon(0.01));
  }
}

TEST_CASE("masked: tokens that do not fit are refused") {
  const auto other = masked_text(3000, 51, 1), enough = masked_text(3000, 50, 1);
  models::Encoder model(tiny_encoder(50), 4);
  CHECK_THROWS_AS(Masked(model, {other, nullptr, data::MaskVocabulary(51)}, quick_settings(1)), DataError);
  CHECK_THROWS_AS(Masked(model, {enough, &other, data::MaskVocabulary(50)}, quick_settings(1)), DataError);
}

namespace {

// SPEC 4.7 forbids this: an encoder that predicts each next token, which is part of its input.
class NextOfAll : public Objective {
 public:
  NextOfAll(models::Encoder& model, const data::TokenSource& tokens, std::uint64_t seed)
      : model_(model), windows_(tokens, model.training_length(), seed) {}
  Parameters& parameters() const override { return model_.parameters(); }
  Pass training_pass() const override { return {}; }
  Index samples_per_epoch() const override { return windows_.windows_per_epoch(); }
  MicroBatch batch(Index first, Index count) const override {
    data::TokenBatch batch = windows_.batch(first, count);
    // The last token's successor is not in the window.
    for (Index row = 0; row < count; ++row) batch.targets[static_cast<std::size_t>((row + 1) * batch.time - 1)] = -1;
    return {{count, count * batch.time, count * (batch.time - 1)}, [this, batch](const Pass& pass, const Counts& step) {
              const Variable hidden = model_.hidden(TokenIds(Shape{batch.batch, batch.time}, batch.ids), pass);
              return model_.masked_token_head().loss(hidden, batch.targets, {0, static_cast<double>(step.targets)});
            }};
  }
  std::vector<Origin> origins(Index, Index) const override { return {}; }
  double flops_per_unit() const override { return 0; }
  bool can_evaluate() const override { return false; }
  std::vector<Metric> evaluate(const Evaluators&) const override { return {}; }

 private:
  models::Encoder& model_;
  data::TrainingWindows windows_;
};

data::TokensInMemory independent_tokens(Index size, std::uint64_t kinds, Index vocab) {
  std::vector<TokenId> tokens;
  const RandomStream stream(8, 8);
  for (Index i = 0; i < size; ++i)
    tokens.push_back(static_cast<TokenId>(stream.below(static_cast<std::uint64_t>(i), kinds)));
  return {tokens, vocab};
}

}  // namespace

TEST_CASE("of independent tokens an unmasked encoder copies the next one, a decoder learns nothing (SPEC 4.7)") {
  const auto tokens = independent_tokens(60000, 8, 8);
  TrainingConfig settings = quick_settings(500);
  settings.training.batch_size = 16;
  models::Encoder encoder(tiny_encoder(8), 4);
  NextOfAll objective(encoder, tokens, 1);
  Trainer all(objective, settings);
  double loss = 0;
  for (int i = 0; i < 500; ++i) loss = all.step();
  CHECK(loss < 0.05);
  models::Decoder decoder(testing::decoder(tiny_shape(8)), 4);
  CausalTrainer causal(decoder, tokens, nullptr, settings);
  causal.run({});
  CHECK(evaluate(decoder, tokens, {.limit = 20000, .batch_size = 64}).nats_per_token() > std::log(8.0) - 0.05);
}

namespace {

constexpr Index triples = 6;

// Triples of bits a, a XOR b, b.
std::vector<TokenId> xor_text(Index count) {
  std::vector<TokenId> tokens;
  const RandomStream stream(5, 8);
  for (Index i = 0; i < count; ++i) {
    const auto a = static_cast<TokenId>(stream.below(static_cast<std::uint64_t>(2 * i), 2));
    const auto b = static_cast<TokenId>(stream.below(static_cast<std::uint64_t>(2 * i + 1), 2));
    tokens.insert(tokens.end(), {a, a ^ b, b});
  }
  return tokens;
}

// Accuracy of the decoder on the middle of a triple, in windows that begin with a triple.
double middle_accuracy(const models::Decoder& decoder, const std::vector<TokenId>& tokens) {
  const Index time = decoder.training_length(), rows = 200;
  const TokenIds ids({rows, time}, {tokens.begin(), tokens.begin() + rows * time});
  const Tensor logits = decoder.next_token_head()(decoder.hidden(ids)).value();
  double right = 0, all = 0;
  for (Index row = 0; row < rows; ++row) {
    for (Index at = 1; at < time; at += 3) {
      const Real* before = logits.data() + (row * time + at - 1) * logits.shape()[-1];
      right += (before[1] > before[0]) == (tokens[static_cast<std::size_t>(row * time + at)] == 1) ? 1 : 0;
      all += 1;
    }
  }
  return right / all;
}

// The same of an encoder, with one middle masked in each window.
double middle_accuracy(const models::Encoder& encoder, const std::vector<TokenId>& tokens,
                       const data::MaskVocabulary& vocabulary) {
  const Index time = encoder.training_length(), rows = 600;
  data::MaskedBatch batch;
  for (Index row = 0; row < rows; ++row) {
    const Index begin = row * (time - 2), middle = 3 * (row % triples) + 1;
    batch.ids.push_back(vocabulary.classification);
    batch.ids.insert(batch.ids.end(), tokens.begin() + begin, tokens.begin() + begin + time - 2);
    batch.ids.push_back(vocabulary.separator);
    batch.targets.push_back(
        std::exchange(batch.ids[static_cast<std::size_t>(row * time + 1 + middle)], vocabulary.mask));
  }
  const Tensor logits = encoder.masked_token_head()(encoder.hidden(TokenIds({rows, time}, batch.ids))).value();
  double right = 0;
  for (Index row = 0; row < rows; ++row) {
    const Real* at = logits.data() + (row * time + 2 + 3 * (row % triples)) * logits.shape()[-1];
    right += (at[1] > at[0]) == (batch.targets[static_cast<std::size_t>(row)] == 1) ? 1 : 0;
  }
  return right / static_cast<double>(rows);
}

}  // namespace

TEST_CASE("a token that both neighbours tell together is found by an encoder, and from neither side (SPEC 4.8)") {
  const std::vector<TokenId> tokens = xor_text(20000);
  const data::TokensInMemory source(tokens, 6);
  const data::MaskVocabulary vocabulary(6);
  TrainingConfig settings = quick_settings(400);
  settings.training.batch_size = 32;
  settings.training.learning_rate = 2e-3;
  models::EncoderConfig config = tiny_encoder(6);
  config.window = 1;
  config.context = 3 * triples + 2;
  models::Encoder encoder(config, 4);
  Masked objective(encoder, {source, nullptr, vocabulary}, settings);
  Trainer(objective, settings).run({});
  CHECK(middle_accuracy(encoder, tokens, vocabulary) >= 0.95);

  models::DecoderConfig causal = testing::decoder(tiny_shape(6));
  causal.context = 3 * triples;
  settings.training.steps = 300;
  for (const bool from_right : {false, true}) {
    CAPTURE(from_right);
    std::vector<TokenId> order = tokens;
    if (from_right) std::reverse(order.begin(), order.end());
    const data::TokensInMemory reading(order, 6);
    models::Decoder decoder(causal, 4);
    CausalTrainer(decoder, reading, nullptr, settings).run({});
    CHECK(middle_accuracy(decoder, order) <= 0.55);
  }
}
