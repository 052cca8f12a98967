#include "libcore/decoding/sampling.hpp"

#include <doctest/doctest.h>

#include <cmath>
#include <limits>
#include <map>

#include "libcore/decoding/logits.hpp"

using namespace heddle;
using namespace heddle::decoding;

namespace {

const std::vector<Real> six_logits{1.0f, 2.5f, -0.5f, 2.0f, 0.0f, 2.5f};

std::map<TokenId, double> frequencies(const SamplingOptions& options, int draws,
                                      const std::vector<TokenId>& text = {}) {
  std::map<TokenId, double> counts;
  const RandomStream stream(17, 3);
  for (int i = 0; i < draws; ++i) {
    counts[sample({six_logits.data(), 6}, options, text, stream, static_cast<std::uint64_t>(i)).id] += 1.0 / draws;
  }
  return counts;
}

}  // namespace

TEST_CASE("sampling: frequencies follow the softmax (chi-squared, p > .001)") {
  for (const double temperature : {1.0, 0.7, 2.0}) {
    CAPTURE(temperature);
    double total = 0;
    for (const Real l : six_logits) total += std::exp(l / temperature);
    constexpr int draws = 20000;
    auto counts = frequencies({.temperature = temperature}, draws);
    double chi_squared = 0;
    for (TokenId id = 0; id < 6; ++id) {
      const double expected = std::exp(six_logits[static_cast<std::size_t>(id)] / temperature) / total;
      chi_squared += draws * std::pow(counts[id] - expected, 2) / expected;
    }
    CHECK(chi_squared < 20.5);  // 5 degrees of freedom
  }
}

TEST_CASE("sampling: temperature 0 and top-k 1 are greedy, ties go to the lower id") {
  CHECK(frequencies({.temperature = 0}, 50).size() == 1);
  const RandomStream stream(1, 1);
  CHECK(sample({six_logits.data(), 6}, {.temperature = 0}, {}, stream, 0).id == 1);
  CHECK(sample({six_logits.data(), 6}, {.top_k = 1}, {}, stream, 5).id == 1);
  CHECK(sample({six_logits.data(), 6}, {.temperature = 1e-4, .top_k = 0}, {}, stream, 5).id % 4 == 1);
}

TEST_CASE("sampling: top-k and top-p keep just what they should") {
  auto k3 = frequencies({.top_k = 3}, 4000);
  CHECK(k3.size() == 3);
  CHECK((k3.contains(1) && k3.contains(5) && k3.contains(3)));
  // softmax: ids 1 and 5 have .334 each, id 3 .202.
  CHECK(frequencies({.top_p = 0.3}, 500).size() == 1);
  CHECK(frequencies({.top_p = 0.6}, 500).size() == 2);
  CHECK(frequencies({.top_p = 0.7}, 500).size() == 3);
  CHECK(frequencies({.top_k = 2, .top_p = 0.9}, 500).size() == 2);
}

TEST_CASE("sampling: top-p keeps the fewest tokens that reach it, of equally probable ones those of lower ids") {
  const std::vector<Real> equal{3, 3, 3, 3};  // exactly a quarter each
  const auto kept = [](const std::vector<Real>& values, double top_p) {
    std::map<TokenId, int> counts;
    const RandomStream stream(17, 3);
    for (std::uint64_t i = 0; i < 500; ++i) {
      ++counts[sample({values.data(), static_cast<Index>(values.size())}, {.top_p = top_p}, {}, stream, i).id];
    }
    std::vector<TokenId> ids;
    for (const auto& [id, count] : counts) ids.push_back(id);
    return ids;
  };
  CHECK(kept(equal, 0.25) == std::vector<TokenId>{0});
  CHECK(kept(equal, 0.26) == std::vector<TokenId>{0, 1});
  CHECK(kept(equal, 0.5) == std::vector<TokenId>{0, 1});
  CHECK(kept(equal, 0.75) == std::vector<TokenId>{0, 1, 2});
  CHECK(kept(equal, 0.76) == std::vector<TokenId>{0, 1, 2, 3});
  CHECK(kept(equal, 1) == std::vector<TokenId>{0, 1, 2, 3});
  // The cut falls among three that are equal, after the one that is not.
  CHECK(kept({1, 5, 1, 1}, 0.5) == std::vector<TokenId>{1});
  CHECK(kept(six_logits, 0.3) == std::vector<TokenId>{1});  // and not 5, which is as probable
  // With probabilities of 0.4, 0.3, 0.3 the tie decides which of the latter comes.
  CHECK(kept({std::log(Real(0.3)), std::log(Real(0.4)), std::log(Real(0.3))}, 0.6) == std::vector<TokenId>{0, 1});
}

