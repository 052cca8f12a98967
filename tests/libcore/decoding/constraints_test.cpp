#include "libcore/decoding/constraints.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>

#include "libcore/decoding/beam_search.hpp"
#include "libcore/decoding/generate.hpp"
#include "support/models.hpp"

using namespace heddle;
using namespace heddle::decoding;

namespace {

using Ids = std::vector<TokenId>;

// The tokens of a vocabulary of six that must not follow the text, of which `added` tokens were generated.
Ids forbidden_after(const Ids& text, const Constraints& constraints, Index added = 1, std::optional<TokenId> end = {}) {
  const std::vector<Real> logits{0.5f, -1, 2, 0, 1, -2};
  const std::vector<Real> values = constrained(logits.data(), 6, {text, added}, end, constraints);
  Ids ids;
  for (std::size_t i = 0; i < values.size(); ++i) {
    if (std::isinf(values[i])) {
      CHECK(values[i] < 0);
      ids.push_back(static_cast<TokenId>(i));
    } else {
      CHECK(values[i] == logits[i]);
    }
  }
  return ids;
}

models::Decoder constrained_model(Index vocab) {
  models::Decoder model(testing::decoder({.layers = 2, .width = 32, .heads = 4, .context = 24, .vocab_size = vocab}),
                        5);
  for (const Parameter& parameter : model.parameters().all()) parameter.value().scale(6);
  return model;
}

Ids generated(const models::Decoder& model, const Ids& prompt, const GenerateOptions& options) {
  Ids ids;
  generate(model, {prompt}, 0, options, [&](Index, const Choice& token) { return ids.push_back(token.id), true; });
  return ids;
}

Ids searched(const models::Decoder& model, const Ids& prompt, const BeamOptions& options) {
  Ids ids;
  const auto found = beam_search(model, {prompt}, 0, options);
  for (const Choice& choice : found.at(0).at(0).tokens) ids.push_back(choice.id);
  return ids;
}

// How many n-grams that end in a token from `from` on have occurred before.
int repeated(const Ids& text, std::size_t from, std::size_t n) {
  int count = 0;
  for (std::size_t end = std::max(from, n - 1); end < text.size(); ++end) {
    for (std::size_t before = n - 1; before < end; ++before) {
      bool same = true;
      for (std::size_t k = 0; k < n; ++k) same = same && text[end - k] == text[before - k];
      count += same ? 1 : 0;
    }
  }
  return count;
}

Ids joined(Ids text, const Ids& more) {
  text.insert(text.end(), more.begin(), more.end());
  return text;
}

}  // namespace

TEST_CASE("constraints: which tokens would repeat an n-gram, by hand") {
  CHECK(forbidden_after({1, 2, 3, 1, 2}, {.no_repeat_ngram_size = 3}) == Ids{3});
  CHECK(forbidden_after({1, 2, 3, 1, 2, 4, 1, 2}, {.no_repeat_ngram_size = 3}) == Ids{3, 4});
  CHECK(forbidden_after({1, 2, 3, 1}, {.no_repeat_ngram_size = 2}) == Ids{2});
  CHECK(forbidden_after({3, 3}, {.no_repeat_ngram_size = 2}) == Ids{3});
  CHECK(forbidden_after({3, 3}, {.no_repeat_ngram_size = 3}).empty());
  CHECK(forbidden_after({3, 3, 3}, {.no_repeat_ngram_size = 3}) == Ids{3});
  CHECK(forbidden_after({1, 4, 1}, {.no_repeat_ngram_size = 1}) == Ids{1, 4});
  CHECK(forbidden_after({1}, {.no_repeat_ngram_size = 2}).empty());
  CHECK(forbidden_after({}, {.no_repeat_ngram_size = 1}).empty());
  CHECK(forbidden_after({1, 2, 1, 2}, {}).empty());
  // Tokens beyond those that may come.
  CHECK(forbidden_after({9, 7, 9}, {.no_repeat_ngram_size = 2}).empty());
}

TEST_CASE("constraints: the end is forbidden before min_tokens, and never by n-grams") {
  CHECK(forbidden_after({1}, {.min_tokens = 3}, 0, 5) == Ids{5});
  CHECK(forbidden_after({1}, {.min_tokens = 3}, 2, 5) == Ids{5});
  CHECK(forbidden_after({1}, {.min_tokens = 3}, 3, 5).empty());
  CHECK(forbidden_after({1}, {.min_tokens = 3}, 0).empty());
  CHECK(forbidden_after({5, 1}, {.no_repeat_ngram_size = 1}, 1, 5) == Ids{1});
  CHECK(forbidden_after({5, 1}, {.no_repeat_ngram_size = 1, .min_tokens = 2}, 1, 5) == Ids{1, 5});
}

