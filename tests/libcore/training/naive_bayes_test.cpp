// The naive Bayes part of classifiers: its features, and its counts against others made from the texts by hand.
#include "heddle/training/naive_bayes.hpp"

#include <doctest/doctest.h>

#include <cmath>
#include <map>
#include <set>

#include "heddle/base/error.hpp"
#include "heddle/base/random.hpp"
#include "heddle/data/text_features.hpp"
#include "heddle/heads/naive_bayes.hpp"

using namespace heddle;
using training::ClassShares;

namespace {

constexpr Index rows = Index{1} << 20;

data::FramedSequence framed(std::vector<TokenId> first, const std::vector<TokenId>& second = {}) {
  data::FramedSequence sequence;
  sequence.first_at = 1;
  sequence.first_count = static_cast<Index>(first.size());
  sequence.ids = {2};
  sequence.ids.insert(sequence.ids.end(), first.begin(), first.end());
  sequence.ids.push_back(3);
  sequence.second_at = static_cast<Index>(sequence.ids.size());
  sequence.second_count = static_cast<Index>(second.size());
  sequence.ids.insert(sequence.ids.end(), second.begin(), second.end());
  if (!second.empty()) sequence.ids.push_back(3);
  return sequence;
}

// Texts of random tokens of which each class likes some more than others; every third class has few texts.
std::vector<data::TaskExample> examples_of(Index count, Index classes) {
  const RandomStream stream(3, 4);
  std::uint64_t drawn = 0;
  const auto draw = [&](Index below) { return static_cast<TokenId>(stream.below(drawn++, static_cast<std::uint64_t>(below))); };
  std::vector<data::TaskExample> examples;
  for (Index i = 0; i < count; ++i) {
    data::TaskExample example;
    example.source = i;
    example.label = draw(classes);
    if (example.label % 3 == 2) example.label = draw(classes);
    std::vector<TokenId> tokens;
    for (int t = 0, length = 3 + draw(10); t < length; ++t) {
      tokens.push_back(draw(3) == 0 ? 10 + 5 * example.label + draw(8) : 10 + draw(40));
    }
    example.sequence = framed(tokens);
    examples.push_back(std::move(example));
  }
  return examples;
}

using Feature = std::pair<TokenId, TokenId>;  // a token and its neighbour, or -1

std::set<Feature> features_by_hand(const data::TaskExample& example) {
  std::set<Feature> features;
  const std::vector<TokenId>& ids = example.sequence.ids;
  for (std::size_t t = 1; t + 1 < ids.size(); ++t) {
    features.insert({ids[t], -1});
    if (t + 2 < ids.size()) features.insert({ids[t], ids[t + 1]});
  }
  return features;
}

// sum_f log p(f | c) by naive Bayes of these examples, over the features that any of them has; not centred.
std::vector<double> evidence_by_hand(const std::vector<data::TaskExample>& counted, const data::TaskExample& asked,
                                     Index classes) {
  std::map<Feature, std::vector<double>> counts;
  std::vector<double> of_classes(static_cast<std::size_t>(classes), 0.0), sums(of_classes.size(), 0.0), result;
  for (const data::TaskExample& example : counted) {
    const auto label = static_cast<std::size_t>(example.label);
    of_classes[label] += 1;
    for (const Feature& feature : features_by_hand(example)) {
      std::vector<double>& of_feature = counts[feature];
      of_feature.resize(of_classes.size(), 0.0);
      of_feature[label] += 1;
    }
  }
  for (std::size_t c = 0; c < sums.size(); ++c) {
    const double weight = static_cast<double>(counted.size()) / static_cast<double>(classes) / of_classes[c];
    for (const auto& [feature, of_feature] : counts) sums[c] += weight * of_feature[c] + 1;
    double sum = 0;
    for (const Feature& feature : features_by_hand(asked)) {
      if (counts.contains(feature)) sum += std::log((weight * counts.at(feature)[c] + 1) / sums[c]);
    }
    result.push_back(sum);
  }
  return result;
}

// The factor between the evidence of a text and that by hand, from differences of classes.
double scale_between(const std::vector<Real>& evidence, const std::vector<double>& by_hand) {
  return static_cast<double>(evidence[0] - evidence[1]) / (by_hand[0] - by_hand[1]);
}

struct Counted {
  explicit Counted(const std::vector<data::TaskExample>& examples, Index classes, ClassShares shares)
      : parameters(ParameterSource::unset()), head(Scope(parameters, "bayes"), rows, classes) {
    head.set(training::count_naive_bayes(examples, rows, classes, shares));
  }
  std::vector<Real> operator()(const data::TaskExample& example) const {
    return head(data::text_features(example.sequence, rows));
  }
  Parameters parameters;
  heads::NaiveBayes head;
};

}  // namespace

TEST_CASE("features of a text: pieces and pairs of neighbours, each once, apart in a second text, without the frame") {
  const auto features = [](const data::FramedSequence& sequence) { return data::text_features(sequence, rows); };
  CHECK(features(framed({7})).size() == 1);
  CHECK(features(framed({7, 8})).size() == 3);
  CHECK(features(framed({7, 7, 7, 7})).size() == 2);
  CHECK(features(framed({})).empty());
  CHECK(features(framed({7, 8})) != features(framed({8, 7})));
  CHECK(features(framed({7, 8, 9, 7, 8, 9})).size() == 6);  // 3 pieces, 78 89 97
  // What lies in the frame, or between two texts, is none.
  CHECK(features(framed({7}, {8})).size() == 2);
  CHECK(features(framed({7}, {8})) != features(framed({8}, {7})));
  const auto small = data::text_features(framed({7, 8, 9, 10, 11}), 4);
  CHECK(small.size() <= 4);
  CHECK(small.back() < 4);
}

