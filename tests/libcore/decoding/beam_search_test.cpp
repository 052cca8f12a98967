#include "libcore/decoding/beam_search.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <map>
#include <numeric>

#include "libcore/decoding/generate.hpp"
#include "libcore/decoding/score.hpp"
#include "support/models.hpp"
#include "support/on_threads.hpp"

using namespace heddle;
using namespace heddle::decoding;

namespace {

models::Decoder searching_model(Index vocab, Index context = 24) {
  models::Decoder model(
      testing::decoder({.layers = 2, .width = 32, .heads = 4, .context = context, .vocab_size = vocab}), 5);
  for (const Parameter& parameter : model.parameters().all()) parameter.value().scale(4);
  return model;
}

const std::vector<Tokens> searched_prompts{{1, 2, 3}, {7}, {4, 4, 4, 4, 4, 4, 9}, {1, 2, 3}};

Tokens ids_of(const FoundText& text) {
  Tokens ids;
  for (const Choice& choice : text.tokens) ids.push_back(choice.id);
  return ids;
}

double log_likelihood(const FoundText& text) {
  double sum = 0;
  for (const Choice& choice : text.tokens) sum += choice.log_probability;
  return sum;
}

double penalty(std::size_t length, double alpha) {
  return std::pow((5 + static_cast<double>(length)) / 6, alpha);
}

// All bits of what was found.
std::vector<double> bits(const std::vector<FoundText>& found) {
  std::vector<double> bits;
  for (const auto& [tokens, score] : found) {
    bits.push_back(score);
    for (const Choice& choice : tokens) bits.insert(bits.end(), {double(choice.id), choice.log_probability});
  }
  return bits;
}

struct Scored {
  Tokens ids;  // with the end
  double score;
};

// Every text that a search could give, scored by reading it whole.
std::vector<Scored> all_texts(const models::Decoder& model, const Tokens& prompt, const BeamOptions& options) {
  std::vector<Scored> texts;
  std::vector<GivenTokens> given;
  std::vector<Tokens> open{{}};
  while (!open.empty()) {
    const Tokens text = std::move(open.back());
    open.pop_back();
    if (!text.empty() && (text.back() == options.end || static_cast<Index>(text.size()) == options.max_tokens)) {
      texts.push_back({text, 0});
      given.push_back({prompt, static_cast<Index>(prompt.size())});
      given.back().ids.insert(given.back().ids.end(), text.begin(), text.end());
      continue;
    }
    for (TokenId id = 0; id < model.vocab_size(); ++id) {
      open.push_back(text);
      open.back().push_back(id);
    }
  }
  const auto scores = token_log_probabilities(model, given);
  for (std::size_t i = 0; i < texts.size(); ++i) {
    texts[i].score =
        std::accumulate(scores[i].begin(), scores[i].end(), 0.0) / penalty(texts[i].ids.size(), options.length_penalty);
  }
  std::ranges::sort(texts, [](const Scored& a, const Scored& b) { return a.score > b.score; });
  return texts;
}

// The search without its rule for stopping, a cache or batches: it looks at every hypothesis up to max_tokens, and
// reads it anew at every step. All texts that it finds, best first.
std::vector<Scored> naive_search(const models::Decoder& model, const Tokens& prompt, const BeamOptions& options) {
  struct Text {
    Tokens ids;
    double log_likelihood;
  };
  std::vector<Text> open{{{}, 0}};
  std::vector<Scored> found;
  for (Index length = 1; !open.empty(); ++length) {
    std::vector<Text> next;
    std::vector<GivenTokens> given;
    for (const Text& text : open) {
      for (TokenId id = 0; id < model.vocab_size(); ++id) {
        next.push_back(text);
        next.back().ids.push_back(id);
        given.push_back({prompt, static_cast<Index>(prompt.size() + text.ids.size())});
        given.back().ids.insert(given.back().ids.end(), next.back().ids.begin(), next.back().ids.end());
      }
    }
    const auto scores = token_log_probabilities(model, given);
    for (std::size_t i = 0; i < next.size(); ++i) next[i].log_likelihood += scores[i][0];
    std::ranges::stable_sort(next, [](const Text& a, const Text& b) { return a.log_likelihood > b.log_likelihood; });
    open.clear();
    for (std::size_t rank = 0; rank < next.size(); ++rank) {
      const Text& text = next[rank];
      if (text.ids.back() == options.end || length == options.max_tokens) {
        const double score = text.log_likelihood / penalty(text.ids.size(), options.length_penalty);
        if (static_cast<Index>(rank) < options.width) found.push_back({text.ids, score});
      } else if (static_cast<Index>(open.size()) < options.width) {
        open.push_back(text);
      }
    }
  }
  std::ranges::stable_sort(found, [](const Scored& a, const Scored& b) { return a.score > b.score; });
  return found;
}

}  // namespace

