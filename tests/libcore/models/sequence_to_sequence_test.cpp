// What holds of every architecture that reads a source text and predicts a target text. Built in double.
#include <doctest/doctest.h>

#include <map>

#include "heddle/models/architecture.hpp"
#include "heddle/models/encoder_decoder.hpp"
#include "heddle/models/rnn_config.hpp"
#include "heddle/tensor/context.hpp"
#include "heddle/tensor/matmul.hpp"

#include "libcore/models/model_checks.hpp"
#include "libcore/models/small_config.hpp"
#include "support/tensors.hpp"

using namespace heddle;
using namespace heddle::testing;

namespace {

constexpr Index vocabulary = 13;

models::EncoderDecoderConfig small_config() {
  models::EncoderDecoderConfig config;
  config.layers = 2;
  config.width = 12;
  config.heads = 3;
  config.vocab_size = vocabulary;
  return config;
}

// Recurrent models, in the ways of the papers and others.
void add_recurrent(std::vector<Variation<models::ModelConfig>>& list) {
  const auto add = [&list](const std::string& name, const auto& change) {
    models::RnnConfig config;
    config.width = 8;
    config.vocab_size = vocabulary;
    change(config);
    list.push_back({"recurrent, " + name, config});
  };
  using Config = models::RnnConfig;
  add("additive attention", [](Config&) {});
  add("additive attention, two layers, LSTM, separate vocabularies and widths", [](Config& config) {
    config.cell = "lstm";
    config.layers = 2;
    config.share_embeddings = false;
    config.tie_embeddings = false;
    config.source_vocab_size = 17;
    config.embedding_width = 5;
    config.encoder_width = 6;
    config.readout_width = 7;
  });
  add("additive attention, tanh readout, no bias", [](Config& config) {
    config.cell = "tanh";
    config.readout = "tanh";
    config.bias = false;
    config.bidirectional = false;
  });
  add("dot product after the step", [](Config& config) {
    config.source_attention = "dot";
    config.layers = 2;
  });
  add("bilinear scores, input feeding", [](Config& config) {
    config.source_attention = "bilinear";
    config.input_feeding = true;
    config.layers = 2;
    config.encoder_width = 6;
  });
  add("dot product, input feeding, maxout", [](Config& config) {
    config.source_attention = "dot";
    config.input_feeding = true;
    config.readout = "maxout";
    config.bidirectional = false;
  });
  add("fixed context in the first states, reversed source, LSTM", [](Config& config) {
    config.source_attention = "none";
    config.cell = "lstm";
    config.layers = 2;
    config.bidirectional = false;
    config.reverse_source = true;
  });
  add("fixed context in the first states, both directions", [](Config& config) {
    config.source_attention = "none";
    config.encoder_layers = 2;
  });
  add("fixed context in every step", [](Config& config) {
    config.source_attention = "none";
    config.context_vector = "every-step";
    config.bidirectional = false;
    config.layers = 2;
  });
}

// Models with the role, in variations.
std::vector<Variation<models::ModelConfig>> small_models() {
  std::vector<Variation<models::ModelConfig>> list;
  const auto add = [&list](const std::string& name, const auto& change) {
    auto config = small_config();
    change(config);
    list.push_back({name, config});
  };
  using Config = models::EncoderDecoderConfig;
  add("pre-norm", [](Config&) {});
  add("post-norm, learned positions", [](Config& config) {
    config.block = "post";
    config.positions = "learned";
    config.context = 9;
  });
  add("separate vocabularies", [](Config& config) {
    config.share_embeddings = false;
    config.tie_embeddings = false;
    config.source_vocab_size = 17;
    config.encoder_layers = 1;
    config.attention_bias = false;
  });
  add("grouped heads, RoPE, parallel blocks", [](Config& config) {
    config.kv_heads = 1;
    config.positions = "rope";
    config.block = "parallel";
  });
  add_recurrent(list);
  return list;
}

struct Stirred {
  explicit Stirred(const models::ModelConfig& config) : model(models::make_model(config, 3)) {
    stir(model->parameters(), 0.3);
    role = model->as<models::SequenceToSequence>();
    REQUIRE(role != nullptr);
  }
  const models::Generator& generator() const { return *model->as<models::Generator>(); }
  Tensor logits(const models::Sequences& targets) const {
    return role->target_head()(role->target_hidden(targets)).value();
  }
  std::unique_ptr<models::Model> model;
  const models::SequenceToSequence* role;
};

models::Sequences targets_of(const TokenIds& ids, const models::Sequences& sources) {
  models::Sequences targets(ids);
  targets.sources = std::make_shared<const models::Sequences>(sources);
  return targets;
}

}  // namespace

TEST_CASE("sequence to sequence: the gradient of every parameter matches finite differences of the loss of targets") {
  for (const auto& small : small_models()) {
    CAPTURE(small.name);
    const Stirred stirred(small.config);
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
    const Stirred stirred(small.config);
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

TEST_CASE("sequence to sequence: in a padded batch every pair has the logits that it has alone") {
  for (const auto& small : small_models()) {
    CAPTURE(small.name);
    const Stirred stirred(small.config);
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
    const Stirred stirred(small.config);
    const models::Sequences sources{some_ids(2, 6, vocabulary), {6, 3}};
    const TokenIds ids = some_ids(2, 8, vocabulary);
    const Tensor whole = stirred.logits(targets_of(ids, sources));
    const auto state = stirred.generator().start({.batch = 2, .capacity = 8, .sources = &sources});
    const auto step = [&](const TokenIds& of, const std::vector<Index>& rows, const std::vector<Index>& added) {
      const Tensor logits = stirred.generator().step(next_ids(of, state->seen(), added), added, *state);
      check_logits(logits, whole, rows, state->seen());
    };
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
    const Stirred stirred(small.config);
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
    const Stirred stirred(small.config);
    const auto* maps = stirred.model->as<models::AttentionMaps>();
    if (maps == nullptr) continue;
    Index of_source = 0;
    for (const auto& map :
         maps->attention_maps(targets_of(some_ids(2, 4, vocabulary), {some_ids(2, 6, vocabulary), {6, 3}}))) {
      if (map.of != models::AttentionMap::Of::source) continue;
      ++of_source;
      CAPTURE(map.name);
      const Index heads = map.weights.shape()[1];
      REQUIRE(map.weights.shape() == Shape{2, heads, 4, 6});
      for (Index row = 0; row < 2 * heads * 4; ++row) {
        double sum = 0;
        for (Index key = 0; key < 6; ++key) sum += map.weights[row * 6 + key];
        CHECK(sum == doctest::Approx(1).epsilon(1e-12));
        if (row >= heads * 4) CHECK(map.weights[row * 6 + 3] == 0);
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
}

TEST_CASE("encoder-decoder: unequal vocabularies cannot share embeddings, and a start token is one of the target's") {
  auto config = small_config();
  config.source_vocab_size = 20;
  CHECK_THROWS_WITH_AS(models::make_model(config, 1),
                       "source_vocab_size = 20 and vocab_size = 13 differ, so source and target cannot share "
                       "embeddings; give share_embeddings = false",
                       UsageError);
  config.source_vocab_size = 13;
  config.start_token = 13;
  CHECK_THROWS_WITH_AS(models::make_model(config, 1), "start_token = 13 is outside the vocabulary of 13", UsageError);
}
