#include "libcore/analysis/principal_components.hpp"

#include <doctest/doctest.h>

#include <cmath>
#include <limits>

#include "libcore/analysis/neighbour_map.hpp"
#include "libcore/analysis/samples.hpp"
#include "support/on_threads.hpp"

using namespace heddle;
using namespace heddle::analysis;

namespace {

// Three groups of points around distant centres.
Tensor groups(Index count, Index width) {
  const Tensor vectors = random_tensor({count, width}, 4);
  for (Index i = 0; i < count; ++i) {
    for (Index j = 0; j < width; ++j) vectors[i * width + j] += static_cast<Real>(j == i % 3 ? 30 : 0);
  }
  return vectors;
}

}  // namespace

TEST_CASE("principal components: points of a tilted ellipse, by hand") {
  // Along (3, 4) / 5 the coordinates are -2, 2, 0, 0 times 5, along (-4, 3) / 5 they are 0, 0, -1, 1 times 5; the mean
  // is (10, 20).
  const Tensor vectors({4, 2});
  const double points[4][2] = {{10 - 6, 20 - 8}, {10 + 6, 20 + 8}, {10 + 4, 20 - 3}, {10 - 4, 20 + 3}};
  for (Index i = 0; i < 8; ++i) vectors[i] = static_cast<Real>(points[i / 2][i % 2]);
  const PrincipalComponents found = principal_components(vectors, 5);
  REQUIRE(found.explained.size() == 2);
  CHECK(found.explained[0] == doctest::Approx(0.8));
  CHECK(found.explained[1] == doctest::Approx(0.2));
  const double wanted[4][2] = {{10, 0}, {-10, 0}, {0, 5}, {0, -5}};
  for (std::size_t k = 0; k < 2; ++k) {
    const double sign = found.coordinates[k == 0 ? 0 : 2][k] > 0 ? 1 : -1;
    for (std::size_t i = 0; i < 4; ++i) {
      CHECK(sign * found.coordinates[i][k] == doctest::Approx(wanted[i][k]).epsilon(1e-5));
    }
  }
}

TEST_CASE(
    "principal components: uncorrelated coordinates that keep all distances, more or fewer vectors than numbers") {
  for (const auto& [count, width] : std::vector<std::pair<Index, Index>>{{12, 5}, {6, 40}}) {
    const Tensor vectors = random_tensor({count, width}, 7);
    const PrincipalComponents found = principal_components(vectors, 100);
    const auto components = static_cast<std::size_t>(std::min(count - 1, width));
    REQUIRE(found.explained.size() == components);
    double sum = 0;
    for (std::size_t k = 0; k < components; ++k) {
      sum += found.explained[k];
      if (k > 0) CHECK(found.explained[k] <= found.explained[k - 1]);
      double mean = 0;
      for (const auto& each : found.coordinates) mean += each[k];
      CHECK(std::abs(mean) < 1e-4);
      for (std::size_t l = 0; l < k; ++l) {
        double product = 0;
        for (const auto& each : found.coordinates) product += each[k] * each[l];
        CHECK(std::abs(product) < 1e-4);
      }
    }
    CHECK(sum == doctest::Approx(1));
    for (Index i = 0; i < count; ++i) {
      for (Index j = 0; j < i; ++j) {
        double before = 0, after = 0;
        for (Index k = 0; k < width; ++k) before += std::pow(vectors[i * width + k] - vectors[j * width + k], 2);
        for (std::size_t k = 0; k < components; ++k) {
          after += std::pow(
              found.coordinates[static_cast<std::size_t>(i)][k] - found.coordinates[static_cast<std::size_t>(j)][k], 2);
        }
        CHECK(after == doctest::Approx(before).epsilon(1e-4));
      }
    }
  }
}

TEST_CASE("principal components: the first of many are those of all") {
  const Tensor vectors = groups(60, 30);
  const PrincipalComponents all = principal_components(vectors, 29), first = principal_components(vectors, 2);
  REQUIRE(first.explained.size() == 2);
  for (std::size_t k = 0; k < 2; ++k) {
    CHECK(first.explained[k] == doctest::Approx(all.explained[k]).epsilon(1e-6));
    for (std::size_t i = 0; i < 60; ++i) {
      CHECK(std::abs(first.coordinates[i][k]) == doctest::Approx(std::abs(all.coordinates[i][k])).epsilon(1e-3));
    }
  }
}

TEST_CASE("principal components: one vector, equal vectors, and what is not finite") {
  CHECK(principal_components(random_tensor({1, 4}, 1), 2).explained.empty());
  const Tensor equal({3, 2});
  equal.fill(5);
  for (const auto& each : principal_components(equal, 2).coordinates) CHECK(each == std::vector<double>{0, 0});
  CHECK_THROWS_AS(principal_components(Tensor({0, 4}), 2), ShapeError);
  const Tensor bad = random_tensor({3, 4}, 1);
  bad[5] = std::numeric_limits<Real>::quiet_NaN();
  CHECK_THROWS_AS(principal_components(bad, 2), NumericError);
}

TEST_CASE("neighbour map: the probabilities of neighbours have the perplexity") {
  const Tensor vectors = random_tensor({30, 3}, 9);
  std::vector<std::vector<double>> distances(30, std::vector<double>(30, 0.0));
  for (Index i = 0; i < 30; ++i) {
    for (Index j = 0; j < 30; ++j) {
      for (Index k = 0; k < 3; ++k) {
        distances[static_cast<std::size_t>(i)][static_cast<std::size_t>(j)] +=
            std::pow(vectors[i * 3 + k] - vectors[j * 3 + k], 2);
      }
    }
  }
  const auto found = neighbour_probabilities(distances, 7);
  for (std::size_t i = 0; i < 30; ++i) {
    double sum = 0, entropy = 0;
    for (std::size_t j = 0; j < 30; ++j) {
      sum += found[i][j];
      if (found[i][j] > 0) entropy -= found[i][j] * std::log2(found[i][j]);
      for (std::size_t k = 0; k < 30; ++k) {
        if (i != j && i != k && distances[i][j] < distances[i][k]) CHECK(found[i][j] >= found[i][k]);
      }
    }
    CHECK(found[i][i] == 0);
    CHECK(sum == doctest::Approx(1));
    CHECK(std::exp2(entropy) == doctest::Approx(7).epsilon(1e-6));
  }
}

TEST_CASE("neighbour map: the nearest points are of the vector's own group, with any number of threads") {
  const Tensor vectors = groups(60, 10);
  const auto points = neighbour_map(vectors);
  for (std::size_t i = 0; i < points.size(); ++i) {
    std::size_t nearest = i == 0 ? 1 : 0;
    const auto distance = [&](std::size_t j) {
      return std::hypot(points[i][0] - points[j][0], points[i][1] - points[j][1]);
    };
    for (std::size_t j = 0; j < points.size(); ++j) nearest = j != i && distance(j) < distance(nearest) ? j : nearest;
    CHECK(nearest % 3 == i % 3);
  }
  for (const int threads : {1, 3}) {
    const testing::OnThreads scope(threads);
    CHECK(neighbour_map(vectors) == points);
  }
  CHECK(neighbour_map(random_tensor({1, 4}, 1)).size() == 1);
  // For few vectors, at most a third of the components count.
  const Tensor few = random_tensor({10, 4}, 2);
  CHECK(neighbour_map(few) == neighbour_map(few, {.perplexity = 3}));
  CHECK(neighbour_map(few, {.perplexity = 2}) != neighbour_map(few));
  CHECK(neighbour_map(random_tensor({5, 4}, 1)).size() == 5);
}