TEST_CASE("beam search: as wide as all texts are many, it finds them all, best first, whatever the length penalty") {
  const models::Decoder model = searching_model(4, 12);
  for (const double alpha : {0.0, 0.6, 2.0}) {
    CAPTURE(alpha);
    const BeamOptions options{.width = 1024, .length_penalty = alpha, .max_tokens = 5, .end = 3};
    for (const Tokens& prompt : std::vector<Tokens>{{1}, {2, 0, 1}}) {
      const auto expected = all_texts(model, prompt, options);
      const auto found = beam_search(model, {prompt}, 0, options)[0];
      REQUIRE(found.size() == expected.size());
      CHECK(found.size() == 364);  // 3^0 + … + 3^4 that end, and 3^5 that are cut
      for (std::size_t i = 0; i < found.size(); ++i) {
        CHECK(found[i].score == doctest::Approx(expected[i].score).epsilon(1e-5));
      }
      Tokens best = expected[0].ids;
      if (best.back() == 3) best.pop_back();
      CHECK(ids_of(found[0]) == best);
    }
  }
}

TEST_CASE(
    "beam search: rows that pad the output layer are in no text, and are among what probabilities are shared by") {
  const models::Decoder padded = searching_model(12);
  const BeamOptions options{.width = 25, .length_penalty = 0, .max_tokens = 2, .vocab_size = 5};
  const auto found = beam_search(padded, {{1, 2}}, 0, options)[0];
  REQUIRE(found.size() == 25);
  for (const FoundText& text : found) {
    GivenTokens scored{{1, 2}, 2};
    for (const TokenId id : ids_of(text)) {
      CHECK(id < 5);
      scored.ids.push_back(id);
    }
    // Score of the same tokens, computed without rows.
    const std::vector<double> expected = token_log_probabilities(padded, std::vector<GivenTokens>{scored}).front();
    CHECK(text.score == doctest::Approx(expected.at(0) + expected.at(1)).epsilon(1e-5));
  }
}

TEST_CASE("beam search: width 1 is greedy decoding, to the bit, beyond the context too") {
  const models::Decoder model = searching_model(30);
  for (const double alpha : {0.0, 0.6, 3.0}) {
    for (TokenId end = 0; end < 30; end += 3) {
      CAPTURE(end);
      std::vector<Tokens> greedy(searched_prompts.size());
      std::vector<double> sums(searched_prompts.size(), 0.0);
      const GenerateOptions generate_options{.sampling = {.temperature = 0}, .max_tokens = 40, .end = end};
      generate(model, searched_prompts, 0, generate_options, [&](Index line, const Choice& choice) {
        greedy[static_cast<std::size_t>(line)].push_back(choice.id);
        sums[static_cast<std::size_t>(line)] += choice.log_probability;
        return true;
      });
      const auto found =
          beam_search(model, searched_prompts, 0, {.width = 1, .length_penalty = alpha, .max_tokens = 40, .end = end});
      for (std::size_t i = 0; i < searched_prompts.size(); ++i) {
        REQUIRE(found[i].size() == 1);
        CHECK(ids_of(found[i][0]) == greedy[i]);
        CHECK(log_likelihood(found[i][0]) == sums[i]);
      }
    }
  }
}

