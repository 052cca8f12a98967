// Searches over targets of small models, compared with all targets there are. Built in double.
#include <doctest/doctest.h>

#include <cmath>
#include <numeric>

#include "libcore/decoding/beam_search.hpp"
#include "libcore/decoding/generate.hpp"
#include "libcore/models/model_checks.hpp"
#include "libcore/models/small_translators.hpp"

using namespace heddle;
using namespace heddle::testing;

namespace translation_search_tests {

namespace {

constexpr Index vocabulary = 4, longest = 3;
constexpr TokenId end = 0;  // begins a target, too
using Tokens = std::vector<TokenId>;
using Numbers = std::vector<double>;

// A target that ends, or has `longest` tokens.
struct Target {
  Tokens ids;  // with the end
  double log_likelihood = 0;
  double covered = 0;  // sum_j log min(sum_i a_ij, 1)
  double score(double length_penalty, double coverage_penalty) const {
    const double length = std::pow((5 + static_cast<double>(ids.size())) / 6, length_penalty);
    return log_likelihood / length + coverage_penalty * covered;
  }
};

double log_softmax(const Real* logits, TokenId id) {
  double sum = 0;
  for (Index v = 0; v < vocabulary; ++v) sum += std::exp(logits[v]);
  return logits[id] - std::log(sum);
}

// Weights for a whole target: those of the last layer that attends to the source, as the mean of its heads.
double covered(const models::AttentionMaps& model, const models::Sequences& targets) {
  Tensor weights;
  for (const models::AttentionMap& map : model.all_attention_maps(targets)) {
    if (map.keys != map.queries) weights = map.pairs.weights;
  }
  const Index heads = weights.shape()[1], time = weights.shape()[2], keys = weights.shape()[3];
  double sum = 0;
  for (Index j = 0; j < keys; ++j) {
    double of_token = 0;
    for (Index row = 0; row < heads * time; ++row) of_token += weights[row * keys + j] / static_cast<double>(heads);
    sum += std::log(std::min(of_token, 1.0));
  }
  return sum;
}

std::vector<Target> all_targets(const StirredTranslator& stirred, const Tokens& source) {
  std::vector<Target> targets;
  std::vector<Tokens> open{{}};
  while (!open.empty()) {
    const Tokens text = std::move(open.back());
    open.pop_back();
    for (TokenId id = 0; id < vocabulary; ++id) {
      Tokens next = text;
      next.push_back(id);
      if (id == end || static_cast<Index>(next.size()) == longest) {
        targets.push_back({next});
      } else {
        open.push_back(next);
      }
    }
  }
  const auto* maps = stirred.model->as<models::AttentionMaps>();
  for (Target& target : targets) {
    Tokens read{end};
    read.insert(read.end(), target.ids.begin(), target.ids.end() - 1);
    const models::Sequences sequences = targets_of(TokenIds(Shape{1, static_cast<Index>(read.size())}, read),
                                                   TokenIds(Shape{1, static_cast<Index>(source.size())}, source));
    const Tensor logits = stirred.logits(sequences);
    for (std::size_t t = 0; t < read.size(); ++t) {
      target.log_likelihood += log_softmax(logits.data() + static_cast<Index>(t) * vocabulary, target.ids[t]);
    }
    if (maps != nullptr) target.covered = covered(*maps, sequences);
  }
  return targets;
}

Tokens ids_of(const decoding::FoundText& text) {
  Tokens ids;
  for (const decoding::Choice& choice : text.tokens) ids.push_back(choice.id);
  return ids;
}

// Sources of different lengths, so that the search pads one of them.
const std::vector<Tokens> sources{{3, 1, 2, 2, 0}, {1, 3}};

}  // namespace

TEST_CASE("translations: the probabilities of all targets that end, and of all prefixes that do not, sum to one") {
  for (const auto& small : small_translators(vocabulary)) {
    CAPTURE(small.name);
    const StirredTranslator stirred(small.config);
    double total = 0;
    for (const Target& target : all_targets(stirred, sources[0])) total += std::exp(target.log_likelihood);
    CHECK(std::abs(total - 1) < 1e-10);
  }
}

TEST_CASE("translations: as wide as all targets are many, the search finds them all, with penalties, best first") {
  for (const auto& small : small_translators(vocabulary)) {
    const StirredTranslator stirred(small.config);
    for (const double coverage_penalty : {0.0, 0.2, 3.0}) {
      CAPTURE(small.name);
      CAPTURE(coverage_penalty);
      if (coverage_penalty > 0 && !stirred.generator().attends_to_source()) continue;
      const decoding::BeamOptions options{.width = 64,  // vocabulary ^ longest
                                          .length_penalty = 0.6,
                                          .coverage_penalty = coverage_penalty,
                                          .max_tokens = longest,
                                          .end = end};
      const auto found = decoding::beam_search(stirred.generator(), {{end}, {end}}, 0, options, sources);
      for (std::size_t i = 0; i < sources.size(); ++i) {
        auto expected = all_targets(stirred, sources[i]);
        std::ranges::sort(expected, std::greater(), [&](const Target& t) { return t.score(0.6, coverage_penalty); });
        REQUIRE(expected.size() == 40);
        REQUIRE(found[i].size() == expected.size());
        for (std::size_t n = 0; n < expected.size(); ++n) {
          Tokens ids = expected[n].ids;
          if (ids.back() == end) ids.pop_back();
          CHECK(ids_of(found[i][n]) == ids);
          CHECK(found[i][n].score == doctest::Approx(expected[n].score(0.6, coverage_penalty)).epsilon(1e-10));
        }
      }
    }
  }
}

TEST_CASE("translations: a coverage penalty changes the score alone of what a narrow search keeps, or its order") {
  const StirredTranslator stirred(small_translators(vocabulary).front().config);
  decoding::BeamOptions options{.width = 3, .max_tokens = 6, .end = end};
  const auto plain = decoding::beam_search(stirred.generator(), {{end}, {end}}, 0, options, sources);
  options.coverage_penalty = 1e-300;
  const auto covering = decoding::beam_search(stirred.generator(), {{end}, {end}}, 0, options, sources);
  for (std::size_t i = 0; i < sources.size(); ++i) {
    REQUIRE(plain[i].size() == covering[i].size());
    for (std::size_t n = 0; n < plain[i].size(); ++n) {
      CHECK(ids_of(plain[i][n]) == ids_of(covering[i][n]));
      CHECK(plain[i][n].score == covering[i][n].score);
    }
  }
}

TEST_CASE("translations: a coverage penalty needs attention to a source") {
  for (const auto& small : small_translators(vocabulary)) {
    CAPTURE(small.name);
    const StirredTranslator stirred(small.config);
    const bool attends = stirred.model->as<models::AttentionMaps>() != nullptr;
    CHECK(stirred.generator().attends_to_source() == attends);
    const decoding::BeamOptions options{.width = 2, .coverage_penalty = 1, .max_tokens = 2, .end = end};
    if (attends) continue;
    CHECK_THROWS_WITH_AS(decoding::beam_search(stirred.generator(), {{end}}, 0, options, {{1, 2}}),
                         "a coverage penalty: the model does not attend to a source", UsageError);
  }
}

TEST_CASE("translations: a search of width 1 is greedy decoding, to the bit") {
  for (const auto& small : small_translators(vocabulary)) {
    CAPTURE(small.name);
    const StirredTranslator stirred(small.config);
    std::vector<Tokens> greedy(sources.size());
    Numbers sums(sources.size(), 0.0);
    const decoding::GenerateOptions options{.sampling = {.temperature = 0}, .max_tokens = 6, .end = end};
    decoding::generate(
        stirred.generator(), {{end}, {end}}, 0, options,
        [&](Index line, const decoding::Choice& choice) {
          greedy[static_cast<std::size_t>(line)].push_back(choice.id);
          sums[static_cast<std::size_t>(line)] += choice.log_probability;
          return true;
        },
        sources);
    const auto found = decoding::beam_search(stirred.generator(), {{end}, {end}}, 0,
                                             {.width = 1, .max_tokens = 6, .end = end}, sources);
    for (std::size_t i = 0; i < sources.size(); ++i) {
      REQUIRE(found[i].size() == 1);
      CHECK(ids_of(found[i][0]) == greedy[i]);
      double sum = 0;
      for (const decoding::Choice& choice : found[i][0].tokens) sum += choice.log_probability;
      CHECK(sum == sums[i]);
    }
  }
}

}  // namespace translation_search_tests