TEST_CASE("naive Bayes: evidence is that of counts by hand, but for a scale") {
  for (const ClassShares shares : {ClassShares::as_counted, ClassShares::equal}) {
    for (const Index classes : {2, 5}) {
      CAPTURE(classes);
      const std::vector<data::TaskExample> examples = examples_of(300, classes), others = examples_of(340, classes);
      const Counted counted(examples, classes, shares);
      const double scale = scale_between(counted(others.back()), evidence_by_hand(examples, others.back(), classes));
      CHECK(scale > 0);
      CHECK(scale < 1);
      for (std::size_t i = 300; i < others.size(); ++i) {
        const std::vector<double> by_hand = evidence_by_hand(examples, others[i], classes);
        const std::vector<Real> evidence = counted(others[i]);
        double sum = 0;
        for (std::size_t c = 0; c < by_hand.size(); ++c) {
          CHECK(evidence[c] - evidence[0] == doctest::Approx(scale * (by_hand[c] - by_hand[0])).epsilon(1e-3));
          sum += evidence[c];
        }
        CHECK(std::abs(sum) < 1e-4);
      }
    }
  }
}

TEST_CASE("naive Bayes: the scale suits texts that were not counted") {
  const std::vector<data::TaskExample> all = examples_of(2000, 3);
  const Counted counted({all.begin(), all.begin() + 400}, 3, ClassShares::as_counted);
  // The mean loss of the others with all evidence made larger.
  const auto loss = [&](double factor) {
    double sum = 0;
    for (std::size_t i = 400; i < all.size(); ++i) {
      const std::vector<Real> evidence = counted(all[i]);
      double total = 0;
      for (const Real x : evidence) total += std::exp(factor * x);
      sum += std::log(total) - factor * evidence[static_cast<std::size_t>(all[i].label)];
    }
    return sum / 1600;
  };
  CHECK(loss(1) < std::log(3.0) - 0.05);
  CHECK(loss(1) < loss(0.7));
  CHECK(loss(1) < loss(1.4));
}

TEST_CASE("naive Bayes: what says all weighs as counted, and what was never seen nothing") {
  std::vector<data::TaskExample> examples = examples_of(200, 2);
  for (std::size_t i = 0; i < examples.size(); ++i) {
    examples[i].label = static_cast<TokenId>(i % 2);
    examples[i].sequence = framed({20 + examples[i].label, static_cast<TokenId>(1000 + i)});
  }
  const Counted counted(examples, 2, ClassShares::as_counted);
  data::TaskExample asked = examples[0];
  asked.sequence = framed({20});
  CHECK(counted(asked)[0] - counted(asked)[1] == doctest::Approx(std::log(101.0)));
  asked.sequence = framed({30, 31});
  for (const Real x : counted(asked)) CHECK(x == 0);
}

TEST_CASE("naive Bayes: what is learned of one text says nothing of others, be it in parts or in copies") {
  // Each text has a token of its own, and occurs twice. Had one been counted where the other is asked, that token would
  // say everything. The other token is the same for many.
  const RandomStream stream(8, 9);
  for (const bool copies : {true, false}) {
    CAPTURE(copies);
    std::vector<data::TaskExample> examples;
    for (Index i = 0; i < 400; ++i) {
      const Index text = copies ? i % 200 : i / 2;
      data::TaskExample example;
      example.source = copies ? i : text;
      example.label = static_cast<TokenId>(text % 2);
      const auto token = static_cast<TokenId>(100 + text);
      const auto other = static_cast<TokenId>(10 + stream.below(static_cast<std::uint64_t>(copies ? text : i), 30));
      example.sequence = framed({token, other});
      examples.push_back(example);
    }
    const Counted counted(examples, 2, ClassShares::equal);
    for (const Real x : counted(examples[0])) CHECK(std::abs(x) < 0.1);
  }
}

TEST_CASE("naive Bayes: words of all classes say nothing of which is rare, and its own words tell it") {
  const RandomStream stream(8, 9);
  std::vector<data::TaskExample> examples;
  for (Index i = 0; i < 2000; ++i) {
    data::TaskExample example;
    example.source = i;
    example.label = i % 20 == 0 ? 1 : 0;
    std::vector<TokenId> tokens;
    for (std::uint64_t t = 0; t < 6; ++t) {
      tokens.push_back(10 + static_cast<TokenId>(stream.below(static_cast<std::uint64_t>(i) * 6 + t, 30)));
    }
    if (i % 40 < 21) tokens.push_back(50 + example.label);  // half of each class
    example.sequence = framed(tokens);
    examples.push_back(example);
  }
  for (const ClassShares shares : {ClassShares::as_counted, ClassShares::equal}) {
    const Counted counted(examples, 2, shares);
    const auto difference = [&](TokenId token) {
      data::TaskExample asked = examples[0];
      asked.sequence = framed({token});
      return counted(asked)[1] - counted(asked)[0];
    };
    for (TokenId token = 10; token < 40; ++token) CHECK(std::abs(difference(token)) < 0.6);
    CHECK(difference(51) > 1);
    CHECK(difference(50) < -1);
  }
}

TEST_CASE("naive Bayes: tables have room for the features, in powers of two") {
  CHECK(training::naive_bayes_rows(0, 2) == 1024);
  CHECK(training::naive_bayes_rows(725'000, 2) == Index{1} << 18);
  CHECK(training::naive_bayes_rows(1'000'000'000, 2) == Index{1} << 20);
  CHECK(training::naive_bayes_rows(1'000'000'000, 100) == Index{1} << 16);
  CHECK(training::naive_bayes_rows(1'000'000'000, 8192) == 1024);
  CHECK_THROWS_AS(training::naive_bayes_rows(1, 8193), UsageError);
}
