#include "libcore/decoding/score.hpp"

#include <doctest/doctest.h>

#include <cmath>
#include <limits>

#include "libcore/base/random.hpp"
#include "libcore/ops/cross_entropy.hpp"
#include "libcore/ops/gather.hpp"
#include "libcore/parallel/thread_group.hpp"
#include "support/models.hpp"
#include "support/on_threads.hpp"

using namespace heddle;
using namespace heddle::decoding;

namespace {

models::Decoder scoring_model() {
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

// Checks a prediction by plain loops over the logits of one row.
void check_prediction(const TokenPrediction& found, const Real* logits, Index vocab, TokenId target) {
  std::vector<double> probabilities;
  double sum = 0, entropy = 0;
  for (Index i = 0; i < vocab; ++i) sum += probabilities.emplace_back(std::exp(static_cast<double>(logits[i])));
  for (double& each : probabilities) each /= sum, entropy -= each * std::log(each);
  const double own = probabilities[static_cast<std::size_t>(target)];
  CHECK(std::exp(found.log_probability) == doctest::Approx(own).epsilon(1e-4));
  CHECK(found.entropy == doctest::Approx(entropy).epsilon(1e-4));
  CHECK(found.rank == 1 + std::ranges::count_if(probabilities, [&](double each) { return each > own; }));
  REQUIRE(found.top.size() == 3);
  for (std::size_t i = 0; i < 3; ++i) {
    const auto id = static_cast<std::size_t>(found.top[i].id);
    CHECK(found.top[i].probability == doctest::Approx(probabilities[id]).epsilon(1e-4));
    const auto more = std::ranges::count_if(probabilities, [&](double each) { return each > probabilities[id]; });
    CHECK(more == static_cast<long>(i));
  }
}

}  // namespace

TEST_CASE("score: ranks divide the batches, and get the bits that one gets") {
  const models::Decoder model = scoring_model();
  const auto texts = make_texts();
  const auto expected = token_log_probabilities(model, texts, 64);
  for (const int ranks : {1, 2, 3}) {
    CAPTURE(ranks);
    std::vector<char> equal(static_cast<std::size_t>(ranks), 0);
    parallel::on_ranks(ranks, [&](const parallel::Group& group) {
      const testing::OnThreads scope(1);
      const parallel::Divided divided(group);
      equal[static_cast<std::size_t>(group.rank())] = token_log_probabilities(model, texts, 64) == expected;
    });
    CHECK(equal == std::vector<char>(equal.size(), 1));
  }
}

TEST_CASE("score: the log-probabilities of tokens are those of reading step by step") {
  const models::Decoder model = scoring_model();
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
  const models::Decoder model = scoring_model();
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
  const models::Decoder model = scoring_model();
  CHECK_THROWS_AS(token_log_probabilities(model, std::vector<GivenTokens>{{{}, 1}}), ShapeError);
  CHECK_THROWS_AS(token_log_probabilities(model, std::vector<GivenTokens>{{{1, 2}, 0}}), ShapeError);
  CHECK_THROWS_AS(token_log_probabilities(model, std::vector<GivenTokens>{{Tokens(42, 1), 1}}), DataError);
}

TEST_CASE("score: a single logit that is not finite is an error, of a token that is not scored too") {
  const models::Decoder model = scoring_model();
  model.parameters().find("decoder/embedding/token/weight")->value()[29 * 32] = std::numeric_limits<Real>::quiet_NaN();
  CHECK_THROWS_AS(token_log_probabilities(model, std::vector<GivenTokens>{{{1, 2, 3}, 1}}), NumericError);
}

TEST_CASE(
    "score: predictions have the log-probabilities of scores to the bit, and the ranks, entropies and best tokens") {
  const models::Decoder model = scoring_model();
  const auto texts = make_texts();
  const auto scores = token_log_probabilities(model, texts);
  const auto predictions = token_predictions(model, texts, {.top = 3});
  REQUIRE(predictions.size() == scores.size());
  for (std::size_t i = 0; i < texts.size(); ++i) {
    REQUIRE(predictions[i].size() == scores[i].size());
    for (std::size_t t = 0; t < scores[i].size(); ++t) CHECK(predictions[i][t].log_probability == scores[i][t]);
  }
  const GivenTokens& text = texts[20];
  const auto state = model.start({1, 40});
  for (std::size_t t = 0; t + 1 < text.ids.size(); ++t) {
    const Tensor logits = model.step(TokenIds(Shape{1, 1}, {text.ids[t]}), {1}, *state);
    if (static_cast<Index>(t) + 1 < text.from) continue;
    check_prediction(predictions[20][t + 1 - static_cast<std::size_t>(text.from)], logits.data(), 30, text.ids[t + 1]);
  }
}

TEST_CASE("score: of equally probable tokens the lower id has the lower rank, and only the tokenizer's are listed") {
  const models::Decoder model = scoring_model();
  model.parameters().find("decoder/embedding/token/weight")->value().fill(0);  // also the output: all logits are equal
  const std::vector<GivenTokens> texts{{{1, 0, 29, 12}, 1}};
  const auto found = token_predictions(model, texts, {.top = 40, .vocab_size = 25}).front();
  CHECK(found[0].rank == 1);
  CHECK(found[1].rank == 30);
  CHECK(found[2].rank == 13);
  CHECK(found[2].entropy == doctest::Approx(std::log(30.0)));
  REQUIRE(found[2].top.size() == 25);
  for (TokenId id = 0; id < 25; ++id) CHECK(found[2].top[static_cast<std::size_t>(id)].id == id);
}

TEST_CASE("score: each masked token is predicted from all others, in batches of any size") {
  models::Encoder model(testing::encoder({.layers = 2, .width = 32, .heads = 4, .context = 40, .vocab_size = 30}), 5);
  for (const Parameter& parameter : model.parameters().all()) parameter.value().scale(4);
  const Tokens ids{3, 8, 8, 20, 4, 11, 25};
  const std::vector<Index> places{1, 2, 3, 5};
  const auto expected = masked_predictions(model, ids, places, 29, {.top = 3});
  REQUIRE(expected.size() == places.size());
  for (std::size_t i = 0; i < places.size(); ++i) {
    Tokens masked = ids;
    masked[static_cast<std::size_t>(places[i])] = 29;
    const Variable hidden = model.hidden({TokenIds(Shape{1, 7}, masked)});
    const Tensor logits = model.masked_token_head()(ops::gather_rows(hidden, {places[i]})).value();
    check_prediction(expected[i], logits.data(), 30, ids[static_cast<std::size_t>(places[i])]);
  }
  for (const Index batch_tokens : {1, 14, 20}) {
    const auto found = masked_log_probabilities(model, ids, places, 29, batch_tokens);
    REQUIRE(found.size() == expected.size());
    for (std::size_t i = 0; i < found.size(); ++i) {
      CHECK(found[i] == doctest::Approx(expected[i].log_probability).epsilon(1e-5));
    }
  }
}

TEST_CASE("score: the parts of a long text score each token but the first once, after half a context at least") {
  const models::Decoder model = scoring_model();
  for (const Index size : {1, 2, 41, 42, 61, 62, 200}) {
    Tokens ids;
    for (Index t = 0; t < size; ++t) ids.push_back(static_cast<TokenId>(t % 29));
    Index next = 1;
    for (const GivenTokens& part : scored_parts(model, ids)) {
      REQUIRE(part.ids.size() <= 41);
      const Index begin = next - part.from;
      CHECK((begin == 0 || part.from >= 20));
      for (std::size_t t = 0; t < part.ids.size(); ++t) {
        CHECK(part.ids[t] == ids[static_cast<std::size_t>(begin) + t]);
      }
      next = begin + static_cast<Index>(part.ids.size());
    }
    CHECK(next == std::max<Index>(1, size));
  }
}

TEST_CASE("score: texts whose lengths rise and fall, and more scored tokens than have their logits at once") {
  const models::Decoder model = scoring_model();
  const RandomStream stream(3, random_site("lengths"));
  for (const Index wanted : {1023, 1024, 1025, 2049}) {
    CAPTURE(wanted);
    std::vector<GivenTokens> texts;
    Index scored = 0;
    for (std::uint64_t i = 0; scored < wanted; ++i) {
      const auto length = std::min<Index>(2 + static_cast<Index>(stream.below(3 * i, 40)), wanted - scored + 1);
      const auto from = 1 + static_cast<Index>(stream.below(3 * i + 1, static_cast<std::uint64_t>(length)));
      texts.push_back({{}, from});
      for (Index t = 0; t < length; ++t) {
        texts.back().ids.push_back(
            static_cast<TokenId>(stream.below(1000 * (i + 1) + static_cast<std::uint64_t>(t), 30)));
      }
      scored += length - from;
    }
    REQUIRE(scored == wanted);
    // In one batch; and each text alone.
    const auto scores = token_log_probabilities(model, texts, 1 << 20);
    REQUIRE(scores.size() == texts.size());
    for (std::size_t i = 0; i < texts.size(); ++i) {
      CHECK(scores[i] == token_log_probabilities(model, std::vector<GivenTokens>{texts[i]})[0]);
    }
  }
}
