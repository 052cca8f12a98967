// Features of stacks together, in random combinations in which every pair of values occurs several times: whole texts,
// windows that continue others, steps, and attention maps, compared with equations in plain loops. Built in double.
#include <doctest/doctest.h>

#include <cmath>
#include <optional>
#include <set>

#include "libcore/base/random.hpp"
#include "libcore/models/decoder.hpp"
#include "libcore/models/encoder.hpp"
#include "libcore/models/encoder_decoder.hpp"
#include "libcore/models/model_checks.hpp"
#include "libcore/models/naive_transformer.hpp"
#include "libcore/models/small_config.hpp"
#include "libcore/models/two_stream.hpp"
#include "libcore/nn/block.hpp"
#include "libcore/positions/positions.hpp"
#include "support/tensors.hpp"

using namespace heddle;
using namespace heddle::testing;

namespace stacks_tests {

namespace {

constexpr Index vocab = 13, time = 8;

// Draws one value after the other.
class Draw {
 public:
  explicit Draw(std::uint64_t seed) : stream_(seed, random_site("stacks")) {}
  template <class T>
  T one_of(const std::vector<T>& values) {
    return values[static_cast<std::size_t>(stream_.below(number_++, values.size()))];
  }
  bool coin() { return one_of<int>({0, 1}) == 1; }