TEST_CASE("beam search: narrow beams stop early and find the best of a search that does not stop or keep a cache") {
  const models::Decoder model = searching_model(12);
  for (const double alpha : {0.0, 0.6, 2.0}) {
    for (const Index width : {2, 3, 5}) {
      for (const TokenId end : {0, 5, 11}) {
        CAPTURE(alpha);
        CAPTURE(width);
        CAPTURE(end);
        const BeamOptions options{.width = width, .length_penalty = alpha, .max_tokens = 7, .end = end};
        const auto found = beam_search(model, searched_prompts, 0, options);
        for (std::size_t i = 0; i < 3; ++i) {
          const auto expected = naive_search(model, searched_prompts[i], options);
          REQUIRE(found[i].size() == std::min(expected.size(), static_cast<std::size_t>(width)));
          for (std::size_t n = 0; n < found[i].size(); ++n) {
            Tokens ids = expected[n].ids;
            const bool ended = ids.back() == end;
            if (ended) ids.pop_back();
            CHECK(ids_of(found[i][n]) == ids);
            CHECK(found[i][n].score == doctest::Approx(expected[n].score).epsilon(1e-5));
            if (ended) continue;
            CHECK(found[i][n].score == doctest::Approx(log_likelihood(found[i][n]) / penalty(7, alpha)).epsilon(1e-12));
          }
        }
      }
    }
  }
}

TEST_CASE("beam search: is over as soon as no text can become better than those that are found") {
  const models::Decoder model = searching_model(6);
  for (const Parameter& parameter : model.parameters().all()) parameter.value().scale(0);
  // Every token is as likely as any other, so that a text of n tokens has the score n log(1/6) / ((5 + n) / 6)^alpha.
  const auto longest_seen = [&](double alpha, Index max_tokens) {
    std::size_t longest = 0;
    BeamOptions options{.width = 2, .length_penalty = alpha, .max_tokens = max_tokens};
    options.ends_with = [&](const std::vector<Choice>& tokens) {
      longest = std::max(longest, tokens.size());
      return tokens.back().id == 0;
    };
    beam_search(model, {{1}}, 0, options);
    return longest;
  };
  // [0] and [1, 0] are found, and [1, 1] continues. Without a penalty it cannot become better than [1, 0]. In units of
  // log 6, and with alpha = 0.3, [1, 0] has -2 / (7 / 6)^alpha = -1.91; [1, 1] in a text of 20 tokens has at most
  // -2 / (25 / 6)^alpha = -1.30, which is better, and [1, 1, 1] -1.96, which is not.
  CHECK(longest_seen(0, 20) == 2);
  CHECK(longest_seen(0.3, 20) == 3);
}

TEST_CASE("beam search: the same bits alone and among others, with any number of threads") {
  const models::Decoder model = searching_model(30);
  const BeamOptions options{.width = 5, .max_tokens = 30, .end = 2};
  std::vector<Tokens> all;
  for (TokenId id = 0; id < 12; ++id) all.push_back(Tokens(static_cast<std::size_t>(id + 1), id));
  const auto together = beam_search(model, all, 0, options);
  for (const int threads : {1, 3, 2}) {
    const testing::OnThreads scope(threads);
    for (std::size_t i = 0; i < all.size(); ++i) {
      const auto alone = beam_search(model, {all[i]}, static_cast<Index>(i), options);
      CHECK(bits(alone[0]) == bits(together[i]));
    }
  }
}

TEST_CASE("beam search: equals come in order, and a text may end in other ways than by a token") {
  models::Decoder model = searching_model(6);
  for (const Parameter& parameter : model.parameters().all()) parameter.value().scale(0);
  // Every token is as likely as any other.
  const auto found = beam_search(model, {{1}}, 0, {.width = 3, .length_penalty = 0, .max_tokens = 2})[0];
  REQUIRE(found.size() == 3);
  CHECK(ids_of(found[0]) == Tokens{0, 0});
  CHECK(ids_of(found[1]) == Tokens{0, 1});
  CHECK(ids_of(found[2]) == Tokens{0, 2});
  BeamOptions options{.width = 2, .length_penalty = 0, .max_tokens = 9};
  options.ends_with = [](const std::vector<Choice>& tokens) { return tokens.back().id == 1; };
  const auto ended = beam_search(model, {{1}}, 0, options)[0];
  REQUIRE(ended.size() == 2);
  CHECK(ids_of(ended[0]) == Tokens{1});
  CHECK(ids_of(ended[1]) == Tokens{0, 1});
}

