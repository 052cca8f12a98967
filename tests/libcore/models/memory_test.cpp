// Windows that continue others: the memory of a Transformer-XL (SPEC 2.6). Built in double.
#include <doctest/doctest.h>

#include <cmath>
#include <numeric>

#include "libcore/decoding/score.hpp"
#include "libcore/models/model_checks.hpp"
#include "libcore/models/naive_transformer.hpp"
#include "libcore/models/presets.hpp"
#include "libcore/models/small_config.hpp"
#include "libcore/tensor/context.hpp"
#include "libcore/training/causal.hpp"
#include "support/tensors.hpp"
#include "support/weighted_sum.hpp"

using namespace heddle;
using namespace heddle::testing;

namespace memory_tests {

namespace {

constexpr Index batch = 2, text_time = 12, vocab = 13;
const std::vector<std::string> relative{"transformer-xl",
                                        "transformer-xl:clamp=5",
                                        "rope",
                                        "alibi",
                                        "linear:start=-0.2",
                                        "relative-scalar:buckets=6,max-distance=5",
                                        "relative-vector:reach=3",
                                        "relative-vector:reach=3,values=1",
                                        "disentangled:reach=3,terms=queries",
                                        "none"};

models::DecoderConfig config_of(const std::string& positions, const std::string& block, Index memory = 0) {
  models::DecoderConfig config = small_decoder_config;
  config.positions = positions;
  config.block = block;
  config.context = positions == "learned" ? text_time : 0;
  config.memory = memory;
  return config;
}

models::Decoder stirred(const models::DecoderConfig& config) {
  models::Decoder model(config, 3);
  stir(model.parameters(), 0.3);
  return model;
}

// Columns [begin, begin + time) of ids.
TokenIds window_of(const TokenIds& ids, Index begin, Index time) {
  TokenIds window(Shape{ids.shape[0], time});
  for (Index b = 0; b < ids.shape[0]; ++b) {
    std::copy_n(ids.ids.begin() + b * ids.shape[1] + begin, time, window.ids.begin() + b * time);
  }
  return window;
}

// The largest difference between the states of a text that is read in windows of `time` tokens, with a memory of `most`
// positions, and those of the whole.
double difference_in_windows(const models::Decoder& model, const Tensor& whole, Index time, Index most,
                             Index window = 0) {
  const TokenIds ids = some_ids(batch, text_time, vocab);
  models::EarlierStates states{.window = window};
  double largest = 0;
  for (Index begin = 0; begin < text_time; begin += time) {
    const Index count = std::min(time, text_time - begin);
    const models::Continued continued = models::hidden_after(model, window_of(ids, begin, count), states, most);
    largest = std::max(largest, difference(continued.hidden.value(), whole.narrowed(1, begin, count)));
    states = continued.states;
    CHECK(states.positions() == std::min(most, begin + count));
  }
  return largest;
}

Tensor whole_of(const models::Decoder& model) {
  return model.hidden(some_ids(batch, text_time, vocab)).value();
}

data::TokensInMemory some_text(Index size) {
  return {some_ids(1, size, vocab).ids, vocab};
}

}  // namespace

TEST_CASE("memory: with all earlier positions in it, windows have the states of the whole text (SPEC 2.6)") {
  for (const std::string& positions : relative) {
    for (const std::string block : {"pre", "post", "parallel"}) {
      CAPTURE(positions);
      CAPTURE(block);
      const models::Decoder model = stirred(config_of(positions, block));
      CHECK(model.remembers());
      const Tensor whole = whole_of(model);
      for (const Index time : {1, 3, 5, 12}) CHECK(difference_in_windows(model, whole, time, text_time) < 1e-10);
      CHECK(difference_in_windows(model, whole, 3, 3) > 1e-3);  // a single window
      CHECK(difference_in_windows(model, whole, 3, 0) > 1e-3);
    }
  }
}

namespace {

// The states of a text that is read in windows of `time` tokens equal those of
// the equations, which see `window` tokens back at most.
void check_equations(const models::Decoder& model, Index time, Index most, Index window) {
  models::DecoderConfig config = *model.config().as<models::DecoderConfig>();
  models::EarlierStates states{.window = window};
  if (config.window == 0 || (window > 0 && window < config.window)) config.window = window;
  const NaiveTransformer naive(model, "decoder", config);
  const TokenIds ids = some_ids(batch, text_time, vocab);
  std::vector<std::vector<Rows>> kept(static_cast<std::size_t>(batch));
  for (Index begin = 0; begin < text_time; begin += time) {
    const Index count = std::min(time, text_time - begin);
    const models::Continued continued = models::hidden_after(model, window_of(ids, begin, count), states, most);
    for (Index row = 0; row < batch; ++row) {
      const auto from = ids.ids.begin() + row * text_time + begin;
      const Rows expected = naive.states({from, from + count}, {.causal = true}, kept[static_cast<std::size_t>(row)],
                                         static_cast<std::size_t>(most));
      CHECK(difference(continued.hidden.value().narrowed(0, row, 1), tensor_of({expected})) < 1e-10);
    }
    states = continued.states;
  }
}

}  // namespace

TEST_CASE("memory: with a window of the model's own, too, states are those of the equations") {
  for (const std::string& positions : relative) {
    for (const auto& [window, memory] : std::vector<std::pair<Index, Index>>{{0, 0}, {0, 4}, {4, 2}, {5, 4}}) {
      CAPTURE(positions);
      CAPTURE(window);
      CAPTURE(memory);
      models::DecoderConfig config = config_of(positions, "pre", memory);
      config.window = window;
      const models::Decoder model = stirred(config);
      // As a whole, where every token sees no more than a memory holds.
      models::DecoderConfig smaller = config;
      if (window == 0 || (memory > 0 && memory < window)) smaller.window = memory;
      const NaiveTransformer naive(model, "decoder", smaller);
      const TokenIds ids = some_ids(batch, text_time, vocab);
      const Tensor whole = model.hidden(ids).value();
      const Tensor expected(Shape{batch, text_time, vocab});
      for (Index row = 0; row < batch; ++row) {
        const auto from = ids.ids.begin() + row * text_time;
        const Rows states = naive.states({from, from + text_time}, {.causal = true});
        CHECK(difference(whole.narrowed(0, row, 1), tensor_of({states})) < 1e-10);
        for (Index t = 0; t < text_time; ++t) {
          const std::vector<double> logits = naive.token_logits(states[static_cast<std::size_t>(t)]);
          std::copy(logits.begin(), logits.end(), expected.data() + (row * text_time + t) * vocab);
        }
      }
      const auto state = model.start({.batch = batch, .capacity = text_time});
      for (const auto& added : std::vector<std::vector<Index>>{{3, 1}, {1, 1}, {1, 6}, {2, 1}, {5, 3}}) {
        check_logits(model.step(next_ids(ids, state->seen(), added), added, *state), expected, {0, 1}, state->seen());
      }
      check_equations(model, 5, 6, 0);
      check_equations(model, 2, memory, memory);
      if (memory > 0) check_equations(model, 5, memory, 0);
      if (memory == 0) check_equations(model, 5, 0, 3);
    }
  }
}

TEST_CASE("memory: every attention variant of decoders reads earlier positions as its own") {
  for (const AttentionVariant& variant : attention_variants()) {
    CAPTURE(variant.name);
    models::DecoderConfig config = config_of("alibi", "pre", 5);
    config.attention = variant.name;
    try {
      models::ModelConfig(config).check();
    } catch (const UsageError&) {
      continue;  // not for decoders, or without a window
    }
    const models::Decoder model = stirred(config);
    CHECK(difference_in_windows(model, whole_of(model), 4, 5, 5) < 1e-10);
    config.memory = 0;
    const models::Decoder free = stirred(config);
    CHECK(difference_in_windows(free, whole_of(free), 4, text_time) < 1e-10);
  }
}

TEST_CASE("memory: every pair of variant and positions that it accepts does not depend on where windows begin") {
  int accepted = 0;
  std::vector<std::string> with_rope;
  for (const AttentionVariant& variant : attention_variants()) {
    for (const std::string& positions : relative) {
      CAPTURE(variant.name);
      CAPTURE(positions);
      models::DecoderConfig config = config_of(positions, "pre", 5);
      config.attention = variant.name;
      try {
        models::ModelConfig(config).check();
      } catch (const UsageError&) {
        continue;
      }
      ++accepted;
      if (positions == "rope") with_rope.push_back(variant.name);
      const models::Decoder model = stirred(config);
      CHECK(model.remembers());
      const Tensor whole = whole_of(model);
      for (const Index time : {1, 4}) CHECK(difference_in_windows(model, whole, time, 5, 5) < 1e-10);
    }
  }
  CHECK(accepted > 20);
  CHECK(std::ranges::count(with_rope, "dot") == 1);
  CHECK(std::ranges::count(with_rope, "gaussian") == 1);
}

TEST_CASE("memory: rotations that scores do not cancel are refused") {
  for (const std::string attention : {"bilinear", "additive", "fourier"}) {
    CAPTURE(attention);
    models::DecoderConfig config = config_of("rope", "pre");
    config.attention = attention;
    config.window = 5;
    const models::Decoder model = stirred(config);
    CHECK_FALSE(model.remembers());
    CHECK(difference_in_windows(model, whole_of(model), 4, 5, 5) > 1e-6);
    config.memory = 4;
    CHECK_THROWS_WITH_AS(models::ModelConfig(config).check(),
                         doctest::Contains((attention + " changes its scores if queries").c_str()), UsageError);
  }
}

TEST_CASE("memory: positions that begin anew in each window do not continue a text, and are refused") {
  for (const std::string positions : {"learned", "sinusoidal"}) {
    CAPTURE(positions);
    const models::Decoder model = stirred(config_of(positions, "post"));
    CHECK_FALSE(model.remembers());
    CHECK(difference_in_windows(model, whole_of(model), 3, text_time) > 1e-3);
    models::DecoderConfig config = config_of(positions, "post", 4);
    config.context = 0;
    CHECK_THROWS_WITH_AS(
        models::ModelConfig(config).check(),
        doctest::Contains(("`memory` = 4: `positions` = " + positions + " begin anew in each window").c_str()),
        UsageError);
  }
}

TEST_CASE("memory: a text read as a whole, step by step, or in windows of any length has one window of attention") {
  for (const std::string& positions : relative) {
    CAPTURE(positions);
    const models::Decoder model = stirred(config_of(positions, "pre", 3)), free = stirred(config_of(positions, "pre"));
    const Tensor whole = whole_of(model);
    CHECK(difference(whole, whole_of(free)) > 1e-3);
    for (const Index time : {1, 2, 5, 12}) CHECK(difference_in_windows(model, whole, time, 3, 3) < 1e-10);
    CHECK(difference_in_windows(model, whole, 5, 3) > 1e-3);  // in training a window sees all of itself, too
    // Two layers see six tokens back.
    TokenIds ids = some_ids(1, text_time, vocab), others = ids;
    others.ids[2] = (others.ids[2] + 1) % vocab;
    const Tensor before = model.hidden(ids).value(), after = model.hidden(others).value();
    for (Index t = 0; t < text_time; ++t) {
      CHECK((difference(before.narrowed(1, t, 1), after.narrowed(1, t, 1)) > 0) == (t >= 2 && t <= 8));
    }
  }
}

TEST_CASE("memory: a generator keeps what it can still attend to, and says of long texts what the whole says") {
  for (const std::string& positions : relative) {
    CAPTURE(positions);
    const models::Decoder model = stirred(config_of(positions, "post", 3));
    CHECK_FALSE(model.max_positions());
    const Index time = 30;
    const TokenIds ids = some_ids(2, time, vocab);
    const Tensor whole = model.next_token_head()(model.hidden(ids)).value();
    // A capacity that no memory holds.
    const auto state = model.start({.batch = 2, .capacity = Index{1} << 50});
    const auto one = [&](Index row, Index at) { return ids.ids[static_cast<std::size_t>(row * time + at)]; };
    for (const auto& added : std::vector<std::vector<Index>>{{3, 1}, {1, 1}, {9, 2}, {1, 1}, {1, 1}, {2, 5}, {1, 1}}) {
      check_logits(model.step(next_ids(ids, state->seen(), added), added, *state), whole, {0, 1}, state->seen());
    }
    while (state->seen()[0] < time) {
      const TokenIds next(Shape{2, 1}, {one(0, state->seen()[0]), one(1, state->seen()[1])});
      check_logits(model.step(next, {1, 1}, *state), whole, {0, 1}, state->seen());
    }
    state->reorder({1, 1});
    const Index at = state->seen()[0];
    const TokenIds next(Shape{2, 1}, {one(1, at), one(1, at)});
    check_logits(model.step(next, {1, 1}, *state), whole, {1, 1}, state->seen());
  }
}

TEST_CASE("memory: the gradient of every parameter matches finite differences, with the memory held constant") {
  for (const std::string& positions : relative) {
    for (const std::string block : {"pre", "post", "parallel"}) {
      CAPTURE(positions);
      CAPTURE(block);
      models::DecoderConfig config = config_of(positions, block);
      if (block == "post" && !positions.ends_with("values=1")) config.kv_heads = 1;
      const models::Decoder model = stirred(config);
      const TokenIds ids = some_ids(batch, text_time, vocab);
      const models::EarlierStates states = models::hidden_after(model, window_of(ids, 0, 4), {}, 4)
                                               .states;  // later changes of weights do not affect these
      const Pass pass{.dropout = 0.1, .seed = 4, .step = 5};
      const Tensor factors = sum_weights({batch, 3, config.width});
      factors.scale(Real(0.05));
      check_gradients(const_cast<models::Decoder&>(model).parameters(), [&] {
        return weighted_sum(models::hidden_after(model, window_of(ids, 4, 3), states, 4, pass).hidden, factors);
      });
    }
  }
}

TEST_CASE("memory: nothing flows back into it, but through it into the weights of its keys and values") {
  const models::Decoder model = stirred(config_of("transformer-xl", "pre"));
  const TokenIds ids = some_ids(batch, text_time, vocab);
  Recording recording;
  const models::Continued first = models::hidden_after(model, window_of(ids, 0, 4), {}, 4);
  const models::Continued second = models::hidden_after(model, window_of(ids, 4, 3), first.states, 4);
  recording.backward(weighted_sum(second.hidden, sum_weights({batch, 3, 12})));
  // Only the tokens of the second window have a gradient.
  const Tensor gradient = model.parameters().find("decoder/embedding/token/weight")->gradient();
  const TokenIds read = window_of(ids, 4, 3);
  for (TokenId id = 0; id < vocab; ++id) {
    const bool is_read = std::ranges::count(read.ids, id) > 0;
    double size = 0;
    for (Index i = 0; i < 12; ++i) size += std::abs(gradient[id * 12 + i]);
    CHECK((size > 0) == is_read);
  }
}

TEST_CASE("memory: an evaluation in windows of any length is that of one window as long as the text") {
  const data::TokensInMemory text = some_text(61);
  for (const std::string positions : {"transformer-xl", "rope", "relative-scalar:buckets=6,max-distance=5"}) {
    CAPTURE(positions);
    const models::Decoder model = stirred(config_of(positions, "post", 4)),
                          free = stirred(config_of(positions, "post"));
    const auto score_of = [&](const models::Decoder& decoder) {
      const std::vector<decoding::GivenTokens> whole{{some_ids(1, 61, vocab).ids}};
      const auto scores = decoding::token_log_probabilities(decoder, whole);
      return -std::accumulate(scores[0].begin(), scores[0].end(), 0.0);
    };
    const double expected = score_of(model);
    for (const Index time : {1, 7, 60, 64}) {
      const training::Evaluation result = training::evaluate(model, text, {.time = time});
      CHECK(result.tokens == 60);
      CHECK(result.nats == doctest::Approx(expected).epsilon(1e-12));
      CHECK(training::evaluate(free, text, {.time = time, .memory = 4}).nats ==
            doctest::Approx(expected).epsilon(1e-12));
      CHECK(training::evaluate(model, text, {.time = time, .memory = 60}).nats ==
            doctest::Approx(score_of(free)).epsilon(1e-12));
    }
    CHECK(std::abs(score_of(free) - expected) > 1e-3);
    CHECK(training::evaluate(model, text, {.time = 7, .memory = 0}).nats ==
          doctest::Approx(training::evaluate(free, text, {.time = 7}).nats).epsilon(1e-12));
  }
  const models::Decoder learned = stirred(config_of("learned", "post"));
  CHECK_THROWS_AS(training::evaluate(learned, text, {.time = 7, .memory = 4}), UsageError);
}

TEST_CASE("memory: states that do not fit are refused") {
  const models::Decoder model = stirred(config_of("rope", "pre"));
  const TokenIds ids = some_ids(batch, 4, vocab);
  models::EarlierStates states = models::hidden_after(model, ids, {}, 4).states;
  CHECK_THROWS_AS(models::hidden_after(model, some_ids(1, 4, vocab), states, 4), ShapeError);
  models::Sequences padded(ids, {4, 2});
  padded.earlier = std::make_shared<const models::EarlierStates>(states);
  CHECK_THROWS_AS(model.hidden(padded), ShapeError);
  states.layers.pop_back();
  CHECK_THROWS_AS(models::hidden_after(model, ids, states, 4), ShapeError);
  const models::Encoder encoder(small_encoder_config, 1);
  models::Sequences other(ids);
  other.earlier = std::make_shared<const models::EarlierStates>();
  CHECK_THROWS_AS(encoder.hidden(other), ShapeError);
}

TEST_CASE("memory: published models have the parameters that their code counts, but for what is not here") {
  const Simulation simulation;
  const auto count = [](const char* preset) {
    return models::make_model(models::preset(preset), 0)->parameters().count();
  };
  CHECK(count("transformer-xl-enwik8") == 41055436 + 11 * 2 * 512 - 204);
  CHECK(count("transformer-xl") == 151107538 + 15 * 2 * 410 - 267735 - 3 * (410 + 1));
}

}  // namespace memory_tests