 private:
  RandomStream stream_;
  std::uint64_t number_ = 0;
};

template <class E>
std::vector<std::string> all_names() {
  std::vector<std::string> names;
  for (const auto& [value, name] : Names<E>::list) names.emplace_back(name);
  return names;
}

template <class Config>
Config drawn_config(Draw& draw) {
  Config config;
  std::vector<std::string> variants, schemes;
  for (const AttentionVariant& variant : attention_variants()) variants.push_back(small_attention(variant));
  for (const PositionScheme& scheme : position_schemes()) schemes.push_back(scheme.name);
  // Most features go with scaled dot products alone.
  variants.insert(variants.end(), 8, "dot");
  config.vocab_size = vocab;
  config.width = 8;
  config.heads = 4;
  config.attention = draw.one_of(variants);
  config.positions = draw.one_of(schemes);
  config.context = config.positions == "learned" ? time : 0;
  config.layers = draw.one_of<Index>({1, 2, 3});
  config.distinct_layers = config.layers == 3 ? draw.one_of<Index>({0, 1, 2}) : 0;
  config.kv_heads = draw.one_of<Index>({0, 0, 1, 2});
  config.head_width = draw.one_of<Index>({0, 0, 4});
  config.ffn_width = draw.one_of<Index>({5, 12});
  config.activation = draw.one_of(all_names<Activation>());
  config.gated = draw.coin();
  config.norm = draw.one_of(all_names<NormKind>());
  config.block = draw.one_of(all_names<BlockOrder>());
  config.norm_epsilon = draw.one_of<double>({1e-5, 0.1});
  config.window = draw.one_of<Index>({0, 1, 3});
  config.bias = draw.coin();
  config.attention_bias = draw.coin();
  config.projections = draw.one_of<std::string>({"standard", "standard", "narrow"});
  config.attention_output = draw.one_of<int>({1, 1, 0}) == 1;
  config.embedding_norm = draw.coin();
  config.head_norm = draw.coin();
  config.head_gates = draw.coin();
  config.input_mix = draw.coin();
  return config;
}

// None where the combination is refused.
template <class Model, class Config>
std::optional<Model> model_of(const Config& config) {
  try {
    models::ModelConfig(config).check();
    std::optional<Model> model(std::in_place, config, 3);
    stir(model->parameters(), 0.3);
    return model;
  } catch (const UsageError&) {
    return std::nullopt;
  }
}

std::vector<TokenId> row_of(const TokenIds& ids, Index row, Index begin, Index end) {
  const auto first = ids.ids.begin() + row * ids.shape[1];
  return {first + begin, first + end};
}

void check_states(const Tensor& states, Index row, const Rows& expected) {
  double apart = 0;
  for (std::size_t t = 0; t < expected.size(); ++t) {
    const auto actual = doubles(states.narrowed(0, row, 1).narrowed(1, static_cast<Index>(t), 1));
    for (std::size_t i = 0; i < actual.size(); ++i) apart = std::max(apart, std::abs(actual[i] - expected[t][i]));
  }
  CHECK(apart < 1e-9);
}

// Compares weights of a text, [layers][heads], [query][key] each, with those that the model returns for a row of a
// batch.
void check_maps(const std::vector<models::AttentionMap>& maps, Index row,
                const std::vector<std::vector<Rows>>& expected) {
  REQUIRE(maps.size() == expected.size());
  double apart = 0;
  for (std::size_t layer = 0; layer < maps.size(); ++layer) {
    const Tensor& weights = maps[layer].pairs.weights;
    for (std::size_t head = 0; head < expected[layer].size(); ++head) {
      const Rows& rows = expected[layer][head];
      const Tensor of_head = weights.narrowed(0, row, 1).narrowed(1, static_cast<Index>(head), 1);
      for (std::size_t query = 0; query < rows.size(); ++query) {
        const auto actual = doubles(of_head.narrowed(2, static_cast<Index>(query), 1));
        for (std::size_t key = 0; key < rows[query].size(); ++key) {
          apart = std::max(apart, std::abs(actual[key] - rows[query][key]));
        }
      }
    }
  }
  CHECK(apart < 1e-9);
}

// A text of which the first part is remembered.
void check_continued(const models::Decoder& model, const NaiveTransformer& naive, const TokenIds& ids) {
  constexpr Index begin = 3, most = 2;
  const auto part = [&](Index from, Index to) {
    TokenIds some(Shape{2, to - from});
    for (Index row = 0; row < 2; ++row) {
      std::ranges::copy(row_of(ids, row, from, to), some.ids.begin() + row * (to - from));
    }
    return some;
  };
  const models::Continued first = models::hidden_after(model, part(0, begin), {}, most);
  const Tensor second = models::hidden_after(model, part(begin, time), first.states, most).hidden.value();
  for (Index row = 0; row < 2; ++row) {
    std::vector<Rows> kept;
    naive.states(row_of(ids, row, 0, begin), {.causal = true}, kept, most);
    check_states(second, row, naive.states(row_of(ids, row, begin, time), {.causal = true}, kept, most));
  }
}

}  // namespace

TEST_CASE("decoders: random combinations of features equal their equations, whole, continued and in steps") {
  const TokenIds ids = some_ids(2, time, vocab);
  int count = 0, remembering = 0;
  for (std::uint64_t seed = 0; seed < 500; ++seed) {
    CAPTURE(seed);
    Draw draw(seed);
    auto config = drawn_config<models::DecoderConfig>(draw);
    config.tie_embeddings = draw.coin();
    config.value_embeddings = draw.one_of<Index>({0, 0, 1});
    const auto model = model_of<models::Decoder>(config);
    if (!model) continue;
    ++count;
    const NaiveTransformer naive(*model, "decoder", config);
    const Tensor states = model->hidden(ids).value(), logits(Shape{2, time, vocab});
    for (Index row = 0; row < 2; ++row) {
      const Rows expected = naive.states(row_of(ids, row, 0, time), {.causal = true});
      check_states(states, row, expected);
      for (Index t = 0; t < time; ++t) {
        const auto of_token = naive.token_logits(expected[static_cast<std::size_t>(t)]);
        std::copy(of_token.begin(), of_token.end(), logits.data() + (row * time + t) * vocab);
      }
    }
    check_steps(*model, ids, logits);
    const auto maps = model->all_attention_maps(ids);
    for (Index row = 0; row < 2; ++row) {
      check_maps(maps, row, naive.attention_weights(row_of(ids, row, 0, time), {.causal = true}));
    }
    if (!model->remembers()) continue;
    ++remembering;
    check_continued(*model, naive, ids);
  }
  CHECK(count > 120);
  CHECK(remembering > 40);
}

TEST_CASE("encoders: random combinations of features equal their equations in a padded batch, with segments") {
  models::Sequences batch(some_ids(2, time, vocab), {5, time}, {0, 1, 1, 0, 1, 0, 0, 0, 1, 1, 1, 0, 0, 1, 0, 1});
  int count = 0;
  for (std::uint64_t seed = 0; seed < 600; ++seed) {
    CAPTURE(seed);
    Draw draw(seed + 1000);
    auto config = drawn_config<models::EncoderConfig>(draw);
    config.segments = draw.one_of<Index>({0, 2});
    config.value_embeddings = draw.one_of<Index>({0, 0, 1});
    const auto model = model_of<models::Encoder>(config);
    if (!model) continue;
    ++count;
    models::Sequences given = batch;
    if (config.segments == 0) given.segments.clear();
    const NaiveTransformer naive(*model, "encoder", config);
    const Tensor states = model->hidden(given).value();
    const auto maps = model->all_attention_maps(given);
    for (Index row = 0; row < 2; ++row) {
      const Index length = batch.lengths[static_cast<std::size_t>(row)];
      const auto of_text = batch.segments.begin() + row * time;
      const std::vector<TokenId> segments =
          config.segments == 0 ? std::vector<TokenId>() : std::vector<TokenId>(of_text, of_text + length);
      const std::vector<TokenId> text = row_of(batch.ids, row, 0, length);
      check_states(states, row, naive.states(text, {.segments = segments}));
      check_maps(maps, row, naive.attention_weights(text, {.segments = segments}));
    }
  }
  CHECK(count > 80);
}

TEST_CASE("encoder-decoders: random combinations of features equal their equations, whole and in steps") {
  const TokenIds ids = some_ids(2, time, vocab);
  const auto sources = std::make_shared<const models::Sequences>(
      models::Sequences(TokenIds(Shape{2, 5}, {1, 7, 2, 2, 12, 3, 9, 4, 0, 0}), {5, 3}));
  int count = 0;
  for (std::uint64_t seed = 0; seed < 350; ++seed) {
    CAPTURE(seed);
    Draw draw(seed + 2000);
    auto config = drawn_config<models::EncoderDecoderConfig>(draw);
    config.encoder_layers = config.distinct_layers > 0 ? 0 : draw.one_of<Index>({0, 1, 2});
    config.share_embeddings = draw.coin();
    const auto model = model_of<models::EncoderDecoder>(config);
    if (!model) continue;
    ++count;
    models::EncoderDecoderConfig of_encoder = config;
    if (config.encoder_layers > 0) of_encoder.layers = config.encoder_layers;
    const NaiveTransformer encoder(*model, "encoder", of_encoder), decoder(*model, "decoder", config);
    const Tensor annotations = model->hidden(*sources).value();
    models::Sequences targets(ids, {time, 6});
    targets.sources = sources;
    const Tensor states = model->target_hidden(targets).value();
    std::vector<Rows> expected;
    for (Index row = 0; row < 2; ++row) {
      const Index length = sources->lengths[static_cast<std::size_t>(row)];
      const Rows source = encoder.states(row_of(sources->ids, row, 0, length), {});
      check_states(annotations, row, source);
      expected.push_back(decoder.states(row_of(ids, row, 0, time), {.causal = true, .source = source}));
      Rows read = expected.back();
      read.resize(static_cast<std::size_t>(targets.lengths[static_cast<std::size_t>(row)]));
      check_states(states, row, read);
    }
    const Tensor logits = model->target_head()(Variable(tensor_of(expected))).value();
    const auto state = model->start({.batch = 2, .capacity = time, .sources = sources.get()});
    for (const auto& added : std::vector<std::vector<Index>>{{3, 1}, {1, 1}, {1, 4}, {2, 1}, {1, 1}}) {
      const Tensor next = model->step(next_ids(ids, state->seen(), added), added, *state);
      check_logits(next, logits, {0, 1}, state->seen());
    }
  }
  CHECK(count > 80);
}

TEST_CASE("two streams: random combinations of features equal their equations, with segments of either kind") {
  const models::Sequences batch(some_ids(2, time, vocab), {5, time}, {0, 1, 1, 0, 1, 0, 0, 0, 1, 1, 1, 0, 0, 1, 0, 1});
  const models::PermutationPredictor::Ranks ranks{{2, -1, 0, 1, -1, -1, -1, -1}, {-1, 2, -1, 0, 3, -1, 1, -1}};
  int count = 0;
  for (std::uint64_t seed = 0; seed < 300; ++seed) {
    CAPTURE(seed);
    Draw draw(seed + 3000);
    auto config = drawn_config<models::TwoStreamConfig>(draw);
    config.segments = draw.one_of<Index>({0, 2});
    config.relative_segments = draw.coin();
    const auto model = model_of<models::TwoStream>(config);
    if (!model) continue;
    ++count;
    models::Sequences given = batch;
    if (config.segments == 0 && !config.relative_segments) given.segments.clear();
    const auto streams = model->streams(given, ranks);
    const NaiveTransformer naive(*model, "two-stream", config);
    const std::vector<double> begin = doubles(model->parameters().find("two-stream/embedding/query/weight")->value());
    for (Index row = 0; row < 2; ++row) {
      const auto at = static_cast<std::size_t>(row);
      const Index length = batch.lengths[at];
      const auto of_text = batch.segments.begin() + row * time;
      const std::vector<TokenId> segments(of_text, of_text + length),
          of_embedding = config.segments > 0 ? segments : std::vector<TokenId>();
      const std::vector<Index> order(ranks[at].begin(), ranks[at].begin() + length);
      NaiveSelfAttention::Text text, of_query;
      if (config.relative_segments) text.segments = segments;
      of_query = text;
      text.mask.pairs = AllowedPairs::by_rank({order}, AllowedPairs::Ties::attend);
      of_query.mask.pairs = AllowedPairs::by_rank({order}, AllowedPairs::Ties::hidden);
      Rows content = naive.embed(row_of(batch.ids, row, 0, length), of_embedding, 0);
      Rows query = naive.embed_vectors(Rows(static_cast<std::size_t>(length), begin), of_embedding);
      const Rows first_content = content, first_query = query;
      for (Index layer = 0; layer < config.layers; ++layer) {
        const Index block = layer % config.block_count();
        content = naive.mixed(content, first_content, layer);
        query = naive.mixed(query, first_query, layer);
        query = naive.block(query, block, {.seen = content, .text = of_query});
        content = naive.block(content, block, {.seen = content, .text = text});
      }
      check_states(streams.content.value(), row, naive.finish(content));
      check_states(streams.query.value(), row, naive.finish(query));
    }
  }
  CHECK(count > 60);
}

}  // namespace stacks_tests
