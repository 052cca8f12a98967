// Whole models: compared with equations written in plain loops, and properties of all their parts together. Built in
// double.
#include <doctest/doctest.h>

#include <cmath>
#include <functional>
#include <map>
#include <set>

#include "libcore/models/encoder_decoder.hpp"
#include "libcore/models/model_checks.hpp"
#include "libcore/models/naive_transformer.hpp"
#include "libcore/models/presets.hpp"
#include "libcore/models/rnn_config.hpp"
#include "libcore/models/small_config.hpp"
#include "libcore/models/task_model.hpp"
#include "libcore/models/two_stream.hpp"
#include "libcore/nn/low_rank_options.hpp"
#include "libcore/tensor/context.hpp"
#include "libcore/tensor/profile.hpp"
#include "support/tensors.hpp"

using namespace heddle;
using namespace heddle::testing;

namespace whole_model_tests {

namespace {

using Vector = NaiveTransformer::Vector;
using Matrix = NaiveTransformer::Matrix;

// For row `row` of a batch.
void check_states(const Tensor& states, Index row, const Matrix& expected) {
  const Index time = states.shape()[1], width = states.shape()[2];
  for (std::size_t t = 0; t < expected.size(); ++t) {
    for (std::size_t i = 0; i < expected[t].size(); ++i) {
      const Index at = (row * time + static_cast<Index>(t)) * width + static_cast<Index>(i);
      CHECK(std::abs(states[at] - expected[t][i]) < 1e-10);
    }
  }
}
void check_row(const Tensor& matrix, Index row, const Vector& expected) {
  const auto width = static_cast<Index>(expected.size());
  REQUIRE(matrix.shape()[-1] == width);
  for (Index i = 0; i < width; ++i) {
    CHECK(std::abs(matrix[row * width + i] - expected[static_cast<std::size_t>(i)]) < 1e-10);
  }
}

std::unique_ptr<models::Model> stirred(const models::ModelConfig& config) {
  auto model = models::make_model(config, 3);
  stir(model->parameters(), 0.3);
  return model;
}

const models::ContextualVectors& vectors_of(const models::Model& model) {
  return *model.as<models::ContextualVectors>();
}

// The largest change at each position when `after` takes the place of `before` [1, time, width].
std::vector<double> changes(const Tensor& before, const Tensor& after) {
  std::vector<double> result;
  for (Index t = 0; t < before.shape()[1]; ++t) {
    result.push_back(difference(before.narrowed(1, t, 1), after.narrowed(1, t, 1)));
  }
  return result;
}

// The mean and the variance of a row of x [..., width].
std::pair<double, double> moments(const Tensor& x, Index row) {
  const Index width = x.shape()[-1];
  double mean = 0, variance = 0;
  for (Index i = 0; i < width; ++i) mean += x[row * width + i] / static_cast<double>(width);
  for (Index i = 0; i < width; ++i) variance += std::pow(x[row * width + i] - mean, 2) / static_cast<double>(width);
  return {mean, variance};
}

TokenIds exchanged(TokenIds ids, std::size_t one, std::size_t other) {
  std::swap(ids.ids[one], ids.ids[other]);
  return ids;
}

}  // namespace

TEST_CASE("encoder: BERT and RoBERTa compute their papers' equations, in a padded batch, with every head") {
  for (const bool roberta : {false, true}) {
    CAPTURE(roberta);
    models::EncoderConfig config = *models::preset(roberta ? "roberta-base" : "bert-base").as<models::EncoderConfig>();
    config.layers = 3;
    config.width = 12;
    config.heads = 3;
    config.context = 8;
    config.vocab_size = 13;
    const auto model = stirred(config);
    const auto& encoder = *model->as<models::MaskedPredictor>();
    const std::vector<std::vector<TokenId>> texts{{1, 2, 3, 4, 5, 6, 7, 8}, {9, 12, 0, 3, 3}};
    models::Sequences batch = models::padded(std::vector<models::TokenList>{texts[0], texts[1]});
    if (!roberta) batch.segments = {0, 0, 0, 1, 1, 1, 1, 1, 0, 1, 1, 1, 1, 0, 0, 0};
    const Variable hidden = encoder.hidden(batch);
    const Tensor logits = encoder.masked_token_head()(hidden).value();
    const Tensor summaries = encoder.summary(encoder.hidden_at({0, 0}, batch)).value();
    const NaiveTransformer naive(*model, "encoder", config);
    for (std::size_t row = 0; row < texts.size(); ++row) {
      const std::size_t length = texts[row].size();
      std::vector<TokenId> segments(length, 0);
      for (std::size_t t = 0; t < length && !roberta; ++t) segments[t] = batch.segments[8 * row + t];
      // RoBERTa's positions begin after that of padding, which is 1.
      const Matrix x = naive.states(texts[row], {.segments = segments, .first_position = roberta ? 2 : 0});
      const auto at = static_cast<Index>(row);
      check_states(hidden.value(), at, x);
      for (std::size_t t = 0; t < length; ++t) {
        check_row(logits, 8 * at + static_cast<Index>(t), naive.masked_token_logits(x[t]));
      }
      check_row(summaries, at, naive.pooled(x[0]));
    }
  }
}

TEST_CASE("decoder: GPT-2 computes its paper's equations") {
  models::DecoderConfig config = *models::preset("gpt2").as<models::DecoderConfig>();
  config.layers = 3;
  config.width = 12;
  config.heads = 3;
  config.context = 8;
  config.vocab_size = 13;
  const auto model = stirred(config);
  const std::vector<TokenId> text{5, 2, 12, 4, 4, 0, 7};
  const Variable hidden = vectors_of(*model).hidden(TokenIds(Shape{1, 7}, text));
  const Tensor logits = model->as<models::TokenLoss>()->next_token_head()(hidden).value();
  const NaiveTransformer naive(*model, "decoder", config);
  const Matrix x = naive.states(text, {.causal = true});
  check_states(hidden.value(), 0, x);
  for (std::size_t t = 0; t < text.size(); ++t) check_row(logits, static_cast<Index>(t), naive.token_logits(x[t]));
}

TEST_CASE("pre-norm models keep their embeddings where sublayers write nothing, post-norm ones norm them (SPEC 3.3)") {
  for (const std::string block : {"pre", "post", "parallel"}) {
    CAPTURE(block);
    models::EncoderConfig config = small_encoder_config;
    config.block = block;
    const auto model = models::make_model(config, 3);
    for (const Parameter& parameter : model->parameters().all()) {
      for (const char* part : {"/output/", "/down/"}) {
        if (parameter.name.find(part) != parameter.name.npos) parameter.value().fill(0);
      }
    }
    std::vector<Tensor> seen;
    const auto see = [&](const Variable& x) { seen.push_back(x.value()); };
    const Tensor last = vectors_of(*model).hidden(some_ids(2, 8, 13), {}, see).value();
    REQUIRE(seen.size() == 3);
    if (block != "post") CHECK(difference(seen[1], seen[0]) == 0);
    for (Index row = 0; row < 16; ++row) {
      const auto [mean, variance] = moments(last, row);
      double before = moments(seen[1], row).second;
      for (int norms = block == "post" ? 2 : 1; norms > 0; --norms) before /= before + config.norm_epsilon;
      CHECK(std::abs(mean) < 1e-12);
      CHECK(variance == doctest::Approx(before).epsilon(1e-10));
    }
  }
}

TEST_CASE("an encoder is equivariant to permutations exactly where it has no positions, a decoder never (SPEC 2.0)") {
  const std::vector<std::size_t> order{3, 0, 7, 2, 6, 1, 5, 4};
  const TokenIds ids(Shape{1, 8}, {1, 2, 3, 4, 5, 6, 7, 8});
  TokenIds reordered = ids;
  for (std::size_t t = 0; t < 8; ++t) reordered.ids[t] = ids.ids[order[t]];
  const auto broken = [&](const models::ModelConfig& config) {
    const auto model = stirred(config);
    const Tensor before = vectors_of(*model).hidden(ids).value(), after = vectors_of(*model).hidden(reordered).value();
    double most = 0;
    for (std::size_t t = 0; t < 8; ++t) {
      const Tensor moved = before.narrowed(1, static_cast<Index>(order[t]), 1);
      most = std::max(most, difference(after.narrowed(1, static_cast<Index>(t), 1), moved));
    }
    return most;
  };
  for (const PositionScheme& scheme : position_schemes()) {
    CAPTURE(scheme.name);
    for (const std::string block : {"pre", "post", "parallel"}) {
      models::EncoderConfig encoder = small_encoder_config;
      encoder.positions = scheme.name;
      encoder.block = block;
      CHECK((scheme.name == "none" ? broken(encoder) < 1e-12 : broken(encoder) > 1e-3));
    }
    models::DecoderConfig decoder = small_decoder_config;
    decoder.positions = scheme.name == "disentangled" ? "disentangled:terms=queries" : scheme.name;
    CHECK(broken(decoder) > 1e-3);
  }
}

TEST_CASE("an encoder without positions is equivariant with every attention variant (SPEC 2.0)") {
  const TokenIds ids(Shape{1, 6}, {1, 2, 3, 4, 5, 6});
  TokenIds reversed = ids;
  std::ranges::reverse(reversed.ids);
  for (const AttentionVariant& variant : attention_variants()) {
    CAPTURE(variant.name);
    models::EncoderConfig config = small_encoder_config;
    config.positions = "none";
    config.attention = variant.name;
    const auto model = stirred(config);
    const Tensor before = vectors_of(*model).hidden(ids).value(), after = vectors_of(*model).hidden(reversed).value();
    for (Index t = 0; t < 6; ++t) CHECK(difference(after.narrowed(1, t, 1), before.narrowed(1, 5 - t, 1)) < 1e-12);
  }
}

TEST_CASE("'Mary gave Susan a book': only with positions do swapped names change 'gave', with any heads (SPEC 1.3)") {
  constexpr std::size_t mary = 0, susan = 2;
  constexpr Index gave = 1;
  const TokenIds ids(Shape{1, 5}, {1, 2, 3, 4, 5});
  for (const Index heads : {1, 3, 12}) {
    for (const std::string positions : {"none", "learned", "sinusoidal", "rope"}) {
      CAPTURE(heads);
      CAPTURE(positions);
      if (heads == 12 && positions == "rope") continue;  // heads of one column have nothing to turn
      models::EncoderConfig config = small_encoder_config;
      config.heads = heads;
      config.positions = positions;
      const auto model = stirred(config);
      const Tensor before = vectors_of(*model).hidden(ids).value();
      const Tensor after = vectors_of(*model).hidden(exchanged(ids, mary, susan)).value();
      const double change = changes(before, after)[static_cast<std::size_t>(gave)];
      CHECK((positions == "none" ? change < 1e-12 : change > 1e-3));
    }
  }
}

TEST_CASE("a window of w in each of L layers is a receptive field of L w, exactly (SPEC 1.10)") {
  constexpr Index time = 16, changed = 7;
  TokenIds ids = some_ids(1, time, 13), others = ids;
  others.ids[changed] = (others.ids[changed] + 1) % 13;
  for (const Index layers : {1, 2, 3}) {
    for (const Index window : {1, 2}) {
      CAPTURE(layers);
      CAPTURE(window);
      models::EncoderConfig encoder = small_encoder_config;
      models::DecoderConfig decoder = small_decoder_config;
      for (models::TransformerConfig* config : std::initializer_list<models::TransformerConfig*>{&encoder, &decoder}) {
        config->layers = layers;
        config->window = window;
        config->context = time;
      }
      for (const models::ModelConfig& config : {models::ModelConfig(encoder), models::ModelConfig(decoder)}) {
        CAPTURE(config.arch());
        const auto model = stirred(config);
        const auto moved = changes(vectors_of(*model).hidden(ids).value(), vectors_of(*model).hidden(others).value());
        for (Index t = 0; t < time; ++t) {
          const Index back = config.arch() == "decoder" ? 0 : layers * window;  // before the changed token
          const bool sees = t >= changed - back && t <= changed + layers * window;
          CHECK((moved[static_cast<std::size_t>(t)] > 0) == sees);
        }
      }
    }
  }
}

TEST_CASE("BERT has its published number of parameters with the head of masked tokens, too (SPEC appendix B)") {
  const Simulation simulation;
  CHECK(models::make_model(models::preset("bert-base"), 0)->parameters().count() == 109482240 + 622650);
}

TEST_CASE("a block without biases has 12 width^2 numbers beside its norms, gated or not (SPEC 3.2, 3.4)") {
  const auto block = [](const std::function<void(models::DecoderConfig&)>& change) {
    models::DecoderConfig one = small_decoder_config, two = small_decoder_config;
    for (models::DecoderConfig* config : {&one, &two}) {
      config->layers = config == &one ? 1 : 2;
      config->bias = false;
      config->norm = "rms";
      change(*config);
    }
    return models::make_model(two, 0)->parameters().count() - models::make_model(one, 0)->parameters().count();
  };
  CHECK(block([](auto&) {}) == 12 * 12 * 12 + 2 * 12);
  // A gated network has three matrices, of two thirds of the inner width.
  CHECK(block([](auto& c) { c.gated = true, c.ffn_width = 32; }) == 12 * 12 * 12 + 2 * 12);
  // Keys and values of one head in place of three.
  CHECK(block([](auto& c) { c.kv_heads = 1; }) == 12 * 12 * 12 + 2 * 12 - 2 * 8 * 12);
}

TEST_CASE("sinusoidal models scale embeddings by sqrt(width), others do not (SPEC 3.6)") {
  const std::vector<TokenId> text{4, 9, 4};
  for (const std::string positions : {"sinusoidal", "learned", "none", "rope", "alibi"}) {
    CAPTURE(positions);
    models::DecoderConfig config = small_decoder_config;
    config.width = 16;
    config.heads = 2;
    config.positions = positions;
    const auto model = stirred(config);
    Tensor entering;
    vectors_of(*model).hidden(TokenIds(Shape{1, 3}, text), {}, [&](const Variable& x) {
      if (entering.empty()) entering = x.value();
    });
    const Tensor& tokens = model->parameters().find("decoder/embedding/token/weight")->value();
    const Parameter* const table = model->parameters().find("decoder/embedding/position/weight");
    for (Index t = 0; t < 3; ++t) {
      for (Index i = 0; i < 16; ++i) {
        double expected = tokens[text[static_cast<std::size_t>(t)] * 16 + i];
        if (positions == "learned") expected += table->value()[t * 16 + i];
        if (positions == "sinusoidal") {
          const double angle = static_cast<double>(t) / std::pow(10000, static_cast<double>(i / 2) / 8);
          expected = 4 * expected + (i % 2 == 0 ? std::sin(angle) : std::cos(angle));
        }
        CHECK(entering[t * 16 + i] == doctest::Approx(expected).epsilon(1e-12));
      }
    }
  }
}

TEST_CASE("initialization: normal, in projections into the residual stream 1 / sqrt(2 layers) as wide (SPEC 4.2)") {
  models::DecoderConfig decoder = small_decoder_config;
  models::EncoderConfig encoder = small_encoder_config;
  models::EncoderDecoderConfig translator;
  models::TwoStreamConfig streams;
  for (models::TransformerConfig* config :
       std::initializer_list<models::TransformerConfig*>{&decoder, &encoder, &translator, &streams}) {
    config->layers = 8;
    config->width = 192;
    config->heads = 4;
    config->vocab_size = config->context = 200;
  }
  encoder.pooler = true;
  for (const models::ModelConfig& config : {models::ModelConfig(decoder), models::ModelConfig(encoder),
                                            models::ModelConfig(translator), models::ModelConfig(streams)}) {
    CAPTURE(config.arch());
    const auto model = models::make_model(config, 5);
    Index writing = 0;
    for (const Parameter& parameter : model->parameters().all()) {
      CAPTURE(parameter.name);
      double mean = 0, square = 0;
      for (Index i = 0; i < parameter.size(); ++i) mean += parameter.value()[i];
      mean /= static_cast<double>(parameter.size());
      for (Index i = 0; i < parameter.size(); ++i) square += std::pow(parameter.value()[i] - mean, 2);
      const double stddev = std::sqrt(square / static_cast<double>(parameter.size()));
      if (parameter.value().rank() == 1) {
        CHECK(stddev == 0);
        CHECK(mean == (parameter.name.ends_with("/gain") ? 1 : 0));
        continue;
      }
      const auto is_of = [&](const char* part) { return parameter.name.find(part) != parameter.name.npos; };
      if (is_of("/positions/") || is_of("/segments/") || is_of("/embedding/query/"))
        continue;  // small ones, as embeddings
      // 0.02 sqrt(768 / 192) = 0.04, and 0.04 / sqrt(2 x 8) = 0.01.
      const bool writes = parameter.name.ends_with("/output/weight") || parameter.name.ends_with("/down/weight");
      // Where sinusoids are added vectors of tokens are multiplied by sqrt(192), and so have length 1 at first.
      const bool is_scaled = parameter.name == "embedding/token/weight";
      const double expected = is_scaled ? 1 / std::sqrt(192.0) : is_of("/embedding/") ? 0.02 : writes ? 0.01 : 0.04;
      CHECK(std::abs(stddev / expected - 1) < 0.02);
      CHECK(std::abs(mean) < 5 * expected / std::sqrt(static_cast<double>(parameter.size())));
      writing += writes ? 1 : 0;
    }
    // Two sublayers per block, and three if a block of the target attends to the source.
    CHECK(writing == (config.arch() == "encoder-decoder" ? 16 + 24 : 16));
  }
}

namespace {

// Checks the initial standard deviation of a parameter, to within five standard errors.
void check_start(const Parameters& parameters, const std::string& name, double expected) {
  CAPTURE(name);
  const Parameter* const parameter = parameters.find(name);
  REQUIRE(parameter != nullptr);
  const auto count = static_cast<double>(parameter->size());
  double square = 0;
  for (const double x : doubles(parameter->value())) square += x * x / count;
  CHECK(std::abs(std::sqrt(square) / expected - 1) < 5 / std::sqrt(2 * count));
}

}  // namespace

TEST_CASE("initialization: narrow heads, additive scores, outputs, tasks and adapters have one of their own") {
  models::DecoderConfig decoder = small_decoder_config;
  models::EncoderConfig encoder = small_encoder_config;
  for (models::TransformerConfig* config : std::initializer_list<models::TransformerConfig*>{&decoder, &encoder}) {
    config->width = 192;
    config->heads = 4;
    config->vocab_size = 200;
  }
  // Matrices start at 0.02 sqrt(768 / 192); those of narrow heads see a fourth of the width, and are twice as large.
  models::DecoderConfig narrow = decoder, additive = decoder;
  narrow.projections = "narrow";
  for (const char* matrix : {"query", "key", "value"}) {
    const std::string name = concatenate("decoder/1/attention/", matrix, "/weight");
    check_start(models::make_model(narrow, 3)->parameters(), name, 0.08);
  }
  additive.attention = "additive";
  check_start(models::make_model(additive, 3)->parameters(), "decoder/1/attention/weight", 1 / std::sqrt(48.0));
  encoder.tie_embeddings = false;
  const models::TaskModel task(models::make_model(encoder, 3), {.labels = {"a", "b", "c"}});
  check_start(task.parameters(), "head/weight", 0.02);
  check_start(task.parameters(), "task/weight", 0.02);
  // Uniform within 1 / sqrt(inputs), whatever the rank.
  const auto adapted = models::make_model(decoder, with_adapters(3, {4, 16, "query,down", 0}));
  for (const auto& [matrix, inputs] :
       {std::pair("attention/query", 192.0), std::pair("feed_forward/down", 4 * 192.0)}) {
    const std::string name = concatenate("decoder/0/", matrix, "/lora/a");
    check_start(adapted->parameters(), name, 1 / std::sqrt(3 * inputs));
    CHECK(largest(adapted->parameters().find(name)->value()) <= 1 / std::sqrt(inputs));
  }
}

TEST_CASE("initialization: embeddings and positions of models that translate") {
  models::EncoderDecoderConfig config;
  config.layers = 1;
  config.width = 192;
  config.heads = 4;
  config.vocab_size = config.context = 200;
  config.positions = "learned";
  const auto usual = models::make_model(config, 3);
  check_start(usual->parameters(), "embedding/token/weight", 1 / std::sqrt(192.0));
  check_start(usual->parameters(), "encoder/embedding/position/weight", 1 / std::sqrt(192.0));
  check_start(usual->parameters(), "decoder/embedding/position/weight", 1 / std::sqrt(192.0));
  config.scale_logits = true;  // it divides logits by sqrt(width)
  check_start(models::make_model(config, 3)->parameters(), "embedding/token/weight", 1);
}

TEST_CASE("initialization: recurrent models, with 1 / sqrt(3 n) for weights that multiply n numbers") {
  models::RnnConfig config;
  config.vocab_size = 300;
  config.width = 64;
  config.embedding_width = 24;
  config.encoder_width = 80;  // 40 in each direction
  const auto model = models::make_model(config, 3);
  const auto by_inputs = [](double inputs) { return 1 / std::sqrt(3 * inputs); };
  const std::map<std::string, double> expected{{"embedding/token/weight", 0.3},
                                               // Input weights and recurrent weights of a cell.
                                               {"encoder/0/forward/input/weight", by_inputs(40)},
                                               {"encoder/0/backward/recurrent/weight", by_inputs(40)},
                                               {"decoder/0/input/weight", by_inputs(64)},
                                               {"decoder/context/weight", by_inputs(80)},
                                               {"decoder/start/0/weight", by_inputs(40)},
                                               {"decoder/readout/state/weight", by_inputs(64)},
                                               {"decoder/readout/embedding/weight", by_inputs(24)},
                                               {"decoder/readout/context/weight", by_inputs(80)}};
  for (const auto& [name, stddev] : expected) check_start(model->parameters(), name, stddev);
  config.source_encoder = "convolution";
  config.source_attention = "none";
  config.context_vector = "every-step";
  config.cell = "tanh";
  config.encoder_width = 0;
  config.embedding_width = config.width;
  const auto convolutional = models::make_model(config, 3);
  check_start(convolutional->parameters(), "encoder/kernel/2/weight", 1 / std::sqrt(2.0));
  check_start(convolutional->parameters(), "encoder/kernel/16/weight", 1 / 4.0);
  check_start(convolutional->parameters(), "encoder/last/9/weight", 1 / 3.0);
}

TEST_CASE("initialization: embeddings and biases of recurrent language models are those that suit their cell") {
  // Bias of the second gate, which keeps the state.
  struct Expected {
    const char* cell;
    double embedding, bias;
  };
  for (const Expected& e : {Expected{"lstm", 1, 0}, {"gru", 0.5, -1}, {"cho", 0.5, -1}, {"tanh", 0.3, 0}}) {
    for (const std::string arch : {"lstm", "bilm"}) {
      CAPTURE(arch);
      CAPTURE(e.cell);
      const auto made = [&](const std::string& more) {
        models::ModelConfig config =
            models::ModelConfig::from(concatenate(arch, ":vocab_size=200,width=64,cell=", e.cell, more));
        auto model = models::make_model(config, 3);
        config->spell_out();
        CHECK(models::make_model(config, 3)->parameters().all().front().value().elements() ==
              model->parameters().all().front().value().elements());
        return model;
      };
      const auto bias_of = [&](const models::Model& model) {
        const std::string path = arch == "lstm" ? "lstm/1" : "bilm/1/backward";
        return model.parameters().find(path + "/input/bias")->value();
      };
      const auto usual = made(",tie_embeddings=no");
      check_start(usual->parameters(), arch + "/embedding/token/weight", e.embedding);
      check_start(usual->parameters(), "head/weight", 1 / std::sqrt(3 * 64.0));
      const bool has_gate = std::string(e.cell) != "tanh";
      if (has_gate) CHECK(bias_of(*usual)[64] == static_cast<Real>(e.bias));
      CHECK(bias_of(*usual)[63] == 0);
      const auto other = made(has_gate ? ",forget_bias=1.5,embedding_init=0.1" : ",embedding_init=0.1");
      check_start(other->parameters(), arch + "/embedding/token/weight", 0.1);
      if (has_gate) CHECK(bias_of(*other)[127] == Real(1.5));
    }
  }
}

TEST_CASE("weight decay is for matrices and tables, not for gains and biases, in every architecture, with adapters") {
  for (const models::Architecture& architecture : models::architectures()) {
    if (architecture.plays(models::UpdateRule::ability)) continue;  // has no head for tasks
    CAPTURE(architecture.name);
    models::ModelConfig config = architecture.defaults;
    if (auto* tokens = config.as<models::TokenConfig>()) tokens->vocab_size = 13;
    if (auto* encoder = config.as<models::EncoderConfig>()) {
      encoder->pooler = encoder->next_sentence = encoder->embedding_norm = true;
      encoder->segments = 2;
    }
    const LowRankOptions adapters{2, 8, "query,value,up", 0};
    const models::TaskModel model(models::make_model(config, with_adapters(3, adapters)), {.labels = {"yes", "no"}});
    std::set<std::string> kinds;
    for (const Parameter& parameter : model.body().parameters().all()) {
      CAPTURE(parameter.name);
      const std::string kind = parameter.name.substr(parameter.name.rfind('/') + 1);
      kinds.insert(kind);
      CHECK((parameter.decay == Decay::no) == (kind.ends_with("bias") || kind == "gain" || kind == "epsilon"));
      if (parameter.value().rank() == 1) CHECK(parameter.decay == Decay::no);
    }
    CHECK(kinds.contains("weight"));
    CHECK(kinds.contains("bias"));
    CHECK(kinds.contains("epsilon") == (architecture.name == "message-passing"));
    if (architecture.name == "encoder") CHECK(kinds == std::set<std::string>{"weight", "bias", "gain", "a", "b"});
  }
}

namespace {

using Masks = std::vector<std::vector<bool>>;

// Elements that each dropout site zeroed during `run`, in the order of the sites.
Masks dropped_in(const std::function<void()>& run) {
  const Profile names;  // without one operations have none
  Recording recording;
  Masks sites;
  recording.watch([&](const Tensor& result, std::span<const Variable>) {
    const Section* const section = Section::current();
    if (section == nullptr || std::string_view(section->name()) != "dropout") return;
    sites.emplace_back();
    for (Index i = 0; i < result.size(); ++i) sites.back().push_back(result[i] == 0);
  });
  run();
  return sites;
}

Masks dropped_by(const models::Model& model, const TokenIds& ids, const Pass& pass) {
  return dropped_in([&] { vectors_of(model).hidden(ids, pass); });
}

double fraction_alike(const std::vector<bool>& a, const std::vector<bool>& b) {
  REQUIRE(a.size() == b.size());
  double alike = 0;
  for (std::size_t i = 0; i < a.size(); ++i) alike += a[i] == b[i] ? 1 : 0;
  return alike / static_cast<double>(a.size());
}

}  // namespace

TEST_CASE("dropout: every site draws its own mask, and another one for each step, sample and seed") {
  for (const models::Architecture& architecture : models::architectures()) {
    CAPTURE(architecture.name);
    if (!architecture.plays(models::ContextualVectors::ability)) continue;  // nodes of graphs: graph_models_test.cpp
    models::ModelConfig config = architecture.defaults;
    config.tokens().vocab_size = 13;
    const auto model = models::make_model(config, 3);
    const Index layers = vectors_of(*model).layers();
    const TokenIds ids = some_ids(4, 16, 13);
    const Pass pass{.dropout = 0.25, .seed = 4, .step = 5, .training = true};
    auto sites = dropped_by(*model, ids, pass);
    // The embeddings, and each sublayer's output; the recurrent layers have one sublayer.
    const bool is_recurrent = architecture.name == "lstm" || architecture.name == "rnn";
    REQUIRE(static_cast<Index>(sites.size()) == 1 + (is_recurrent ? 1 : 2) * layers);
    const std::size_t count = sites.size();
    for (const Pass& other : {Pass{.dropout = 0.25, .seed = 4, .step = 6}, Pass{.dropout = 0.25, .seed = 5, .step = 5},
                              Pass{.dropout = 0.25, .seed = 4, .step = 5, .first_sample = 4}}) {
      for (auto& site : dropped_by(*model, ids, other)) sites.push_back(std::move(site));
    }
    CHECK(sites.size() == 4 * count);
    for (std::size_t i = 0; i < sites.size(); ++i) {
      // 8,192 elements: a standard deviation of 0.0048 for the fraction, of 0.0054 for what two have alike.
      const auto dropped = static_cast<double>(std::ranges::count(sites[i], true));
      CHECK(std::abs(dropped / static_cast<double>(sites[i].size()) - 0.25) < 0.025);
      for (std::size_t k = 0; k < i; ++k) CHECK(std::abs(fraction_alike(sites[i], sites[k]) - 0.625) < 0.03);
    }
    sites.resize(count);
    CHECK(dropped_by(*model, ids, pass) == sites);
  }
}

namespace {

const Pass quarter{.dropout = 0.25, .seed = 4, .step = 5, .training = true};

// Each site drops a quarter, whatever another one does: 0.25^2 + 0.75^2 of what two have are alike.
void check_masks(const Masks& sites) {
  for (std::size_t i = 0; i < sites.size(); ++i) {
    const auto size = static_cast<double>(sites[i].size());
    CAPTURE(i);
    CHECK(std::abs(static_cast<double>(std::ranges::count(sites[i], true)) / size - 0.25) < 3 / std::sqrt(size));
    for (std::size_t k = 0; k < i; ++k) {
      if (sites[k].size() != sites[i].size()) continue;
      CAPTURE(k);
      CHECK(std::abs(fraction_alike(sites[i], sites[k]) - 0.625) < 3 / std::sqrt(size));
    }
  }
}

models::ModelConfig with_vocabulary(const std::string& architecture) {
  models::ModelConfig config = models::ModelConfig::of(architecture);
  config.tokens().vocab_size = 13;
  return config;
}

}  // namespace

TEST_CASE("dropout: what reads a target draws other masks than what reads its source") {
  const TokenIds ids = some_ids(16, 8, 13);
  models::Sequences targets(ids);
  targets.sources = std::make_shared<const models::Sequences>(ids);
  for (const std::string architecture : {"encoder-decoder", "rnn"}) {
    CAPTURE(architecture);
    const auto model = models::make_model(with_vocabulary(architecture), 3);
    const auto& translator = *model->as<models::SequenceToSequence>();
    const Masks sites = dropped_in([&] { translator.target_hidden(targets, quarter); });
    // Two embeddings, and in four layers each two sublayers of the source and three of the target; the recurrent ones
    // drop at each of 8 tokens.
    CHECK(sites.size() >= (architecture == "rnn" ? 3 : 2 + 4 * 2 + 4 * 3));
    check_masks(sites);
  }
}

TEST_CASE("dropout: the two streams of a permutation draw their own masks") {
  const auto model = models::make_model(with_vocabulary("two-stream"), 3);
  const TokenIds ids = some_ids(16, 8, 13);
  const models::PermutationPredictor::Ranks ranks(16, {0, 3, 7, 1, 6, 2, 5, 4});
  Masks sites =
      dropped_in([&] { model->as<models::PermutationPredictor>()->streams(models::Sequences(ids), ranks, quarter); });
  CHECK(sites.size() == 2 * (1 + 2 * 4));
  // The first query attends to nothing: zero, dropped or not.
  const std::size_t width = sites.front().size() / ids.ids.size();
  for (std::vector<bool>& site : sites) {
    std::vector<bool> kept;
    for (std::size_t i = 0; i < site.size(); ++i) {
      if (i / width % 8 != 0) kept.push_back(site[i]);
    }
    site = kept;
  }
  check_masks(sites);
}

TEST_CASE("dropout: the layer of a task drops states of its own, that of answers for both of their ends") {
  const models::Sequences sequences(some_ids(64, 8, 13));
  const std::size_t body =
      dropped_by(*models::make_model(with_vocabulary("encoder"), 3), sequences.ids, quarter).size();
  for (const models::Task task : {models::Task::classify, models::Task::label, models::Task::span}) {
    CAPTURE(static_cast<int>(task));
    models::TaskConfig settings{.labels = {"yes", "no"}};
    settings.task = task;
    const models::TaskModel model(models::make_model(with_vocabulary("encoder"), 3), settings);
    const Masks sites = dropped_in([&] {
      if (task == models::Task::classify) model.sequence_logits(sequences, quarter);
      if (task == models::Task::label) model.token_logits(sequences, {3, 9, 17, 100, 200}, quarter);
      if (task == models::Task::span) model.span_scores(sequences, quarter);
    });
    // Where few states are looked at, the last sublayers drop as many elements.
    CHECK(sites.size() == body + (task == models::Task::span ? 2 : 1));
    check_masks(sites);
  }
}

TEST_CASE("dropout: the adapters of each product draw their own mask, in training alone") {
  models::DecoderConfig config = small_decoder_config;
  config.width = 128;
  config.heads = 4;
  config.context = 16;
  const LowRankOptions adapters{2, 8, "query,value,output,up", 0.25};
  const auto model = models::make_model(config, with_adapters(3, adapters));
  const TokenIds ids = some_ids(4, 16, 13);
  const auto sites = dropped_by(*model, ids, {.seed = 4, .step = 5, .training = true});
  REQUIRE(sites.size() == 6);  // in each of two blocks one for queries and values, one for the output, one for up
  for (std::size_t i = 0; i < sites.size(); ++i) {
    const auto dropped = static_cast<double>(std::ranges::count(sites[i], true));
    CHECK(std::abs(dropped / static_cast<double>(sites[i].size()) - 0.25) < 0.025);
    for (std::size_t k = 0; k < i; ++k) CHECK(std::abs(fraction_alike(sites[i], sites[k]) - 0.625) < 0.028);
  }
  CHECK(dropped_by(*model, ids, {.seed = 4, .step = 5}).empty());
}

TEST_CASE("dropout: what predicts the tokens of a recurrent translator is dropped, whichever its attention") {
  const TokenIds ids = some_ids(16, 8, 13);
  models::Sequences targets(ids);
  targets.sources = std::make_shared<const models::Sequences>(ids);
  for (const std::string attention : {"additive", "bilinear", "none"}) {
    CAPTURE(attention);
    models::RnnConfig config;
    config.width = 64;
    config.vocab_size = 13;
    config.source_attention = attention;
    const auto model = models::make_model(config, 3);
    const auto& translator = *model->as<models::SequenceToSequence>();
    const Tensor states = translator.target_hidden(targets, quarter).value();
    const auto zeros = static_cast<double>(std::ranges::count(doubles(states), 0.0));
    CHECK(std::abs(zeros / static_cast<double>(states.size()) - 0.25) < 0.02);  // four standard deviations
    CHECK(std::ranges::count(doubles(translator.target_hidden(targets).value()), 0.0) == 0);
  }
}

TEST_CASE("dropout: adapters drop what keys and values of a source are made of, too") {
  const LowRankOptions adapters{2, 8, "key,value", 0.25};
  const auto model = models::make_model(with_vocabulary("encoder-decoder"), with_adapters(3, adapters));
  const TokenIds ids = some_ids(16, 8, 13);
  models::Sequences targets(ids);
  targets.sources = std::make_shared<const models::Sequences>(ids);
  const auto& translator = *model->as<models::SequenceToSequence>();
  const Masks sites = dropped_in([&] { translator.target_hidden(targets, {.seed = 4, .step = 5, .training = true}); });
  // Keys and values of a layer together: of four layers of the source, and twice of four of the target.
  CHECK(sites.size() == 4 + 2 * 4);
  check_masks(sites);
}

}  // namespace whole_model_tests
