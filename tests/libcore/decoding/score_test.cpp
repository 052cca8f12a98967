#include "heddle/decoding/score.hpp"

#include <doctest/doctest.h>

#include <limits>

#include "heddle/ops/cross_entropy.hpp"
#include "support/models.hpp"
#include "support/on_threads.hpp"

using namespace heddle;
using namespace heddle::decoding;

namespace {

models::Decoder make_model() {
  models::Decoder model(testing::decoder({.layers = 2, .width = 32, .heads = 4, .context = 40, .vocab_size = 30}), 5);
  for (const Parameter& parameter : model.parameters().all()) parameter.value().scale(4);
  return model;
}

// Texts of 1 to 41 tokens, of which the model reads 40.
std::vector<GivenTokens> make_texts() {
  std::vector<GivenTokens> texts;
  for (Index i = 0; i < 41; ++i) {
    texts.push_back({{}, 1 + i / 3});
    for (Index t = 0; t <= i; ++t) texts.back().ids.push_back(static_cast<TokenId>((i * i + 7 * t) % 30));
  }
  return texts;
}

}  // namespace

TEST_CASE("score: the log-probabilities of tokens are those of reading step by step") {
  const models::Decoder model = make_model();
  const auto texts = make_texts();
  const auto scores = token_log_probabilities(model, texts);
  for (const std::size_t i : {0, 1, 5, 39, 40}) {
    const auto& [ids, from, source] = texts[i];
    REQUIRE(scores[i].size() == ids.size() - static_cast<std::size_t>(from));
    const auto state = model.start({1, 40});
    for (std::size_t t = 0; t + 1 < ids.size(); ++t) {
      const Tensor logits = model.step(TokenIds(Shape{1, 1}, {ids[t]}), {1}, *state);
      if (static_cast<Index>(t) + 1 < from) continue;
      const double expected = -ops::negative_log_likelihoods(logits, {ids[t + 1]})[0];
      CHECK(scores[i][t + 1 - static_cast<std::size_t>(from)] == doctest::Approx(expected).epsilon(1e-4));
    }
  }
}

TEST_CASE("score: the same bits in any batch and with any number of threads") {
  const models::Decoder model = make_model();
  const auto texts = make_texts();
  const auto expected = token_log_probabilities(model, texts);
  for (const int threads : {1, 3, 2}) {
    const testing::OnThreads scope(threads);
    for (const Index batch_tokens : {1, 100, 100000}) {
      CHECK(token_log_probabilities(model, texts, batch_tokens) == expected);
    }
  }
}

TEST_CASE("score: texts of which nothing is given or that do not fit are refused") {
  const models::Decoder model = make_model();
  CHECK_THROWS_AS(token_log_probabilities(model, std::vector<GivenTokens>{{{}, 1}}), ShapeError);
  CHECK_THROWS_AS(token_log_probabilities(model, std::vector<GivenTokens>{{{1, 2}, 0}}), ShapeError);
  CHECK_THROWS_AS(token_log_probabilities(model, std::vector<GivenTokens>{{Tokens(42, 1), 1}}), DataError);
}

TEST_CASE("score: a single logit that is not finite is an error, of a token that is not scored too") {
  const models::Decoder model = make_model();
  model.parameters().find("decoder/embedding/token/weight")->value()[29 * 32] = std::numeric_limits<Real>::quiet_NaN();
  CHECK_THROWS_AS(token_log_probabilities(model, std::vector<GivenTokens>{{{1, 2, 3}, 1}}), NumericError);
}
