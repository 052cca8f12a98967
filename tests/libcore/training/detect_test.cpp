// The detection objective: what replaces tokens, and training with it.
#include "libcore/training/detect.hpp"

#include <doctest/doctest.h>

#include <cmath>
#include <limits>
#include <map>

#include "libcore/models/encoder.hpp"
#include "libcore/training/trainer.hpp"
#include "short_training.hpp"
#include "support/models.hpp"
#include "support/on_threads.hpp"

using namespace heddle;
using namespace heddle::training;
using namespace heddle::testing;

namespace {

constexpr Index detect_vocab = 31;
const std::string detects = "detect:probability=0.15";

models::EncoderConfig tiny_detector(double dropout = 0.1) {
  models::EncoderConfig config =
      testing::encoder({.layers = 2, .width = 32, .heads = 4, .context = 20, .vocab_size = detect_vocab});
  config.generator_width = 16;
  config.dropout = dropout;
  return config;
}

// The special tokens are the vocabulary's last four.
data::TokensInMemory text_to_detect(Index size, std::uint64_t seed) {
  return noisy_text(size, detect_vocab, seed, 4);
}

struct DetectRun {
  std::unique_ptr<models::Model> model;
  std::unique_ptr<Objective> objective;
  Trainer trainer;
  DetectRun(std::uint64_t seed, const data::TokenSource& tokens, const data::TokenSource* valid,
            const TrainingConfig& config, const std::string& name = detects, double dropout = 0.1)
      : model(models::make_model(tiny_detector(dropout), seed)),
        objective(
            make_objective(ObjectiveChoice::from(name),
                           {.model = *model, .train = {.text = &tokens}, .valid = {.text = valid}, .config = config})),
        trainer(*objective, config) {}
};

// `count` texts of one masked token, which was 2.
data::MaskedBatch masked_tokens(Index count) {
  data::MaskedBatch batch;
  batch.batch = count, batch.time = 3, batch.tokens = 3 * count;
  for (Index i = 0; i < count; ++i) {
    for (const TokenId id : {5, 4, 6}) batch.ids.push_back(id);
    batch.rows.push_back(3 * i + 1);
    batch.targets.push_back(2);
  }
  return batch;
}

}  // namespace

TEST_CASE("detect: replacements are drawn from the generator's softmax, with any number of classes") {
  constexpr Index count = 20000;
  for (const Index classes : {5, 300, 700}) {
    CAPTURE(classes);
    const data::MaskedBatch batch = masked_tokens(count);
    const Tensor logits({count, classes});
    double total = 0;
    const auto logit = [&](Index i) { return i % 97 < 7 ? 0.4 * static_cast<double>(i % 7) : -3.0; };
    for (Index i = 0; i < classes; ++i) total += std::exp(logit(i));
    for (Index i = 0; i < logits.size(); ++i) logits[i] = static_cast<Real>(logit(i % classes));
    const ReplacedTokens text = replace_masked(batch, logits, {.seed = 3, .step = 7});
    std::vector<double> drawn(static_cast<std::size_t>(classes));
    for (Index i = 0; i < count; ++i) {
      const auto row = static_cast<std::size_t>(3 * i + 1);
      const TokenId token = text.sequences.ids.ids[row];
      ++drawn.at(static_cast<std::size_t>(token));
      CHECK(text.replaced[row] == (token != 2));  // the original one is not a replacement
      CHECK(text.sequences.ids.ids[row - 1] == 5);
      CHECK(text.replaced[row - 1] + text.replaced[row + 1] == 0);
    }
    double chi_square = 0;
    for (Index i = 0; i < classes; ++i) {
      const double expected = count * std::exp(logit(i)) / total, off = drawn[static_cast<std::size_t>(i)] - expected;
      chi_square += off * off / expected;
    }
    // The mean of the distribution is its degrees of freedom, classes - 1, its variance twice that.
    CHECK(std::abs(chi_square - static_cast<double>(classes - 1)) < 4 * std::sqrt(2.0 * static_cast<double>(classes)));
  }
}

TEST_CASE("detect: a replacement depends on seed, step, sample and position, not on the batch, nor on threads") {
  const data::MaskedBatch batch = masked_tokens(64);
  const Tensor logits({64, detect_vocab}, Real(0));
  const Pass pass{.seed = 3, .step = 7, .sample_positions = 10};
  const auto drawn = [&](const Pass& with) { return replace_masked(batch, logits, with).sequences.ids.ids; };
  const std::vector<TokenId> ids = drawn(pass);
  for (const int threads : {1, 2, 5}) {
    const OnThreads scope(threads);
    CHECK(drawn(pass) == ids);
  }
  Pass other = pass;
  other.seed = 4;
  CHECK(drawn(other) != ids);
  other = pass, other.step = 8;
  CHECK(drawn(other) != ids);
  other = pass, other.first_sample = 40;
  const std::vector<TokenId> later = drawn(other);
  CHECK(std::equal(later.begin(), later.begin() + 3 * 24, ids.begin() + 3 * 40));
  CHECK(later != ids);
  // In a wider batch the same samples have more padding.
  data::MaskedBatch padded;
  padded.batch = 64, padded.time = 5, padded.tokens = 192;
  padded.lengths.assign(64, 3);
  for (Index i = 0; i < 64; ++i) {
    for (const TokenId id : {5, 4, 6, 0, 0}) padded.ids.push_back(id);
    padded.rows.push_back(5 * i + 1);
    padded.targets.push_back(2);
  }
  const ReplacedTokens text = replace_masked(padded, logits, pass);
  CHECK(text.rows.size() == 192);
  for (std::size_t i = 0; i < 64; ++i) CHECK(text.sequences.ids.ids[5 * i + 1] == ids[3 * i + 1]);
}