TEST_CASE("sampling: min-p keeps tokens by their share of the highest probability, at the temperature") {
  // exp(2.0 - 2.5) = .61, exp(1.0 - 2.5) = .22, exp(0.0 - 2.5) = .08
  CHECK(frequencies({.min_p = 0.7}, 500).size() == 2);
  CHECK(frequencies({.min_p = 0.5}, 500).size() == 3);
  CHECK(frequencies({.min_p = 0.1}, 2000).size() == 4);
  CHECK(frequencies({.temperature = 2, .min_p = 0.4}, 2000).size() == 4);
  CHECK(frequencies({.min_p = 1}, 500).size() == 2);
  CHECK(frequencies({.top_k = 1, .min_p = 0.1}, 50).size() == 1);
  CHECK(frequencies({.top_p = 0.3, .min_p = 0.1}, 500).size() == 1);
  auto kept = frequencies({.min_p = 0.5}, 20000);
  CHECK(std::abs(kept[3] - std::exp(-0.5) / (2 + std::exp(-0.5))) < 0.012);  // four standard deviations
}

TEST_CASE("sampling: what the text has already becomes less likely, in the choice but not in what is reported") {
  const RandomStream stream(1, 1);
  const auto greedy = [&](double penalty, const std::vector<TokenId>& text) {
    return sample({six_logits.data(), 6}, {.temperature = 0, .repetition_penalty = penalty}, text, stream, 0);
  };
  CHECK(greedy(1, {1, 5}).id == 1);
  CHECK(greedy(1.1, {1}).id == 5);
  CHECK(greedy(1.5, {1, 5, 5, 5}).id == 3);  // 2.5 / 1.5 < 2; once, however often it is there
  CHECK(greedy(1.2, {1, 5, 1, 5}).id == 1);  // 2.5 / 1.2 > 2, but not divided twice
  CHECK(greedy(1.5, {}).id == 1);
  CHECK(greedy(1.5, {1, 5}).log_probability ==
        sample({six_logits.data(), 6}, {.top_k = 1}, {}, stream, 0).log_probability - 0.5);
  // A negative logit is multiplied: -0.5 becomes -1.
  const double total = 2 * std::exp(2.5) + std::exp(2.0) + std::exp(1.0) + 1 + std::exp(-1.0);
  const double expected = std::exp(-1.0) / total;  // 0.011
  CHECK(std::abs(frequencies({.repetition_penalty = 2}, 40000, {2})[2] - expected) < 0.2 * expected);
}

TEST_CASE("sampling: the reported probability is the model's own") {
  double total = 0;
  for (const Real l : six_logits) total += std::exp(double(l));
  const Choice choice = sample({six_logits.data(), 6}, {.temperature = 0.5, .top_k = 2}, {}, RandomStream(1, 1), 0);
  CHECK(choice.log_probability ==
        doctest::Approx(six_logits[static_cast<std::size_t>(choice.id)] - std::log(total)).epsilon(1e-6));
}

