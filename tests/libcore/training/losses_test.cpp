// Losses and metrics of objectives, compared with loops over the model's logits.
#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <memory>
#include <string>

#include "libcore/autograd/tape.hpp"
#include "libcore/models/architecture.hpp"
#include "libcore/models/encoder_decoder.hpp"
#include "libcore/tensor/matmul.hpp"
#include "libcore/training/causal.hpp"
#include "libcore/training/masked.hpp"
#include "libcore/training/objectives.hpp"
#include "libcore/training/pair_objective.hpp"
#include "short_training.hpp"
#include "support/models.hpp"
#include "support/on_threads.hpp"

using namespace heddle;
using namespace heddle::training;
using namespace heddle::testing;

namespace {

constexpr Index loss_vocab = 30, loss_context = 10;
const ModelShape loss_shape{.layers = 1, .width = 16, .heads = 2, .context = loss_context, .vocab_size = loss_vocab};

// Larger weights than training starts from, so that tokens differ in probability.
void scale_up(const models::Model& model) {
  for (const Parameter& parameter : model.parameters().all()) {
    if (parameter.value().rank() == 2) parameter.value().scale(8);
  }
}

template <class Model, class Config>
Model stirred(const Config& config) {
  Model model(config, 4);
  scale_up(model);
  return model;
}

// A model of an architecture, and what an objective makes of it and of a text.
struct NamedObjective {
  NamedObjective(models::ModelConfig config, const std::string& name, const TrainingData& train,
                 const TrainingConfig& settings) {
    const ObjectiveChoice choice = ObjectiveChoice::from(name);
    prepare(config, choice);
    model = models::make_model(config, 4);
    scale_up(*model);
    objective = make_objective(choice, {.model = *model, .train = train, .config = settings});
  }
  template <class Role>
  const Role& as() const {
    const auto* role = model->as<Role>();
    REQUIRE(role != nullptr);
    return *role;
  }
  std::unique_ptr<models::Model> model;
  std::unique_ptr<Objective> objective;
};

// Two layers of width 16, windows of 10 tokens.
models::ModelConfig small_of(const std::string& architecture) {
  struct Sizes : FieldVisitor {
    void operator()(const Field&, bool&) override {}
    void operator()(const Field&, double&) override {}
    void operator()(const Field&, std::string&) override {}
    void operator()(const Field& field, Index& value) override {
      const std::map<std::string, Index> sizes{
          {"layers", 2}, {"width", 16}, {"heads", 2}, {"vocab_size", loss_vocab}, {"sequence_length", loss_context}};
      if (const auto size = sizes.find(field.name); size != sizes.end()) value = size->second;
    }
  } sizes;
  models::ModelConfig config = models::ModelConfig::of(architecture);
  config.visit_own(sizes);
  return config;
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

TEST_CASE("causal: an evaluation with a stride predicts each token from the most tokens before it that a window has") {
  const auto model = stirred<models::Decoder>(testing::decoder(loss_shape));
  const auto source = noisy_text(60, loss_vocab, 3);
  std::vector<TokenId> tokens(60);
  source.read(0, tokens);
  const Index window = 7;
  for (const Index stride : {Index{1}, Index{3}, Index{7}}) {
    CAPTURE(stride);
    double nats = 0;
    for (Index at = 1; at < 60; ++at) {
      // The first window predicts `window` tokens, each later one the next `stride`.
      const Index begin = at <= window ? 0 : (at - window + stride - 1) / stride * stride;
      const TokenIds before(Shape{1, at - begin}, {tokens.begin() + begin, tokens.begin() + at});
      const Tensor logits = model.next_token_head()(model.hidden(before)).value();
      nats += cross_entropy_of(logits.data() + (at - begin - 1) * loss_vocab, loss_vocab,
                               tokens[static_cast<std::size_t>(at)], 0);
    }
    const Evaluation found = evaluate(model, source, {.time = window, .stride = stride, .batch_size = 2});
    CHECK(found.tokens == 59);
    CHECK(found.nats == doctest::Approx(nats).epsilon(1e-5));
  }
}

TEST_CASE("masked: the loss is the mean over masked tokens and that over pairs, smoothed for tokens alone") {
  auto model = stirred<models::Encoder>(pairs_config());
  const auto tokens = noisy_text(200, loss_vocab, 1, 4);
  TrainingConfig settings = quick_settings(1);
  const data::MaskVocabulary vocabulary{loss_vocab};
  const data::MaskingOptions masking{.probability = 0.4};
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

TEST_CASE("permute: the loss is the mean over the tokens that the queries predict, smoothed") {
  const auto tokens = noisy_text(200, loss_vocab, 1, 4);
  TrainingConfig settings = quick_settings(1);
  const data::MaskedWindows windows(
      tokens, data::MaskVocabulary(loss_vocab),
      {.time = loss_context, .permutation = data::PermutationOptions(), .seed = settings.seed});
  const data::MaskedBatch batch = windows.batch(0, 6);
  REQUIRE(batch.rows.size() > 1);
  for (const double smoothing : {0.0, 0.2}) {
    settings.training.label_smoothing = smoothing;
    const NamedObjective permute(small_of("two-stream"), "permute", {.text = &tokens}, settings);
    const auto& model = permute.as<models::PermutationPredictor>();
    const Tensor logits = model.permuted_token_head()(model.streams(sequences_of(batch), batch.ranks).query).value();
    double expected = 0;
    for (std::size_t i = 0; i < batch.rows.size(); ++i) {
      expected += cross_entropy_of(logits.data() + batch.rows[i] * loss_vocab, loss_vocab, batch.targets[i], smoothing);
    }
    expected /= static_cast<double>(batch.rows.size());
    CHECK(loss_of(*permute.objective, 6) == doctest::Approx(expected).epsilon(1e-5));
  }
}

TEST_CASE("bidirectional: the loss is the mean over both directions and all tokens, smoothed") {
  const auto tokens = noisy_text(200, loss_vocab, 1);
  TrainingConfig settings = quick_settings(1);
  const data::TokenBatch batch = data::TrainingWindows(tokens, loss_context, settings.seed).batch(0, 3);
  for (const double smoothing : {0.0, 0.2}) {
    settings.training.label_smoothing = smoothing;
    const NamedObjective both(small_of("bilm"), "bidirectional", {.text = &tokens}, settings);
    const auto& model = both.as<models::BidirectionalLoss>();
    double expected = 0;
    for (Index b = 0; b < 3; ++b) {
      std::vector<TokenId> window(batch.ids.begin() + b * loss_context, batch.ids.begin() + (b + 1) * loss_context);
      window.push_back(batch.targets[static_cast<std::size_t>((b + 1) * loss_context - 1)]);
      const auto states = model.directions(TokenIds(Shape{1, loss_context + 1}, window));
      const Tensor next = model.direction_head()(states.forward).value(),
                   previous = model.direction_head()(states.backward).value();
      for (Index t = 0; t < loss_context; ++t) {
        const auto at = static_cast<std::size_t>(t);
        expected += cross_entropy_of(next.data() + t * loss_vocab, loss_vocab, window[at + 1], smoothing);
        expected += cross_entropy_of(previous.data() + (t + 1) * loss_vocab, loss_vocab, window[at], smoothing);
      }
    }
    expected /= 2 * 3 * loss_context;
    CHECK(loss_of(*both.objective, 3) == doctest::Approx(expected).epsilon(1e-5));
  }
}

TEST_CASE("detect: smoothing is for the generator's tokens alone") {
  const auto tokens = noisy_text(200, loss_vocab, 1, 4);
  TrainingConfig settings = quick_settings(1);
  const data::MaskedWindows windows(tokens, data::MaskVocabulary(loss_vocab),
                                    {.time = loss_context, .seed = settings.seed});
  const data::MaskedBatch batch = windows.batch(0, 6);
  std::map<double, double> losses;
  for (const double smoothing : {0.0, 0.2}) {
    settings.training.label_smoothing = smoothing;
    const NamedObjective detect(small_of("encoder"), "detect", {.text = &tokens}, settings);
    losses[smoothing] = loss_of(*detect.objective, 6);
    if (smoothing == 0) continue;
    const auto& generator = detect.as<models::ReplacementDetector>().generator();
    const Tensor logits = generator.masked_token_head()(generator.masked_hidden(sequences_of(batch))).value();
    double added = 0;
    for (std::size_t i = 0; i < batch.rows.size(); ++i) {
      const Real* const row = logits.data() + batch.rows[i] * loss_vocab;
      added += cross_entropy_of(row, loss_vocab, batch.targets[i], smoothing) -
               cross_entropy_of(row, loss_vocab, batch.targets[i], 0);
    }
    CHECK(std::abs(added) > 1e-3);
    CHECK(losses[0.2] - losses[0.0] == doctest::Approx(added / static_cast<double>(batch.rows.size())).epsilon(1e-3));
  }
}

namespace {

// Four pairs of two lengths, so that each group of two has both, and padding.
data::PairsInMemory padded_pairs() {
  return {{{{3, 4, 5, 6, 7}, {8, 9}},
           {{10, 11}, {12, 13, 14}},
           {{15}, {16, 17, 18, 19}},
           {{20, 21, 22}, {23, 24, 25, 26, 27}}},
          loss_vocab,
          loss_vocab};
}

Counts operator+(Counts a, const Counts& b) {
  a += b;
  return a;
}

}  // namespace

TEST_CASE("translate: the loss is the mean over the targets of a step, smoothed, without padding, however it is cut") {
  const data::PairsInMemory pairs = padded_pairs();
  TrainingConfig settings = quick_settings(1);
  settings.training.batch_size = 2;
  for (const double smoothing : {0.0, 0.2}) {
    settings.training.label_smoothing = smoothing;
    const NamedObjective translate(small_of("encoder-decoder"), "translate", {.pairs = &pairs}, settings);
    const auto& model = translate.as<models::SequenceToSequence>();
    const TokenId start = model.start_token().value_or(0);
    double expected = 0, targets = 0, units = 0;
    for (Index i = 0; i < pairs.size(); ++i) {
      // Without a tokenizer, token 0 ends both texts and begins the target.
      std::vector<TokenId> source = pairs.source(i), target = pairs.target(i);
      source.push_back(0);
      target.insert(target.begin(), start);
      target.push_back(0);
      const auto time = static_cast<Index>(target.size()) - 1;
      units += static_cast<double>(source.size()) + static_cast<double>(time);
      models::Sequences alone(TokenIds(Shape{1, time}, {target.begin(), target.end() - 1}));
      alone.sources =
          std::make_shared<const models::Sequences>(TokenIds(Shape{1, static_cast<Index>(source.size())}, source));
      const Tensor logits = model.target_head()(model.target_hidden(alone)).value();
      for (Index t = 0; t < time; ++t, ++targets) {
        expected += cross_entropy_of(logits.data() + t * loss_vocab, loss_vocab,
                                     target[static_cast<std::size_t>(t) + 1], smoothing);
      }
    }
    expected /= targets;
    CHECK(loss_of(*translate.objective, 2) == doctest::Approx(expected).epsilon(1e-5));
    const MicroBatch first = translate.objective->batch(0, 1), second = translate.objective->batch(1, 1);
    const Counts step = first.counts + second.counts;
    CHECK(static_cast<double>(step.targets) == targets);
    CHECK(static_cast<double>(step.units) == units);
    CHECK(step.samples == 2);
    CHECK(first.loss({}, step).value()[0] + second.loss({}, step).value()[0] ==
          doctest::Approx(expected).epsilon(1e-5));
  }
}

TEST_CASE("respond: the loss is that of the response alone, each token after the prompt and those before it") {
  const data::PairsInMemory pairs = padded_pairs();
  for (const double smoothing : {0.0, 0.2}) {
    TrainingConfig settings = quick_settings(1);
    settings.training.batch_size = 2;
    settings.training.label_smoothing = smoothing;
    const NamedObjective respond(small_of("decoder"), "respond", {.pairs = &pairs}, settings);
    const auto& model = respond.as<models::TokenLoss>();
    double expected = 0, targets = 0, units = 0;
    for (Index pair = 0; pair < pairs.size(); ++pair) {
      const std::vector<TokenId> prompt = pairs.source(pair);
      std::vector<TokenId> ids = prompt;
      for (const TokenId id : pairs.target(pair)) ids.push_back(id);
      ids.push_back(0);
      const auto time = static_cast<Index>(ids.size()) - 1;
      units += static_cast<double>(time);
      const Tensor logits =
          model.next_token_head()(model.next_hidden(TokenIds(Shape{1, time}, {ids.begin(), ids.end() - 1}))).value();
      for (Index t = std::ssize(prompt) - 1; t < time; ++t, ++targets) {
        expected += cross_entropy_of(logits.data() + t * loss_vocab, loss_vocab, ids[static_cast<std::size_t>(t) + 1],
                                     smoothing);
      }
    }
    const MicroBatch first = respond.objective->batch(0, 1), second = respond.objective->batch(1, 1);
    const Counts step = first.counts + second.counts;
    CHECK(static_cast<double>(step.targets) == targets);
    CHECK(static_cast<double>(step.units) == units);
    CHECK(loss_of(*respond.objective, 2) == doctest::Approx(expected / targets).epsilon(1e-5));
    CHECK(first.loss({}, step).value()[0] + second.loss({}, step).value()[0] ==
          doctest::Approx(expected / targets).epsilon(1e-5));
  }
}

TEST_CASE("respond: an empty prompt is the token that ends texts; what is longer than the model reads is left out") {
  const data::PairFrames frames{{}, {.begin = {}, .end = 7}, 7, true};
  const data::FramedPair with = frames.around({{1, 2}, {3}}), without = frames.around({{}, {3, 4}});
  CHECK(with.source.empty());
  CHECK(with.target == std::vector<TokenId>{1, 2, 3, 7});
  CHECK(with.given == 2);
  CHECK(without.target == std::vector<TokenId>{7, 3, 4, 7});
  CHECK(without.given == 1);
  const data::PairsInMemory pairs({{{1, 2, 3}, {4, 5}}, {{1, 2, 3, 4}, {4, 5}}, {{}, {1, 2, 3, 4}}}, 10, 10);
  const data::PairGroups groups(pairs, frames, {.batch_size = 1, .max_source = 100, .max_target = 5}, 1);
  CHECK(groups.left_out() == 1);
  CHECK(groups.longest() == 5);
  CHECK(groups.mean_target() == 5);
  CHECK(groups.mean_predicted() == 4);  // 3 and 5
}

TEST_CASE("translate: an evaluation of so many tokens reads the groups that hold the first of them") {
  const data::PairsInMemory pairs = padded_pairs();
  const NamedObjective translate(small_of("encoder-decoder"), "translate", {.pairs = &pairs}, quick_settings(1));
  const auto& model = translate.as<models::SequenceToSequence>();
  const data::PairGroups groups =
      evaluation_groups(model, pairs, {}, {.batch_size = 1, .max_source = 100, .max_target = 100});
  REQUIRE(groups.groups_per_epoch() == 4);
  const auto tokens_of = [&](Index limit) { return evaluate(model, groups, limit).tokens; };
  std::vector<Index> sums{0};
  for (Index group = 0; group < 4; ++group) {
    const data::FramedPair& pair = groups.group(group).front();
    sums.push_back(sums.back() + static_cast<Index>(pair.target.size()) - pair.given);
  }
  CHECK(tokens_of(1) == sums[1]);
  CHECK(tokens_of(sums[1]) == sums[1]);
  CHECK(tokens_of(sums[1] + 1) == sums[2]);
  CHECK(tokens_of(sums[3] + 1) == sums[4]);
  CHECK(tokens_of(0) == sums[4]);
}

TEST_CASE("translate: pairs of more tokens than the model knows, on either side, are refused") {
  const TrainingConfig settings = quick_settings(1);
  for (const auto& [source, target, says] : {std::tuple{loss_vocab + 1, loss_vocab, "source vocabulary of 31"},
                                             std::tuple{loss_vocab, loss_vocab + 1, "target vocabulary of 31"}}) {
    const data::PairsInMemory pairs({{{3, 4}, {5, 6}}}, source, target);
    CHECK_THROWS_WITH_AS(NamedObjective(small_of("encoder-decoder"), "translate", {.pairs = &pairs}, settings),
                         doctest::Contains(says), DataError);
  }
}

TEST_CASE("translate: groups have no more tokens than the setting says, or as many pairs as its batch") {
  const data::PairsInMemory pairs = padded_pairs();
  TrainingConfig settings = quick_settings(1);
  settings.training.batch_size = 2;
  const auto groups = [&](const std::string& objective) {
    return NamedObjective(small_of("encoder-decoder"), objective, {.pairs = &pairs}, settings)
        .objective->samples_per_epoch();
  };
  CHECK(groups("translate:batch-tokens=1000") == 1);
  CHECK(groups("translate:batch-tokens=7") == 4);  // a side of any two pairs has more
  CHECK(groups("translate") == 2);
}

TEST_CASE(
    "objectives: what a unit is said to cost is about what its step multiplies, whatever the model and objective") {
  const OnThreads scope(1);
  const auto tokens = noisy_text(600, loss_vocab, 1, 4);
  const data::PairsInMemory pairs = padded_pairs();
  TrainingConfig settings = quick_settings(1);
  settings.training.batch_size = 4;
  const std::vector<std::pair<std::string, std::string>> all{
      {"decoder", "causal"},         {"lstm", "causal"},        {"encoder", "masked"}, {"encoder", "detect"},
      {"bilm", "bidirectional"},     {"two-stream", "permute"}, {"rnn", "translate"},  {"encoder-decoder", "translate"},
      {"encoder-decoder", "denoise"}};
  for (const auto& [architecture, name] : all) {
    CAPTURE(architecture);
    CAPTURE(name);
    const NamedObjective made(small_of(architecture), name, {.text = &tokens, .pairs = &pairs}, settings);
    const MicroBatch batch = made.objective->batch(0, 4);
    const double before = matmul_flops();
    {
      Recording recording;
      const Variable loss = batch.loss({.training = true}, batch.counts);
      recording.backward(loss);
    }
    const double per_unit = (matmul_flops() - before) / static_cast<double>(batch.counts.units);
    // For pairs and short texts, a step multiplies padding, too.
    const bool is_padded = made.model->as<models::SequenceToSequence>() != nullptr;
    CHECK(made.objective->flops_per_unit() / per_unit > (is_padded ? 0.65 : 0.9));
    CHECK(made.objective->flops_per_unit() / per_unit < 1.1);
  }
}

TEST_CASE("objectives: a token of a longer pair costs more, on either side") {
  const auto cost = [](Index source, Index target) {
    const auto text = [](Index length) { return std::vector<TokenId>(static_cast<std::size_t>(length), 3); };
    const data::PairsInMemory pairs({{text(source), text(target)}}, loss_vocab, loss_vocab);
    const NamedObjective made(small_of("encoder-decoder"), "translate", {.pairs = &pairs}, quick_settings(1));
    return made.objective->flops_per_unit() * static_cast<double>(made.objective->batch(0, 1).counts.units);
  };
  const double each = (cost(4, 4) - cost(2, 2)) / 4;
  CHECK(cost(8, 8) - cost(4, 4) > 8.1 * each);
  CHECK(cost(8, 4) - cost(4, 4) > 1.01 * (cost(4, 4) - cost(2, 4)) * 2);
}

TEST_CASE("objectives: a token that is not predicted costs the same, however large the vocabulary is") {
  for (const models::Architecture& architecture : models::architectures()) {
    if (!architecture.defaults.reads_tokens() || architecture.name == "bag") continue;
    CAPTURE(architecture.name);
    const auto flops = [&](Index vocabulary, double predicted) {
      models::ModelConfig config = small_of(architecture.name);
      config.tokens().vocab_size = vocabulary;
      return models::make_model(config, 1)->tokens().training_flops_per_token(loss_context, predicted);
    };
    CHECK(flops(300, 0) == flops(loss_vocab, 0));
    CHECK(flops(300, 1) - flops(loss_vocab, 1) > 6 * 270 * 16 * 0.49);  // half of a pair's tokens are targets
  }
}

TEST_CASE("evaluation: a memory is refused where each window is read for itself") {
  const auto tokens = noisy_text(60, loss_vocab, 1);
  for (const auto& [architecture, objective] :
       {std::pair{"encoder", "masked"}, std::pair{"bilm", "bidirectional"}, std::pair{"two-stream", "permute"}}) {
    CAPTURE(objective);
    const NamedObjective made(small_of(architecture), objective, {.text = &tokens}, quick_settings(1));
    const EvaluationInputs inputs{.model = *made.model, .model_name = "m.h5", .data = {.text = &tokens}, .memory = 3};
    CHECK_THROWS_WITH_AS(ObjectiveChoice::from(objective)->evaluate(inputs), doctest::Contains("`memory`: needs"),
                         UsageError);
  }
}

TEST_CASE("translate: micro-batches drop other elements, those that the whole step drops") {
  const data::PairsInMemory pairs = padded_pairs();
  TrainingConfig settings = quick_settings(1);
  settings.training.batch_size = 2;
  const NamedObjective translate(small_of("encoder-decoder"), "translate", {.pairs = &pairs}, settings);
  Pass pass = translate.objective->training_pass();
  pass.dropout = 0.5, pass.seed = 3, pass.training = true;
  const MicroBatch whole = translate.objective->batch(0, 2);
  const auto part = [&](Index number, Index first_sample) {
    Pass of_part = pass;
    of_part.first_sample = first_sample;
    return translate.objective->batch(number, 1).loss(of_part, whole.counts).value()[0];
  };
  const double together = whole.loss(pass, whole.counts).value()[0];
  CHECK(part(0, 0) + part(1, 1) == doctest::Approx(together).epsilon(1e-5));
  CHECK(std::abs(part(0, 0) + part(1, 0) - together) > 1e-3);
}
