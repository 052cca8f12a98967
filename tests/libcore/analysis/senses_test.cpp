#include "libcore/analysis/senses.hpp"

#include <doctest/doctest.h>

using namespace heddle;
using namespace heddle::analysis;

namespace {

Tensor rows(Index count, std::vector<Real> elements) {
  return Tensor({count, 2}, elements);
}

}  // namespace

TEST_CASE("senses: the nearest centroid, the nearest example and a vote of examples may differ") {
  // Sense 7 lies around (1, 0) with a stray example; sense 3 around (0, 1).
  const Tensor examples = rows(5, {1, 0.1F, 1, -0.1F, 0.1F, 1, 0, 1, 0.2F, 1});  // around (0.46, 0.6)
  const std::vector<Index> senses{7, 7, 7, 3, 3};
  const Tensor words = rows(2, {0.1F, 1, 1, 0});
  const auto centroids = SenseClassifier(examples, senses, 0)(words);
  CHECK(centroids[0].sense == 3);
  CHECK(centroids[0].similarity == doctest::Approx(1));
  CHECK(centroids[1].sense == 7);
  const auto nearest = SenseClassifier(examples, senses, 1)(words);
  CHECK(nearest[0].sense == 7);
  CHECK(nearest[0].similarity == doctest::Approx(1));
  const auto vote = SenseClassifier(examples, senses, 3)(words);
  CHECK(vote[0].sense == 3);
  CHECK(vote[1].sense == 7);
}

TEST_CASE("senses: examples vote by what they differ in from their mean") {
  const Tensor examples = rows(4, {100, 1, 100, 2, 100, -1, 100, -2});
  const SenseClassifier classifier(examples, std::vector<Index>{0, 0, 1, 1}, 2);
  const auto guesses = classifier(rows(2, {100, 9, 100, -9}));
  CHECK(guesses[0].sense == 0);
  CHECK(guesses[0].similarity == doctest::Approx(1));
  CHECK(guesses[1].sense == 1);
}

TEST_CASE("senses: where all examples are alike every word has the most frequent sense") {
  const Tensor examples = rows(5, {0.1F, 0.7F, 0.1F, 0.7F, 0.1F, 0.7F, 0.1F, 0.7F, 0.1F, 0.7F});
  const std::vector<Index> senses{0, 1, 2, 1, 2};
  for (const Index voters : {0, 1, 5}) {
    const SenseClassifier classifier(examples, senses, voters);
    CHECK(classifier.most_frequent() == 1);
    for (const SenseGuess& guess : classifier(rows(2, {0.1F, 0.7F, 5, 1}))) CHECK(guess.sense == 1);
  }
}

TEST_CASE("senses: examples and senses must go together") {
  CHECK_THROWS_AS(SenseClassifier(rows(2, {1, 2, 3, 4}), std::vector<Index>{0}, 0), ShapeError);
  CHECK_THROWS_AS(SenseClassifier(Tensor({0, 2}), std::vector<Index>{}, 1), ShapeError);
}