TEST_CASE("sampling: tokens that may not come are never drawn, and the probability reported is among all the same") {
  // Three are allowed: the second and third have e^2.5 and e^-0.5; the fourth and sixth, which are excluded, are as
  // probable.
  double total = 0;
  for (const Real l : six_logits) total += std::exp(double(l));
  const NextLogits three{six_logits.data(), 6, 3};
  std::map<TokenId, double> counts;
  for (int i = 0; i < 20000; ++i) {
    const Choice choice = sample(three, {}, {}, RandomStream(17, 3), static_cast<std::uint64_t>(i));
    counts[choice.id] += 1.0 / 20000;
    CHECK(choice.log_probability ==
          doctest::Approx(six_logits[static_cast<std::size_t>(choice.id)] - std::log(total)).epsilon(1e-6));
  }
  REQUIRE(counts.size() == 3);
  const double allowed = std::exp(1.0) + std::exp(2.5) + std::exp(-0.5);
  CHECK(counts[0] == doctest::Approx(std::exp(1.0) / allowed).epsilon(0.05));
  CHECK(counts[1] == doctest::Approx(std::exp(2.5) / allowed).epsilon(0.05));
  CHECK(sample({six_logits.data(), 6, 1}, {.temperature = 0}, {}, RandomStream(1, 1), 0).id == 0);
}

TEST_CASE("sampling: what is forbidden never comes, however one samples") {
  std::vector<Real> constrained(six_logits.begin(), six_logits.end());
  for (const std::size_t best : {1, 5}) constrained[best] = -std::numeric_limits<Real>::infinity();
  const std::vector<SamplingOptions> ways{{},           {.temperature = 0}, {.top_k = 1},
                                          {.top_k = 3}, {.top_p = 0.9},     {.min_p = 0.1}};
  for (SamplingOptions way : ways) {
    for (const double penalty : {1.0, 1.5, 0.5}) {
      way.repetition_penalty = penalty;
      for (std::uint64_t i = 0; i < 100; ++i) {
        const Choice choice =
            sample({six_logits.data(), 6, 6, constrained}, way, std::vector<TokenId>{1, 3}, RandomStream(1, 1), i);
        CHECK((choice.id != 1 && choice.id != 5));
      }
    }
  }
}

TEST_CASE("sampling: a single logit that is not finite is an error, wherever it is and however one samples") {
  constexpr Real infinity = std::numeric_limits<Real>::infinity();
  const std::vector<SamplingOptions> ways{{},
                                          {.temperature = 0},
                                          {.top_k = 1},
                                          {.top_k = 3},
                                          {.top_p = 0.5},
                                          {.top_k = 700, .top_p = 0.9},
                                          {.min_p = 0.1},
                                          {.repetition_penalty = 1.5}};
  for (const Real value : {std::numeric_limits<Real>::quiet_NaN(), infinity, -infinity}) {
    for (const std::size_t place : {0, 1, 1023, 1024, 2600, 2999}) {
      CAPTURE(value);
      CAPTURE(place);
      std::vector<Real> bad;
      for (int i = 0; i < 3000; ++i) bad.push_back(static_cast<Real>(i * 37 % 101) / 20);
      bad[place] = value;
      for (const SamplingOptions& options : ways) {
        CHECK_THROWS_AS(sample({bad.data(), 3000}, options, {}, RandomStream(1, 1), 0), NumericError);
      }
      CHECK_THROWS_AS(log_sum_exp(bad.data(), 3000), NumericError);
      CHECK_THROWS_AS(log_probabilities(Tensor({3, 1000}, bad), {1, 2, 3}), NumericError);
    }
  }
}

TEST_CASE("sampling: the largest and smallest numbers are finite") {
  constexpr Real most = std::numeric_limits<Real>::max();
  const std::vector<Real> extreme{-most, most, 0};
  const Choice choice = sample({extreme.data(), 3}, {}, {}, RandomStream(1, 1), 0);
  CHECK(choice.id == 1);
  CHECK(choice.log_probability == 0);
}
