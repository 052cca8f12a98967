// Prediction in any order by two streams (XLNet; SPEC 4.6, A9). Built in double.
#include "libcore/models/two_stream.hpp"

#include <doctest/doctest.h>

#include <cmath>

#include "libcore/models/decoder.hpp"
#include "libcore/models/model_checks.hpp"
#include "libcore/models/presets.hpp"
#include "libcore/models/small_config.hpp"
#include "libcore/ops/arithmetic.hpp"
#include "libcore/ops/softmax.hpp"
#include "libcore/tensor/context.hpp"
#include "libcore/training/permute.hpp"
#include "support/tensors.hpp"

using namespace heddle;
using namespace heddle::testing;

namespace two_stream_tests {

namespace {

using Ranks = models::PermutationPredictor::Ranks;

models::TwoStreamConfig small_config() {
  models::TwoStreamConfig config;
  config.layers = 2;
  config.width = 12;
  config.heads = 3;
  config.vocab_size = 13;
  config.sequence_length = 8;
  return config;
}

std::vector<Variation<models::TwoStreamConfig>> variations() {
  return Variations(small_config())
      .add("XLNet", [](auto& c) { c.block = "post", c.activation = "gelu", c.attention_bias = false; })
      .add("parallel", [](auto& c) { c.block = "parallel"; })
      .add("learned positions", [](auto& c) { c.positions = "learned"; })
      .add("sinusoidal positions", [](auto& c) { c.positions = "sinusoidal"; })
      .add("RoPE", [](auto& c) { c.positions = "rope"; })
      .add("disentangled positions", [](auto& c) { c.positions = "disentangled:reach=3"; })
      .add("embeddings of segments", [](auto& c) { c.segments = 2, c.relative_segments = false; })
      .add("both kinds of segments, a norm", [](auto& c) { c.segments = 2, c.embedding_norm = true; })
      .add("grouped heads", [](auto& c) { c.kv_heads = 1; })
      .add("tied layers, untied embeddings", [](auto& c) { c.distinct_layers = 1, c.tie_embeddings = false; });
}

models::TwoStream stirred(const models::TwoStreamConfig& config) {
  models::TwoStream model(config, 3);
  stir(model.parameters(), 0.3);
  return model;
}

// Two texts of 8 and of 6 tokens: special tokens and others that are not predicted, and predicted ones in an order.
const Ranks ranks{{-1, 2, -1, 0, 3, -1, 1, -1}, {0, -1, 1, -1, 2, -1, -1, -1}};

models::Sequences some_sequences() {
  return {some_ids(2, 8, 13), {8, 6}, {0, 0, 0, 1, 1, 1, 1, 1, 0, 0, 0, 0, 1, 1, 0, 0}};
}

// The states at a position of the first text.
std::vector<Real> at(const Variable& states, Index position) {
  return states.value().narrowed(0, 0, 1).narrowed(1, position, 1).elements();
}

}  // namespace

TEST_CASE("two-stream: the gradient of every parameter matches finite differences of the loss, in every variation") {
  for (const auto& variation : variations()) {
    CAPTURE(variation.name);
    models::TwoStream model = stirred(variation.config);
    const models::Sequences sequences = some_sequences();
    const data::MaskedBatch batch{.batch = 2,
                                  .time = 8,
                                  .ids = sequences.ids.ids,
                                  .lengths = sequences.lengths,
                                  .segments = sequences.segments,
                                  .tokens = 14,
                                  .rows = {1, 3, 4, 6, 8, 10, 12},
                                  .targets = {1, 2, 3, 4, 5, 6, 7},
                                  .unrelated = {},
                                  .ranks = ranks};
    const Pass pass{.dropout = 0.1, .seed = 4, .step = 5};
    check_gradients(model.parameters(),
                    [&] { return training::permuted_loss(model, batch, pass, training::counts_of(batch), 0.1); });
  }
}

TEST_CASE("two-stream: a token's query does not depend on the token, nor on those of higher rank; its content does") {
  for (const auto& variation : variations()) {
    CAPTURE(variation.name);
    const models::TwoStream model = stirred(variation.config);
    models::Sequences sequences = some_sequences();
    const auto before = model.streams(sequences, ranks);
    for (Index changed = 0; changed < 8; ++changed) {
      models::Sequences others = sequences;
      TokenId& token = others.ids.ids[static_cast<std::size_t>(changed)];
      token = (token + 1) % 13;
      const auto after = model.streams(others, ranks);
      const Index rank = ranks[0][static_cast<std::size_t>(changed)];
      for (Index position = 0; position < 8; ++position) {
        const Index own = ranks[0][static_cast<std::size_t>(position)];
        CAPTURE(changed);
        CAPTURE(position);
        CHECK((at(after.content, position) != at(before.content, position)) == (rank <= own));
        CHECK((at(after.query, position) != at(before.query, position)) == (rank < own));
      }
    }
  }
}

TEST_CASE("two-stream: in the order of the text the content is that of a causal model with the same weights") {
  for (const std::string block : {"pre", "post", "parallel"}) {
    for (const std::string positions : {"transformer-xl", "rope", "sinusoidal"}) {
      CAPTURE(block);
      CAPTURE(positions);
      models::TwoStreamConfig config = small_config();
      config.block = block;
      config.positions = positions;
      const models::TwoStream model = stirred(config);
      models::DecoderConfig causal = small_decoder_config;
      causal.block = block;
      causal.positions = positions;
      causal.context = 0;
      const models::Decoder decoder(causal, ParameterSource::given([&](const Declaration& declaration) {
                                      const Tensor whole(declaration.stacked_shape());
                                      const Index rows = declaration.shape[0];
                                      for (std::size_t i = 0; i < declaration.names.size(); ++i) {
                                        const std::string name =
                                            "two-stream" + declaration.names[i].substr(declaration.names[i].find('/'));
                                        const Tensor part = model.parameters().find(name)->value();
                                        whole.narrowed(0, static_cast<Index>(i) * rows, rows).assign(part);
                                      }
                                      return whole;
                                    }));
      const TokenIds ids = some_ids(2, 8, 13);
      const Ranks in_order{{0, 1, 2, 3, 4, 5, 6, 7}, {0, 1, 2, 3, 4, 5, 6, 7}};
      const auto streams = model.streams(ids, in_order);
      CHECK(difference(streams.content.value(), decoder.hidden(ids).value()) < 1e-10);
      // Without an order all see all.
      CHECK(difference(model.hidden(ids).value(),
                       model.streams(ids, Ranks(2, std::vector<Index>(8, 0))).content.value()) < 1e-12);
      CHECK(difference(streams.content.value(), model.hidden(ids).value()) > 1e-3);
    }
  }
}

TEST_CASE("two-stream: in any order the probabilities of all texts sum to 1 (SPEC 4.6)") {
  constexpr Index vocab = 3, time = 4, texts = 81;
  models::TwoStreamConfig config = small_config();
  config.vocab_size = vocab;
  const models::TwoStream model = stirred(config);
  TokenIds ids(Shape{texts, time});
  for (Index text = 0; text < texts; ++text) {
    for (Index t = 0, rest = text; t < time; ++t, rest /= vocab) {
      ids.ids[static_cast<std::size_t>(text * time + t)] = static_cast<TokenId>(rest % vocab);
    }
  }
  double of_one = 0;
  for (const std::vector<Index>& order : std::vector<std::vector<Index>>{{0, 1, 2, 3}, {2, 0, 3, 1}, {3, 2, 1, 0}}) {
    const auto streams = model.streams(ids, Ranks(texts, order));
    const Tensor logits = model.permuted_token_head()(streams.query).value();
    double sum = 0;
    for (Index text = 0; text < texts; ++text) {
      double probability = 1;
      for (Index t = 0; t < time; ++t) {
        const Real* const row = logits.data() + (text * time + t) * vocab;
        double normaliser = 0;
        for (Index v = 0; v < vocab; ++v) normaliser += std::exp(row[v]);
        probability *= std::exp(row[ids.ids[static_cast<std::size_t>(text * time + t)]]) / normaliser;
      }
      if (text == 5) {                                               // different tokens
        CHECK(std::abs(probability - of_one) > 1e-6 * probability);  // changed by the order
        of_one = probability;
      }
      sum += probability;
    }
    CHECK(std::abs(sum - 1) < 1e-10);
  }
}

TEST_CASE("two-stream: in a padded batch every text has the streams that it has alone") {
  for (const auto& variation : variations()) {
    CAPTURE(variation.name);
    const models::TwoStream model = stirred(variation.config);
    const models::Sequences both = some_sequences();
    const auto together = model.streams(both, ranks);
    const models::Sequences second(TokenIds(Shape{1, 6}, {both.ids.ids.begin() + 8, both.ids.ids.begin() + 14}), {},
                                   {both.segments.begin() + 8, both.segments.begin() + 14});
    const auto alone = model.streams(second, {{0, -1, 1, -1, 2, -1}});
    const auto row = [](const Variable& x) { return x.value().narrowed(0, 1, 1).narrowed(1, 0, 6); };
    CHECK(difference(row(together.content), alone.content.value()) < 1e-10);
    CHECK(difference(row(together.query), alone.query.value()) < 1e-10);
  }
}

TEST_CASE("two-stream: which tokens are of one segment matters, not which segment it is, and single positions agree") {
  const models::TwoStream model = stirred(small_config());
  models::Sequences sequences = some_sequences();
  const Tensor states = model.hidden(sequences).value();
  const Tensor some = model.hidden_at({3, 5}, sequences).value();
  CHECK(difference(some.narrowed(0, 0, 1), states.narrowed(0, 0, 1).narrowed(1, 3, 1)) < 1e-12);
  CHECK(difference(some.narrowed(0, 1, 1), states.narrowed(0, 1, 1).narrowed(1, 5, 1)) < 1e-12);
  models::Sequences others = sequences;
  for (TokenId& segment : others.segments) segment = 1 - segment;
  CHECK(difference(model.hidden(others).value().narrowed(0, 0, 1), states.narrowed(0, 0, 1)) == 0);
  others.segments.assign(16, 1);
  CHECK(difference(model.hidden(others).value().narrowed(0, 0, 1), states.narrowed(0, 0, 1)) > 1e-3);
  others.segments.clear();
  const Tensor without = model.hidden(others).value();
  others.segments.assign(16, 0);
  CHECK(difference(model.hidden(others).value().narrowed(0, 0, 1), without.narrowed(0, 0, 1)) < 1e-12);
  CHECK_THROWS_AS(model.streams(sequences, {ranks[0]}), ShapeError);
  CHECK_THROWS_AS(model.streams(sequences, {ranks[0], {0, 1}}), ShapeError);
}

TEST_CASE("two-stream: XLNet has its published number of parameters (SPEC appendix B)") {
  const Simulation simulation;
  const auto model = models::make_model(models::preset("xlnet-base"), 0);
  CHECK(model->parameters().count() == 116718336);
  CHECK(model->is_beside_vectors("two-stream/embedding/query/weight"));
  CHECK_FALSE(model->is_beside_vectors("two-stream/embedding/token/weight"));
  CHECK(model->parameters().find("two-stream/embedding/query/weight") != nullptr);
}

}  // namespace two_stream_tests
