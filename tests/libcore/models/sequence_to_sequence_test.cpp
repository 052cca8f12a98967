// Properties of every architecture that reads a source text and predicts a target text. Built in double.
#include <doctest/doctest.h>

#include <cmath>
#include <map>

#include "libcore/models/architecture.hpp"
#include "libcore/tensor/context.hpp"
#include "libcore/tensor/matmul.hpp"

#include "libcore/models/model_checks.hpp"
#include "libcore/models/small_translators.hpp"
#include "support/tensors.hpp"

using namespace heddle;
using namespace heddle::testing;

namespace sequence_to_sequence_tests {

namespace {

constexpr Index vocabulary = 13;

std::vector<Variation<models::ModelConfig>> small_models() {
  return small_translators(vocabulary);
}

}  // namespace

TEST_CASE("sequence to sequence: the gradient of every parameter matches finite differences of the loss of targets") {
  for (const auto& small : small_models()) {
    CAPTURE(small.name);
    const StirredTranslator stirred(small.config);
    const auto targets = targets_of(some_ids(2, 4, vocabulary), {some_ids(2, 6, vocabulary), {6, 3}});
    const std::vector<TokenId> ids = some_ids(2, 7, vocabulary).ids;
    const Pass pass{.dropout = 0.1, .seed = 4, .step = 5, .sample_positions = 6};
    check_gradients(stirred.model->parameters(), [&] {
      return stirred.role->target_head().loss(stirred.role->target_hidden(targets, pass),
                                              {ids.begin(), ids.begin() + 8}, {.smoothing = 0.1});
    });
  }
}

TEST_CASE("sequence to sequence: every source token matters to every target token, later target tokens do not") {
  for (const auto& small : small_models()) {
    CAPTURE(small.name);
    const StirredTranslator stirred(small.config);
    const TokenIds sources = some_ids(1, 6, vocabulary), ids = some_ids(1, 5, vocabulary);
    const Tensor before = stirred.logits(targets_of(ids, sources));
    for (std::size_t changed = 0; changed < 6; ++changed) {
      TokenIds other = sources;
      other.ids[changed] = (other.ids[changed] + 1) % vocabulary;
      const Tensor after = stirred.logits(targets_of(ids, other));
      for (Index t = 0; t < 5; ++t) {
        CHECK(difference(before.narrowed(1, t, 1), after.narrowed(1, t, 1)) > 1e-6);
      }
    }
    TokenIds later = ids;
    later.ids[3] = (later.ids[3] + 1) % vocabulary;
    const Tensor after = stirred.logits(targets_of(later, sources));
    CHECK(difference(before.narrowed(1, 0, 3), after.narrowed(1, 0, 3)) == 0);
    CHECK(difference(before.narrowed(1, 3, 2), after.narrowed(1, 3, 2)) > 1e-6);
  }
}

TEST_CASE("sequence to sequence: with a window, a layer's source tokens see their neighbours alone") {
  models::EncoderDecoderConfig config = small_transformer(vocabulary);
  config.encoder_layers = 1;
  config.window = 2;
  const StirredTranslator stirred(config);
  const auto* vectors = stirred.model->as<models::ContextualVectors>();
  REQUIRE(vectors != nullptr);
  const TokenIds ids = some_ids(1, 6, vocabulary);
  const Tensor before = vectors->hidden(ids).value();
  for (Index changed = 0; changed < 6; ++changed) {
    TokenIds other = ids;
    auto& token = other.ids[static_cast<std::size_t>(changed)];
    token = (token + 1) % vocabulary;
    const Tensor after = vectors->hidden(other).value();
    for (Index t = 0; t < 6; ++t) {
      const double change = difference(before.narrowed(1, t, 1), after.narrowed(1, t, 1));
      CHECK((std::abs(t - changed) <= config.window ? change > 1e-6 : change == 0));
    }
  }
}

TEST_CASE("sequence to sequence: with a window, a layer's target tokens see those just before them alone") {
  models::EncoderDecoderConfig config = small_transformer(vocabulary);
  config.layers = 1;
  config.window = 2;
  const StirredTranslator stirred(config);
  const models::Sequences sources(some_ids(1, 5, vocabulary));
  const TokenIds ids = some_ids(1, 7, vocabulary);
  const Tensor before = stirred.logits(targets_of(ids, sources));
  for (Index changed = 0; changed < 7; ++changed) {
    TokenIds other = ids;
    auto& token = other.ids[static_cast<std::size_t>(changed)];
    token = (token + 1) % vocabulary;
    const Tensor after = stirred.logits(targets_of(other, sources));
    for (Index t = 0; t < 7; ++t) {
      const double change = difference(before.narrowed(1, t, 1), after.narrowed(1, t, 1));
      CHECK((t >= changed && t <= changed + config.window ? change > 1e-6 : change == 0));
    }
  }
  const auto state = stirred.generator().start({.batch = 1, .capacity = 7, .sources = &sources});
  for (const TokenId id : ids.ids) {
    const Tensor logits = stirred.generator().step(TokenIds(Shape{1, 1}, {id}), {1}, *state);
    check_logits(logits, before, {0}, state->seen());
  }
}

TEST_CASE(
    "sequence to sequence: with a window, the weights of either text are 0 beyond it, those between them are not") {
  models::EncoderDecoderConfig config = small_transformer(vocabulary);
  config.window = 1;
  const StirredTranslator stirred(config);
  const auto maps = stirred.model->as<models::AttentionMaps>()->all_attention_maps(
      targets_of(some_ids(1, 4, vocabulary), some_ids(1, 6, vocabulary)));
  CHECK(maps.size() == 2 + 2 * 2);
  for (const models::AttentionMap& map : maps) {
    CAPTURE(map.name);
    const Tensor& weights = map.pairs.weights;
    const Index queries = weights.shape()[2], keys = weights.shape()[3];
    const bool is_causal = map.name.starts_with("decoder");
    for (Index row = 0; row < weights.shape()[1] * queries; ++row) {
      const Index i = row % queries;
      for (Index j = 0; j < keys; ++j) {
        const bool sees = map.keys != map.queries || (std::abs(i - j) <= 1 && (!is_causal || j <= i));
        CHECK((weights[row * keys + j] > 0) == sees);
      }
    }
  }
}

TEST_CASE("sequence to sequence: in a padded batch every pair has the logits that it has alone") {
  for (const auto& small : small_models()) {
    CAPTURE(small.name);
    const StirredTranslator stirred(small.config);
    const TokenIds sources = some_ids(2, 6, vocabulary), ids = some_ids(2, 5, vocabulary);
    models::Sequences together = targets_of(ids, {sources, {6, 2}});
    together.lengths = {5, 3};
    const Tensor both = stirred.logits(together);
    const TokenIds source(Shape{1, 2}, {sources.ids[6], sources.ids[7]}),
        target(Shape{1, 3}, {ids.ids[5], ids.ids[6], ids.ids[7]});
    CHECK(difference(both.narrowed(0, 1, 1).narrowed(1, 0, 3), stirred.logits(targets_of(target, source))) < 1e-12);
  }
}

TEST_CASE("sequence to sequence: step by step, reordered too, the logits are those of whole targets") {
  for (const auto& small : small_models()) {
    CAPTURE(small.name);
    const StirredTranslator stirred(small.config);
    const models::Sequences sources{some_ids(2, 6, vocabulary), {6, 3}};
    const TokenIds ids = some_ids(2, 8, vocabulary);
    const Tensor whole = stirred.logits(targets_of(ids, sources));
    const auto state = stirred.generator().start({.batch = 2, .capacity = 8, .sources = &sources});
    const auto step = [&](const TokenIds& of, const std::vector<Index>& rows, const std::vector<Index>& added) {
      const Tensor logits = stirred.generator().step(next_ids(of, state->seen(), added), added, *state);
      check_logits(logits, whole, rows, state->seen());
    };
    CHECK_THROWS_AS(stirred.generator().step(some_ids(3, 1, vocabulary), {1, 1, 1}, *state), ShapeError);
    CHECK_THROWS_AS(stirred.generator().step(some_ids(2, 1, vocabulary), {1}, *state), ShapeError);
    step(ids, {0, 1}, {3, 1});
    step(ids, {0, 1}, {1, 1});
    const std::vector<Index> rows{1, 0, 1};
    state->reorder(rows);
    TokenIds reordered(Shape{3, 8});
    for (std::size_t i = 0; i < rows.size(); ++i) {
      std::copy_n(ids.ids.begin() + 8 * rows[i], 8, reordered.ids.begin() + 8 * static_cast<std::ptrdiff_t>(i));
    }
    step(reordered, rows, {1, 1, 1});
    step(reordered, rows, {2, 3, 1});
  }
}

TEST_CASE("sequence to sequence: a token's vector is that of the source, of which it sees both sides or one") {
  for (const auto& small : small_models()) {
    CAPTURE(small.name);
    const StirredTranslator stirred(small.config);
    const auto* vectors = stirred.model->as<models::ContextualVectors>();
    if (vectors == nullptr) continue;
    const TokenIds ids = some_ids(1, 6, vocabulary);
    TokenIds later = ids;
    later.ids[4] = (later.ids[4] + 1) % vocabulary;
    const Tensor before = vectors->hidden(ids).value(), after = vectors->hidden(later).value();
    const double change = difference(before.narrowed(1, 0, 4), after.narrowed(1, 0, 4));
    CHECK((vectors->is_bidirectional() ? change > 1e-6 : change == 0));
    CHECK(vectors->token_embeddings().shape()[0] == stirred.role->source_vocab_size());
    CHECK_THROWS_AS(stirred.role->target_hidden(some_ids(1, 3, vocabulary)), ShapeError);
    CHECK_THROWS_AS(stirred.generator().start({.batch = 1, .capacity = 3}), ShapeError);
  }
}

TEST_CASE("sequence to sequence: weights over the source sum to 1 and are 0 on its padding") {
  for (const auto& small : small_models()) {
    CAPTURE(small.name);
    const StirredTranslator stirred(small.config);
    const auto* maps = stirred.model->as<models::AttentionMaps>();
    if (maps == nullptr) continue;
    Index of_source = 0;
    for (const auto& map :
         maps->all_attention_maps(targets_of(some_ids(2, 4, vocabulary), {some_ids(2, 6, vocabulary), {6, 3}}))) {
      if (map.keys == map.queries) continue;
      ++of_source;
      CAPTURE(map.name);
      const Index heads = map.pairs.weights.shape()[1];
      REQUIRE(map.pairs.weights.shape() == Shape{2, heads, 4, 6});
      for (Index row = 0; row < 2 * heads * 4; ++row) {
        double sum = 0;
        for (Index key = 0; key < 6; ++key) sum += map.pairs.weights[row * 6 + key];
        // The kernel of that variant is not normalised by its own sum alone.
        CHECK((small.name == "attention fourier" ? sum > 0 && sum < 1 : std::abs(sum - 1) < 1e-12));
        if (row >= heads * 4) CHECK(map.pairs.weights[row * 6 + 3] == 0);
      }
    }
    CHECK(of_source > 0);
  }
}

TEST_CASE("sequence to sequence: a simulated step computes nothing, and counts the products of a real one") {
  for (const auto& small : small_models()) {
    CAPTURE(small.name);
    const auto flops_of_step = [&] {
      const auto model = models::make_model(small.config, 3);
      const auto& role = *model->as<models::SequenceToSequence>();
      const auto targets = targets_of(some_ids(2, 4, vocabulary), {some_ids(2, 6, vocabulary), {6, 3}});
      const double before = matmul_flops();
      Recording recording;
      recording.backward(role.target_head().loss(role.target_hidden(targets), targets.ids.ids, {}));
      return matmul_flops() - before;
    };
    const double real = flops_of_step();
    const Simulation nothing_is_computed;
    CHECK(flops_of_step() == real);
    CHECK(real > 0);
  }
}

TEST_CASE("encoder-decoder: logits are h E^T, divided by sqrt(width) and with a bias where the model says so") {
  for (const bool scaled : {false, true}) {
    for (const bool biased : {false, true}) {
      CAPTURE(scaled);
      CAPTURE(biased);
      auto config = small_transformer(vocabulary);
      config.scale_logits = scaled;
      config.logit_bias = biased;
      const StirredTranslator stirred(config);
      const Tensor hidden = normal_tensor({1, 1, 12}, 1);
      const Parameters& parameters = stirred.model->parameters();
      const Tensor& tokens = parameters.find("embedding/token/weight")->value();
      const Parameter* const bias = parameters.find("head/bias");
      REQUIRE((bias != nullptr) == biased);
      const Tensor logits = stirred.role->target_head()(Variable(hidden)).value();
      double sum = 0;
      for (Index token = 0; token < vocabulary; ++token) {
        double logit = 0;
        for (Index i = 0; i < 12; ++i) logit += hidden[i] * tokens[token * 12 + i];
        if (scaled) logit /= std::sqrt(12.0);
        if (biased) logit += bias->value()[token];
        CHECK(logits[token] == doctest::Approx(logit).epsilon(1e-10));
        sum += std::exp(logit);
      }
      const Variable loss = stirred.role->target_head().loss(Variable(hidden), {3}, {});
      CHECK(loss.value()[0] == doctest::Approx(std::log(sum) - logits[3]).epsilon(1e-10));
    }
  }
}

TEST_CASE("encoder-decoder: counts of parameters (SPEC B)") {
  const Simulation nothing_is_computed;
  const auto count = [](const std::string& preset) {
    for (const models::Preset& entry : models::architecture("encoder-decoder").presets) {
      if (entry.name == preset) return models::make_model(entry.config, ParameterSource::unset())->parameters().count();
    }
    return Index{0};
  };
  CHECK(count("transformer-base") == 63045632);
  CHECK(count("transformer-big") == 214171648);
  CHECK(count("t5-small") == 60506624);
  CHECK(count("t5-base") == 222903552);
  CHECK(count("t5-large") == 737668096);
  CHECK(count("bart-base") == 139420416);
  CHECK(count("bart-large") == 406291456);
}

TEST_CASE("encoder-decoder: unequal vocabularies cannot share embeddings, and a start token is one of the target's") {
  auto config = small_transformer(vocabulary);
  config.source_vocab_size = 20;
  CHECK_THROWS_WITH_AS(models::make_model(config, 1),
                       "`source_vocab_size` = 20 and `vocab_size` = 13 differ, so source and target cannot share "
                       "embeddings; give `share_embeddings` = false",
                       UsageError);
  config.source_vocab_size = 13;
  config.start_token = 13;
  CHECK_THROWS_WITH_AS(models::make_model(config, 1), "`start_token` = 13 is outside the vocabulary of 13", UsageError);
}

TEST_CASE("sequence to sequence: vocabularies are those of the tokenizers, unless larger ones are given") {
  const auto fitted = [](const std::string& text, const models::Vocabularies& vocabularies) {
    models::ModelConfig config(models::ModelConfig::from(text));
    config.tokens().fit_vocabularies(vocabularies);
    const Index source = text.starts_with("rnn") ? config.as<models::RnnConfig>()->source_vocab_size
                                                 : config.as<models::EncoderDecoderConfig>()->source_vocab_size;
    return std::pair(source, config.tokens().vocab_size);
  };
  using Sizes = std::pair<Index, Index>;
  for (const std::string arch : {"encoder-decoder", "rnn"}) {
    CAPTURE(arch);
    const std::string apart = arch + ":share_embeddings=false";
    CHECK(fitted(apart, {50, 40, false}) == Sizes{50, 40});
    CHECK(fitted(apart, {50, 50, true}) == Sizes{0, 50});
    CHECK(fitted(apart + ",source_vocab_size=60", {50, 40, false}) == Sizes{60, 40});
    CHECK(fitted(apart + ",vocab_size=70", {50, 40, false}) == Sizes{50, 70});
    CHECK_THROWS_WITH_AS(fitted(apart + ",source_vocab_size=49", {50, 40, false}),
                         doctest::Contains("= 49 is less than the 50 pieces of the source's tokenizer"), UsageError);
    CHECK_THROWS_WITH_AS(fitted(apart + ",vocab_size=39", {50, 40, false}),
                         doctest::Contains("`vocab_size` = 39 is less than the 40 pieces"), UsageError);
    CHECK_THROWS_WITH_AS(fitted(arch + ":share_embeddings=true", {50, 40, false}),
                         doctest::Contains("vocabularies of their own, so they cannot share embeddings"), UsageError);
  }
}

}  // namespace sequence_to_sequence_tests