TEST_CASE("detect: logits that are not finite give a token of the vocabulary") {
  const Tensor logits({2, 4}, std::numeric_limits<Real>::quiet_NaN());
  const std::vector<TokenId> ids = replace_masked(masked_tokens(2), logits, {}).sequences.ids.ids;
  for (const std::size_t masked : {1, 4}) CHECK(ids[masked] < 4);
}

TEST_CASE("detect: it learns to predict and to detect, with the same result however a step is cut") {
  const auto text = text_to_detect(30000, 1), valid = text_to_detect(2000, 2);
  TrainingConfig settings = quick_settings(2000);
  settings.training.batch_size = 8;
  settings.training.eval_tokens = 2000;
  settings.training.eval_every = 2000;
  DetectRun run(4, text, &valid, settings, detects, 0);
  const auto evaluated = [&] {
    std::map<std::string, double> values;
    for (const Metric& metric : run.objective->evaluate({})) values[metric.name] = metric.value;
    return values;
  };
  const auto before = evaluated();
  CHECK(evaluated() == before);
  CHECK(before.at("loss") == doctest::Approx(std::log(31.0)).epsilon(0.05));
  CHECK(before.at("detection_loss") == doctest::Approx(std::log(2.0)).epsilon(0.05));
  run.trainer.run({});
  const auto after = evaluated();
  CHECK(after.at("loss") < 3);  // ln 27 = 3.3 for the ordinary tokens alike
  CHECK(after.at("replaced_fraction") > 0.05);
  // Better than to hold every token for the original one, which the loss shows sooner than decisions do.
  const double replaced = after.at("replaced_fraction");
  CHECK(after.at("detection_accuracy") > 1 - replaced);
  CHECK(after.at("detection_loss") < -0.9 * (replaced * std::log(replaced) + (1 - replaced) * std::log(1 - replaced)));
  Weights together;
  for (const Index cut : {1, 2, 8}) {
    TrainingConfig few = quick_settings(5);
    few.training.batch_size = 8 / cut;
    few.training.accumulate = cut;
    few.optimizer = OptimizerChoice::from("sgd");
    DetectRun one(4, text, nullptr, few);
    one.trainer.run({});
    if (together.empty()) together = weights_of(*one.model);
    CHECK(largest_difference(weights_of(*one.model), together) < 2e-5);
  }
}

TEST_CASE("detect: the loss of token frequencies is that of both models together") {
  std::vector<TokenId> ids;
  for (int i = 0; i < 200; ++i) ids.push_back(i % 2);
  const data::TokensInMemory tokens(ids, detect_vocab);
  const DetectRun run(1, tokens, nullptr, quick_settings(1), detects + ",weight=10");
  // Half of the 15 % are replaced by the other token: 7.5 % of all.
  const double detection = -0.075 * std::log(0.075) - 0.925 * std::log(0.925);
  CHECK(run.objective->frequency_loss().value_or(0) == doctest::Approx(std::log(2.0) + 10 * detection));
}

TEST_CASE("detect: an evaluation is the same with any batch size, and its masked tokens are those of other encoders") {
  const auto text = text_to_detect(600, 1);
  models::EncoderConfig plain = tiny_detector();
  plain.generator_width = 0;
  const auto model = models::make_model(tiny_detector(), 3), encoder = models::make_model(plain, 3);
  const auto& detector = *model->as<models::ReplacementDetector>();
  CHECK(encoder->as<models::ReplacementDetector>() == nullptr);
  const data::MaskVocabulary vocabulary(detect_vocab);
  const data::MaskedWindows windows = evaluation_windows(detector.generator(), text, vocabulary),
                            others = evaluation_windows(*encoder->as<models::MaskedPredictor>(), text, vocabulary);
  const DetectionEvaluation one = evaluate_detection(detector, windows, 0, 1),
                            many = evaluate_detection(detector, windows, 0, 7);
  CHECK(one.masked.tokens == evaluate(*encoder->as<models::MaskedPredictor>(), others, 0, 4).tokens);
  CHECK(one.masked.nats == doctest::Approx(evaluate(detector.generator(), windows, 0, 4).nats).epsilon(1e-5));
  // 34 windows of 18 tokens of the text, between two special ones.
  CHECK(one.tokens == 668);
  CHECK(many.tokens == 668);
  CHECK(one.replaced == many.replaced);
  CHECK(one.right == many.right);
  CHECK(one.nats == doctest::Approx(many.nats).epsilon(1e-5));
  CHECK(one.replaced > one.masked.tokens / 2);
  CHECK(one.replaced <= one.masked.tokens);
}

TEST_CASE("detect: stopped at any step and resumed, it ends with the same bits") {
  const auto text = text_to_detect(3000, 1), valid = text_to_detect(500, 2);
  const TrainingConfig settings = quick_settings(12);
  DetectRun whole(4, text, &valid, settings);
  whole.trainer.run({});
  for (const int polls : {1, 5, 9}) {
    CAPTURE(polls);
    DetectRun first(4, text, &valid, settings), second(999, text, &valid, settings);
    Hooks hooks;
    int left = polls;
    hooks.stop = [&left] { return left-- <= 0; };
    first.trainer.run(hooks);
    hand_over(first.trainer, *first.model, second.trainer, *second.model);
    second.trainer.run({});
    CHECK(weights_of(*second.model) == weights_of(*whole.model));
  }
  DetectRun lighter(4, text, &valid, settings, detects + ",weight=1");
  lighter.trainer.run({});
  CHECK(weights_of(*lighter.model) != weights_of(*whole.model));
}