TEST_CASE("constraints: greedy, sampled and searched texts repeat no n-gram, and would without") {
  const models::Decoder model = constrained_model(6);
  const Ids prompt{1, 2, 3, 1, 2, 3};  // its own repetitions stay
  for (const std::size_t n : {1u, 2u, 3u}) {
    CAPTURE(n);
    const Constraints constraints{.no_repeat_ngram_size = static_cast<Index>(n)};
    for (const double temperature : {0.0, 2.0}) {
      GenerateOptions options{.sampling = {.temperature = temperature}, .max_tokens = 40};
      CHECK(repeated(joined(prompt, generated(model, prompt, options)), prompt.size(), n) > 0);
      options.constraints = constraints;
      const Ids ids = generated(model, prompt, options);
      CHECK_FALSE(ids.empty());
      CHECK(repeated(joined(prompt, ids), prompt.size(), n) == 0);
    }
    BeamOptions options{.width = 3, .max_tokens = 40};
    CHECK(repeated(joined(prompt, searched(model, prompt, options)), prompt.size(), n) > 0);
    options.constraints = constraints;
    CHECK(repeated(joined(prompt, searched(model, prompt, options)), prompt.size(), n) == 0);
  }
}

TEST_CASE("constraints: a text ends where no token is left, even before min_tokens") {
  const models::Decoder model = constrained_model(6);
  const Constraints constraints{.no_repeat_ngram_size = 1, .min_tokens = 20};
  // The prompt has two of the six tokens; the end is one of the others.
  for (const auto& [end, count] : {std::pair<std::optional<TokenId>, std::size_t>{{}, 4}, {5, 3}}) {
    for (const double temperature : {0.0, 1.0}) {
      const GenerateOptions options{
          .sampling = {.temperature = temperature}, .constraints = constraints, .max_tokens = 30, .end = end};
      CHECK(generated(model, {1, 2}, options).size() == count);
    }
    for (const Index width : {1, 3}) {
      CHECK(
          searched(model, {1, 2}, {.width = width, .max_tokens = 30, .constraints = constraints, .end = end}).size() ==
          count);
    }
  }
  const BeamOptions none{.width = 2, .max_tokens = 5, .constraints = {.no_repeat_ngram_size = 1}};
  const auto found = beam_search(model, {{0, 1, 2, 3, 4, 5}}, 0, none);
  REQUIRE(found[0].size() == 1);
  CHECK(found[0][0].tokens.empty());
  CHECK(found[0][0].score == 0);
}

TEST_CASE("constraints: with min_tokens the end comes after exactly as many as without it could not be had") {
  const models::Decoder model = constrained_model(6);
  const Ids free = generated(model, {1, 2}, {.sampling = {.temperature = 0}, .max_tokens = 12});
  REQUIRE(free.size() == 12);
  const TokenId end = free[0];  // the most probable first token
  for (const Index least : {0, 1, 7}) {
    CAPTURE(least);
    const Constraints constraints{.min_tokens = least};
    const Ids greedy = generated(
        model, {1, 2}, {.sampling = {.temperature = 0}, .constraints = constraints, .max_tokens = 12, .end = end});
    const Ids beam = searched(model, {1, 2}, {.width = 1, .max_tokens = 12, .constraints = constraints, .end = end});
    CHECK(greedy.size() >= static_cast<std::size_t>(least));
    CHECK(greedy == beam);
    CHECK(std::count(greedy.begin(), greedy.end(), end) == 0);
    if (least == 0) CHECK(greedy.empty());
  }
}

TEST_CASE("constraints: log-probabilities are the model's own, and lines do not depend on their neighbours") {
  const models::Decoder model = constrained_model(30);
  GenerateOptions options{.sampling = {.temperature = 0}, .max_tokens = 30};
  const std::vector<Ids> prompts{{1, 2, 3}, {7}, {4, 4, 4, 9}};
  options.constraints = {.no_repeat_ngram_size = 2, .min_tokens = 3};
  std::vector<Ids> together(3);
  generate(model, prompts, 0, options, [&](Index line, const Choice& token) {
    CHECK(token.log_probability <= 0);
    return together[static_cast<std::size_t>(line)].push_back(token.id), true;
  });
  for (std::size_t i = 0; i < 3; ++i) CHECK(generated(model, prompts[i], options) == together[i]);
}
