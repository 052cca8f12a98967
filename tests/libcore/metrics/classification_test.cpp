#include "libcore/metrics/classification.hpp"

#include <doctest/doctest.h>

#include <cmath>

#include "libcore/base/error.hpp"
#include "libcore/base/random.hpp"

using namespace heddle;
using namespace heddle::metrics;

namespace {

Confusion confusion_of(const std::vector<std::vector<Index>>& counts) {
  Confusion confusion(static_cast<Index>(counts.size()));
  for (std::size_t gold = 0; gold < counts.size(); ++gold) {
    for (std::size_t predicted = 0; predicted < counts.size(); ++predicted) {
      for (Index i = 0; i < counts[gold][predicted]; ++i) {
        confusion.add(static_cast<Index>(gold), static_cast<Index>(predicted));
      }
    }
  }
  return confusion;
}

// The correlation of the indicator vectors of gold and predicted classes, summed over classes: its definition.
double matthews_by_covariance(const std::vector<Index>& gold, const std::vector<Index>& predicted, Index classes) {
  const auto n = static_cast<double>(gold.size());
  const auto covariance = [&](const std::vector<Index>& one, const std::vector<Index>& other) {
    double sum = 0;
    for (Index of = 0; of < classes; ++of) {
      double both = 0, first = 0, second = 0;
      for (std::size_t i = 0; i < one.size(); ++i) {
        both += one[i] == of && other[i] == of;
        first += one[i] == of;
        second += other[i] == of;
      }
      sum += both / n - first / n * second / n;
    }
    return sum;
  };
  return covariance(gold, predicted) / std::sqrt(covariance(gold, gold) * covariance(predicted, predicted));
}

}  // namespace

TEST_CASE("classification: worked by hand") {
  // 8 of 10 hams and 4 of 5 spams are found.
  const Confusion confusion = confusion_of({{8, 2}, {1, 4}});
  const ClassificationReport result = report(confusion, std::vector<std::string>{"ham", "spam"});
  CHECK(result.examples == 15);
  CHECK(result.accuracy == doctest::Approx(12.0 / 15));
  REQUIRE(result.classes.entries.size() == 2);
  const auto& [name, spam] = result.classes.entries[1];
  CHECK(name == "spam");
  CHECK(spam.precision == doctest::Approx(4.0 / 6));
  CHECK(spam.recall == doctest::Approx(4.0 / 5));
  CHECK(spam.f1 == doctest::Approx(8.0 / 11));
  CHECK(spam.support == 5);
  CHECK(result.macro_f1 == doctest::Approx((16.0 / 19 + 8.0 / 11) / 2));
  // (TP TN - FP FN) / sqrt(...) of two classes.
  CHECK(result.matthews == doctest::Approx((4.0 * 8 - 2 * 1) / std::sqrt(6.0 * 5 * 10 * 9)));
  CHECK(result.confusion.entries[0].first == "ham");
  CHECK(result.confusion.entries[0].second.entries[1].first == "spam");
  CHECK(result.confusion.entries[0].second.entries[1].second == 2);
}

TEST_CASE("classification: Matthews correlation of many classes is that of their indicators") {
  for (std::uint64_t seed = 0; seed < 50; ++seed) {
    const RandomStream random(seed, 1);
    const Index classes = 2 + static_cast<Index>(random.below(0, 5));
    Confusion confusion(classes);
    std::vector<Index> gold, predicted;
    for (std::uint64_t i = 0; i < 40; ++i) {
      gold.push_back(static_cast<Index>(random.below(3 * i + 1, static_cast<std::uint64_t>(classes))));
      const bool right = random.below(3 * i + 2, 2) == 0;
      predicted.push_back(right ? gold.back()
                                : static_cast<Index>(random.below(3 * i + 3, static_cast<std::uint64_t>(classes))));
      confusion.add(gold.back(), predicted.back());
    }
    CHECK(confusion.matthews() == doctest::Approx(matthews_by_covariance(gold, predicted, classes)).epsilon(1e-12));
  }
}

TEST_CASE("classification: what got no prediction is wrong, and takes no class's precision") {
  Confusion confusion = confusion_of({{8, 2}, {1, 4}});
  for (int i = 0; i < 5; ++i) confusion.add(1, std::nullopt);
  const ClassificationReport result = report(confusion, std::vector<std::string>{"ham", "spam"});
  CHECK(result.examples == 20);
  CHECK(result.unanswered == 5);
  CHECK(result.accuracy == doctest::Approx(12.0 / 20));
  const Scores spam = result.classes.entries[1].second;
  CHECK(spam.precision == doctest::Approx(4.0 / 6));
  CHECK(spam.recall == doctest::Approx(4.0 / 10));
  CHECK(spam.support == 10);
  CHECK(result.macro_f1 == doctest::Approx((16.0 / 19 + spam.f1) / 2));
  // As with a third class that is only predicted.
  CHECK(result.matthews == doctest::Approx(confusion_of({{8, 2, 0}, {1, 4, 5}, {0, 0, 0}}).matthews()));
  CHECK_THROWS_AS(confusion.add(2, std::nullopt), UsageError);
}

TEST_CASE("classification: a class that is only predicted counts with an F1 of 0, one that does not occur not at all") {
  const Confusion confusion = confusion_of({{1, 1, 0}, {0, 0, 0}, {0, 0, 0}});
  CHECK(confusion.macro_f1() == doctest::Approx((2.0 / 3 + 0) / 2));
}

TEST_CASE("classification: nothing found, nothing there, nothing at all") {
  // The third class does not occur; the second is never predicted.
  const Confusion confusion = confusion_of({{3, 0, 0}, {1, 0, 0}, {0, 0, 0}});
  CHECK(confusion.macro_f1() == doctest::Approx((6.0 / 7 + 0) / 2));
  CHECK(confusion.matthews() == 0);
  const Scores none = scores_of(confusion.matches(2));
  CHECK(none.precision == 0);
  CHECK(none.recall == 0);
  CHECK(none.f1 == 0);
  CHECK(confusion_of({{5, 0}, {0, 5}}).matthews() == doctest::Approx(1));
  CHECK(confusion_of({{0, 5}, {5, 0}}).matthews() == doctest::Approx(-1));
  CHECK_THROWS_AS(Confusion(2).accuracy(), DataError);
  CHECK_THROWS_AS(report(Confusion(0), {}), DataError);
  Confusion two(2);
  CHECK_THROWS_AS(two.add(0, 2), UsageError);
  CHECK_THROWS_AS(two.add(2, 0), UsageError);
  CHECK_THROWS_AS(two.add(0, -1), UsageError);
  CHECK_THROWS_AS(two.add(-1, 0), UsageError);
}

TEST_CASE("classification: a report of more than 100 classes has the counts above zero alone") {
  for (const Index classes : {100, 101}) {
    Confusion confusion(classes);
    confusion.add(2, 5);
    confusion.add(2, 5);
    confusion.add(classes - 1, classes - 1);
    std::vector<std::string> names;
    for (Index i = 0; i < classes; ++i) names.push_back(std::to_string(i));
    const ClassificationReport result = report(confusion, names);
    const auto& row = result.confusion.entries[2].second.entries;
    CHECK(std::ssize(row) == (classes == 100 ? 100 : 1));
    CHECK(row[classes == 100 ? 5 : 0] == std::pair<std::string, Index>("5", 2));
    CHECK(result.classes.entries[2].second.support == 2);
  }
}