TEST_CASE("beam search: wider than the vocabulary, and over all of a short text") {
  const models::Decoder model = searching_model(6);
  CHECK(beam_search(model, {{1}}, 0, {.width = 50, .max_tokens = 1})[0].size() == 6);
  CHECK_THROWS_AS(beam_search(model, {{1}}, 0, {.width = 0}), UsageError);
  CHECK_THROWS_WITH_AS(beam_search(model, {{1}, {}}, 4, {}), "prompt 6 is empty", DataError);
}

namespace {

// Predicts the same after every text.
class SameLogits : public models::Generator {
 public:
  struct State : models::GeneratorState {
    explicit State(Index batch) : GeneratorState(batch) {}
    void reorder_layers(const std::vector<Index>&) override {}
  };
  explicit SameLogits(std::vector<Real> logits) : logits_(std::move(logits)) {}
  Index vocab_size() const override { return std::ssize(logits_); }
  std::optional<Index> max_positions() const override { return std::nullopt; }
  Index training_length() const override { return 16; }
  double training_flops_per_token(Index, double) const override { return 0; }
  std::unique_ptr<models::GeneratorState> start(const models::GenerationStart& start) const override {
    return std::make_unique<State>(start.batch);
  }
  Tensor step(const TokenIds&, const std::vector<Index>& added, models::GeneratorState& state) const override {
    std::vector<Real> rows;
    for (Index row = 0; row < state.batch(); ++row) rows.insert(rows.end(), logits_.begin(), logits_.end());
    state.advance(added);
    return Tensor({state.batch(), vocab_size()}, rows);
  }

 private:
  std::vector<Real> logits_;
};

// The tokens of the highest logits, those of equals in the order of their ids, by sorting all of them.
void check_best(const std::vector<Real>& logits, Index width) {
  const auto found =
      beam_search(SameLogits(logits), {{1}}, 0, {.width = width, .length_penalty = 0, .max_tokens = 1})[0];
  std::vector<TokenId> sorted(logits.size());
  std::iota(sorted.begin(), sorted.end(), TokenId{0});
  std::ranges::stable_sort(sorted, std::greater(), [&](TokenId id) { return logits[static_cast<std::size_t>(id)]; });
  REQUIRE(std::ssize(found) == width);
  for (std::size_t i = 0; i < found.size(); ++i) CHECK(ids_of(found[i]) == Tokens{sorted[i]});
}

}  // namespace

TEST_CASE("beam search: the best tokens are found wherever they are in a large vocabulary, with equals and without") {
  for (std::size_t best = 0; best < 600; ++best) {
    CAPTURE(best);
    std::vector<Real> logits;
    for (std::size_t id = 0; id < 600; ++id) logits.push_back(static_cast<Real>(id % 7));
    logits[best] = 9;
    check_best(logits, 1);
    logits[599 - best] = 8;
    if (best != 599 - best) check_best(logits, 2);
  }
  for (const std::size_t vocab : {255, 256, 257, 511, 512, 513, 800}) {
    for (std::uint64_t seed = 0; seed < 20; ++seed) {
      const RandomStream random(seed, 1);
      std::vector<Real> logits;
      for (std::size_t id = 0; id < vocab; ++id) logits.push_back(static_cast<Real>(random.below(id, 200)));
      for (const Index width : {1, 3, 12}) check_best(logits, width);
    }
  }
}

TEST_CASE("beam search: a single logit that is not finite is an error, of a token that is not among the best too") {
  for (const Real value : {std::numeric_limits<Real>::quiet_NaN(), -std::numeric_limits<Real>::infinity()}) {
    const models::Decoder model = searching_model(300);
    model.parameters().find("decoder/embedding/token/weight")->value()[299 * 32] = value;
    CHECK_THROWS_AS(beam_search(model, {{1, 2}}, 0, {.width = 3, .max_tokens = 4}), NumericError);
    const GenerateOptions options{.sampling = {.temperature = 0}, .max_tokens = 4};
    CHECK_THROWS_AS(generate(model, {{1, 2}}, 0, options, [](Index, const Choice&) { return true; }), NumericError);
  }
}
